"""The square and its derivative."""

from __future__ import annotations

import atoll as at
from atoll import f64
from bench.gradbench.tool import Entry


@at.fn
def square(x: f64) -> f64:
    return x * x


ENTRIES = {
    "square": Entry(square, lambda x: (float(x),), float),
    "double": Entry(at.grad(square), lambda x: (float(x),), float),
}
