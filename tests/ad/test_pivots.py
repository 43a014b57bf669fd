"""Rows that change places only where the place is another one: what is read there exists from 1 on, the test says "not 0", and both are the same of an index.

The reverse sweep looks at what the loop overwrote under guards on indices, which the branch settles. Compiled gradients of determinants were 0: lines in the branch asked for the guard, what
chose between the branches did not see that it follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64

n = at.sizes("n")

TESTS = ("p != 0", "p > 0", "0 != p", "p >= 1", "p + c != c", "p > 1 or p == 1")
HEAD = "import atoll as at\nfrom atoll import f64\nn = at.sizes('n')\n@at.fn\n"
BODY = """def f(u: f64[n, n]) -> f64:
    for c in range(n):
        p = argmax(abs(u[i, c]) for i in range(c, n))
        if {test}:
            u[c], u[c + p] = u[c + p], u[c]
        for i in range(c + 1, n):
            w = u[i, c] / u[c, c]
            u[i, c] = w
            for j in range(c + 1, n):
                u[i, j] -= w * u[c, j]
    return sum(log(abs(u[i, i])) for i in range(n))
"""


def matrix(size: int) -> Any:
    return np.random.default_rng(size).random((size, size)) - 0.3


@pytest.mark.parametrize("test", TESTS)
def test_gradient_of_an_elimination(test: str) -> None:
    g = at.grad(at.fn(source=HEAD + BODY.format(test=test)))
    for size in (1, 2, 3, 5):
        a = matrix(size)
        assert np.allclose(g(a), np.linalg.inv(a).T)
        assert size > 3 or np.allclose(g.interpret(a), np.linalg.inv(a).T)


def test_gradients_of_determinants() -> None:
    @at.fn
    def det(a: f64[n, n]) -> f64:
        return np.linalg.det(a)

    @at.fn
    def logdet(a: f64[n, n]) -> f64:
        return np.linalg.slogdet(a)[1]

    @at.fn
    def beside_a_solution(a: f64[n, n], b: f64[n]) -> f64:
        return sum(np.linalg.solve(a, b)) + np.linalg.slogdet(a)[1]

    for size in (1, 2, 3, 4, 6):
        a, b = matrix(size), np.ones(size)
        inverse = np.linalg.inv(a).T
        assert np.allclose(at.grad(det)(a), np.linalg.det(a) * inverse)
        assert np.allclose(at.grad(logdet)(a), inverse)
        assert np.allclose(at.grad(beside_a_solution)(a, b), inverse - np.outer(inverse @ np.ones(size), np.linalg.solve(a, b)))
