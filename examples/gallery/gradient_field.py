"""The slope of a landscape, by automatic differentiation at every point."""

import numpy as np

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def height(x: f64, y: f64) -> f64:
    return sin(3.0 * x) * cos(2.0 * y) + 0.3 * x * y


by_x = at.grad(height)


@at.fn
def field(xs: f64[m], ys: f64[n]) -> f64[n, m]:
    return [[by_x(x, y) for x in xs] for y in ys]


def picture() -> np.ndarray:
    return field(np.linspace(-2.0, 2.0, 300), np.linspace(-2.0, 2.0, 240))
