"""A loop that reads the array it starts from cannot update it in place; its result was still written where the array was.

Happened: the inner loop of x reads x[i] of before; its result was computed into x's memory (`copy x to x`), wrong in loops and compiled code.
"""

import numpy as np

import atoll as at
from atoll import f64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(x: f64[n], y: f64[n]) -> (f64[n], f64[n]):
    for i in range(n):
        t = x[i]
        for j in range(n):
            y[j] += y[j] * t
            x = rotate(x * 2.0, 1)
    return x, y


def check() -> None:
    agree(f, np.array([0.5, 0.7]), np.array([0.3, 0.2]))
    agree(at.grad(total), np.array([0.5, 0.7]), np.array([0.3, 0.2]))


@at.fn
def total(x: f64[n], y: f64[n]) -> f64:
    a, b = f(x, y)
    return sum(a * b)
