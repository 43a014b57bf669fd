"""Random programs whose arrays change places: python -m tests.control.exchanging FIRST COUNT

Loops, branches, `while`, `break` and `continue` around updates of three arrays and exchanges of two or three of them; Python runs the same text.
"""

from __future__ import annotations

import random
import sys
import warnings
from textwrap import indent
from typing import Any

import numpy as np

import atoll as at
from tests.agreement import agree, stages
from tests.control.count import growth
from tests.oracle import in_python

HEAD = """import atoll as at
from atoll import i64, bool_
n = at.sizes("n")
@at.fn
def f(m: bool_[n], a: i64[n], b: i64[n], c: i64[n]):
    s = 0
"""


class _Program:
    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.loops = 0

    def place(self) -> str:
        return self.r.choice(["i", "(i * 3 + 1) % n", "(i + s) % n", "n - 1 - i"])

    def simple(self) -> str:
        r = self.r
        one, other, third = r.sample(["a", "b", "c"], 3)
        return r.choice([
            f"{one}, {other} = {other}, {one}",
            f"{one}, {other}, {third} = {other}, {third}, {one}",
            f"{one}[{self.place()}] = {other}[{self.place()}] + s",
            f"{one}[{self.place()}] += {third}[{self.place()}] % 5",
            f"s = (s + {one}[{self.place()}]) % 11",
        ])  # fmt: skip

    def test(self) -> str:
        one, other = self.r.sample(["a", "b", "c"], 2)
        return self.r.choice(["m[i]", f"{one}[i] > {other}[n - 1 - i]", f"s % 3 == {self.r.randrange(3)}", f"not m[i] or {one}[{self.place()}] > 4"])

    def block(self, depth: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.r.randint(1, 3)))

    def statement(self, depth: int) -> str:
        r = self.r
        kind = r.random()
        if depth == 0 or kind < 0.45:
            return self.simple()
        inside = indent(self.block(depth - 1), "    ")
        if kind < 0.75:
            text = f"if {self.test()}:\n{inside}"
            if r.random() < 0.3:
                text += f"\nelif {self.test()}:\n{indent(self.block(depth - 1), '    ')}"
            return text + (f"\nelse:\n{indent(self.block(depth - 1), '    ')}" if r.random() < 0.5 else "")
        self.loops += 1
        if kind < 0.87:
            leave = f"\n    if {self.test()}:\n        {r.choice(['break', 'continue'])}" if r.random() < 0.4 else ""
            return f"for k{self.loops} in range({r.randint(1, 3)}):{leave}\n{inside}"
        return f"t{self.loops} = 0\nwhile t{self.loops} < {r.randint(1, 3)} and s != 7:\n    t{self.loops} += 1\n{inside}"

    def text(self) -> str:
        leave = f"if s == 10 and i > n - 3:\n    {self.r.choice(['break', 'return b, a, c, s'])}\n" if self.r.random() < 0.4 else ""
        body = indent(leave + self.block(3), " " * 8)
        results = self.r.choice(["a, b, c, s", "a, s", "c, a, s", "b, c, a, s"])
        results = "a, b, c, s" if "return" in leave else results
        return f"{HEAD}    for i in range(n):\n{body}\n    return {results}\n"


def program(seed: int) -> str:
    return _Program(seed).text()


def arguments(size: int) -> tuple[Any, ...]:
    g = np.random.default_rng(size)
    return g.random(size) < 0.6, *(g.integers(0, 9, size) for _ in range(3))


def hold(seed: int, compiled: bool = False) -> None:
    """Right at every stage, and as many bytes a round whatever the size."""
    text = program(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = at.fn(source=text)
    reference = in_python(text, "f")
    for size in (0, 1, 2, 3, 8, 13):
        reference.__globals__["n"] = size
        expected = tuple(np.int64(x) if isinstance(x, (int, np.integer)) else x for x in reference(*arguments(size)))
        agree(f, *arguments(size), expected=expected, compiled=compiled and size == 13)
    grown = growth(f, arguments, (24, 96))[0]
    assert grown < 8, (grown, text)  # four times the rounds; sixteen where a round costs the array
    stages.cache_clear()


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:3])
    wrong = 0
    for seed in range(first, first + count):
        try:
            hold(seed, compiled=seed % 10 == 0)
        except BaseException as error:  # noqa: BLE001  told, and the next one
            wrong += 1
            print(seed, type(error).__name__, str(error)[:1500], flush=True)
    print(f"{count} programs, {wrong} wrong or dear")
    sys.exit(wrong > 0)
