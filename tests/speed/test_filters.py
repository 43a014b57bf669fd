"""Filters without branches: they happen where everything stored can be read in every round, and keep what they kept."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from tests.agreement import agree

n, m = at.sizes("n m")
kept = at.some("kept")
rng = np.random.default_rng(9)


@at.fn
def large(x: f32[n]) -> f32[kept]:
    return filter(lambda v: v > 0.5, x)


@at.fn
def scaled(x: f64[n]) -> f64[kept]:
    return [2.0 * v + 1.0 for v in x if v > 0.0 and v < 0.9]


@at.fn
def places(x: f64[n]) -> i64[kept]:
    return [i for i in range(n) if x[i] > 0.5]


@at.fn
def looked_up(x: f64[n], at_: i64[m]) -> f64[kept]:
    return [x[k] for k in at_ if k >= 0 and k < n]


@at.fn
def every_other(x: f64[2 * n]) -> f64[kept]:
    return [x[2 * i + 1] for i in range(n) if x[2 * i] > 0.5]


def test_it_happens():
    for f in (large, scaled, places):
        assert "without branches" in f.explain("schedule")
    assert "without branches" not in looked_up.explain("schedule")  # x[k] may only be read when k is an index


@pytest.mark.parametrize("size", [0, 1, 2, 33, 1000])
def test_values_stay(size):
    x = rng.random(size)
    x[::7] = np.nan
    agree(large, x.astype("f4"))
    for y in (x, np.zeros(size), np.ones(size)):
        agree(scaled, y)
        agree(places, y)
    agree(looked_up, x, rng.integers(-3, size + 3, 20))
    agree(every_other, x[: size // 2 * 2])
    assert np.array_equal(large(x.astype("f4")), x.astype("f4")[x.astype("f4") > 0.5])


def test_what_is_stored_has_no_choice_of_its_own():
    """A choice by the same tests would make the C compiler branch (a stranger measured 14 ms instead of 1.7)."""
    head = "import atoll as at\nfrom atoll import *\nn = at.sizes('n')\n"
    places = at.fn(source=head + "def places(x: f64[n]): return [i for i in range(n) if x[i] > 0]\n")
    between = at.fn(source=head + "def between(x: f64[n]): return [v for v in x if v > 0 and v < 1]\n")
    x = np.random.default_rng(0).standard_normal(1000)
    x[::7] = np.nan
    for f, wanted in ((places, np.flatnonzero(x > 0)), (between, x[(x > 0) & (x < 1)])):
        loops = f.show("c")
        stored = next(line for line in loops.splitlines() if "_1] = " in line)
        assert "?" not in stored and "&&" not in stored
        assert (f(x) == wanted).all() and f(x[:0]).shape == (0,)
