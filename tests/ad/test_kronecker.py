"""Derivatives at unit vectors: the test of the unit vector picks an element, it does not multiply a dense sum."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64
from tests.agreement import agree

n, m = at.sizes("n m")


@at.fn
def layer(A: f64[m, n], x: f64[n]) -> f64[m]:
    return tanh(A @ x)


@at.fn
def energy(A: f64[m, n], x: f64[n]) -> f64:
    y = A @ x
    return sum(y * y * y) + x[0] * sum(x[j] * x[j - 1] for j in range(1, n))


@at.fn
def per_row(x: f64[n, m]) -> f64[n, m]:
    return [grad(lambda y: sum(sin(y) * x[i]))(x[i]) for i in range(n)]


@at.fn
def looped(x: f64[n]) -> f64[n]:
    for t in range(3):
        x = [sin(x[i]) * x[(i + 1) % n] for i in range(n)]
    return x


def sums(f: at.Function) -> int:
    """How many sums the normal form has."""
    return f.show("ainf").count(" = add ")


@pytest.mark.parametrize(("g", "count"), [(at.jacfwd(layer, wrt=1), 1), (at.jacrev(layer, wrt=1), 1), (at.jacrev(layer, wrt=0), 1), (per_row, 0), (at.jacrev(per_row), 0)])
def test_no_sum_over_a_unit_vector(g: at.Function, count: int) -> None:
    assert sums(g) == count


def test_values() -> None:
    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(3, 4)), rng.normal(size=4)
    slope = 1 - np.tanh(A @ x) ** 2
    agree(at.jacfwd(layer, wrt=1), A, x, expected=slope[:, None] * A)
    agree(at.jacrev(layer, wrt=1), A, x, expected=slope[:, None] * A)
    agree(at.jacrev(layer, wrt=0), A, x, expected=np.einsum("i,ij,k->ijk", slope, np.eye(3), x))
    for size in (1, 2, 4):
        agree(at.hessian(energy, wrt="x"), A[:, :size].copy(), x[:size])
        agree(at.jacfwd(looped), x[:size])
        agree(at.jacrev(looped), x[:size])
    agree(at.jacrev(per_row), rng.normal(size=(2, 3)))
    agree(at.hessian(energy, wrt="x"), np.zeros((0, 1)), x[:1])


def test_infinite_factor() -> None:
    """What is not picked is not multiplied by 0: 1/x is infinite at the other index."""

    @at.fn
    def f(x: f64[n]) -> f64[n]:
        return log(x)

    found = at.jacfwd(f)(np.array([0.0, 2.0]))
    assert found[1, 1] == 0.5 and found[0, 1] == 0.0 and np.isinf(found[0, 0])
