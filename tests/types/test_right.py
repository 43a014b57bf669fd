"""Programs as users write them: the type that is inferred, and the value, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at

HEAD = """
import atoll as at
from atoll import _, bool_, f32, f64, i64, idx
n, m, k, p = at.sizes("n m k p")
a, b, c = at.types("a b c")
@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)
@at.fn
def norm(x: f64[n]) -> f64:
    return sqrt(sum(x * x))
@at.fn
def unit(x: f64[n]) -> f64[n]:
    return x / norm(x)
@at.fn
def stats(x: f64[n]):
    mean = sum(x) / f64(n)
    return mean, sqrt(sum((x - mean) ** 2) / f64(n))
@at.fn
def swap(t: (a, b)) -> (b, a):
    return t[1], t[0]
@at.fn
def compose(f: at.Fn[[b], c], g: at.Fn[[a], b]) -> at.Fn[[a], c]:
    return lambda x: f(g(x))
@at.fn
def iterate(f: at.Fn[[a], a], x: a, k: i64) -> a:
    for i in range(k):
        x = f(x)
    return x
@at.fn
def both(f: at.Fn[[a], b], x: a, y: a) -> (b, b):
    return f(x), f(y)
@at.fn
def outer(f: at.Fn[[f64, f64], f64], u: f64[n], v: f64[m]) -> f64[n, m]:
    return [[f(p, q) for q in v] for p in u]
