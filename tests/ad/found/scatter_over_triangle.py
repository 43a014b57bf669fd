"""The adjoint of an indirect read inside a triangular sum crashes when it is lowered.

Happens: KeyError: b from the loop executor and from the C printer: the scatter that collects the adjoint runs over `b:d a:b`, and the
loop made for it has forgotten `b`, on which the range of `a` depends. The interpreter is right.
Should: all stages give the interpreter's gradient. Blocks ADBench's GMM (packed triangle: quadratic index).
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

d = at.sizes("d")


@at.fn
def f(x: f64[d], at_: i64[d]) -> f64:
    return sum(sum(x[at_[a]] for a in range(b)) for b in range(d))


def check() -> None:
    agree(at.grad(f), np.array([1.0, 2.0, 3.0]), np.array([2, 2, 0]), expected=np.array([0.0, 0.0, 3.0]))
