"""Structures: chains over two vectors, two matrices and two scalars, with what plain chains never have: operators over arrays, tuples and records,
elements that do not vary with the position, matrix state in loops, rows swapped, slices of rank 2, several column sums, ranges that depend on data
under filters, functions given to functions.

Letters are those of chains.py; A is a matrix that is assigned, B one that is read, both n by n.
"""

from __future__ import annotations

from .chains import BRANCHES, HEADS, Chain

HEADER = """import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")
@at.record
class Pair:
    p: f64
    q: f64
"""

PLAIN = (
    # operators over numbers, arrays, tuples and records; elements that vary, do not, or do in part
    "X = scan(lambda p, q: p + sin(q) + C * p * sin(q), 0.0, [S * 0.3 for j in range(n)])",
    "S = reduce(lambda p, q: p + sin(q) + C * p * sin(q), 0.0, [S * 0.3 for j in range(n)])",
    "S = reduce(lambda p, q: p + q + C * p * q, 0.0, [S * 0.2 if v > C else v * 0.2 for v in X])",
    "X = fold(lambda p, q: [p[j] * C + sin(q[j]) for j in range(n)], X, [Y for j in range(3)])",
    "X = reduce(lambda p, q: [maximum(p[j], q[j]) for j in range(n)], [-9.0 for j in range(n)], A) * C",
    "A = scan(lambda p, q: [p[j] + q[j] + C * p[j] * q[j] for j in range(n)], [0.0 for j in range(n)], [tanh(Y) * 0.3 for j in range(n)])",
    "A = scan(lambda p, q: [p[j] + q[j] + C * p[j] * q[j] for j in range(n)], [0.0 for j in range(n)], tanh(B) * 0.3, exclusive=True)",
    "A = hist(lambda p, q: [p[j] + q[j] + C * p[j] * q[j] for j in range(n)], [0.0 for j in range(n)], n, I, [tanh(Y) * 0.3 for j in range(n)])",
    "S = reduce(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (1.0, 0.0), [(tanh(v), S) for v in X])[1]",
    "X = [tanh(v) for u, v in scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (1.0, 0.0), [(tanh(S), v) for v in X])]",
    "S = tanh(reduce(lambda l, r: Pair(l.p + r.p + sin(r.q), l.q + r.q), Pair(0.0, 0.0), [Pair(v, S) for v in X]).p)",
    "S = tanh(sum(r.q for r in hist(lambda l, r: Pair(l.p + r.p, l.q + sin(r.q)), Pair(0.0, 0.0), n, I, [Pair(v, S) for v in X])))",
    "A = tanh(fold(lambda p, q: p @ q, A, [B * 0.5 for j in range(2)]))",
    # matrices, rows, slices of rank 2, column sums
    "A = tanh(A @ B)",
    "X = tanh(A @ X) + Y",
    "A = transpose(A) * C + B",
    "A[0], A[-1] = A[-1] * C, A[0]",
    "A[1:, 0] = X[:-1] * A[1:, 0]",
    "A[:, 0] = X * S",
    "A[0] = Y",
    "A[1:, 1:] = A[:-1, :-1] * C",
    "A[1:, 1:] += B[:-1, 1:] * S",
    "A[I[0]] = tanh(Y) * A[0]",
    "A[:, I[0]] = X",
    "A = A - [sum(col) / n for col in transpose(B)]",
    "A = A / [1.5 + sum(v * v for v in col) for col in transpose(A)]",
    "X = [sum(col) * C for col in transpose(A)] + [tanh(sum(col)) for col in transpose(B)]",
    "X = [sum(A[j, k] * Y[k] for k in range(j)) * C for j in range(n)]",
    "S = tanh(sum(A[j, I[j]] for j in range(n)))",
    "X = [A[I[j], j] * Y[j] for j in range(n)]",
    # places that are quotients of sums of indices
    "X = [sum(Y[(j + e) // 2] * C for e in range(3) if (j + e) // 2 < n) for j in range(n)]",
    "X = [sum(Y[(j - e) // 2] * X[e] for e in range(n) if (j - e) % 2 == 0 and j >= e) * C for j in range(n)]",
    "S = tanh(sum(A[(j + e) // 2, (n + j - e) // 3] * Y[e] for j in range(n) for e in range(j + 1)))",
    # places that are parts of flat indices by numbers that are data
    "X = [Y[j // (I[0] + 1)] * C + X[j % (I[0] + 1)] for j in range(n)]",
    "S = tanh(sum(A[j // (I[0] + 1), j % (I[0] + 1)] * Y[j] for j in range(n)))",
    "X = [sum(Y[(j // (I[0] + 1) + e) % n] * X[e] for e in range(n)) * C for j in range(n)]",
    "A = [[B[(p * n + q) // (I[0] + 1) % n, (p * n + q) % (I[0] + 1)] * C for q in range(n)] for p in range(n)]",
    # arrays that are one of two, read and handed on
    "row = X if S > C else Y\nX = [v * C + row[0] for v in X]",
    "row = A[0] if X[0] > C else Y\nS = tanh(sum(row))\nX = row * C",
    "row = tanh(X) if Y[0] > C else X\nrow[0] = S\nX = row * Y",
    "if X[0] > C:\n    row = X\n    X = X * Y\nelse:\n    row = A[I[0]]\nS = S * C + row[0] * X[0]",
    "X = sort(A[I[0]]) * C + sort(Y)",
    "S = tanh(sum(sort(A[j])[I[j]] for j in range(n)))",
    # loops of two updates in a round, which are two updates of all places
    "for h in range(n):\n    A[0, h], A[-1, h] = C * A[0, h] - S * A[-1, h], S * A[0, h] + C * A[-1, h]",
    "for h in range(n):\n    X[h] = X[h] * S\n    X[h] = tanh(X[h] + Y[h])",
    "S = tanh(sum(sort([X[j], Y[j], S])[1] * Y[j] for j in range(n)))",
    # ranges that depend on data
    "X = [sum(Y[e] * X[e] for e in range(I[j], n)) * C for j in range(n)]",
    "X = [tanh(sum(Y[e] for e in range(I[j], I[(j + 1) % n]))) for j in range(n)]",
    "X = [sum(Y[e] * C for e in range(I[j], n) if Y[e] > C) for j in range(n)]",
    "X = [max(Y[e] for e in range(I[j], n)) * X[j] for j in range(n)]",
    "S = tanh(sum(sum(X[e] * Y[j] for e in range(min(I[j], j), j)) for j in range(n) if X[j] > C))",
    "X = [sum(A[j, e] * X[I[e]] for e in range(I[j])) * C for j in range(n)]",
    # loops whose ranges depend on data, one per element of a map: what they keep has a length of its own for each of them
    "X = [along(lambda e: Y[e] * X[I[e]], I[j], n) for j in range(n)]",
    "S = tanh(sum(min(along(lambda e: Y[e] * A[k, I[e]], 0, I[j]) for k in range(n)) for j in range(n)))",
    "X = [along(lambda e: sin(Y[e]) * A[j, I[e]], j, n) * C for j in range(n)]",
    "A = [[along(lambda e: tanh(B[p, e]) * X[I[q]], min(p, I[q]), n) for q in range(n)] for p in range(n)]",
    # functions given to functions
    "X = [twice(lambda u: tanh(u * S) + C, v) for v in X]",
    "X = twice(lambda u: [tanh(dot(A[p], u)) for p in range(n)], X)",
    "S = twice(lambda u: sin(u) + X[0], S)",
    "X = at_all(lambda u, j: u * Y[j] + S, X)",
)
ALONG = (
    "    def along(g, low, high):",
    "        w = 0.5",
    "        for e in range(low, high):",
    "            w = w * 0.75 + g(e)",
    "        return w",
    "    row_of = lambda z, j: z[j]",
)
IN_LOOPS = (
    "A[T], A[I[T]] = A[I[T]], A[T]",
    "row = X if Y[T] > C else Y\nS = S * C + row[T]",
    "row = A[T]\nA[0] = tanh(A[T] * A[I[T]])\nX[T] = sum(row) * C + A[0, T]",
    "u, v = A[T, 0], A[I[T], T]\nA[T, 0], A[0, T] = v, u * C",
    "row = [tanh(v * S) for v in X] if X[T] > C else X\nX[T] = row[0] * C\nS = tanh(S + row[T])",
    "if X[T] > C:\n    X = tanh(Y * X)\n    row = X\nelse:\n    row = Y\nX[0] = S\nS = S * C + row[T]",
    "row = A[T] if X[T] > C else X\nX = row * Y",
    "if T != I[T]:\n    A[T], A[I[T]] = A[I[T]], A[T]\n    S = -S",
    "row = A[T]\nfor h in range(T + 1, n):\n    A[h] = A[h] - tanh(A[h, T]) * row",
    "X, row = (row_of(A, T), X) if S > C else (X, Y)\nS = S * C + row[T]",
    "A[T], A[0] = A[0] * 0.5, A[T]",
    "A[T, 0] = A[0, T] * S",
    "A[T] = tanh(A[T] * C + A[max(T - 1, 0)])",
    "A[:, T] = X * C",
    "A[T:, T] = A[T:, T] * C + Y[T:]",
    "X = tanh(A @ X)",
    "A = [[A[p, q] * C + X[p] * Y[q] for q in range(n)] for p in range(n)]",
    "S = S * C + sum(X[e] for e in range(I[T], n))",
    "S = S * C + along(lambda e: X[e] * Y[I[e]], I[T], n)",
    "S = S * C + reduce(lambda p, q: p + q + C * p * q, 0.0, [S * 0.2 for j in range(2)])",
    "X = [twice(lambda u: tanh(u + Y[T]), v) for v in X]",
    "X[T] = sum(A[T, j] * X[j] for j in range(T)) * C",
)


