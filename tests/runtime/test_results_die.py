"""The memory of a result is free as soon as nobody holds it, without waiting for Python's collector of garbage."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import atoll as at

BODIES = {
    "one": "f64[n]:\n    return x * 2.0",
    "pair": "(f64, f64[n]):\n    return sum(x), x * 2.0",
    "nested": "(f64, (f64[n], f64[n])):\n    return sum(x), (x * 2.0, x * 3.0)",
}


@pytest.mark.parametrize("shape", BODIES)
def test_results_die(shape: str) -> None:
    f = at.fn(source=f"import atoll as at\nfrom atoll import f64\nn = at.sizes('n')\n@at.fn\ndef f(x: f64[n]) -> {BODIES[shape]}\n")
    x = np.ones(10)
    f(x)
    gc.disable()
    try:
        result = f(x)
        last = result
        while isinstance(last, tuple):
            last = last[-1]
        watched = weakref.ref(last)
        del result, last
        assert watched() is None
    finally:
        gc.enable()
