"""What rounds read over a triangle, `for a in range(n) for b in range(a)`, of an array they update was added up under an index that was gone.

Happened (fuzz_ad seed 3475): the place mentions b only, whose range is a; a was summed over first.
"""

import numpy as np

import atoll as at
from atoll import f64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(y: f64[n], s: f64) -> f64:
    for i in range(n):
        s = s * 0.5 + sum(y[b] * y[b] for a in range(n) for b in range(a))
        y[i], y[0] = 0.25 * y[i], 2.0
    return s


def check() -> None:
    x = np.array([1.0, -2.0, 3.0])
    agree(at.grad(f, wrt=(0, 1)), x, 0.5, expected=at.grad(f, wrt=(0, 1)).interpret(x, 0.5))
