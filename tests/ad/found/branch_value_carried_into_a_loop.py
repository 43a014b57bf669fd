"""A tangent that only a branch has, multiplied inside a loop, put the loop under the branch: without the branch the result was never written.

Happened (fuzz_ad seed 4760): `max` by any operator over a value that is 0 unless a branch is taken. A line inside a loop now has the
condition itself when the code stands under it.
"""

import numpy as np

import atoll as at
from atoll import bool_, f64, i64
from atoll.ad.api import _forward
from tests.agreement import agree

n, m = at.sizes("n m")


@at.fn
def f(c: bool_, i: i64[m], p: f64[n], x: f64[3]) -> f64[3]:
    v = x[sum(i) % 3] * x[2] if c else 0.0
    return scatter(x, full(n, 0), full(n, v), op=lambda a, b: max(a, b))


def check() -> None:
    for c in (False, True):
        for count in (0, 2):
            point = c, np.arange(3), np.ones(count), np.array([0.5, 1.0, 2.0])
            along = False, np.zeros(3, np.int64), np.ones(count), np.ones(3)
            expected = np.array([2.5 if c and count else 1.0, 1.0, 1.0])
            agree(_forward(f, "jvp"), *point, *along, expected=expected)
