"""The Fourier series of a square wave, three times as long each time."""

import numpy as np

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


@at.fn
def square(xs: f64[n], terms: i64) -> f64[n]:
    return [sum(sin((2 * k + 1) * x) / (2 * k + 1) for k in range(terms)) for x in xs]


def picture() -> np.ndarray:
    return np.stack([square(np.linspace(0, 6.3, 400), k) for k in (1, 3, 9, 27)], axis=1)
