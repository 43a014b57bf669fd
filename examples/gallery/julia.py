"""A Julia set: the same loop with another start."""

import numpy as np

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


@at.fn
def escape(x: f64, y: f64) -> i64:
    rounds = 0
    while x * x + y * y < 4.0 and rounds < 80:
        x, y = x * x - y * y - 0.8, 2.0 * x * y + 0.156
        rounds += 1
    return rounds


@at.fn
def julia(xs: f64[m], ys: f64[n]) -> i64[n, m]:
    return [[escape(x, y) for x in xs] for y in ys]


def picture() -> np.ndarray:
    return julia(np.linspace(-1.6, 1.6, 320), np.linspace(-1.0, 1.0, 220))
