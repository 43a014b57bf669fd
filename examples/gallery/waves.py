"""Waves of four sources, added up."""

import numpy as np

import atoll as at
from atoll import f64

n, m, k = at.sizes("n m k")


@at.fn
def waves(xs: f64[m], ys: f64[n], px: f64[k], py: f64[k]) -> f64[n, m]:
    return [[sum(sin(40.0 * sqrt((x - px[s]) ** 2 + (y - py[s]) ** 2)) for s in range(k)) for x in xs] for y in ys]


def picture() -> np.ndarray:
    return waves(np.linspace(0, 1, 320), np.linspace(0, 0.8, 256), np.array([0.2, 0.8, 0.5, 0.6]), np.array([0.2, 0.3, 0.7, 0.1]))
