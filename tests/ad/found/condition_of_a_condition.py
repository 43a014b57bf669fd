"""A choice under a condition that can be tested in a branch only was tested outside the branch: of an empty array its first element was read.

Happened (fuzz_ad seed 10509): a test of data inside a branch, and a maximum inside that. A line that needs a condition now needs what the condition needs.
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from atoll.ad.api import _reverse
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(x: f64[n], z: f64[n], s: f64, i: i64[n]) -> f64[n]:
    if s > 1.0:
        if i[0] != 0:
            z = [max(z) * x[j] for j in range(n)]
    return z


def check() -> None:
    empty, none = np.zeros(0), np.zeros(0, np.int64)
    agree(_reverse(f, "vjp"), empty, empty, 0.0, none, empty, expected=(empty, empty, 0.0, none))
    x, z, i, seed = np.array([1.0, 2.0]), np.array([3.0, 5.0]), np.array([1, 0]), np.array([1.0, 10.0])
    zeros = np.zeros(2, np.int64)
    agree(_reverse(f, "vjp"), x, z, 2.0, i, seed, expected=(5.0 * seed, np.array([0.0, 21.0]), 0.0, zeros))
    agree(_reverse(f, "vjp"), x, z, 0.0, i, seed, expected=(np.zeros(2), seed, 0.0, zeros))
