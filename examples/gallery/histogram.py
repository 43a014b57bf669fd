"""How often each value occurs."""

import numpy as np

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


@at.fn
def histogram(x: f64[n]) -> i64[60]:
    counts = zeros(60, dtype=i64)
    for v in x:
        counts[i64(clip(v * 10.0 + 30.0, 0.0, 59.0))] += 1
    return counts


def picture() -> np.ndarray:
    return histogram(np.random.default_rng(6).normal(size=20000))
