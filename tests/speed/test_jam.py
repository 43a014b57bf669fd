"""Several rounds of a sum into memory at a time: it happens, and the least and greatest of floats keep NaN, infinities and the signs of zeros."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i32
from tests.agreement import agree, for_all_threads

n, m = at.sizes("n m")
rng = np.random.default_rng(20)


@at.fn
def greatest(x: f64[n, m]) -> f64[m]:
    return max(x, axis=0)


@at.fn
def least(x: f32[n, m]) -> f32[m]:
    return min(x, axis=0)


@at.fn
def both(x: f64[n, m], w: f64[n]) -> (f64[m], f64[m]):
    """What is compared is computed."""
    y = [[a * b for a in row] for row, b in zip(x, w)]
    return max(y, axis=0), min(y, axis=0)


@at.fn
def whole(x: i32[n, m]) -> i32[m]:
    return max(x, axis=0)


def test_it_happens():
    for f in (greatest, least, whole):
        assert "8 rounds of r at a time" in f.explain("schedule")
    assert "at_max_f64(given" not in greatest.show("c") and "nan" in greatest.show("c") and "nan" not in whole.show("c").split("at_program_run")[0].split("AT_PIECE int")[1]


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 16, 23, 600])
@pytest.mark.parametrize("columns", [0, 1, 5, 33])
def test_values(rows, columns):
    x = rng.standard_normal((rows, columns))
    for k in range(3):
        if columns:
            x[rng.integers(rows), rng.integers(columns)] = [np.nan, np.inf, -np.inf][k]
        w = rng.standard_normal(rows)
        if rows < 100:
            agree(greatest, x)
            agree(least, x.astype("f4"))
            agree(both, x, w)
        np.testing.assert_array_equal(for_all_threads(greatest, x), x.max(0))
        np.testing.assert_array_equal(for_all_threads(least, x.astype("f4")), x.astype("f4").min(0))
        y = x * w[:, None]
        for found, expected in zip(both(x, w), (y.max(0), y.min(0)), strict=True):
            np.testing.assert_array_equal(found, expected)
    z = rng.integers(-9, 9, (rows, columns)).astype("i4")
    np.testing.assert_array_equal(for_all_threads(whole, z), z.max(0))


@pytest.mark.parametrize("place", range(20))
def test_a_nan_anywhere(place):
    """Also one that every later number would be better than, and one after infinity."""
    x = np.full((20, 9), -np.inf)
    x[5, 3] = np.inf
    x[place, 3] = np.nan
    x[place, 4] = -np.nan
    found = greatest(x)
    assert np.isnan(found[3]) and np.isnan(found[4]) and (found[[0, 1, 2, 5, 6, 7, 8]] == -np.inf).all()
    found = least(-x.astype("f4"))
    assert np.isnan(found[3]) and np.isnan(found[4]) and (found[[0, 1, 2, 5, 6, 7, 8]] == np.inf).all()


def test_signs_of_zeros_are_those_of_one_round_at_a_time():
    plain = greatest.core
    from dataclasses import replace

    from atoll.loops.choices import USUAL
    from atoll.runtime.program import Program

    alone = Program(plain, greatest._arguments, choices=replace(USUAL, jam=1))
    for _ in range(20):
        x = rng.choice([0.0, -0.0, -1.0], (17, 40))
        found = greatest(x)
        assert np.array_equal(np.signbit(found), np.signbit(alone.call(x))) and np.array_equal(found, x.max(0))
