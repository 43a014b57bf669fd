"""Random programs of the imperative kind: nested loops that update and make anew a few arrays, read by Python and NumPy themselves as well.

    python -m tests.fuzz.imperative SEED COUNT

Every program is text that is both an Atoll function and, with arrays copied where they are bound, a Python function: so the reference is
Python. The other generator makes many kinds of values; this one makes state that goes round in loops inside loops, which is where
memory is exchanged, updated in place and taken over. It grew from the programs of somebody who had only read the documentation.
"""

from __future__ import annotations

import random
import re
import sys
from typing import Any

import numpy as np

import atoll as at

HEAD = """import atoll as at
from atoll import i64
n = at.sizes("n")
def f(a: i64[n], b: i64[n], c: i64[n], m: i64[n, n], s: i64, t: i64):
"""
ARRAYS = ("a", "b", "c")


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.loops = 0

    def text(self) -> list[str]:
        return [line for _ in range(self.r.randrange(2, 6)) for line in self.statement([], 3, 1)]

    def block(self, names: list[str], depth: int, level: int) -> list[str]:
        return [line for _ in range(self.r.randrange(1, 4)) for line in self.statement(names, depth, level)]

    def statement(self, names: list[str], depth: int, level: int) -> list[str]:
        pad, one, other = "    " * level, self.r.choice(ARRAYS), self.r.choice(ARRAYS)
        i, j = self.index(names), self.index(names)
        kind = self.r.randrange(17)
        if kind >= 13 and depth > 0:
            return self.compound(names, depth, level)
        assign = self.r.choice(["=", "+=", "-="])
        swapped = f"{one}[{i}], {one}[{j}] = {one}[{j}], {one}[{i}]"
        part = f"{one}[1:] = {other}[:-1]" if self.r.random() < 0.5 else f"{one}[1:] += {other}[:-1] * {self.leaf(names)}"
        whole = self.r.choice(["m.T", "m + m.T", "[[m[q, w] - m[w, q] for w in range(n)] for q in range(n)]", "reverse(m)"])
        made = {
            0: f"{one} = {self.array(names)}",
            1: f"{one} = {self.array(names)}",
            2: f"{self.r.choice('st')} {self.r.choice(['=', '+='])} {self.value(names)}",
            3: f"m[{i}, {j}] {assign} {self.value(names)}",
            4: f"m[{i}] = {self.array(names)}",
            5: f"m[:, {i}] {self.r.choice(['=', '+='])} {self.array(names)}",
            6: swapped,
            7: part,
            8: f"m[{i}], m[{j}] = m[{j}], m[{i}]",
            9: f"m = {whole}",
            10: f"{one}, {other} = {self.array(names)}, {self.array(names)}" if one != other else f"{one}, s = {self.array(names)}, {self.value(names)}",
        }.get(kind, f"{one}[{i}] {assign} {self.value(names)}")
        return [pad + made]

    def compound(self, names: list[str], depth: int, level: int) -> list[str]:
        pad = "    " * level
        if self.r.random() < 0.35:
            lines = [f"{pad}if {self.test(names)}:", *self.block(names, depth - 1, level + 1)]
            return [*lines, f"{pad}else:", *self.block(names, depth - 1, level + 1)] if self.r.random() < 0.6 else lines
        self.loops += 1
        name = f"i{self.loops}"
        ranges = ["n", "1, n", "n - 1", "3", "n - 1, -1, -1", *([f"{names[-1]}", f"{names[-1]}, n"] if names else [])]
        chosen = self.r.choice(ranges)
        known = names if chosen == "3" else [*names, name]  # rounds that are no indices
        return [f"{pad}for {name} in range({chosen}):", *self.block(known, depth - 1, level + 1)]

    # -- expressions

    def index(self, names: list[str]) -> str:
        if names and self.r.random() < 0.7:
            name = self.r.choice(names)
            return self.r.choice([name, name, f"({name} + {self.r.randrange(1, 4)}) % n", f"n - 1 - {name}"])
        return self.r.choice(["0", "-1", "s % n", "(s + t) % n", "n // 2"])

    def leaf(self, names: list[str]) -> str:
        return self.r.choice(["s", "t", "3", "1", "n", *names])

    def value(self, names: list[str], depth: int = 2) -> str:
        kind = self.r.randrange(9)
        if depth == 0 or kind < 2:
            return self.leaf(names)
        if kind < 5:
            return f"{self.r.choice(ARRAYS)}[{self.index(names)}]"
        if kind == 5:
            return f"m[{self.index(names)}, {self.index(names)}]"
        if kind == 6:
            return f"({self.value(names, depth - 1)} {self.r.choice('+-*&|')} {self.value(names, depth - 1)})"
        if kind == 7:
            return f"({self.value(names, depth - 1)} if {self.test(names)} else {self.value(names, depth - 1)})"
        array = self.r.choice(ARRAYS)
        return self.r.choice([f"sum({array})", f"max({array})", f"sum({array}[q] * m[q, {self.index(names)}] for q in range(n))"])

    def test(self, names: list[str]) -> str:
        return f"{self.value(names, 1)} {self.r.choice(['<', '>', '==', '!=', '<='])} {self.value(names, 1)}"

    def array(self, names: list[str]) -> str:
        one, other = self.r.choice(ARRAYS), self.r.choice(ARRAYS)
        kinds = [
            one,
            f"{one} + {other}",
            f"{one} * {self.leaf(names)}",
            f"[{one}[q] - {other}[n - 1 - q] for q in range(n)]",
            f"m[{self.index(names)}]",
            f"m[:, {self.index(names)}]",
            f"reverse({one})",
            f"rotate({one}, {self.r.randrange(3)})",
            f"scan(add, 0, {one})",
            f"where({one} > {other}, {one}, {other})",
            f"concat({one}[1:], {other}[:1])",
            f"[v * v + {self.leaf(names)} for v in {one}]",
            f"[{self.value([*names, 'q'], 1)} for q in range(n)]",
        ]
        return self.r.choice(kinds)


