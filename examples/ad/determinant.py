"""The determinant by minors, and its gradient, the transposed adjugate.

Expanding along rows, the minor of the first r rows in a set of r columns is a signed sum of minors of r - 1 rows. Sets are the bits of an
integer, so one loop over all of them computes each minor once; it fills an array that it reads at computed places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


@at.fn
def bits(x: i64) -> i64:
    count = 0
    while x > 0:
        count += x & 1
        x = x >> 1
    return count


@at.fn
def objective(a: f64[n, n]) -> f64:
    sets = 1 << n
    minor = ones(sets)
    for chosen in range(1, sets):
        row = bits(chosen) - 1

        def term(j):  # column j, last of the expansion; its sign counts the chosen columns after it
            there = (chosen >> j) & 1 == 1
            sign = where(there, 1.0 - 2.0 * (bits(chosen >> (j + 1)) % 2), 0.0)
            return sign * a[row, j] * minor[where(there, chosen - (1 << j), 0)]

        minor[chosen] = sum(term(j) for j in range(n))
    return minor[sets - 1]


gradient = at.value_and_grad(objective)


def data(size: int) -> tuple[Any, ...]:
    return (np.random.default_rng(size).normal(size=(size, size)),)


def main() -> None:
    (a,) = data(5)
    value, adjugate = gradient(a)
    print(f"determinant {value:.6f}, by NumPy {np.linalg.det(a):.6f}; gradient is det(a) inv(a)': {np.allclose(adjugate, value * np.linalg.inv(a).T)}")
    check("determinant", objective, (a,), (0,), adjugate)


if __name__ == "__main__":
    main()
