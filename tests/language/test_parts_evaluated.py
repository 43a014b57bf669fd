"""Parts of a program that are evaluated by themselves, without the program: operators that are tried, routines of schedules."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f64
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def folded(x: f64[n]) -> (f64, f64[n]):
    return reduce(lambda a, b: (a[0] + b[0], a[1] * b[1]), (0.0, 1.0), [(v, 0.5) for v in x])[0], scan(lambda a, b: a + b + a * b * 0.5, 0.0, x)


def test_operators_are_tried() -> None:
    """Every operation that is tried asks how: it must not need a program for that."""
    agree(folded, np.linspace(-0.5, 0.5, 40), compiled=False)
