"""Places that are none: nothing is added where a value is 0 by conditions.

Values were right, but 0.0 was added at -1. The checked executor of loops stops there.
"""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from tests.control.count import moved

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n@at.fn\ndef f(x: f64[n], y: f64[n], c: i64[n]) -> f64:\n"
PROGRAMS = {
    "a neighbour before": "for i in range(n):\n    y[i] += x[i]\n    x = [x[j] * y[j - 1] if j > 0 else x[j] for j in range(n)]\nreturn sum(x)",
    "a neighbour after": "for i in range(n):\n    y[i] += x[i]\n    x = [x[j] * y[j + 2] if j + 2 < n else x[j] for j in range(n)]\nreturn sum(x)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_place_is_touched(name: str) -> None:
    f = at.fn(source=HEAD + "".join(f"    {line}\n" for line in PROGRAMS[name].split("\n")))
    g = at.grad(f, wrt=(0, 1))
    for size in (1, 2, 3, 5):
        r = np.random.default_rng(size)
        args = (r.random(size), r.random(size), r.integers(0, 5, size))
        assert moved(g, *args) > 0
        for found, wanted in zip(g(*args), g.interpret(*args), strict=True):
            assert np.allclose(found, wanted)
        k, step = size // 2, 1e-6
        more, less = args[0].copy(), args[0].copy()
        more[k] += step
        less[k] -= step
        assert np.isclose(g(*args)[0][k], (f(more, *args[1:]) - f(less, *args[1:])) / (2 * step), rtol=1e-5)
