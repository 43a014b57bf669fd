"""A sum of equal terms is their number times one of them, and without any there is none to read: the adjoint did not exist for n = 0.

Happened while fuzz_ad seed 4760 was made small: an index that is checked once for all rounds, if there are any.
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from atoll.ad.api import _reverse
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(p: f64[n], x: f64[3], k: i64) -> f64[3]:
    return scatter(x, full(n, k), [x[0] for j in range(n)], op=add)


def check() -> None:
    x, seed = np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 100.0])
    agree(_reverse(f, "vjp"), np.zeros(0), x, 7, seed, expected=(np.zeros(0), seed, 0))
    agree(_reverse(f, "vjp"), np.zeros(2), x, 1, seed, expected=(np.zeros(2), seed + [20.0, 0.0, 0.0], 0))
