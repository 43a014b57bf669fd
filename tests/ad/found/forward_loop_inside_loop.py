"""jvp of a function with a loop, called inside a loop it does not depend on, cannot be lowered.

Happens: AssertionError ("l19 belongs to no enclosing block") while lowering; the AiNF evaluator fails too. The primal loop is invariant
and stands outside the outer loop, its tangent belongs inside. Likely one cause with forward_seeds_through_loop.
Should: as the interpreter.
"""

import numpy as np

import atoll as at
from atoll import f64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def product(x: f64[n]) -> f64:
    s = 1.0
    for i in range(n):
        s = s * x[i]
    return s


@at.fn
def f(x: f64[n]) -> f64[n]:
    found = zeros(n)
    for j in range(n):
        found[j] = jvp(product, x, [1.0 if i == j else 0.0 for i in range(n)])
    return found


def check() -> None:
    agree(f, np.array([2.0, 3.0, 5.0]), expected=np.array([15.0, 10.0, 6.0]))
