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


@pytest.mark.parametrize("size", [1, 2, 5, 66])
@pytest.mark.parametrize("what", BODIES)
def test_right(what: str, size: int) -> None:
    f = at.fn(source=HEAD + f"def f(b: i64[n], c: i64[n]):\n    for i in range(n):\n        for j in range(i):\n            {BODIES[what]}\n    return b, c\n")
    args = (np.arange(size), np.arange(size) % 3)
    if size > 9 and what == "both":
        args = (args[0], np.zeros(size, np.int64))
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
