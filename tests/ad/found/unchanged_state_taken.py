"""State a round hands on unchanged was overwritten by an inner loop that updates a copy of it.

Happened: the inner loop took over the memory of `z`, since no line reads `z` after it; the next round and the result found its values.
Seen first in vjp of vjp of a checkpointed loop. A state nobody reads again was taken over but given fresh memory, never filled.
"""

import numpy as np

import atoll as at
from atoll import f64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(x: f64[n]) -> (f64[n], f64):
    s = 0.0
    z = x
    for t in range(3):
        q = copy(z)
        for i in range(n):
            q[i] = q[i] * 2.0 + t
        s = s + sum(q)
        z = [v for v in z]
    return z, s


def check() -> None:
    x = np.array([1.0, 2.0])
    agree(f, x, expected=(x, np.float64(24.0)))
