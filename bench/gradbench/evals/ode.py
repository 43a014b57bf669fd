"""y0' = x0, yi' = xi y(i-1) by s steps of Runge and Kutta from 0 to 2; the gradient of the last element."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64
from bench.gradbench.tool import Entry

n = at.sizes("n")


@at.fn
def slope(x: f64[n], y: f64[n]) -> f64[n]:
    return [x[i] if i == 0 else x[i] * y[i - 1] for i in range(n)]


@at.fn
def primal(x: f64[n], s: i64) -> f64[n]:
    h = 2.0 / s
    y = zeros(n)
    for _ in range(s):
        k1 = slope(x, y)
        k2 = slope(x, y + h * k1 / 2.0)
        k3 = slope(x, y + h * k2 / 2.0)
        k4 = slope(x, y + h * k3)
        y = y + h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
    return y


@at.fn
def last(x: f64[n], s: i64) -> f64:
    return primal(x, s)[-1]


def arguments(given: Any) -> tuple[Any, ...]:
    return np.array(given["x"], np.float64), int(given["s"])


ENTRIES = {"primal": Entry(primal, arguments, np.ndarray.tolist), "gradient": Entry(at.grad(last, wrt="x"), arguments, np.ndarray.tolist)}
