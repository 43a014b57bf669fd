"""A line over a range that only an inner loop knows was put outside that loop: `sum(x[:j])` of an outer loop's x did not compile.

Happened: Malformed ("j is free"); found by fuzz-ad, though no derivative is needed. The ranges of a line's indices now decide its block too.
"""

import numpy as np

import atoll as at
from atoll import f64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(x: f64[n], t: f64) -> f64[n]:
    for i in range(n):
        for j in range(1, n):
            t += sum(x[:j])
        x[i] += t
    return x


def check() -> None:
    agree(f, np.array([1.0, 2.0, 3.0]), 0.5)
    agree(at.jacrev(f), np.array([1.0, 2.0, 3.0]), 0.5)
