"""min over p of max over q of |p|^2 - |q|^2, by descent in descent: the cost of the outer one runs the inner one. f and r: forward and reverse, outer then inner."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64
from bench.gradbench.tool import Entry


@at.fn
def forward(f: at.Fn[[f64[2]], f64], x: f64[2]) -> f64[2]:
    return [jvp(f, x, [1.0 if i == j else 0.0 for i in range(2)]) for j in range(2)]


@at.fn
def reverse(f: at.Fn[[f64[2]], f64], x: f64[2]) -> f64[2]:
    return vjp(f, x, 1.0)


def variant(outer: str, inner: str) -> Any:
    """The four programs differ in two names."""
    source = f"""
import atoll as at
from atoll import f64
from bench.gradbench.evals.descent import argmin
from bench.gradbench.evals.saddle import forward, reverse

@at.fn
def saddle(start: f64[2]) -> f64[4]:
    def loss(p, q):  # the negated function, for q makes it large
        return q[0] * q[0] + q[1] * q[1] - (p[0] * p[0] + p[1] * p[1])

    def worst(p):
        against = lambda q: loss(p, q)
        return -loss(p, argmin(against, lambda q: {inner}(against, q), start))

    first = argmin(worst, lambda p: {outer}(worst, p), start)
    against = lambda q: loss(first, q)
    return concat(first, argmin(against, lambda q: {outer}(against, q), start))
"""
    return at.fn(source=source)


def arguments(given: Any) -> tuple[Any, ...]:
    return (np.array(given["start"], np.float64),)


MODES = {"f": "forward", "r": "reverse"}
ENTRIES = {a + b: Entry(variant(MODES[a], MODES[b]), arguments, np.ndarray.tolist) for a in MODES for b in MODES}
