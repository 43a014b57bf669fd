"""How far the nearest of some points is."""

import numpy as np

import atoll as at
from atoll import f64

n, m, k = at.sizes("n m k")


@at.fn
def far(xs: f64[m], ys: f64[n], px: f64[k], py: f64[k]) -> f64[n, m]:
    return [[sqrt(min((x - px[s]) ** 2 + (y - py[s]) ** 2 for s in range(k))) for x in xs] for y in ys]


def picture() -> np.ndarray:
    return far(np.linspace(0, 1, 300), np.linspace(0, 1, 240), *np.random.default_rng(7).random((2, 30)))