class Structure(Chain):
    plain, in_loops, heads, branches = PLAIN, IN_LOOPS, HEADS, BRANCHES

    def names(self) -> dict[str, str]:
        return {"X": self.rng.choice("xy"), "S": self.rng.choice("st"), "A": self.rng.choice("ab"), "B": self.rng.choice("ab")}

    def others(self) -> str:
        return self.rng.choice("xy")

    def text(self) -> str:
        self.block(self.rng.choice((1, 2, 2, 3, 4)), 1, None)
        start = [*ALONG, "    t = s * 0.25", "    b = a * 0.5", "    ix = [abs(q) % n for q in i]", "    twice = lambda g, v: g(g(v))", "    at_all = lambda g, v: [g(u, j) for j, u in enumerate(v)]"]
        result = self.rng.choice(("x, s", "a, t", "s + t", "x, b", "sum(x * y) + s", "sum(a[p, q] * b[q, p] for p in range(n) for q in range(n)) + s"))
        body = [*start, *self.lines, f"    return {result}"]
        return HEADER + "@at.fn\ndef f(x: f64[n], y: f64[n], a: f64[n, n], s: f64, i: i64[n]):\n" + "\n".join(body) + "\n"


def structure(seed: int) -> str:
    """The structure with this number.

    >>> "def f(x" in structure(1)
    True
    """
    return Structure(seed).text()
