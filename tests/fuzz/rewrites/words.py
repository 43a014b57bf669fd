"""What templates are made of: ranges, element expressions, sizes around the blocks of the optimiser."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEAD = "import atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n@at.fn\n"
DISTANCES = (1, 2, 3, 4, 16, 17)
TINY = (0, 1, 2, 3)
AROUND = tuple(s + d for s in (4, 8, 16, 64) for d in (-1, 0, 1))


class Chooser(random.Random):
    """Chooses among ways to write a thing. The first way fits the rewrite's pattern; `plain` is how often it is taken, so that what is left of a pattern may have one condition broken."""

    plain = 0.0


@dataclass(frozen=True)
class Program:
    """A text and the sizes it is run at. `values` of integer arguments lie in low..high; places are elements of 0..n."""

    text: str
    sizes: tuple[tuple[int, int], ...]
    low: int = -9
    high: int = 9
    nan: bool = False
    patch: dict[str, int] = field(default_factory=dict)


def function(params: str, *body: str) -> str:
    return HEAD + f"def f({params}):\n" + "".join(f"    {line}\n" for text in body for line in text.split("\n"))


def sizes(r: Chooser, n: tuple[int, ...] = (*TINY, *AROUND), m: tuple[int, ...] = (*TINY, *AROUND[:9]), count: int = 5) -> tuple[tuple[int, int], ...]:
    """A few pairs: three small ones always, the rest from what is given."""
    small = r.sample(TINY, 3)
    return (*((a, r.choice(TINY)) for a in small), *((r.choice(n), r.choice(m)) for _ in range(count - 1)))


def span(r: Chooser, size: str, other: str | None = None) -> str:
    """The arguments of range over indices of an axis: whole, cut, empty, backwards, from data, from an outer index."""
    d = far(r, 4)
    ways = [size, size, f"{d}, {size}", f"{d}, {size}", f"{size} - {d}", f"{d}, {size} - {r.randrange(3)}", f"{size} - 1, -1, -1", f"({size} - {d}) // 2", f"k % 5, {size}", f"{size} - k % 5", "0", f"{size}, 2"]
    if other is not None:
        ways += [f"min({other}, {size})", f"{other} + {d}, {size}", f"{other} + {d}, {size}", f"{other} + {d}, {size}", f"{other} + 1, {size}", f"min({other} + 1, {size})", f"{other}, {size}"]
    return size if r.random() < 0.6 * r.plain else r.choice(ways)


def far(r: Chooser, count: int = 6) -> int:
    """The distance of a dependence."""
    return 1 if r.random() < r.plain else r.choice(DISTANCES[:count])


def zero(t: str) -> str:
    return f"{t}(0)"


def number(r: Chooser, t: str) -> str:
    return f"{r.choice((0.25, 0.5, 1.0, 2.0, -1.0))}" if t in ("f64", "f32") else str(r.choice((-1, 0, 1, 2, 3)))


def value(r: Chooser, t: str, leaves: list[str], depth: int = 2) -> str:
    """An expression of one dtype."""
    if depth == 0 or r.random() < 0.25:
        return r.choice([*leaves, *leaves, *leaves, number(r, t)])
    a, b = value(r, t, leaves, depth - 1), value(r, t, leaves, depth - 1)
    way = r.randrange(8)
    if way < 5:
        return f"({a} {r.choice('+-*+-')} {b})"
    if way == 5:
        return f"{r.choice(('min', 'max'))}({r.choice(leaves)}, {b})"
    if way == 6:
        return f"({a} if {r.choice(leaves)} {r.choice(('<', '>', '>='))} {number(r, t)} else {b})"
    return f"abs({r.choice(leaves)})"


def one_of(r: Chooser, *ways: str) -> str:
    return ways[0] if r.random() < r.plain else r.choice(ways)


def kind(r: Chooser) -> str:
    return one_of(r, "f64", "f64", "f64", "i64", "i64", "f32", "i32")
