"""Random imperative programs with all of Python's control flow, against Python itself.

    python -m tests.fuzz.control SEED COUNT [--compiled]

Loops of every kind (ranges with steps, elements, enumerate, zip, reversed), left by break, continue and return, with else; if, elif, match; helpers that
return from loops, called in loops and in comprehensions; updates, exchanges, whole arrays assigned to each other. The text is an Atoll
function and, by tests/oracle.py, a Python function. Every stage must agree with Python; --compiled runs compiled code too.
"""

from __future__ import annotations

import random
import sys
import warnings
from typing import Any

import numpy as np

import atoll as at
from tests.agreement import agree, flat, stages
from tests.oracle import in_python

HEAD = """import atoll as at
from atoll import i64, f64, bool_
n = at.sizes("n")

@at.fn
def f(m: bool_[n], a: i64[n], b: i64[n]):
"""


TUPLES = STEPS = True


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0
        self.rich = self.r.random() < 0.35  # whole arrays are assigned too
        self.helpers: list[str] = []
        self.result: str | None = None  # what a helper returns, inside one
        self.ints = ["i", "p", "q", "1", "3", "7"]

    def put(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    # -- expressions

    def index(self, depth: int = 0) -> str:
        return f"({self.value(depth + 1)}) % n"

    def value(self, depth: int = 0) -> str:
        r, k = self.r, self.r.random()
        if depth > 2 or k < 0.3:
            return r.choice(self.ints)
        if k < 0.58 and self.result is None:
            return f"{r.choice('ab')}[{self.index(depth)}]"
        if k < 0.66:
            return f"({self.value(depth + 1)}) % {r.choice([2, 3, 5])}"
        if k < 0.70 and self.helpers:
            return f"{r.choice(self.helpers)}({self.value(depth + 1)}, {self.index(depth)})"
        if k < 0.74:
            return f"({self.value(depth + 1)} if {self.test(2)} else {self.value(depth + 1)})"
        if k < 0.77:
            return f"min({self.value(depth + 1)}, {self.value(depth + 1)})"
        return f"({self.value(depth + 1)} {r.choice('++-*')} {self.value(depth + 1)})"

    def small(self, depth: int = 0) -> str:
        """A value that does not grow."""
        return f"({self.value(depth)}) % 101 - 50"

    def test(self, depth: int = 0) -> str:
        r, k = self.r, self.r.random()
        if k < 0.25 and self.result is None:
            return f"m[{self.index(1)}]"
        if k < 0.65 or depth >= 2:
            return f"{self.value(1)} {r.choice(['<', '>', '==', '!=', '<=', '>='])} {self.value(1)}"
        if k < 0.70 and TUPLES:
            return f"({self.value(2)}, {self.value(2)}) {r.choice(['<', '<=', '==', '>'])} ({self.value(2)}, {self.value(2)})"
        if k < 0.9:
            return f"({self.test(depth + 1)} {r.choice(['and', 'or'])} {self.test(depth + 1)})"
        return f"(not {self.test(depth + 1)})"

    # -- statements

    def block(self, level: int, depth: int, loop: bool) -> None:
        for _ in range(self.r.choice([1, 1, 2, 2, 3])):
            self.statement(level, depth, loop)

    def statement(self, level: int, depth: int, loop: bool) -> None:
        r, k = self.r, self.r.random()
        if depth < 3 and k < 0.30:
            self.if_(level, depth, loop)
        elif depth < 3 and k < 0.40:
            self.loop(level, depth)
        elif depth < 2 and k < 0.44:
            self.match(level, depth, loop)
        elif loop and k < 0.52:
            self.leave(level)
        elif self.result is not None or k < 0.62:
            self.put(level, f"{r.choice('pq')} = {self.small()}")
        elif k < 0.68:
            one, other = r.choice("ab"), r.choice("ab")
            s, t = self.name("s"), self.name("t")
            self.put(level, f"{s} = {self.index()}")
            self.put(level, f"{t} = {self.index()}")
            self.put(level, f"{one}[{s}], {other}[{t}] = {other}[{t}], {one}[{s}]")
        elif k < 0.71 and self.rich:
            one = r.choice("ab")
            self.put(level, r.choice([f"{one} = [(v + {self.value(1)}) % 50 for v in {one}]", "a, b = b, a", f"{one} = {'b' if one == 'a' else 'a'}"]))
        elif k < 0.73 and self.rich:
            self.put(level, f"old = {r.choice('ab')}")
            self.put(level, f"{r.choice('ab')}[{self.index()}] = {self.small()}")
            self.put(level, f"q = (q + old[{self.index()}]) % 99")
        elif loop and depth < 3 and k < 0.79:
            self.bound_or_left(level, depth)
        else:
            self.put(level, f"{r.choice('ab')}[{self.index()}] = {self.small()}")

    def if_(self, level: int, depth: int, loop: bool) -> None:
        self.put(level, f"if {self.test()}:")
        self.block(level + 1, depth + 1, loop)
        while self.r.random() < 0.3:
            self.put(level, f"elif {self.test()}:")
            self.block(level + 1, depth + 1, loop)
        if self.r.random() < 0.5:
            self.put(level, "else:")
            self.block(level + 1, depth + 1, loop)

    def match(self, level: int, depth: int, loop: bool) -> None:
        self.put(level, f"match ({self.value(1)}) % 3:")
        for case in ("0", "1", "_"):
            self.put(level + 1, f"case {case}:")
            self.block(level + 2, depth + 1, loop)

    def loop(self, level: int, depth: int) -> None:
        r, v = self.r, self.name("j")
        before = list(self.ints)
        if r.random() < 0.35:
            self.put(level, f"{v} = {r.choice([2, 3, 4])}")
            self.put(level, f"while {r.choice([f'{v} > 0', f'{v} > 0 and {self.test(1)}'])}:")
            self.put(level + 1, f"{v} -= 1")
            self.ints.append(v)
        else:
            w = self.name("x")
            kind = r.choice([k for k in range(7) if k not in (4, 5) or self.result is None])
            head = [
                f"for {v} in range({r.choice(['2', '3', 'abs(p) % 3', 'n % 4', 'q % 4'])}):",
                f"for {v} in range({self.value(2)} % 3, 4):",
                f"for {v} in range(3, {self.value(2)} % 3, -1):",
                f"for {v} in range(0, 6, {'abs(p) % 3 + 1' if STEPS else '2'}):",
                f"for {v}, {w} in enumerate({r.choice('ab')}):",
                f"for {v}, {w} in zip(a, b):",
                f"for {v} in reversed(range({r.choice(['2', '3', 'n % 3'])})):",
            ][kind]
            self.put(level, head)
            self.ints += [v, w] if kind in (4, 5) else [v]
        self.block(level + 1, depth + 1, True)
        self.ints = before
        if r.random() < 0.25:
            self.put(level, "else:")
            self.block(level + 1, depth + 1, False)

    def leave(self, level: int) -> None:
        self.put(level, f"if {self.test()}:")
        k = self.r.random()
        if k < 0.4:
            self.put(level + 1, "break")
        elif k < 0.75:
            self.put(level + 1, "continue")
        elif self.result is None:
            self.put(level + 1, f"return a, b, {self.small()}")
        else:
            self.put(level + 1, f"return {self.small()}")

    def bound_or_left(self, level: int, depth: int) -> None:
        """A name, perhaps an array too, that every branch binds which does not leave the round; then it is read. It may have had another value before."""
        r = self.r
        name, whole = self.name("y"), self.rich and self.result is None and r.random() < 0.4
        if r.random() < 0.3:
            name = "y0"  # the same name in other rounds and loops

        def bind(level: int) -> None:
            if whole:
                self.put(level, f"{name}, row = {self.small()}, {r.choice(['a', 'b', '[v * 2 % 31 for v in a]'])}")
            else:
                self.put(level, f"{name} = {self.small()}")

        def branch(level: int, deep: int) -> None:
            if deep < 2 and r.random() < 0.3:
                tree(level, deep + 1)
            elif r.random() < 0.4:
                if self.result is None:
                    self.block(level, 3, True)
                self.put(level, r.choice(["break", "continue", "continue", f"return {'a, b, ' if self.result is None else ''}{self.small()}"]))
            else:
                bind(level)

        def tree(level: int, deep: int) -> None:
            if r.random() < 0.2:
                self.put(level, f"match ({self.value(1)}) % 3:")
                for case in ("0", "2"):
                    self.put(level + 1, f"case {case}:")
                    branch(level + 2, deep)
                self.put(level + 1, "case _:")
                bind(level + 2)
                return
            for word in ("if", "elif", "elif")[: r.choice([1, 2, 3])]:
                self.put(level, f"{word} {self.test()}:")
                branch(level + 1, deep)
            self.put(level, "else:")
            bind(level + 1)

        if r.random() < 0.2:
            self.put(level, f"{name} = {self.small()}")
        tree(level, 0)
        before = list(self.ints)
        self.ints += [name, name]
        self.statement(level, depth + 1, True)
        if whole:
            self.put(level, f"q = (q + row[{self.index()}]) % 99")
        self.put(level, f"p = (p + {self.value(1)} * {name}) % 83")
        self.ints = before

    # -- functions

    def helper(self) -> None:
        """A local function of two integers, with loops it may return from."""
        name = self.name("h")
        saved, self.ints = self.ints, ["u", "v", "2", "5"]
        self.put(1, f"def {name}(u: i64, v: i64) -> i64:")
        self.put(2, "p = u % 7")
        self.put(2, "q = v % 5")
        self.ints += ["p", "q"]
        self.result = "int"
        self.loop(2, 1)
        self.put(2, f"return {self.small()}")
        self.result = None
        self.ints = saved
        self.helpers.append(name)

    def text(self) -> str:
        if self.r.random() < 0.3:
            self.helper()
        self.put(1, "p = 0")
        self.put(1, "q = 1")
        kind = self.r.random()
        if kind < 0.6:
            self.put(1, "for i in range(n):")
        elif kind < 0.8:
            self.put(1, "for i, x0 in enumerate(a):")
            self.ints.append("x0")
        else:
            self.put(1, "i = -1")
            self.put(1, "while i < n - 1:")
            self.put(2, "i += 1")
        self.block(2, 0, True)
        self.statement(2, 0, True)
        if self.r.random() < 0.3:
            self.put(1, "else:")
            self.ints = ["p", "q", "2"]
            self.put(2, f"p = {self.small()}")
        if self.helpers and self.r.random() < 0.6:
            self.put(1, f"b = [{self.helpers[0]}(v, k) for k, v in enumerate(b)]")
        self.put(1, "return a, b, p + q")
        return HEAD + "\n".join(self.lines) + "\n"


def program(seed: int) -> str:
    return Writer(seed).text()


def arguments(seed: int, size: int) -> tuple[Any, ...]:
    g = np.random.default_rng((seed, size))
    return g.random(size) < 0.5, g.integers(0, 9, size), g.integers(0, 9, size)


def wrong(seed: int, sizes: tuple[int, ...] = (1, 2, 3, 5, 8), compiled: bool = False) -> str | None:
    """What is wrong with a program: nothing when every stage agrees with Python, None when it is refused."""
    text = program(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            f = at.fn(source=text)
            f.core  # noqa: B018
        except at.Error as error:
            return None if error.code in REFUSED else f"seed {seed}: {error}\n{text}"
        reference = in_python(text, "f")
        try:
            for size in sizes:
                args = arguments(seed, size)
                reference.__globals__["n"] = size
                expected = [np.asarray(x) for x in reference(*args)]
                found = [np.asarray(x) for x in flat(agree(f, *args, compiled=compiled))]
                if any(x.shape != y.shape or not np.array_equal(x, y) for x, y in zip(found, expected, strict=True)):
                    return f"seed {seed}, size {size}: differs from Python\n{text}"
        except Exception as error:  # noqa: BLE001  whatever goes wrong is what is looked for
            return f"seed {seed}, size {size}: {type(error).__name__}: {str(error)[:300]}\n{text}"
        finally:
            stages.cache_clear()
    return ""


def wrong_compiled(seed: int, sizes: tuple[int, ...] = (1, 2, 3, 5, 8)) -> str | None:
    """The same question of compiled code alone, which takes a quarter of the time."""
    text = program(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            f = at.fn(source=text)
            f.core  # noqa: B018
        except at.Error as error:
            return None if error.code in REFUSED else f"seed {seed}: {error}\n{text}"
        reference = in_python(text, "f")
        for size in sizes:
            args = arguments(seed, size)
            reference.__globals__["n"] = size
            try:
                found = [np.asarray(x) for x in flat(f.compile().call(*args))]
            except Exception as error:  # noqa: BLE001  whatever goes wrong is what is looked for
                return f"seed {seed}, size {size}: {type(error).__name__}: {str(error)[:300]}\n{text}"
            expected = [np.asarray(x) for x in reference(*args)]
            if any(x.shape != y.shape or not np.array_equal(x, y) for x, y in zip(found, expected, strict=True)):
                return f"seed {seed}, size {size}: differs from Python\n{text}"
    return ""


REFUSED = {"E0110"}  # a name that only some paths bind


def main() -> int:
    start, count = int(sys.argv[1]), int(sys.argv[2])
    bad = refused = 0
    for seed in range(start, start + count):
        found = wrong(seed, compiled="--compiled" in sys.argv)
        refused += found is None
        if found:
            bad += 1
            print(found, flush=True)
        if (seed - start) % 25 == 24:
            print(f"{seed - start + 1} programs", flush=True)
    print(f"{count} programs, {refused} refused, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
