"""Scans down the columns: made where they are returned, along rows; every size is there, and what is far is left alone."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops
from tests.agreement import for_all_threads

n, m = at.sizes("n m")
rng = np.random.default_rng(16)
SIZES = [0, 1, 3, 4, 7, 8, 9, 65, 255, 256, 257, 700]


@at.fn
def running(x: f64[n, m]) -> f64[n, m]:
    return map(cumsum, x.T).T


@at.fn
def whole(x: i64[n, m]) -> i64[n, m]:
    return map(cumsum, x.T).T


@at.fn
def highest(x: f32[n, m]) -> f32[n, m]:
    return map(lambda column: scan(maximum, f32(0.0), column), x.T).T


@at.fn
def both(x: f64[n, m]) -> (f64[n, m], f64[m, n]):
    """The columns are wanted as they are, too."""
    t = map(cumsum, x.T)
    return t.T, t


@at.fn
def along_rows(x: f64[m, n]) -> f64[n, m]:
    """What is read lies along the recurrence."""
    return map(cumsum, x).T


@pytest.mark.parametrize("f", [running, whole, highest])
def test_it_happens(f):
    said = f.explain("schedule")
    assert (
        "is made where it is returned, a row of all columns at a time" in said and "or fewer rounds of i side by side" in said
    )
    assert not f.memory().temporaries


@pytest.mark.parametrize("f", [both, along_rows])
def test_left_alone(f):
    assert "is made where it is returned" not in f.explain("schedule")


@pytest.mark.parametrize("columns", SIZES)
@pytest.mark.parametrize("rows", [0, 1, 9])
def test_values(rows, columns):
    x = rng.random((rows, columns))
    if rows:
        x[rows // 2, columns // 2 :] = np.nan
    assert np.array_equal(for_all_threads(running, x), np.cumsum(x, 0), equal_nan=True)
    k = rng.integers(-99, 99, (rows, columns))
    assert (for_all_threads(whole, k) == np.cumsum(k, 0)).all()
    y = x.astype("f4")
    assert np.array_equal(for_all_threads(highest, y), np.maximum.accumulate(np.maximum(y, 0), 0), equal_nan=True)
    first, second = both(x)
    assert np.array_equal(first, np.cumsum(x, 0), equal_nan=True) and np.array_equal(second, np.cumsum(x, 0).T, equal_nan=True)
    z = np.ascontiguousarray(x.T)
    assert np.array_equal(along_rows(z), np.cumsum(x, 0), equal_nan=True)


@pytest.mark.parametrize(("rows", "columns"), [(0, 5), (3, 0), (3, 2), (4, 300)])
def test_every_access_is_in_range(rows, columns):
    x = rng.random((rows, columns))
    fn = compiled_loops(running.core)
    for piece in (1, 9, 1000):
        (found,) = execute(fn, [x], dict(zip(fn.sizes, (rows, columns), strict=True)), piece)
        assert (found == np.cumsum(x, 0)).all()
