"""Chains: a few vectors and scalars are changed by statements drawn from a table of constructs, some of them inside loops and branches.

A row is the text of one or more statements. X, Y are float vectors of size n (Y is read, X is assigned), S a float scalar, I an index vector,
C a small float literal; T is the index of the loop around it, if there is one. Everything stays bounded, so that long chains do too.
"""

from __future__ import annotations

import random
import re
from textwrap import indent

HEADER = """import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")
"""

PLAIN = (
    "X = sin(X) * Y",
    "X = [tanh(v * C) + Y[j] for j, v in enumerate(X)]",
    "X = X * S + C",
    "X = [v * v if v > C else Y[0] * v for v in X]",
    "X = [X[j] * Y[j - 1] if j > 0 else X[j] for j in range(n)]",
    "X = [X[(j + 1) % n] * C + Y[(j - 1) % n] for j in range(n)]",
    "X = reverse(X) * Y",
    "X = rotate(X, 1) + Y",
    "X = [X[n - 1 - j] * Y[j] for j in range(n)]",
    "X = [sum(tanh(X[a] * Y[j]) for a in range(j)) for j in range(n)]",
    "X = [sum(X[a] * Y[a] for a in range(n) if a != j) * C for j in range(n)]",
    "X = [max(X[a] for a in range(j + 1)) * Y[j] for j in range(n)]",
    "X = X / (1.5 + abs(X)) + C * Y",
    "X = cumsum(X) * C + Y",
    "X = tanh(scan(mul, 1.0, X)) + Y",
    "X = scan(maximum, -9.0, X) * Y",
    "X = scan(lambda a, b: a + b + C * a * b, 0.0, tanh(X) * 0.3)",
    "X = scan(add, C, X, exclusive=True) * Y",
    "X = gather(X, I) * Y",
    "X = [X[I[j]] * X[j] + Y[I[j]] for j in range(n)]",
    "X = hist(add, 0.0, n, I, X * Y)",
    "X = tanh(hist(mul, 1.0, n, I, X)) * Y",
    "X = hist(maximum, -3.0, n, I, X)",
    "X = hist(lambda a, b: a + b + C * a * b, 0.0, n, I, tanh(X) * 0.3)",
    'X = hist(add, 0.0, n, [q - 1 for q in I], X, mode="drop")',
    "X = scatter(X, I, Y * Y, op=add)",
    "X = scatter(X, [(j + 1) % n for j in range(n)], tanh(Y))",
    'X = scatter(X, I, Y, op=maximum)',
    "X[0] = S * C",
    "X[I[0]] = Y[0] * C + X[0]",
    "X[I[0]] += Y[0] * S",
    "X[1:] = Y[:-1] * C",
    "X[::2] = tanh(Y[::2]) * X[::2]",
    "X[0], X[-1] = X[-1] * C, X[0]",
    "X = sort(X) * C + Y",
    "X = gather(Y, argsort(X)) * X",
    "X = where(X > Y, X * C, Y)",
    "X = minimum(X, Y) * C + maximum(X, S)",
    "X = clip(X, -0.7, 0.9) + C * Y",
    "X = concat(Y[:1], X[1:] * X[:-1])",
    "X = pad_l(trunc_l(X, 1), 1) * Y",
    "X = [dot(X, Y) * C + v for v in X]",
    "X = [X[argmax(Y)] * v for v in Y]",
    "X = flatten([[v, v * C] for v in X])[:n] + Y",
    "X = grad(lambda z: sum(sin(z) * Y))(X)",
    "X = grad(lambda z: sum(tanh(z[j] * z[(j + 1) % n]) for j in range(n)))(X)",
    "S = tanh(sum(X) * C)",
    "S = sum(a * b for a, b in zip(X, Y) if a > b) * C + S",
    "S = tanh(prod(X)) + S * C",
    "S = max(X) * C + min(Y)",
    "S = S * S * C + X[0]",
    "S = reduce(lambda a, b: a + b + C * a * b, 0.0, tanh(X) * 0.3)",
    "S = fold(lambda a, b: tanh(a * b) + C, S, X)",
    "S = S if S > C else sin(S) * X[0]",
    "S = sum(filter(lambda v: v > C, X)) * C",
    "S = jvp(lambda z: sum(z * Y), X, Y) * C",
    "S = tanh(sum(X[a] * X[b] for a in range(n) for b in range(a)))",
)
IN_LOOPS = (
    "X[T] = tanh(X[T] * C) + X[max(T - 1, 0)] * S",
    "X[T] += Y[T] * S",
    "X[I[T]] = X[I[T]] * C + X[T]",
    "S = S * C + X[T]",
    "S = tanh(S + Y[T]) * X[I[T]]",
    "X = [v * C + Y[T] * X[0] for v in X]",
    "S += sum(X[:T]) * C",
    "X[T], X[I[T]] = X[I[T]], X[T]",
)
HEADS = (
    "for T in range(n):",
    "for T in range(n):",
    "for T in range(1, n):",
    "for T in reversed(range(n)):",
    "for T in at.loop(n, checkpoint=2):",
    "for T in at.loop(n, checkpoint=3):",
)
BRANCHES = ("if S > C:", "if X[0] > Y[0]:", "if n > 2:", "if I[0] == 0:")