def program(seed: int) -> str:
    return HEAD + "\n".join(Writer(seed).text()) + "\n    return a, b, c, m, s, t\n"


# -- the reference


def _python(text: str) -> Any:
    """The program as Python, where arrays are values: whatever is bound or stored is copied first."""
    lines = ["def f(a, b, c, m, s, t):", "    n = len(a)"]
    for line in text.splitlines()[4:]:
        found = re.match(r"(\s*)(.*?) (=|\+=|-=) (.*)$", line)
        if found and not line.lstrip().startswith(("if ", "for ", "return")):
            pad, target, sign, value = found.groups()
            line = f"{pad}{target} {sign} own(({value}))"
        lines.append(line)
    own = lambda v: tuple(np.array(x) for x in v) if isinstance(v, tuple) else np.array(v)
    names: dict[str, Any] = {
        "own": own,
        "reverse": lambda x: np.asarray(x)[::-1].copy(),
        "rotate": lambda x, k: np.roll(x, -k),
        "scan": lambda _, __, x: np.cumsum(x),
        "add": None,
        "where": np.where,
        "concat": lambda *x: np.concatenate(x),
    }
    exec("\n".join(lines), names)  # noqa: S102  the text is our own
    return names["f"]


def arguments(seed: int, size: int) -> list[Any]:
    g = np.random.default_rng(seed + size)
    return [*(g.integers(-9, 9, size) for _ in range(3)), g.integers(-9, 9, (size, size)), *(np.int64(g.integers(0, 9)) for _ in range(2))]


def wrong(seed: int, sizes: tuple[int, ...] = (1, 2, 5)) -> str | None:
    """What is wrong with a program: nothing when it is right everywhere, None when it is refused."""
    text = program(seed)
    try:
        f = at.fn(source=text)
        f.type  # noqa: B018
    except at.Error:
        return None
    reference = _python(text)
    for size in sizes:
        args = arguments(seed, size)
        with np.errstate(all="ignore"):
            expected = [np.asarray(x) for x in reference(*(np.array(x) if x.ndim else x for x in args))]
        for name, run in (("interpreter", f.interpret), ("compiled", f)):
            found = [np.asarray(x) for x in run(*args)]
            if any(x.shape != y.shape or not np.array_equal(x, y) for x, y in zip(found, expected, strict=True)):
                return f"seed {seed}, size {size}: the {name} differs from Python\n{text}"
    return ""


def main() -> int:
    start, count = int(sys.argv[1]), int(sys.argv[2])
    bad = refused = 0
    for seed in range(start, start + count):
        found = wrong(seed)
        refused += found is None
        if found:
            bad += 1
            print(found, flush=True)
    print(f"{count} programs, {refused} refused, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
