"""A Gaussian kernel between the points of a walk: every pair, nothing stored between."""

import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def kernel(x: f64[n]) -> f64[n, n]:
    return [[exp(-((a - b) ** 2) / 8.0) for b in x] for a in x]


def picture() -> np.ndarray:
    return kernel(np.cumsum(np.random.default_rng(2).normal(size=240)))
