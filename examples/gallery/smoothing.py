"""A moving average beside what it smooths."""

import numpy as np

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def smooth(x: f64[n + 20]) -> f64[n]:
    return [sum(x[i + q] for q in range(21)) / 21.0 for i in range(n)]


def noisy() -> np.ndarray:
    return np.sin(np.linspace(0, 12, 420)) + np.random.default_rng(9).normal(size=420) * 0.3


def picture() -> np.ndarray:
    return np.stack([noisy()[10:-10], smooth(noisy())], axis=1)
