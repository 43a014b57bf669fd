"""Loops in branches that read an array from outside: the sweep back adds to the array's adjoint where they read, and has none of its own that is as long.

Every way of standing in a branch, of a loop over rounds or of a comprehension, times every kind of loop that stands there.

    python -m tests.cost.branches     the table of all of them, with how far the gradient is from a difference of values
"""

from __future__ import annotations

import sys
from textwrap import indent
from typing import Any

import numpy as np

import atoll as at
from tests.cost.ratio import Ratios, ratios

HEAD = """import atoll as at
from atoll import i64, f64
n = at.sizes("n")

@at.fn
def f(c: i64[n], x: f64[n], a: f64) -> f64:
    def g(i, x):
{}
        return t
"""
LOOPS = {
    "a number": "t = 1.0\nfor k in range(3):\n    t = t * 0.5 + x[(i + k * c[i]) % n]",
    "as often as data say": "t = a\nfor k in range(c[i]):\n    t = t * a + x[(i + k) % n]",
    "an array": "u = zeros(4)\nfor k in range(1, 4):\n    u[k] = sin(u[k - 1]) + x[(i + k * c[i]) % n]\nt = u[3] * u[2]",
    "a row": "u = [a, 0.5, x[i]]\nfor k in range(3):\n    u = [sin(v) + x[(i + k * c[i]) % n] for v in u]\nt = sum(u * u)",
    "while": "t = 1.0\nk = 0\nwhile k < c[i] and t > 0.01:\n    t = t * 0.5 + 0.1 * x[(i + k) % n]\n    k += 1",
    "break": "t = 1.0\nfor k in range(4):\n    if t < 0.0:\n        break\n    t = t * 0.5 + x[(i + k * c[i]) % n]",
    "a branch of its own": "t = 1.0\nfor k in range(3):\n    if c[(i + k) % n] > 1:\n        for q in range(2):\n            t = t * x[(i + q) % n] + a * x[i]",
}
AROUND = {
    "if": "for i in range(n):\n    if c[i] > 2:\n        s = 0.5 * s + g(i, x)",
    "else": "for i in range(n):\n    if c[i] > 2:\n        s += a * x[i]\n    else:\n        s = 0.5 * s + g(i, x)",
    "if in if": "for i in range(n):\n    if c[i] > 1:\n        if c[(i + 1) % n] > 1:\n            s = 0.5 * s + g(i, x)",
    "once": "for i in range(n):\n    s = 0.9 * s + x[i] * x[i]\n    if i == 3:\n        s += g(i, x)",
    "of a loop that updates": "for i in range(n):\n    if c[i] > 2:\n        x[i] = g(i, x)\ns = sum(x)",
    "of a comprehension": "s = sum(v * v for v in [g(i, x) if c[i] > 2 else 0.0 for i in range(n)])",
    "of two": "s = sum(g((i + j) % n, x) ** 2 for i in range(n) for j in range(3) if c[i] > c[j])",
    "a comprehension in one": "for i in range(n):\n    if c[i] > 2:\n        s = 0.5 * s + sum([g((i + j) % n, x) if c[(i + j) % n] > 0 else a for j in range(3)])",
    "all of them in one": "for i in range(n):\n    s = 0.9 * s + x[i] * x[i]\n    if i == 3:\n        s += sum([g((i + j) % n, x) if c[(i + j) % n] > 0 else a for j in range(n)])",
}
ALL = [(around, loop) for around in AROUND for loop in LOOPS]


def program(around: str, loop: str) -> at.Function:
    text = HEAD.format(indent(LOOPS[loop], " " * 8)) + f"    s = 0.0\n{indent(AROUND[around], '    ')}\n    return s\n"
    return at.fn(source=text)


def arguments(size: int) -> tuple[Any, ...]:
    g = np.random.default_rng(size)
    return g.integers(0, 5, size), g.uniform(0.2, 1.0, size), 0.3


def measured(around: str, loop: str, sizes: tuple[int, ...] = (10, 40)) -> Ratios:
    f = program(around, loop)
    return ratios(f, at.grad(f, wrt=(1, 2)), [arguments(n) for n in sizes])


def off(around: str, loop: str, size: int = 7, step: float = 1e-6) -> float:
    """How far the interpreted gradient is from a difference of values, along one direction."""
    f = program(around, loop)
    c, x, a = arguments(size)
    along = np.random.default_rng(1).normal(size=size + 1)
    dx, da = along[:-1], along[-1]
    bar_x, bar_a = at.grad(f, wrt=(1, 2)).interpret(c, x, a)
    slope = float(np.dot(bar_x, dx) + bar_a * da)
    found = (f.interpret(c, x + step * dx, a + step * da) - f.interpret(c, x - step * dx, a - step * da)) / (2 * step)
    return abs(slope - float(found)) / max(1.0, abs(slope))


def main(names: list[str]) -> None:
    for around, loop in ALL:
        if not names or around in names or loop in names:
            found = measured(around, loop)
            shown = "  ".join(f"{a:6.1f} {b:6.1f}" for a, b in zip(found.operations, found.work, strict=True))
            print(f"{around:24s} {loop:24s} {shown}   growth {found.growth:5.2f}   off {off(around, loop):.0e}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
