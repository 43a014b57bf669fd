"""Gradient descent on a valley: the loss, step by step, with the gradient from at.grad."""

import numpy as np

import atoll as at
from atoll import f64


@at.fn
def loss(w: f64[2]) -> f64:
    return (1.0 - w[0]) ** 2 + 5.0 * (w[1] - w[0] ** 2) ** 2


slope = at.grad(loss)


def path() -> list[float]:
    w, seen = np.array([-1.0, 1.5]), []
    for _ in range(200):
        seen.append(float(np.log10(loss(w))))
        w = w - 0.01 * slope(w)
    return seen


def picture() -> np.ndarray:
    return np.array(path())
