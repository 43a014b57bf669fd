"""Products and column sums that once had no plan, or the same name twice."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f64

n, m, d = at.sizes("n m d")


@at.fn
def first_row_put(a: f64[d, d], v: f64[d], rounds: at.i64) -> f64[d]:
    a[0] = v
    for t in range(rounds):
        v = a @ v
    return v


@at.fn
def sums_of_sums(x: f64[n, m]) -> f64[m]:
    s = [sum(col) for col in x.T]
    t = [sum(exp(x[i, j] - s[j]) for i in range(n)) for j in range(m)]
    return [sum(exp(x[i, j] - t[j]) for i in range(n)) for j in range(m)]


@at.fn
def spread(data: f64[n, m]) -> f64:
    mean = [sum(col) / n for col in data.T]
    away = data - mean
    return sum(x * x for row in away.T @ away for x in row)


def test_a_matrix_changed_before_the_loop_that_multiplies_by_it() -> None:
    """The matrix is a line of the block around: it was looked up among those of the loop."""
    rng = np.random.default_rng(0)
    a, v = rng.normal(size=(3, 3)), rng.normal(size=3)
    wanted = np.vstack([v, a[1:]])
    assert np.allclose(first_row_put(a.copy(), v, 2), wanted @ (wanted @ v))


def test_column_sums_that_share_a_buffer() -> None:
    """Each is summed in parts of its own, which had one name for both."""
    x = np.random.default_rng(1).normal(size=(700, 6)) * 0.01
    s = x.sum(0)
    t = np.exp(x - s).sum(0)
    assert np.allclose(sums_of_sums(x), np.exp(x - t).sum(0))


def test_gradient_of_a_covariance() -> None:
    x = np.random.default_rng(2).normal(size=(5, 3))
    away = x - x.mean(0)
    wanted = 4 * away @ (away.T @ away)
    assert np.allclose(at.grad(spread)(x), wanted - wanted.mean(0))
