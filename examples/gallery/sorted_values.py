"""Values before and after sorting."""

import numpy as np

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def ordered(x: f64[n]) -> f64[n]:
    return sort(x)


def picture() -> np.ndarray:
    return np.stack([np.random.default_rng(8).random(300), ordered(np.random.default_rng(8).random(300))], axis=1)
