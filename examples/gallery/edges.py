"""Sobel's filter on a disc and a square."""

import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def edges(a: f64[n + 2, m + 2]) -> f64[n, m]:
    across = [[a[i, j + 2] - a[i, j] + 2.0 * (a[i + 1, j + 2] - a[i + 1, j]) + a[i + 2, j + 2] - a[i + 2, j] for j in range(m)] for i in range(n)]
    down = [[a[i + 2, j] - a[i, j] + 2.0 * (a[i + 2, j + 1] - a[i, j + 1]) + a[i + 2, j + 2] - a[i, j + 2] for j in range(m)] for i in range(n)]
    return sqrt(across * across + down * down)


def shapes() -> np.ndarray:
    y, x = np.mgrid[0:202, 0:302] / 100.0
    return ((x - 0.8) ** 2 + (y - 1.0) ** 2 < 0.4).astype(float) + ((abs(x - 2.2) < 0.5) & (abs(y - 1.0) < 0.6))


def picture() -> np.ndarray:
    return edges(shapes())