@at.fn
"""
rng = np.random.default_rng(5)
A, B, S, C = rng.random((4, 3)), rng.random((3, 5)), rng.random((3, 3)), rng.random((2, 4, 3))
X, Y, Z = rng.random(4), rng.random(3), rng.random(12)

# (parameters, body, type of the result, arguments, what NumPy makes of x, y, a, b)
RIGHT = [
    # functions of any type
    ("x: f64[n], y: i64", "return swap((x, y))", "(i64, f64[n])", (X, 3), "y, x"),
    ("x: f64[n]", "return compose(sum, lambda v: v * v)(x)", "f64", (X,), "(x * x).sum()"),
    ("x: f64[n], y: f64[m]", "return outer(mul, x, y)", "f64[n, m]", (X, Y), "np.outer(x, y)"),
    ("x: f64[n], y: f64[m]", "return outer(lambda p, q: p - q, x, y)", "f64[n, m]", (X, Y), "x[:, None] - y"),
    ("k: i64, x: f64[n], y: f64[k]", "return x[-k:] + y, x[-k], x[:-k]", "(f64[k], f64, f64[n - k])", (2, X, X[:2]), "x[-2:] + x[:2], x[-2], x[:-2]"),
    ("x: f64[n]", "def scaled(v, by=2.0):\n        return v * by\n    return map(scaled, x)", "f64[n]", (X,), "x * 2"),
    ("x: f64[n]", "def scaled(v: f64, *, by: f64 = 2.0):\n        return v * by\n    return map(scaled, x)", "f64[n]", (X,), "x * 2"),
    ("x: f64[n]", "def same(v):\n        return v\n    return same(x), same(3)", "(f64[n], i64)", (X,), "x, 3"),
    ("x: f64[n]", "def g(u, v):\n        return u * 2.0 + v\n    return g(x, 1.0), g(1.0, x), g(1.0, 2.0)", "(f64[n], f64[n], f64)", (X,), "2 * x + 1, 2 + x, 4.0"),
    ("x: f64[n], a: f64[m, n]", "def square(u):\n        return u * u\n    return square(x), square(a), square(2)", "(f64[n], f64[m, n], i64)", (Y, A), "x * x, a * a, 4"),
    # lifting
    ("a: f64[n, m], x: f64[m]", "return a + x, x - a", "(f64[n, m], f64[n, m])", (A, Y), "a + x, x - a"),
    ("a: f64[p, n, m], x: f64[m]", "return dot(a, x)", "f64[p, n]", (C, Y), "a @ x"),
    ("a: f64[p, n, m], b: f64[n, m]", "return dot(a, b)", "f64[p, n]", (C, A), "(a * b).sum(2)"),
    ("a: f64[n, m]", "return (a.T / norm(a)).T", "f64[n, m]", (A,), "a / np.linalg.norm(a, axis=1)[:, None]"),
    ("a: f64[p, n, m]", "return unit(a)", "f64[p, n, m]", (C,), "a / np.linalg.norm(a, axis=2)[:, :, None]"),
    ("a: f64[p, n, m]", "mean, dev = stats(a)\n    return mean, dev", "(f64[p, n], f64[p, n])", (C,), "a.mean(2), a.std(2)"),
    ("a: f64[n, m]", "return sort(a), argsort(a), scan(add, 0.0, a)", "(f64[n, m], idx[m][n, m], f64[n, m])", (A,), "np.sort(a), np.argsort(a), a.cumsum(1)"),
    ("a: f64[n, m], x: bool_[m]", "return where(x, a, 0.0)", "f64[n, m]", (A, Y > 0.5), "np.where(x, a, 0)"),
    ("a: f64[n, m], x: f64[m]", "return maximum(a, x), hypot(x, a)", "(f64[n, m], f64[n, m])", (A, Y), "np.maximum(a, x), np.hypot(x, a)"),
    ("x: f64[n], y: f64[m]", "return rep(x) * rep(y).T", "f64[m, n]", (X, Y), "np.outer(y, x)"),
    ("a: f64[n, k], b: f64[k, m]", "return [dot(row, b.T) for row in a], a @ b", "(f64[n, m], f64[n, m])", (A, B), "a @ b, a @ b"),
    ("a: f64[p, n, m]", "return sum(a), sum(a, axis=0), sum(a, axis=(0, 2)), max(a, axis=None)", "(f64[p, n], f64[n, m], f64[n], f64)", (C,), "a.sum(2), a.sum(0), a.sum((0, 2)), a.max()"),
    ("x: f64[n, m]", "return min(x), argmax(x)", "(f64[n], idx[m][n])", (A,), "x.min(1), x.argmax(1)"),
    # sizes
    ("x: f64[2*n]", "return x[:n] + x[n:]", "f64[n]", (X,), "x[:2] + x[2:]"),
    ("x: f64[n]", "return x[::2], x[::-1], x[1::2]", "(f64[(n + 1) // 2], f64[n], f64[n // 2])", (X,), "x[::2], x[::-1], x[1::2]"),
    ("x: f64[n], y: f64[at.cdiv(n, 2)]", "return x[::2] + y", "f64[(n + 1) // 2]", (X, X[:2]), "x[::2] + y"),
    ("x: f64[n]", "assert n % 2 == 0\n    h = n // 2\n    return x[:h] + x[h:]", "f64[n // 2]", (X,), "x[:2] + x[2:]"),
    ("x: f64[n + m], y: f64[m]", "return x[:n], x[n:] + y", "(f64[n], f64[m])", (X, Y), "x[:1], x[1:] + y"),
    ("x: f64[4*n]", "return split(x, 4), split(x, n), flatten(split(x, 2))", "(f64[n, 4], f64[4, n], f64[4*n])", (Z,), "x.reshape(3, 4), x.reshape(4, 3), x"),
    ("x: f64[n*m], y: f64[n]", "return split(x, m), sum(split(x, m)) + y", "(f64[n, m], f64[n])", (Z, X), "x.reshape(4, 3), x.reshape(4, 3).sum(1) + y"),
    ("a: f64[n, m]", "return flatten(a) + flatten(2.0 * a.T)", "f64[n*m]", (A,), "a.ravel() + 2 * a.T.ravel()"),
    ("x: f64[n]", "return [sum(x[:i + 1]) for i in range(n)]", "f64[n]", (X,), "x.cumsum()"),
    ("x: f64[n]", "w = window(x, 2)\n    return sum(w), w[:, 0]", "(f64[n - 1], f64[n - 1])", (X,), "x[1:] + x[:-1], x[:-1]"),
    ("x: f64[n], k: i64", "return pad_l(x, k), trunc_r(x, k), rotate(x, k), repeat(x, k)", "(f64[k + n], f64[n - k], f64[n], f64[k, n])", (X, 2), "np.r_[0, 0, x], x[:-2], np.roll(x, -2), np.tile(x, (2, 1))"),
    ("n: i64", "return [[i * j for j in range(n)] for i in range(n)]", "i64[n, n]", (3,), "np.outer(range(3), range(3))"),
    ("x: f64[n], lo: i64, hi: i64", "return sum(x[lo:hi]), x[lo:hi]", "(f64, f64[hi - lo])", (X, 1, 3), "x[1:3].sum(), x[1:3]"),
    ("x: f64[n*(n+1)//2], y: f64[n]", "return [dot(x[i*(i+1)//2:(i+1)*(i+2)//2], y[:i+1]) for i in range(n)]", "f64[n]", (rng.random(6), Y), "np.array([x[0] * y[0], x[1:3] @ y[:2], x[3:] @ y])"),
    ("a: f64[n, m], b: f64[p, m]", "return concat(a, b)", "f64[n + p, m]", (A, S), "np.concatenate([a, b])"),
    ("a: f64[n, m], b: f64[p, m]", "return [norm(u - v) for u in a for v in b]", "f64[n*p]", (A, S), "np.linalg.norm(a[:, None] - b, axis=2).ravel()"),
    ("x: f64[n]", "y = concat(x, [0.0])\n    z: f64[n + 1] = y\n    return z", "f64[n + 1]", (X,), "np.r_[x, 0]"),
    ("x: f64[_], y: f64[_]", "return concat(x, y)[:3]", "f64[3]", (X, Y), "x[:3]"),
    ("a: f64[_, _], b: f64[_, _]", "return [[dot(r, c) for c in b.T] for r in a]", "f64[i, k]", (A, B), "a @ b"),
    # sizes that data decide, and what asserts and branches know
    ("x: f64[n]", "p = [v for v in x if v > 0.4]\n    q = [v for v in x if v <= 0.4]\n    return sort(concat(p, q)), len(p) + len(q)", "(f64[k + l], i64)", (X,), "np.sort(x), 4"),
    ("a: f64[n, m]", "rows = [row for row in a if sum(row) > 1.5]\n    return rows.T, sum(rows)", "(f64[m, k], f64[k])", (A,), "a[a.sum(1) > 1.5].T, a[a.sum(1) > 1.5].sum(1)"),
    ("x: f64[n]", "i = i64(x[0] * 0.0) + 2\n    return x[:i], x[i:]", "(f64[i], f64[n - i])", (X,), "x[:2], x[2:]"),
    ("x: f64[n], k: i64", "c = at.size(k)\n    return zeros(c) + 1.0", "f64[k]", (X, 3), "np.ones(3)"),
    ("x: f64[n]", "s = 0.0\n    for i in range(n):\n        y = [v for v in x[:i] if v > 0.4]\n        s += sum(y * y)\n    return s", "f64", (X,), "(np.where(x > 0.4, x * x, 0) * [3, 2, 1, 0]).sum()"),
    ("x: f64[n], y: f64[m]", "assert n == m\n    return x + y", "f64[n]", (X, X), "x + y"),
    ("x: f64[n], y: f64[m]", "assert m <= n\n    return x[:m] + y", "f64[m]", (X, Y), "x[:3] + y"),
    ("x: f64[n], y: f64[m]", "if n == m:\n        return sum(x + y)\n    return 0.0", "f64", (X, Y), "0.0"),
    ("x: f64[n], k: idx[n]", "return x[k], x[:k], x[k:]", "(f64, f64[k], f64[n - k])", (X, 2), "x[2], x[:2], x[2:]"),
    ("x: f64[n], i: idx[n][m]", "return x[i], sum(x[j] for j in i)", "(f64[m], f64)", (X, np.array([0, 3])), "x[i], x[i].sum()"),
    # functions of functions
    ("x: f64[n]", "fs = [sin, cos, lambda v: v * v]\n    return [g(2.0) for g in fs], fs[1](x)", "(f64[3], f64[n])", (X,), "np.array([np.sin(2), np.cos(2), 4]), np.cos(x)"),
    ("x: f64[n]", "return iterate(lambda v: 0.5 * (v + 2.0 / v), 1.0, 6), iterate(lambda v: rotate(v, 1), x, 3)", "(f64, f64[n])", (X,), "2**0.5, np.roll(x, -3)"),
    ("x: f64[n], y: f64[n]", "return both(lambda v: sum(v), x, y), both(len, x, y)[1]", "((f64, f64), i64)", (X, X), "(x.sum(), x.sum()), 4"),
    # updates and loops
    ("a: f64[n, m]", "out = zeros((m, n))\n    for i in range(n):\n        for j in range(m):\n            out[j, i] = a[i, j]\n    return out", "f64[m, n]", (A,), "a.T"),
    ("a: f64[n, m], x: f64[m]", "a[1:-1] = x\n    return a", "f64[n, m]", (A, Y), "np.vstack([a[0], x, x, a[3]])"),
    ("x: f64[n]", "s = 0.0\n    for i in range(n):\n        s += sum(x[:i])\n    return s", "f64", (X,), "(x * [3, 2, 1, 0]).sum()"),
    ("a: f64[n, n]", "return sum(a[i, i] for i in range(n)), [a[i, i] for i in range(n)]", "(f64, f64[n])", (S,), "np.trace(a), np.diag(a)"),
    ("a: f64[n, m]", "r, s = unzip([(sum(row), max(row)) for row in a])\n    return r - s", "f64[n]", (A,), "a.sum(1) - a.max(1)"),
]


def made(params: str, body: str) -> at.Function:
    return at.fn(source=f"{HEAD}def f({params}):\n    {body}\n")


@pytest.mark.parametrize(("params", "body", "result", "args", "numpy"), RIGHT, ids=[f"{p}: {b.splitlines()[-1].strip()}" for p, b, *_ in RIGHT])
def test_type_and_value(params: str, body: str, result: str, args: tuple[Any, ...], numpy: str) -> None:
    f = made(params, body)
    assert str(f.type).endswith(f" -> {result}")
    names = [p.split(":")[0] for p in params.split(", ") if ":" in p]
    expected = eval(numpy, {"np": np}, dict(zip(names, args, strict=True)))  # noqa: S307
    found = f.interpret(*args)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for mine, theirs in pairs:
        assert np.shape(mine) == np.shape(theirs)
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)


def test_compiled() -> None:
    """A few of them compiled: the same values."""
    functions = [(made(p, b), args) for p, b, _, args, _ in RIGHT[::6]]
    for f, args in functions:
        found, expected = f(*args), f.interpret(*args)
        for mine, theirs in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, expected)), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)


def test_a_local_function_whose_sum_needs_a_vector() -> None:
    """Read as scalars it would need sum(rep(...)), which nothing can size; so its parameters are vectors, and explain says so."""
    f = made("x: f64[n, m]", "def far(p, q):\n        d = q - p\n        return sum(d * d) * d\n    return [far(row, x[0]) for row in x]")
    assert str(f.type).endswith("-> f64[n, m]") and "# p: f64[m], q: f64[m]" in f.explain()
    np.testing.assert_allclose(f.interpret(A), ((A[0] - A) ** 2).sum(1)[:, None] * (A[0] - A))
