"""A product of matrices, as `@`."""

import numpy as np

import atoll as at
from atoll import f64

n, m, k = at.sizes("n m k")


@at.fn
def product(a: f64[n, k], b: f64[k, m]) -> f64[n, m]:
    return a @ b


def picture() -> np.ndarray:
    return product(np.sin(np.add.outer(np.arange(220) / 9.0, np.arange(60) / 5.0)), np.cos(np.subtract.outer(np.arange(60) / 7.0, np.arange(300) / 11.0)))
