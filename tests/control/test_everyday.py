"""The programs of bench/everyday are right, linear in what they write, and copy nothing in a loop."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import i64
from bench.everyday.kernels import KERNELS
from bench.everyday.programs import HEAD, PROGRAMS, in_plain_python
from tests.agreement import agree
from tests.oracle import in_python

n, m = at.sizes("n m")


@pytest.mark.parametrize("name", list(PROGRAMS | KERNELS))
def test_as_in_python(name: str) -> None:
    text, _, make = (PROGRAMS | KERNELS)[name]
    f, reference = at.fn(source=HEAD + text), in_python(in_plain_python(text), "f")
    assert "every round" not in str(f.memory()), str(f.memory())
    for size in (0, 1, 2, 5, 17, 33) if name in KERNELS else (1, 4, 6) if name == "queens" else (2, 3, 6, 17):
        args = make(size, np.random.default_rng(size))
        expected, found = reference(*args), f(*args)
        for x, y in zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]:
            np.testing.assert_allclose(x, y, rtol=1e-9, err_msg=f"{name} at {size}")


@at.fn
def filled(grid: i64[n, m], y0: i64, x0: i64) -> i64[n, m]:
    stack = zeros((4 * n * m + 1, 2), dtype=i64)
    stack[0, 0], stack[0, 1] = y0, x0
    top = 1
    while top > 0:
        top -= 1
        y, x = stack[top, 0], stack[top, 1]
        if y < 0 or y >= n or x < 0 or x >= m:
            continue
        if grid[y, x] != 0:
            continue
        grid[y, x] = 2
        stack[top, 0], stack[top, 1] = y + 1, x
        stack[top + 1, 0], stack[top + 1, 1] = y - 1, x
        stack[top + 2, 0], stack[top + 2, 1] = y, x + 1
        stack[top + 3, 0], stack[top + 3, 1] = y, x - 1
        top += 4
    return grid


def test_conditions_of_a_branch_are_asked_once() -> None:
    """Every update of a branch carries the conditions of the branch; they are not computed again for each."""
    text = filled.show("loops")
    assert text.count("result[r") == 3  # asked for the updates, asked for the next top, and the update itself
    grid = np.array([[0, 0, 1, 0], [1, 0, 1, 0], [0, 0, 1, 0]])
    agree(filled, grid, 0, 0)
    assert (filled(grid, 0, 0) == np.array([[2, 2, 1, 0], [1, 2, 1, 0], [2, 2, 1, 0]])).all()