class Chain:
    plain, in_loops, heads, branches = PLAIN, IN_LOOPS, HEADS, BRANCHES

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"chain {seed}")
        self.lines: list[str] = []
        self.loops = 0

    def names(self) -> dict[str, str]:
        """What letters that are assigned stand for in one row."""
        return {"X": self.rng.choice("xyz"), "S": self.rng.choice("st")}

    def others(self) -> str:
        return self.rng.choice("xyz")

    def fill(self, row: str, loop: str | None) -> str:
        """A row with names and literals for its letters."""
        one = self.names()

        def letter(match: re.Match[str]) -> str:
            word = match.group()
            if word == "C":
                return str(self.rng.choice((0.5, 0.25, -0.75, 0.1, 0.9)))
            if word == "T":
                return loop or "0"
            if word == "I":
                return "ix"
            if word == "Y":
                return one.setdefault("Y", self.others())
            return one[word]

        return re.sub(r"\b[XYSICTAB]\b", letter, row)

    def block(self, count: int, depth: int, loop: str | None) -> None:
        for _ in range(count):
            kind = self.rng.random()
            if kind < 0.22 and depth < 3 and self.loops < 3:
                self.loops += 1
                name = f"i{self.loops}"
                self.put(depth, self.fill(self.rng.choice(self.heads), name))
                self.block(self.rng.choice((1, 1, 2, 3)), depth + 1, name)
            elif kind < 0.26 and depth < 3 and self.loops < 3:
                self.loops += 1
                name = f"w{self.loops}"
                self.put(depth, f"{name} = 0")
                self.put(depth, f"while {name} < {self.rng.choice((0, 1, 3))} and abs(s) < 50.0:")
                self.put(depth + 1, f"{name} = {name} + 1")
                self.block(self.rng.choice((1, 2)), depth + 1, f"({name} % n)")
            elif kind < 0.36 and depth < 3:
                self.put(depth, self.fill(self.rng.choice(self.branches), loop))
                self.block(self.rng.choice((1, 2)), depth + 1, loop)
                if self.rng.random() < 0.4:
                    self.put(depth, "else:")
                    self.block(1, depth + 1, loop)
            elif loop is not None and kind < 0.75:
                self.put(depth, self.fill(self.rng.choice(self.in_loops), loop))
            else:
                self.put(depth, self.fill(self.rng.choice(self.plain), loop))

    def put(self, depth: int, text: str) -> None:
        self.lines.append(indent(text, "    " * depth))

    def text(self) -> str:
        self.block(self.rng.choice((1, 2, 2, 3, 4, 5)), 1, None)
        start = ["    z = x * 0.5 + y", "    t = s * 0.25", "    ix = [abs(q) % n for q in i]"]
        result = self.rng.choice(("x, s", "x", "s + t", "y, z, t", "sum(x * y) + sum(z) + s", "x * y + z, t"))
        body = [*start, *self.lines, f"    return {result}"]
        return HEADER + "@at.fn\ndef f(x: f64[n], y: f64[n], s: f64, i: i64[n]):\n" + "\n".join(body) + "\n"


def chain(seed: int) -> str:
    """The chain with this number.

    >>> "def f(x" in chain(1)
    True
    """
    return Chain(seed).text()
