"""Sums over all rectangles from a corner: two scans."""

import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def integral(a: f64[n, m]) -> f64[n, m]:
    rows = [cumsum(row) for row in a]
    return transpose([cumsum(column) for column in transpose(rows)])


def picture() -> np.ndarray:
    return integral(np.random.default_rng(3).normal(size=(200, 280)))
