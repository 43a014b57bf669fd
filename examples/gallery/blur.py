"""A box blur in two sweeps; sizes say where the border is."""

import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def blur(a: f64[n + 8, m + 8]) -> f64[n, m]:
    rows = [[sum(a[i, j + q] for q in range(9)) / 9.0 for j in range(m)] for i in range(n + 8)]
    return [[sum(rows[i + p, j] for p in range(9)) / 9.0 for j in range(m)] for i in range(n)]


def picture() -> np.ndarray:
    return blur(np.random.default_rng(0).random((208, 308)))
