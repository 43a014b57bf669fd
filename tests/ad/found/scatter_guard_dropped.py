"""The adjoint of a guarded indirect read is scattered without the guard: compiled code writes outside the array.

Happens: the AiNF evaluator and the loop executor report an access outside (scatter to -1 of 4); compiled code does it, adding zero to
whatever memory lies there (with an index of 10**12 it is a segmentation fault). Also inside loops for affine indices, where the adjoint is
state: sum(a[i - j] for j in range(n) if j < i).
Should: elements whose condition is false are not touched.
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def indirect(a: f64[n], at_: i64[n]) -> f64:
    return sum(a[at_[j]] ** 2 for j in range(n) if at_[j] >= 0 and at_[j] < n)


@at.fn
def in_loop(a: f64[n]) -> f64:
    s = 0.0
    for i in range(n):
        s += sum(a[i - j] ** 2 for j in range(n) if j < i)
    return s


def check() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    agree(at.grad(indirect), x, np.array([0, -1, 7, 2]), expected=np.array([2.0, 0.0, 6.0, 0.0]))
    agree(at.grad(in_loop), x, expected=np.array([0.0, 12.0, 12.0, 8.0]))
