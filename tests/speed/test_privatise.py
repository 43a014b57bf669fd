"""Histograms in private copies, a few thousand places checked before they are used: it happens, values stay, and what is out of range is said."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.agreement import fails, for_all_threads

n = at.sizes("n")
rng = np.random.default_rng(22)


@at.fn
def weighted(keys: i64[n], weights: f64[n]) -> f64[300]:
    return hist(add, 0.0, 300, keys, weights)


@at.fn
def many_bins(keys: i64[n], weights: i64[n]) -> i64[2000]:
    """One copy in each part, where 300 bins have four that take turns."""
    return hist(add, 0, 2000, keys, weights)


@at.fn
def dropped(keys: i64[n]) -> i64[300]:
    return hist(add, 0, 300, keys, ones(n, i64), mode="drop")


CASES = [(weighted, 300, 4 * 8 * 4 * 300), (many_bins, 2000, 4 * 8 * 2000)]


def test_it_happens():
    for f in (weighted, many_bins):
        said = f.explain("schedule")
        assert "8 private copies" in said and "1024 rounds of r are checked before they are made" in said
    assert "checked before" not in dropped.explain("schedule")


@pytest.mark.parametrize(("f", "bins", "many"), CASES)
def test_values(f, bins, many):
    for size in (0, 1, 5000, many - 1, many, many + 1, many + 1024 * 8 + 13, many + 4096 * 8 + 13):
        keys = rng.integers(0, bins, size)
        weights = rng.integers(-5, 5, size).astype("f8" if f is weighted else "i8")
        np.testing.assert_array_equal(for_all_threads(f, keys, weights), np.bincount(keys, weights, bins))
    keys = rng.integers(-5, 310, 100_000)
    kept = keys[(keys >= 0) & (keys < 300)]
    np.testing.assert_array_equal(for_all_threads(dropped, keys), np.bincount(kept, minlength=300))


@pytest.mark.parametrize(("f", "bins", "many"), CASES)
def test_what_is_out_of_range_is_an_error(f, bins, many):
    size = many + 777
    for place in (0, 1023, 1024, 4096, size // 8, size // 2, size - 1):
        for bad in (-1, bins, 2**62, -(2**63)):
            keys = rng.integers(0, bins, size)
            keys[place] = bad
            for threads in (1, 2, 5):
                at.set_threads(threads)
                with pytest.raises(at.RunError) as caught:
                    f(keys, np.ones(size, "f8" if f is weighted else "i8"))
                assert str(bad) in str(caught.value)
            at.set_threads(2)
    few = np.array([0, bins, 1])
    fails(f, few, np.ones(3, "f8" if f is weighted else "i8"), code=caught.value.code)
