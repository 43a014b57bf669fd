"""jvp of a function whose result has a size computed from an integer argument: was an internal error.

Happened: Malformed, also in a plain call of f, ("the size l % 5 mentions l, which is not in scope") while the derivative is elaborated: the size is instantiated with a symbol of its own
instead of the argument. Found by fuzz-ad, seed 832.
Should: as the interpreter; the size is k % 5 of the argument.
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from tests.agreement import agree


@at.fn
def f(k: i64, x: f64):
    c = k % 5
    return [x * j for j in range(c)]


def check() -> None:
    from atoll.ad.api import _forward

    agree(_forward(f, "jvp"), 3, 2.0, 0, 1.0, expected=np.array([0.0, 1.0, 2.0]))
