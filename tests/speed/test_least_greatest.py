"""The least and greatest of floats in lanes: compared plainly, with NaN kept beside; every place, length and mixture with other sums."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from tests.agreement import agree, for_all_threads

n, m = at.sizes("n m")
rng = np.random.default_rng(21)
LENGTHS = [1, 2, 15, 31, 32, 33, 63, 64, 65, 100, 2047, 2048, 2049, 4097, 9000]


@at.fn
def greatest(x: f64[n]) -> f64:
    return max(x)


@at.fn
def least(x: f32[n]) -> f32:
    return min(x)


@at.fn
def of_rows(x: f64[n, m]) -> (f64[n], f64[n], f64[n]):
    """Three at once, one of them a sum; some elements are left out."""
    return [max(v * v for v in r) for r in x], [min((v for v in r if v > 0.0), default=7.0) for r in x], [sum(r) for r in x]


@at.fn
def places(x: f64[n, m]) -> i64[n]:
    return argmax(x)


def test_it_happens():
    for f in (greatest, least):
        assert "_nan[at_l] |=" in f.show("c")


@pytest.mark.parametrize("length", LENGTHS)
def test_values_and_a_nan_anywhere(length):
    x = rng.standard_normal(length)
    np.testing.assert_array_equal(for_all_threads(greatest, x), x.max())
    np.testing.assert_array_equal(for_all_threads(least, x.astype("f4")), x.astype("f4").min())
    for k in {0, length // 3, length // 2, length - 1}:
        for bad in (np.nan, -np.nan, np.inf, -np.inf):
            y = x.copy()
            y[k] = bad
            np.testing.assert_array_equal(for_all_threads(greatest, y), y.max())
            np.testing.assert_array_equal(for_all_threads(least, y.astype("f4")), y.astype("f4").min())
            y[-1] = np.inf
            np.testing.assert_array_equal(greatest(y), y.max())
            np.testing.assert_array_equal(places(y.reshape(1, -1)), np.argmax(y.reshape(1, -1), 1))


@pytest.mark.parametrize("length", [1, 33, 64, 100, 3000])
def test_together_with_others(length):
    x = rng.standard_normal((3, length))
    x[1, length // 2] = np.nan
    x[2] = -abs(x[2])
    if length < 200:
        agree(of_rows, x)
    top, low, total = of_rows(x)
    np.testing.assert_array_equal(top, (x * x).max(1))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(low, np.where(x > 0, x, np.inf).min(1) if (x > 0).any(1).all() else [min((v for v in r if v > 0), default=7.0) for r in x])
    np.testing.assert_allclose(total, x.sum(1))


def test_nothing_but_infinities_and_zeros():
    for value in (np.inf, -np.inf, 0.0, -0.0):
        x = np.full(5000, value)
        found = greatest(x)
        assert found == value and np.signbit(found) == np.signbit(value)
    x = rng.choice([0.0, -0.0], 5000)
    assert greatest(x) == 0.0 and least(x.astype("f4")) == 0.0
