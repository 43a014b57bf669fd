"""The Mandelbrot set: a while loop for every point, lifted over a grid."""

import numpy as np

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


@at.fn
def escape(cx: f64, cy: f64) -> i64:
    x, y, rounds = 0.0, 0.0, 0
    while x * x + y * y < 4.0 and rounds < 60:
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        rounds += 1
    return rounds


@at.fn
def mandelbrot(xs: f64[m], ys: f64[n]) -> i64[n, m]:
    return [[escape(x, y) for x in xs] for y in ys]


def picture() -> np.ndarray:
    return mandelbrot(np.linspace(-2.0, 0.6, 320), np.linspace(-1.2, 1.2, 300))
