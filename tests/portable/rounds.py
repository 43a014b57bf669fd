"""Random sums whose rounds need memory of their own, with bits="portable": python -m tests.portable.rounds FIRST COUNT

A round sorts, scans, counts, fills and updates arrays, repeats until something holds, and adds up other rounds of the same kind, so that what is allocated, called and left early
stands inside sums that are cut into blocks, and inside sums inside these. Every way of computing it gives the same bytes.
"""

from __future__ import annotations

import random
import sys
import warnings
from textwrap import indent
from typing import Any

import numpy as np

import atoll as at
from tests.portable.corpus import outcome

WAYS = ("as usual", "-O0", "emulated", "interpreter")
SIZES = ((1, 1, 1), (5, 3, 2), (300, 2, 3), (2, 3, 280))  # of x: rows and columns, and rows of y

HEAD = """import atoll as at
from atoll import f32, f64, i64
n, m, k = at.sizes("n m k")
@at.fn(bits="portable")
"""


class _Program:
    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.type = self.r.choice(["f64", "f64", "f32"])
        self.made = 0

    def name(self, of: str) -> str:
        self.made += 1
        return f"{of}{self.made}"

    def number(self, v: str, scalars: list[str]) -> str:
        """Of an array and what is known, a number."""
        r = self.r
        whole = r.choice([f"sum({v})", f"max({v})", f"min({v})", f"sum(exp(0.1 * e) for e in {v})", f"sum(e * e for e in {v} if e > 0.25)", f"{v}[m - 1]", f"prod(1.0 + 0.01 * {v})"])
        return f"{whole} * {r.choice(scalars)}" if scalars and r.random() < 0.4 else whole

    def array(self, v: str, w: str, scalars: list[str]) -> str:
        """Statements that make an array of two others."""
        r, t = self.r, self.name("t")
        self.last = t
        by = r.choice([*scalars, "0.5"])
        return r.choice([
            f"{t} = [{v}[j] * {by} + {w}[m - 1 - j] for j in range(m)]",
            f"{t} = sort({v})",
            f"{t} = scan(add, {self.type}(0.0), {v})",
            f"{t} = [sum({v}[l] * {w}[j] for l in range(m) if l >= j) for j in range(m)]",
            f"{t} = zeros(m, {self.type})\nfor j in range(m):\n    {t}[(j * 2 + 1) % m] += {v}[j] * {by}",
            f"{t} = copy({v})\nfor j in range(1, m):\n    {t}[j] = {t}[j - 1] * 0.5 + {w}[j]",
            f"{t} = copy({v})\nsteps = 0\nwhile steps < 3 and max({t}) > 0.1:\n    {t} = [e * 0.5 - {by} * 0.01 for e in {t}]\n    steps += 1",
            f"{t} = {v} - max({v})",
        ])  # fmt: skip

    def round(self, depth: int, v: str, around: list[str], scalars: list[str]) -> tuple[str, str]:
        """Statements, and the number that they make of the row v."""
        r, arrays, known, out = self.r, [v, *around], list(scalars), []
        for _ in range(r.randint(1, 3)):
            out.append(self.array(r.choice(arrays), r.choice(arrays), known))
            arrays.append(self.last)
            s = self.name("s")
            if depth > 0 and r.random() < 0.5:
                f, row = self.name("inner"), self.name("row")
                body, found = self.round(depth - 1, row, arrays[-2:], known)
                out.append(f"def {f}({row}):\n{indent(body, '    ')}\n    return {found}")
                out.append(f"{s} = {r.choice(['sum', 'sum', 'max'])}({f}({row}) for {row} in y)")
            else:
                out.append(f"{s} = {self.number(self.last, known)}")
            known.append(s)
        return "\n".join(out), f"{known[-1]} + {self.number(r.choice(arrays[1:]), known)}"

    def text(self) -> str:
        r = self.r
        body, found = self.round(2, "row", [], [])
        results = [f"{r.choice(['sum', 'sum', 'sum', 'max', 'min'])}(point(row) for row in x{r.choice(['', '', ' if row[0] > 0.3'])})"]
        if "if row" in results[0]:
            results[0] = "sum" + results[0][3:]
        if r.random() < 0.3:
            results.append("sum(point(row) * row[0] for row in x)")
        types = ", ".join([self.type] * len(results))
        return (
            f"{HEAD}def f(x: {self.type}[n, m], y: {self.type}[k, m]) -> {f'({types})' if len(results) > 1 else types}:\n"
            f"    def point(row):\n{indent(body, ' ' * 8)}\n        return {found}\n    return {', '.join(results)}\n"
        )


def program(seed: int) -> tuple[str, str]:
    """Its text and the type of its numbers."""
    made = _Program(seed)
    return made.text(), made.type


def arguments(dtype: str, sizes: tuple[int, int, int]) -> list[Any]:
    n, m, k = sizes
    g = np.random.default_rng(sum(sizes))
    return [g.random((rows, m)).astype(dtype.replace("f", "float")) for rows in (n, k)]


def wrong(seed: int, ways: tuple[str, ...] = WAYS) -> str:
    """What is wrong with it; nothing if nothing is."""
    text, dtype = program(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = at.fn(source=text)
    for sizes in SIZES:
        args = arguments(dtype, sizes)
        expected = outcome(ways[0], f, args)
        if expected[0] != "value":
            return f"{expected} at {sizes}\n{text}"
        for way in ways[1:]:
            if (found := outcome(way, f, args)) != expected:
                return f"{way} at {sizes}: {found[0]} {found[1] if found[0] == 'error' else ''}\n{text}"
    return ""


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:3])
    bad = 0
    for seed in range(first, first + count):
        try:
            told = wrong(seed)
        except Exception as error:  # noqa: BLE001  finding those is the purpose
            told = f"{type(error).__name__}: {error}\n{program(seed)[0]}"
        if told:
            bad += 1
            print(seed, told[:2500], flush=True)
    print(f"{count} programs, {bad} wrong")
    sys.exit(bad > 0)
