"""scatter and hist with an operator of one's own and mode="drop": elements out of range took the gradient of the whole array with them.

Happened: the new value is computed from the old one, which exists only in range; the whole update inherited the condition, so where an element
was dropped the array had no gradient (0 instead of 1), and forward mode crashed. A wrong gradient.
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

n, m = at.sizes("n m")


@at.fn
def f(x: f64[n], i: i64[m], v: f64[m]) -> f64[n]:
    return scatter(x, i, v, op=lambda a, b: max(a, b), mode="drop")


@at.fn
def g(x: f64[n], i: i64[m], v: f64[m]) -> f64[n]:
    return scatter(x, i, v, op=maximum, mode="drop")


def check() -> None:
    x, i, v = np.array([1.0, 2.0, 3.0]), np.array([-1, 1, 7]), np.array([9.0, 5.0, 9.0])
    for h in (f, g):
        expected = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        agree(at.jacrev(h), x, i, v, expected=expected)
        agree(at.jacfwd(h), x, i, v, expected=expected)
