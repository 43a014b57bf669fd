"""Rows that meet columns go in tiles: it happens, every element is there, and loops along rows only are left alone."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops
from tests.agreement import for_all_threads

n, m = at.sizes("n m")
rng = np.random.default_rng(15)
SIZES = [0, 1, 7, 8, 9, 65, 200, 256]


@at.fn
def turned(x: f64[n, m]) -> f64[m, n]:
    return at.copy(x.T)


@at.fn
def symmetric(x: f32[n, n]) -> f32[n, n]:
    return x + x.T


@at.fn
def whole(x: i64[n, m], y: i64[m, n], w: i64[m]) -> i64[m, n]:
    return [[x[j, i] * w[i] + y[i, j] for j in range(n)] for i in range(m)]


@at.fn
def with_a_function(x: f64[n, m], y: f64[m, n]) -> f64[m, n]:
    return exp(x.T) + y


@at.fn
def along(x: f64[n, m], y: f64[n, m]) -> f64[n, m]:
    return x * 2.0 + y


@at.fn
def below(x: f64[n, n]) -> f64[n, n]:
    """Rows of different lengths."""
    return [[x[j, i] if j < i else x[i, j] for j in range(n)] for i in range(n)]


@pytest.mark.parametrize("f", [turned, symmetric, whole])
def test_it_happens(f):
    assert "i and j in tiles of 64 by 8, as rows meet columns" in f.explain("schedule")


def test_left_alone():
    assert "tiles" not in along.explain("schedule") + with_a_function.explain("schedule")


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("columns", [0, 3, 8, 70])
def test_every_element(rows, columns):
    x = rng.random((rows, columns))
    assert (for_all_threads(turned, x) == x.T).all()
    k = rng.integers(-99, 99, (rows, columns))
    w = rng.integers(-9, 9, columns)
    assert (for_all_threads(whole, k, k.T.copy(), w) == k.T * w[:, None] + k.T).all()


@pytest.mark.parametrize("size", SIZES)
def test_values(size):
    x = rng.random((size, size), dtype=np.float32)
    if size:
        x[-1, 0] = np.nan
    assert np.array_equal(for_all_threads(symmetric, x), x + x.T, equal_nan=True)
    y, z = rng.standard_normal((2, size, size))
    np.testing.assert_allclose(for_all_threads(with_a_function, y, z), np.exp(y.T) + z, rtol=1e-14, atol=1e-14)
    assert (for_all_threads(below, y) == np.where(np.tri(size, k=-1, dtype=bool), y.T, y)).all()


@pytest.mark.parametrize(("rows", "columns"), [(0, 4), (3, 70), (17, 2), (8, 65)])
def test_every_access_is_in_range(rows, columns):
    x = rng.random((rows, columns))
    fn = compiled_loops(turned.core)
    for piece in (1, 64, 1000):
        (found,) = execute(fn, [x], dict(zip(fn.sizes, (rows, columns), strict=True)), piece)
        assert (found == x.T).all()
