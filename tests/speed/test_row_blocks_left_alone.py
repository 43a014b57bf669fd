"""Triangular loops that make whole arrays anew: their rounds exchange memory, which no rewrite copies. Found by the hunt of 17 November: an internal error in the commonest of shapes."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

HEAD = "import atoll as at\nfrom atoll import *\nn = at.sizes('n')\n\n@at.fn\n"
BODIES = {
    "shifted": "b[1:] = b[:-1] + c[:-1]",
    "made anew": "b = [b[n - 1 - q] + c[j] for q in range(n)]",
    "exchanged": "b, c = c, b",
    "both": "b, c = [c[q] - b[n - 1 - q] for q in range(n)], [sum(b[q] * c[j] for q in range(n)) for q in range(n)]",
}


@pytest.mark.parametrize(("what", "size"), [(what, size) for what in BODIES for size in (1, 2, 5, 66) if (what, size) != ("both", 66)])  # the interpreter takes minutes for it
def test_right(what: str, size: int) -> None:
    f = at.fn(source=HEAD + f"def f(b: i64[n], c: i64[n]):\n    for i in range(n):\n        for j in range(i):\n            {BODIES[what]}\n    return b, c\n")
    args = (np.arange(size), np.arange(size) % 3)
    assert all(np.array_equal(a, b) for a, b in zip(f(*args), f.interpret(*args)))


def test_sizes_that_are_divided_by_are_not_taken_for_0() -> None:
    f = at.fn(source=HEAD + """
def f(x: f64[n], y: f64[n]):
    for i in range(n):
        if x[i] > -0.5:
            for j in range(n):
                x[(i + 1) % n:] = sin(x[(i + 1) % n:]) * y[j]
    return sum(x) + sum(y)
""".lstrip("\n"))
    x, y = np.linspace(0, 1, 4), np.linspace(1, 2, 4)
    got = at.grad(f)(x, y)
    steps = [(f(x + h, y) - f(x - h, y)) / 2e-6 for h in 1e-6 * np.eye(4)]
    assert np.allclose(got, steps, atol=1e-6)


LATER = {"0": lambda i, n: 0, "3": lambda i, n: 3, "70": lambda i, n: 70, "i // 2": lambda i, n: i // 2, "n // 2": lambda i, n: n // 2}


@pytest.mark.parametrize(("first", "low"), [("0", "0"), ("0", "3"), ("2", "0"), ("0", "i // 2"), ("0", "n // 2"), ("5", "70")])
def test_columns_that_begin_later(first: str, low: str) -> None:
    """Columns before the block are done first only where they are seen to begin before it: else the columns from the block on would begin too early (wrong values until 17 November)."""
    f = at.fn(source=HEAD + f"""
def f(a: f64[n, n]) -> f64[n, n]:
    for i in range({first}, n):
        for j in range({low}, i):
            a[i, j] = (a[i, j] - sum([a[i, k] * a[j, k] for k in range(j)])) / a[j, j]
        a[i, i] = sqrt(a[i, i])
    return a
""".lstrip("\n"))
    begins = LATER[low]
    for n in (3, 66, 134):
        a = np.random.default_rng(0).random((n, n)) * 0.01 + 5 * np.eye(n)
        found = f(a)
        for i in range(int(first), n):
            for j in range(begins(i, n), i):
                a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
            a[i, i] = np.sqrt(a[i, i])
        assert np.allclose(found, a, rtol=1e-12, atol=1e-14), n
