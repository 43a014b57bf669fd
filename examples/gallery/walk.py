"""Three random walks: a running sum."""

import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def walk(steps: f64[n, m]) -> f64[n, m]:
    return [cumsum(row) for row in steps]


def picture() -> np.ndarray:
    return walk(np.random.default_rng(4).normal(size=(3, 500))).T
