"""The derivative of a derivative of a function whose result has a size that an argument gives was refused: `p0 % 5 is not p0 % 5`.

Happened (fuzz_ad seed 4290): inside the derivative the integer was another variable than the one in the type of the seed.
"""

import numpy as np

import atoll as at
from atoll import f64, i64
from atoll.ad.api import _forward, _reverse
from tests.agreement import agree


@at.fn
def f(k: i64, x: f64) :
    return [sin(x * i) for i in range(k % 5)]


def check() -> None:
    i = np.arange(3.0)
    seed = np.array([0.5, -1.0, 2.0])
    twice = _forward(_reverse(f, "vjp"), "jvp")
    agree(twice, 8, 0.3, seed, 0, 1.0, np.zeros(3), expected=(0, -np.sum(seed * i * i * np.sin(0.3 * i))))
