"""The lesser or greater of a value and a literal is one comparison; NaN and the signs of zeros stay as they are."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64

n = at.sizes("n")
VALUES = np.array([np.nan, -np.nan, 0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 3.5, -3.5, 1e300] * 5)


@at.fn
def bounds(x: f64[n]) -> f64[n, 8]:
    return [
        [min(v, 1.0), max(v, -1.0), min(v, 0.0), max(v, 0.0), min(v, -0.0), max(v, -0.0), min(max(v, -1.5e-3), 2.5), max(min(1.0, v), 0.0)]
        for v in x
    ]


@at.fn
def bounds32(x: f32[n]) -> f32[n, 4]:
    return [[min(v, 0.1), max(v, 0.0), max(-0.0, v), min(max(v, -1e-30), 1e30)] for v in x]


@at.fn
def unknown(x: f64[n]) -> f64[n, 2]:
    return [[min(v, at.inf), max(v, at.nan)] for v in x]


@pytest.mark.parametrize(("f", "x"), [(bounds, VALUES), (bounds32, np.float32(np.clip(VALUES, -1e30, 1e30))), (unknown, VALUES)], ids=["f64", "f32", "not literals"])
def test_values(f, x):
    found, expected = f(x), f.interpret(x)
    assert np.array_equal(found, expected, equal_nan=True)
    numbers = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


def test_it_happens():
    text = bounds.show("c")
    assert "at_min_number_f64(at_max_number_f64(" in text
    assert "number" not in unknown.show("c").split("at_program")[-1]
