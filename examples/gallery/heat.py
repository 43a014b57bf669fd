"""Heat that spreads from three hot spots: a stencil, many times."""

import numpy as np

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


@at.fn
def heat(a: f64[n + 2, m + 2], rounds: i64) -> f64[n + 2, m + 2]:
    for _ in range(rounds):
        b = at.copy(a)
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        a = b
    return a


def start() -> np.ndarray:
    a = np.zeros((182, 242))
    a[40:60, 50:70] = a[120:130, 150:200] = a[90:140, 20:30] = 1.0
    return a


def picture() -> np.ndarray:
    return heat(start(), 400)
