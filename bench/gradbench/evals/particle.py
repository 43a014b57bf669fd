"""A charged particle between two others, one of them placed by w, steered to the origin: descent over a simulation whose force is itself a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64
from bench.gradbench.tool import Entry

n = at.sizes("n")


@at.fn
def forward(f: at.Fn[[f64[n]], f64], x: f64[n]) -> f64[n]:
    return [jvp(f, x, [1.0 if i == j else 0.0 for i in range(n)]) for j in range(n)]


@at.fn
def reverse(f: at.Fn[[f64[n]], f64], x: f64[n]) -> f64[n]:
    return vjp(f, x, 1.0)


def variant(outer: str, inner: str) -> Any:
    source = f"""
import atoll as at
from atoll import f64
from bench.gradbench.evals.descent import argmin
from bench.gradbench.evals.particle import forward, reverse

STEP = 0.1

@at.fn
def missed(w: f64[1]) -> f64:
    charges = [[10.0, 10.0 - w[0]], [10.0, 0.0]]

    def potential(x):
        return sum(1.0 / sqrt((x[0] - c[0]) * (x[0] - c[0]) + (x[1] - c[1]) * (x[1] - c[1])) for c in charges)

    x, speed, flying = [0.0, 8.0], [0.75, 0.0], True
    while flying:
        nxt = x + STEP * speed
        if nxt[1] > 0.0:
            force = {inner}(potential, x)
            x, speed = nxt, speed - STEP * force
        else:
            flying = False
    rest = -x[1] / speed[1]
    landed = x[0] + rest * speed[0]
    return landed * landed

@at.fn
def particle(w: f64[1]) -> f64[1]:
    return argmin(missed, lambda u: {outer}(missed, u), w)
"""
    return at.fn(source=source)


def arguments(given: Any) -> tuple[Any, ...]:
    return (np.array([given["w"]], np.float64),)


MODES = {"f": "forward", "r": "reverse"}
ENTRIES = {a + b: Entry(variant(MODES[a], MODES[b]), arguments, lambda found: float(found[0])) for a in MODES for b in MODES}
