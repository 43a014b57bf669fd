"""A window of rows stays inside the array: a stencil of a stencil reads the row before and the row after, and at the edges there is none."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops

n, m = at.sizes("n m")


@at.fn
def smooth(u: f64[n, m]) -> f64[n, m]:
    return [[(u[i - 1, j] + u[i, j] + u[i + 1, j]) / 3.0 if 0 < i and i < n - 1 else u[i, j] for j in range(m)] for i in range(n)]


@at.fn
def twice(u: f64[n, m]) -> f64[n, m]:
    return smooth(smooth(u))


@pytest.mark.parametrize("rows", [1, 2, 3, 9])
def test_rows_outside_are_neither_read_nor_made(rows: int) -> None:
    u = np.arange(rows * 4.0).reshape(rows, 4) ** 2
    core = twice.core
    (found,) = execute(compiled_loops(core), [u], dict(zip(core.sizes, u.shape)))
    assert np.array_equal(found, twice.interpret(u))


@at.fn
def turned_and_smooth(u: f64[n, n]) -> f64[n, n]:
    w = [[sum(exp(u[i, k] * u[k, j]) for k in range(n)) for j in range(n)] for i in range(n)]
    return smooth([[exp(w[i, j]) / exp(w[j, i]) + sqrt(w[j, i]) for j in range(n)] for i in range(n)])


@pytest.mark.parametrize("rows", [1, 3, 9])
def test_what_rows_are_made_of_is_there_until_the_last_one(rows: int) -> None:
    """It was freed after the loop that made all rows, before the one that makes them now."""
    u = np.random.default_rng(rows).random((rows, rows)) / rows
    core = turned_and_smooth.core
    loops = compiled_loops(core)
    (found,) = execute(loops, [u], dict(zip(core.sizes, u.shape)))
    assert np.allclose(found, turned_and_smooth.interpret(u), rtol=1e-13)
    assert "the rows of it that are read next" in turned_and_smooth.show("rewritten")
