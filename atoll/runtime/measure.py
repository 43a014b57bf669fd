"""Sizes and indices inside data that comes from Python: an array in a list of f64[n] must have size n.

What an ordinary argument says is found by core/binding.py. Arrays and indices inside unions define nothing; they are measured while they
are written and checked when the sizes are known. A size of a record's own (at.some) is one number for each record.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from atoll.core import ir as core
from atoll.core import values as v
from atoll.core.binding import bind_call
from atoll.core.interpret_data import Data
from atoll.errors import fail
from atoll.sizes import Poly, Sym
from atoll.sizes.declare import is_some
from atoll.types.types import Array, Index, Type, Union, flatten, shape_of


class Where:
    """A place in an argument: `xs[2].name`, made into text only when there is something to say about it."""

    __slots__ = ("around", "name")

    def __init__(self, name: str, around: Where | str | None = None) -> None:
        self.name, self.around = name, around

    def __str__(self) -> str:
        names: list[str] = []
        at: Where | str | None = self
        while isinstance(at, Where):
            names.append(at.name)
            at = at.around
        text, tails = str(at or ""), 0
        for name in reversed(names):
            if name == "tail":
                tails += 1
            elif name == "head":
                text, tails = f"{text}[{tails}]", 0
            else:
                text, tails = f"{text}{'.tail' * tails}.{name}", 0
        return text + ".tail" * tails


Part = tuple[Type, Any, Any]  # a leaf's type, its value, and what the user calls it (a text or a Where)


@dataclass(slots=True)
class Measured:
    """What was found: extents of axes, and the least and greatest of indices."""

    name: str
    extents: list[tuple[Poly, int, tuple[Any, int]]] = field(default_factory=list)
    indices: list[tuple[Poly, int, int, Any]] = field(default_factory=list)

    def record(self, parts: Iterable[Part]) -> None:
        """The leaves of one record."""
        own: dict[Any, int] = {}
        later: list[tuple[Poly, int, tuple[Any, int]]] = []
        for t, x, where in parts:
            sizes, elem = shape_of(t)
            for axis, (size, extent) in enumerate(zip(sizes, np.shape(x), strict=False)):
                place = (where, axis)
                sym = size.single()
                if sym is not None and is_some(sym):
                    if own.setdefault(sym, extent) != extent:
                        fail("E0601", name=self.name, text=f"{_words(place)} is {extent}, but {sym} is {own[sym]} in the same record")
                elif any(is_some(leaf) for leaf in size.leaves()):
                    later.append((size, extent, place))
                else:
                    self.extents.append((size, int(extent), place))
            if isinstance(elem, Index):
                self.index(elem.size, x, where)
        for size, extent, place in later:
            if any(leaf not in own for leaf in size.leaves()) or size.evaluate(own) != extent:
                fail("E0601", name=self.name, text=f"{_words(place)} is {extent}, which is not {size}")

    def index(self, size: Poly, x: Any, where: Any) -> None:
        if np.size(x):
            self.indices.append((size, int(np.min(x)), int(np.max(x)), where))

    def check(self, fn: core.Function, sizes: dict[Sym, int], values: tuple[Any, ...]) -> None:
        """Compare with the sizes the other arguments say."""
        if not self.extents and not self.indices:
            return
        env: dict[Any, int] = dict(sizes)
        env.update({sym: int(x) for (sym, _), x in zip(fn.params, values, strict=True) if isinstance(x, np.integer)})
        for size, extent, place in self.extents:
            if size.evaluate(env) != extent:
                known = ", ".join(f"{leaf} is {env[leaf]}" for leaf in size.leaves())
                text = f"{_words(place)} is {extent}, but {size} is {size.evaluate(env)}" + (f" ({known})" if size.single() is None and known else "")
                fail("E0601", name=self.name, text=text)
        for size, low, high, where in self.indices:
            n = size.evaluate(env)
            if low < 0 or high >= n:
                fail("E0604", name=self.name, arg=str(where), value=low if low < 0 else high, size=n, shown=f"idx[{size}]")


def _words(place: tuple[Any, int]) -> str:
    return f"argument {place[0]} (axis {place[1]})"


def measure_values(fn: core.Function, values: tuple[Any, ...]) -> None:
    """The same check on the interpreter's values."""
    measured = Measured(fn.name)
    todo: list[tuple[Union, Data, Any]] = []

    def unions(t: Type, value: Any, where: Any) -> list[Part]:
        parts = [(leaf, x, where) for (_, leaf), x in zip(flatten(t), v.leaves(value), strict=True)]
        todo.extend((leaf, x, where) for leaf, x, _ in parts if isinstance(leaf, Union))
        return [p for p in parts if not isinstance(p[0], Union)]

    for (sym, t), value in zip(fn.params, values, strict=True):
        unions(t, value, sym.name)
    while todo:
        t, x, where = todo.pop()
        member = t.decl.member(t, x.member)
        parts = []
        for name, item, part in zip(member.decl.fields, member.items, x.fields, strict=True):
            parts += unions(item, part, Where(name, where))
        measured.record(p for p in parts if isinstance(p[0], (Array, Index)))
    if measured.extents or measured.indices:
        measured.check(fn, bind_call(fn, values), values)
