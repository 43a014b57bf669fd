"""Indices that come back: i % 4 grows with i and then does not. A window of rows is as wide as the farthest of them; two rounds may add to the same element."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f64, i64

from ..fuzz.rewrites.run import run_seeds

n, m, k = at.sizes("n m k")


@at.fn
def three_rows(a: f64[n, m]) -> f64[n - 2, m]:
    x = [[at.exp(a[i, j]) for j in range(m)] for i in range(n)]
    return [[sum(x[i + t % 3, j] for t in range(5)) for j in range(m)] for i in range(n - 2)]


@at.fn
def four_columns(x: f64[k, 4], p: i64[n], a: f64[n, m]) -> f64:
    return sum(sum(at.sin(x[p[i], j % 4] * a[i, j]) for j in range(m)) for i in range(n))


def test_a_window_is_as_wide_as_what_comes_back() -> None:
    a = np.random.default_rng(0).random((9, 5))
    x = np.exp(a)
    np.testing.assert_allclose(three_rows(a), 2 * x[:-2] + 2 * x[1:-1] + x[2:], rtol=1e-13)


def test_lanes_add_to_the_same_element() -> None:
    rng = np.random.default_rng(1)
    x, p, a = rng.random((2, 4)), rng.integers(0, 2, 600), rng.random((600, 40))
    columns = np.arange(40) % 4
    expected = np.zeros((2, 4))
    np.add.at(expected, (p[:, None], columns[None, :]), np.cos(x[p][:, columns] * a) * a)
    np.testing.assert_allclose(at.grad(four_columns, wrt="x")(x, p, a), expected, rtol=1e-10)


def test_some_programs() -> None:
    """Every index of a kind that comes back: `python -m tests.fuzz.rewrites --row "coming back"` runs more."""
    found = list(run_seeds(range(12, 19), "coming back"))
    assert not [f.detail for f in found if f.failed] and sum(f.kind == "right" for f in found) >= 6
