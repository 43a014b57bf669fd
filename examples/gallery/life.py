"""The game of life on a torus, after sixty generations."""

import numpy as np

import atoll as at
from atoll import i64

n, m = at.sizes("n m")


@at.fn
def generation(a: i64[n, m]) -> i64[n, m]:
    around = [[sum(a[(i + p) % n, (j + q) % m] for p in range(-1, 2) for q in range(-1, 2)) - a[i, j] for j in range(m)] for i in range(n)]
    return [[1 if around[i, j] == 3 or (around[i, j] == 2 and a[i, j] == 1) else 0 for j in range(m)] for i in range(n)]


@at.fn
def life(a: i64[n, m], rounds: i64) -> i64[n, m]:
    for _ in range(rounds):
        a = generation(a)
    return a


def picture() -> np.ndarray:
    return life((np.random.default_rng(1).random((160, 240)) < 0.3).astype(np.int64), 60)
