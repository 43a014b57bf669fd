"""A window of rows stays inside the array: a stencil of a stencil reads the row before and the row after, and at the edges there is none."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64
from atoll.loops.execute import execute
from atoll.runtime.program import compiled_loops

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
