"""A loop that copies an array an earlier loop took over copied what that loop had made of it.

Happened: vjp of a while loop over an updated array: the values of before were saved, and the second loop (the one with the tape) was filled from
the array itself instead of from what was saved.
"""

import numpy as np

import atoll as at
from atoll import f64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(y: f64[n], s: f64, x: f64) -> f64[n]:
    y[0] = 0.0
    w = 0
    while w < 1:
        w = w + 1
        y = maximum(y, s)
    return x * y


@at.fn
def total(y: f64[n], s: f64, x: f64) -> f64:
    return sum(f(y, s, x))


def check() -> None:
    agree(at.grad(total, wrt=(0, 1, 2)), np.array([1.0, 1.0]), 0.5, 0.25, expected=(np.array([0.0, 0.25]), np.float64(0.25), np.float64(1.5)))
