"""Newton's method for z**3 = 1: how many rounds each start takes."""

import numpy as np

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


@at.fn
def rounds_of(x: f64, y: f64) -> i64:
    rounds = 0
    while rounds < 40 and abs(x * x * x - 3.0 * x * y * y - 1.0) + abs(3.0 * x * x * y - y * y * y) > 1e-6:
        size = (x * x + y * y) ** 2 + 1e-12
        x, y = (2.0 * x + (x * x - y * y) / size) / 3.0, (2.0 * y - 2.0 * x * y / size) / 3.0
        rounds += 1
    return rounds


@at.fn
def newton(xs: f64[m], ys: f64[n]) -> i64[n, m]:
    return [[rounds_of(x, y) for x in xs] for y in ys]


def picture() -> np.ndarray:
    return newton(np.linspace(-1.5, 1.5, 300), np.linspace(-1.2, 1.2, 240))
