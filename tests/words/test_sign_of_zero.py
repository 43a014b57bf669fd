"""np.sign(-0.0) is 0.0, by the interpreter and compiled."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

n = at.sizes("n")


@at.fn
def signs(x: at.f64[n]) -> at.f64[n]:
    return np.sign(x)


@at.fn
def narrow(x: at.f32[n]) -> at.f32[n]:
    return np.sign(x)


@pytest.mark.parametrize("fn, dtype", [(signs, np.float64), (narrow, np.float32)])
@pytest.mark.parametrize("many", [1, 2, 3, 17])
def test_no_sign(fn: at.Function, dtype: type, many: int) -> None:
    x = np.array([-0.0, 0.0, -3.5, 2.0, np.nan, -np.inf] * many, dtype)
    for found in (fn(x), fn.interpret(x)):
        assert np.array_equal(found, np.sign(x), equal_nan=True) and not np.signbit(found[found == 0]).any()
