"""The determinant by minors. The minors of the first rows in each set of columns are computed once and kept; sets are the bits of a number."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64
from bench.gradbench.tool import Entry

l = at.sizes("l")


@at.fn
def bits(x: i64) -> i64:
    count = 0
    while x > 0:
        count += x & 1
        x = x >> 1
    return count


@at.fn
def primal(a: f64[l, l]) -> f64:
    sets = 1 << l
    minor = ones(sets)
    for chosen in range(1, sets):
        row = bits(chosen) - 1
        total, sign = 0.0, 1.0 - 2.0 * (row % 2)
        for j in range(l):
            if (chosen >> j) & 1 == 1:
                total += sign * a[row, j] * minor[chosen - (1 << j)]
                sign = -sign
        minor[chosen] = total
    return minor[sets - 1]


def arguments(given: Any) -> tuple[Any, ...]:
    size = int(given["ell"])
    return (np.array(given["A"], np.float64).reshape(size, size),)


ENTRIES = {
    "primal": Entry(primal, arguments, float),
    "gradient": Entry(at.grad(primal), arguments, lambda g: g.reshape(-1).tolist()),
}
