"""The adjoint of an indirect read under an `if` in a sum has a free index.

Happens: KeyError: b from the AiNF evaluator, the loop executor and the C printer: the scatter that collects the adjoint mentions an
index that nothing binds. The interpreter is right. No condition, or a direct index, works.
Should: all stages give the interpreter's gradient.
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

d = at.sizes("d")


@at.fn
def f(x: f64[d], at_: i64[d]) -> f64:
    return sum(sum(x[at_[a]] for a in range(d) if a < b) for b in range(d))


def check() -> None:
    agree(at.grad(f), np.array([1.0, 2.0, 3.0]), np.array([2, 2, 0]), expected=np.array([0.0, 0.0, 3.0]))
