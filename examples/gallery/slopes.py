"""A function and its derivative."""

import numpy as np

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def bump(x: f64) -> f64:
    return exp(-x * x) * sin(3.0 * x)


first = at.grad(bump)


@at.fn
def both(xs: f64[n]) -> (f64[n], f64[n]):
    return [bump(x) for x in xs], [first(x) for x in xs]


def picture() -> np.ndarray:
    return np.stack(both(np.linspace(-3.0, 3.0, 400)), axis=1)
