"""Roots: an equation that grows with its only unknown has at most one solution among sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atoll as at
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.prover import facts
from atoll.sizes.roots import root
from atoll.sizes.solver import Solver

n, m, x = (poly(Sym(name)) for name in "nmx")
X = x.single()
assert X is not None


@pytest.mark.parametrize(
    ("p", "found"),
    [
        (x * x - n * n, n),
        (n * n - x * x, n),
        (x * x - (n + 1) * (n + 1), n + 1),
        (x * x + x - n * n - n, n),
        (2 * x**2 + 3 * x - 2 * (n * m + 1) ** 2 - 3 * (n * m + 1), n * m + 1),
        (x**3 - (n + 2 * m + 3) ** 3, n + 2 * m + 3),
        (x * x + 5 * x - 6, poly(1)),
        (x * x - 16, poly(4)),
    ],
)
def test_the_root_is_found(p: Poly, found: Poly) -> None:
    assert root(p, X) == found


@pytest.mark.parametrize("p", [x * x - n * m, x * x - 2 * n * n, x * x - n, x * x - 5, x * m - n * m, x * x - x - n * n + n, x * x + 1])
def test_nothing_is_guessed(p: Poly) -> None:
    """No polynomial root, a factor that may be 0, or a side that does not grow."""
    assert root(p, X) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(1, 3), st.integers(0, 3), st.integers(2, 3))
def test_every_root_with_natural_coefficients_is_found(a: int, b: int, c: int, lead: int, low: int, power: int) -> None:
    r = a * n * m + b * n + c
    made = lead * x**power + low * x - (lead * r**power + low * r)
    assert root(made, X) == r


def test_a_root_that_may_be_negative_is_left_open() -> None:
    """x*x = (n - m)*(n - m) is solved by n - m only where n >= m."""
    for known, solved in (((n, m), False), ((n - m,), True)):
        solver: Solver[tuple[Poly, ...]] = Solver(nonneg=lambda p, why: facts(why).proves(p))
        u = solver.fresh("u")
        solver.equate(u * u, (n - m) * (n - m), known)
        assert (solver.resolve(u) == n - m) is solved and bool(solver.pending) is not solved


SQUARE = """
import atoll as at
from atoll import f64
n = at.sizes("n")
@at.fn
def rows(x: f64[n*n]) -> f64[n]:
    return [sum(x[i*n + j] for j in range(n)) for i in range(n)]
@at.fn
def twice(y: f64[n*n]) -> f64[n]:
    return 2.0 * rows(y)
"""


def test_a_square_is_passed_on_and_bound_from_python() -> None:
    twice = at.fn(source=SQUARE)
    y = np.arange(9.0)
    np.testing.assert_array_equal(twice(y), 2 * y.reshape(3, 3).sum(1))
    np.testing.assert_array_equal(twice.interpret(y), 2 * y.reshape(3, 3).sum(1))
    assert twice(np.zeros(0)).shape == (0,)
    with pytest.raises(at.SizeError, match=r"twice: y axis 0 is 10, but n\*n is 9 or 16"):
        twice(np.zeros(10))

