"""Every way of standing in a loop times every kind of update, on floats: the gradients of the shapes of tests/control/product.py.

A loop that updates places must not be followed back by copies of what it updates: its reverse sweep grows as it does.

    python -m tests.cost.control     the table of all of them
"""

from __future__ import annotations

import sys
from textwrap import indent
from typing import Any

import numpy as np

import atoll as at
from atoll.ad.api import _reverse
from tests.cost.ratio import Ratios, counts

HEAD = """import atoll as at
from atoll import i64, f64, bool_
n = at.sizes("n")

@at.fn
def f(m: bool_[n], c: i64[n], a: f64[n], b: f64[n]):
    p = 0
"""
UPDATES = {
    "put": "a[i] = sin(b[i]) + p",
    "add": "a[j] += b[i] * b[i]",
    "read beside": "a[i] = a[j] * b[i]",
    "exchange": "a[i], a[j] = a[j] * 0.5, a[i]",
    "two arrays": "a[j], b[i] = b[j] * a[i], a[i]",
    "push": "b[p % n] = a[i] * a[i]\np += 1",
    "twice": "a[j] = b[i] * a[i]\na[i] = a[j] * 1.5",
    "slice": "a[i : i + 1] = b[i : i + 1] * a[i : i + 1]",
}
AROUND = {
    "if": "if m[i]:\n    {}",
    "if else": "if m[i]:\n    {}\nelse:\n    b[i] = 1.0\n    p += 1",
    "in else": "if m[i]:\n    p += c[i]\nelse:\n    {}",
    "if in if": "if m[i]:\n    if a[i] > 0.3:\n        {}",
    "else in if": "if m[i]:\n    if a[i] > 0.3:\n        a[j] = 2.0\n    else:\n        {}\n        p += 2",
    "elif": "if m[i]:\n    a[i] = 3.0\nelif c[j] % 2 == 0:\n    {}\nelif b[i] > 0.2:\n    b[j] = a[i]\nelse:\n    a[j] -= 1.0",
    "match": "match i % 3:\n    case 0:\n        a[i] = 1.0\n    case 1:\n        {}\n    case _:\n        if m[i]:\n            b[i] = 3.0",
    "and or": "if m[i] and a[i] > 0.1 or b[j] < 0.2:\n    {}",
    "two ifs": "if m[i]:\n    {}\nif a[i] < b[j]:\n    {}",
    "for in if": "if m[i]:\n    for k in range(2):\n        j = (j + k) % n\n        {}",
    "while in if": "if m[i]:\n    k = 0\n    while k < 3 and c[(i + k) % n] > 2:\n        {}\n        k += 1",
    "if in while": "k = 2\nwhile k > 0:\n    if m[(i + k) % n]:\n        {}\n    k -= 1",
    "if in for in if": "if m[i]:\n    for k in range(c[i] % 3):\n        if b[j] > k:\n            {}\n        else:\n            b[(j + k) % n] += 1.0",
    "flag": "ok = m[i]\nif ok:\n    ok = a[j] > 0.2\nif ok:\n    {}",
    "continue": "if m[i]:\n    continue\n{}",
    "break": "if c[i] == 8 and i > 2 * n // 3:\n    break\n{}",
    "break in while": "k = 0\nwhile True:\n    if k > 2 or c[(i + k) % n] > 5:\n        break\n    {}\n    k += 1",
}
ALL = [(around, update) for around in AROUND for update in UPDATES]


def program(around: str, update: str) -> str:
    """The text of one program."""
    lines = []
    for line in AROUND[around].split("\n"):
        pad = " " * (len(line) - len(line.lstrip()))
        lines.append(indent(UPDATES[update], pad) if line.strip() == "{}" else line)
    inside = indent("j = (c[i] * 3 + i) % n\n" + "\n".join(lines), " " * 8)
    return f"{HEAD}    for i in range(n):\n{inside}\n    return a, b\n"


def arguments(size: int) -> tuple[Any, ...]:
    g = np.random.default_rng(size)
    return g.random(size) < 0.6, g.integers(0, 9, size), g.normal(size=size), g.normal(size=size)


def measured(around: str, update: str, sizes: tuple[int, ...] = (12, 24, 48)) -> Ratios:
    """The reverse derivative beside the function."""
    f = at.fn(source=program(around, update))
    g = _reverse(f, "vjp")
    pairs = [(counts(f, arguments(n)), counts(g, (*arguments(n), (np.ones(n), np.ones(n))))) for n in sizes]
    return Ratios(tuple(y.operations / max(x.operations, 1) for x, y in pairs), tuple(y.work / max(x.work, 1) for x, y in pairs))


def main(names: list[str]) -> None:
    for around, update in ALL:
        if not names or around in names or update in names:
            found = measured(around, update)
            shown = "  ".join(f"{x:5.1f} {w:5.1f}" for x, w in zip(found.operations, found.work, strict=True))
            print(f"{around:18s} {update:14s} {shown}   growth {found.growth:5.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
