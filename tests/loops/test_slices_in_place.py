"""A slice that begins where an array begins is not that array: what is updated in it has memory of its own size (fuzz seed 71393)."""

import numpy as np
import pytest

import atoll as at
from atoll import i64

n, m = at.sizes("n m")


@at.fn
def first_two(x: i64[n + 2]):
    x[0] = 7
    y = x[:2]
    y[0] = 5
    return y


@at.fn
def both(x: i64[n + 2]):
    x[0] = 7
    y = x[:2]
    y[0] = 5
    return x, y


@at.fn
def rows(x: i64[n + 2, m]):
    x[1, :] = x[0]
    y = x[:2]
    y[0, :] = 3
    return y, sum(x)


@at.fn
def in_a_loop(x: i64[n + 3]):
    x[0] = 1
    y = x[: n + 1]
    for i in range(n):
        y[i + 1] = y[i] + x[i + 2]
    return y


@at.fn
def branches(x: i64[n + 2], c: at.bool_):
    x[1] = 4
    y = x[:2]
    if c:
        y[1] = 9
    return y


@pytest.mark.parametrize("size", [0, 1, 5, 1000])
def test_slices(size):
    x = np.arange(size + 2) * 3 + 1
    wanted = x.copy()
    wanted[0] = 7
    head = wanted[:2].copy()
    head[0] = 5
    assert (first_two(x) == head).all() and (first_two.interpret(x) == head).all()
    whole, short = both(x)
    assert (whole == wanted).all() and (short == head).all()
    for c in (False, True):
        assert branches(x, c).tolist() == [1, 9 if c else 4] == branches.interpret(x, c).tolist()


@pytest.mark.parametrize("size", [0, 1, 6])
def test_rows_and_loops(size):
    x = np.arange((size + 2) * 5).reshape(size + 2, 5)
    y, total = rows(x)
    expected, sum_of = rows.interpret(x)
    assert (y == expected).all() and np.array_equal(total, sum_of)
    z = np.arange(size + 3)
    assert (in_a_loop(z) == in_a_loop.interpret(z)).all()
