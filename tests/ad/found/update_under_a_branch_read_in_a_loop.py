"""An update that only a branch makes, read by a loop inside the round, had no adjoint when the branch was not taken.

Happened (fuzz_ad seed 4015): the replayed inner loop reads `the new value if the branch was taken, else the old one`; as the new value exists under the branch
only, the whole loop was put under it. Conditions are now asked for where they are not tested inside.
"""

import numpy as np

import atoll as at
from atoll import f64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(x: f64[n], y: f64[n]) -> f64:
    t = 0.0
    for i in range(n):
        if 0 > y[0]:
            x[i] = x[0]
        for j in range(n):
            t = t * 0.5 + x[j]
    return t


def check() -> None:
    x = np.array([1.0, 2.0, 3.0])
    for y in (np.ones(3), -np.ones(3)):
        agree(at.grad(f), x, y, expected=at.grad(f).interpret(x, y))
    agree(at.grad(f), x, np.ones(3), expected=np.array([73.0, 146.0, 292.0]) / 256)
