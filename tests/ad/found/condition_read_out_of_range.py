"""A condition on data was tested before the range of the index it is read at: `p[-2]` was read, and compiled code may have crashed.

Happened (fuzz_ad seed 6512): a masked rotation by an amount that is computed. Solving for the index gives its range as conditions, and they come first now.
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from atoll.ad.api import _reverse
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(p: i64[n], x: f64[n]) -> f64[n]:
    return where([j == p[j] != 0 for j in range(n - 1, -1, -1)], rotate(x, 1), 0.0)


def check() -> None:
    seed = np.array([1.0, 10.0, 100.0, 1000.0])
    agree(_reverse(f, "vjp"), np.array([0, 1, 5, 3]), np.arange(4.0), seed, expected=(np.zeros(4, np.int64), np.array([0.0, 1.0, 0.0, 100.0])))
