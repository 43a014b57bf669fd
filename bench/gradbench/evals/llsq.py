"""Least squares: a polynomial with coefficients x against the sign of t, at n places from -1 to 1."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64
from bench.gradbench.tool import Entry

m = at.sizes("m")


@at.fn
def primal(x: f64[m], n: i64) -> f64:
    def one(i):
        t = -1.0 + i * 2.0 / (n - 1)
        left, power = sign(t), 1.0
        for j in range(m):
            left -= x[j] * power
            power *= t
        return left * left

    return sum(one(i) for i in range(n)) / 2.0


def arguments(given: Any) -> tuple[Any, ...]:
    return np.array(given["x"], np.float64), int(given["n"])


ENTRIES = {"primal": Entry(primal, arguments, float), "gradient": Entry(at.grad(primal, wrt="x"), arguments, np.ndarray.tolist)}
