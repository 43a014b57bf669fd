"""A branch that is not taken, with an infinite slope where it is not taken, made the gradient NaN: 0 * inf.

Happened: `sqrt(d) if i == j else r / l[j, j]` in a Cholesky loop, where l[j, j] is still 0 on the diagonal. An adjoint that is 0 under a condition now stays
under it through products.
"""

import numpy as np

import atoll as at
from atoll import f64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(x: f64[n], y: f64[n]) -> f64:
    return sum(x[i] / y[i] if y[i] != 0.0 else x[i] for i in range(n))


def check() -> None:
    dx, dy = np.array([0.5, 1.0]), np.array([-0.75, 0.0])
    agree(at.grad(f, wrt=(0, 1)), np.array([3.0, 5.0]), np.array([2.0, 0.0]), expected=(dx, dy))
