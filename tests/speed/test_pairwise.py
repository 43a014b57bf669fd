"""Sums of f32 keep their digits however many elements there are: the contract says at least pairwise."""

import numpy as np
import pytest

import atoll as at
from atoll import f32

n, m, k = at.sizes("n m k")


@at.fn
def moments(a: f32[n, m]):
    return sum(a, axis=0) / f32(n), sum(a * a, axis=0) / f32(n)


@at.fn
def of_columns(a: f32[n, m]):
    return sum(a, axis=0)


@at.fn
def columns_first(a: f32[n, m]) -> f32:
    return sum(a[i, j] for j in range(m) for i in range(n))


@at.fn
def weighted(a: f32[n, m], w: f32[n]):
    return [sum(w[i] * a[i, j] for i in range(n)) for j in range(m)]


@at.fn
def product(a: f32[n, k], b: f32[k, m]):
    return a @ b


def worst(found, wanted):
    return float(np.max(np.abs(np.asarray(found, np.float64) / wanted - 1)))


@pytest.mark.parametrize("rows", [0, 1, 255, 256, 511, 512, 513, 65535, 65537, 131 * 1024 + 77])
@pytest.mark.parametrize("columns", [1, 3, 70])
def test_lengths(rows, columns):
    if rows * columns > 1 << 21:
        columns = 5
    rng = np.random.default_rng(rows)
    a, w = rng.random((rows, columns), np.float32), rng.random(rows, np.float32)
    wide = a.astype(np.float64)
    assert np.allclose(of_columns(a), wide.sum(axis=0), rtol=3e-6) and np.allclose(columns_first(a), wide.sum(), rtol=3e-6)
    assert np.allclose(weighted(a, w), w.astype(np.float64) @ wide, rtol=3e-6)
    if rows:
        mean, square = moments(a)
        assert np.allclose(mean, wide.mean(axis=0), rtol=3e-6) and np.allclose(square, (wide * wide).mean(axis=0), rtol=3e-6)


def test_more_ones_than_a_float_counts():
    rows = (1 << 25) + 1000
    ones = np.ones((rows, 1), np.float32)
    mean, square = moments(ones)
    assert worst(mean, 1) < 1e-6 and worst(square, 1) < 1e-6
    assert worst(of_columns(ones), rows) < 1e-6 and worst(columns_first(ones), rows) < 1e-6 and worst(weighted(ones, ones[:, 0]), rows) < 1e-6
    for a, b in ((ones.T, ones), (ones.T, np.ones((rows, 3), np.float32)), (np.ones((2, rows), np.float32), ones)):
        assert worst(product(a, b), rows) < 1e-5


def test_the_order_is_kept_on_request():
    f = at.fn(source="import atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\ndef in_order(a: f32[n, m]):\n    return sum(a, axis=0)\n", reassociate=False)
    a = np.random.default_rng(1).random((3000, 2), np.float32)
    wanted = np.zeros(2, np.float32)
    for row in a:
        wanted = wanted + row
    assert (f(a) == wanted).all()


def test_doubles_are_left():
    f = at.fn(source="import atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\ndef doubles(a: f64[n, m]):\n    return sum(a, axis=0)\n")
    assert "made of sums" not in f.explain("schedule")
