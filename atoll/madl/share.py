"""Locals whose lifetimes do not meet lie in one memory: what a C compiler does for scalars, it does not do for arrays.

A local array lives from the first statement of its body that mentions it to the last one. Arrays of one element type that agree in all extents but the first can take
each other's place; the first one that lives gives the name, the longest the length. Nothing else changes: the loops, and what the oracle has checked, stay as they are, because a local
has no value before it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from atoll.loops import ir as lp
from atoll.madl.lowered import Invoke


@dataclass(slots=True)
class Sharing:
    """`home` says in whose memory a buffer lies, `rows` how long the memory of a home is."""

    home: dict[lp.Buffer, lp.Buffer] = field(default_factory=dict)
    rows: dict[lp.Buffer, int] = field(default_factory=dict)

    def bytes(self, body: list[Any]) -> int:
        """What the locals of a body take."""
        total = 0
        for stmt in body:
            if isinstance(stmt, lp.Alloc) and stmt.buffer not in self.home:
                b = stmt.buffer
                lengths = [n.const() or 0 for n in b.extents]
                if b in self.rows:
                    lengths[0] = self.rows[b]
                size = b.dtype.numpy.itemsize
                for length in lengths:
                    size *= length
                total += size
        return total


def share(body: list[Any]) -> Sharing:
    """The sharing in a body and the bodies inside it."""
    found = Sharing()
    _share(body, found)
    return found


def _share(body: list[Any], found: Sharing) -> None:
    mentions = [set(buffers(stmt)) if not isinstance(stmt, lp.Alloc) else set() for stmt in body]
    groups: list[tuple[lp.Buffer, int]] = []  # home, the last statement that mentions one of its buffers
    lives = []
    for number, stmt in enumerate(body):
        if isinstance(stmt, lp.Alloc) and _can(stmt.buffer):
            used = [k for k, names in enumerate(mentions) if stmt.buffer in names]
            if used:
                lives.append((used[0], number, used[-1], stmt.buffer))
    for first, _, last, b in sorted(lives, key=lambda life: life[:3]):
        free = [k for k, (home, until) in enumerate(groups) if until < first and _alike(home, b)]
        if not free:
            groups.append((b, last))
            continue
        rows = _rows(b)
        best = min(free, key=lambda k: (abs(found.rows.get(groups[k][0], _rows(groups[k][0])) - rows), k))
        home = groups[best][0]
        found.home[b] = home
        found.rows[home] = max(rows, found.rows.get(home, _rows(home)))
        groups[best] = (home, last)
    for stmt in body:
        if isinstance(stmt, (lp.For, lp.If)):
            for inner in lp.bodies(stmt):
                _share(list(inner), found)


def _can(b: lp.Buffer) -> bool:
    return b.local and bool(b.extents) and all((n.const() or 0) > 0 for n in b.extents)


def _alike(a: lp.Buffer, b: lp.Buffer) -> bool:
    return a.dtype is b.dtype and len(a.extents) == len(b.extents) and a.extents[1:] == b.extents[1:]


def _rows(b: lp.Buffer) -> int:
    return b.extents[0].const() or 0


def buffers(x: Any) -> Iterator[lp.Buffer]:
    """Every buffer that a statement or expression mentions."""
    if isinstance(x, lp.Buffer):
        yield x
    elif isinstance(x, (list, tuple)):
        for item in x:
            yield from buffers(item)
    elif isinstance(x, Invoke):
        yield from (a.buffer for a in x.args)
    elif is_dataclass(x) and not isinstance(x, type):
        for f in fields(x):
            yield from buffers(getattr(x, f.name))
