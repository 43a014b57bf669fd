"""Loops over rows cut along their columns too: the same statements, kept to a range of one more axis of what they write.

    for i in i_lo..i_hi:                       for i in i_lo..i_hi:
      for j in 0..m:              becomes        for j in max(0, m_lo)..min(m, m_hi):
        y[i, j] = v(i, j)                          y[i, j] = v(i, j)

Only loops whose rounds are independent are made shorter; a store that no such loop is around gets a test. Each element is computed as it was, so bits stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from atoll.distribute.blocks import apart
from atoll.distribute.footprint import Touched, arrays_made, bytes_of_touched, touched
from atoll.distribute.pieces import grouped, is_free, units
from atoll.distribute.ranges import Interval
from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64

if TYPE_CHECKING:
    from atoll.distribute.trace import Tracer


@dataclass(frozen=True)
class Columns:
    """An axis after the first that is cut: its size, the symbols of a range of it, the ranges."""

    size: str
    low: Sym
    high: Sym
    ranges: tuple[tuple[int, int], ...]


def tiled(t: Tracer, s: lp.Chunks, extent: int, work: int, by_rows: int) -> bool:
    """Rows and columns cut at the same time, where the loop allows it and not much more is touched than by rows alone (`by_rows` bytes). Says whether it was done."""
    if s.accs or not is_free(s):
        return False
    body, columns = columns_of(t, s)
    if not columns:
        return False
    grid = dict(t.settings.grid)
    own = next((size for size in grid if _names(s.extent, size)), None)
    rows = grid[own] if own is not None else 1 if t.settings.over is not None else max(1, t.settings.parts // prod(len(c.ranges) for c in columns))
    cuts = units(s, extent, work)
    groups = grouped(cuts, max(1, min(rows, len(cuts))))
    found: list[tuple[Touched, tuple[tuple[int, int], ...]]] = []
    extra: list[dict[Sym, int]] = []
    tiles: list[dict[str, tuple[int, int]]] = []
    for low, high in ((g[0][0], g[-1][1]) for g in groups):
        for tile in product(*(c.ranges for c in columns)):
            mine = {sym: x for c, ends in zip(columns, tile, strict=True) for sym, x in zip((c.low, c.high), ends, strict=True)}
            env: dict[Any, Interval] = {**t.env, **{sym: (x, x) for sym, x in mine.items()}, s.low: (low, low), s.high: (high, high)}
            found.append((touched(body, t.shapes, env), ((low, high),)))
            extra.append(mine)
            tiles.append({c.size: ends for c, ends in zip(columns, tile, strict=True)})
    every = [x for x, _ in found]
    reads_more = 10 * sum(map(bytes_of_touched, every)) > 11 * by_rows and t.is_over(s.extent)
    if len(found) < 2 or not apart(t.shapes, every) or reads_more or t.little(found):
        return False
    names = [lp.in_words(s.extent)] * (len(groups) > 1) + [c.size for c in columns]
    t.emit(body, found, "parts", s, axis=" and ".join(names), extra=extra, tiles=tiles)
    return True


def columns_of(t: Tracer, s: lp.Chunks) -> tuple[list[lp.Stmt], list[Columns]]:
    """The statements kept to ranges of all axes that can be cut, and those axes."""
    body, columns = list(s.body), []
    for size, count in t.settings.grid:
        n = max((t.shapes[b][a] for b in arrays_made(s.body) if (a := axis_named(b, size)) is not None), default=0)
        parts = min(n, count)
        if parts < 2 or _names(s.extent, size):
            continue
        low, high = t.once(f"tile {size}", s, lambda size=size: (Sym(f"{size}_lo"), Sym(f"{size}_hi")))  # type: ignore[misc]
        kept = t.once(f"kept to {size}", s, lambda body=body, size=size, low=low, high=high: kept_to(body, size, low, high))  # type: ignore[misc]
        if kept is not None:
            body = kept
            columns.append(Columns(size, low, high, tuple((n * k // parts, n * (k + 1) // parts) for k in range(parts))))
    return body, columns


def _names(p: Poly, size: str) -> bool:
    return any(isinstance(a, Sym) and a.name == size for a in p.leaves())


class NotCut(Exception):
    """Something is written in another way."""


def axis_named(b: lp.Buffer, size: str) -> int | None:
    """The one axis after the first whose extent is made of a size."""
    found = [a for a, n in enumerate(b.extents) if a > 0 and any(isinstance(x, Sym) and x.name == size for x in n.leaves())]
    return found[0] if len(found) == 1 else None


def kept_to(body: lp.Stmts, size: str, low: Sym, high: Sym) -> list[lp.Stmt] | None:
    """Statements that write only at low..high of the axis that has this size, or None where that cannot be had."""
    try:
        return Keep(body, size, low, high).stmts(body)
    except NotCut:
        return None


class Keep:
    def __init__(self, body: lp.Stmts, size: str, low: Sym, high: Sym) -> None:
        self.size, self.low, self.high = size, poly(low), poly(high)
        self.count = 0
        self.own = {s.buffer for s in lp.walk(body) if isinstance(s, lp.Alloc)}

    def stores(self, stmts: lp.Stmts) -> Iterator[lp.Store | lp.Update]:
        for s in lp.walk(stmts):
            if isinstance(s, (lp.Store, lp.Update)) and s.buffer not in self.own:
                yield s

    def at(self, s: lp.Store | lp.Update) -> Poly:
        axis = axis_named(s.buffer, self.size)
        if axis is None:
            raise NotCut
        return s.index[axis]

    def stmts(self, stmts: lp.Stmts) -> list[lp.Stmt]:
        return [made for s in stmts for made in self.stmt(s)]

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        if isinstance(s, lp.If) and any(isinstance(x, lp.Helper) and x.name == "stream" for x in lp.walk(s.then)):
            return self.stmts(s.orelse)  # the same loop without streaming stores (loops/recipes/stream.py)
        if isinstance(s, (lp.Product, lp.CopyBuffer, lp.Swap)) or (isinstance(s, lp.Helper) and s.name != "fence"):
            raise NotCut
        if not any(True for _ in self.stores([s])):
            return [s]
        match s:
            case lp.Store() | lp.Update():
                at = self.at(s)
                return [lp.If((lp.Test("ge", at - self.low), lp.Test("ge", self.high - at - 1)), [s])]
            case lp.For(parallel=True) if (beside := self.beside(s)) is not None:
                return self.shorter(s, beside)
            case lp.For(vector=0, unroll=False) | lp.Section():
                return [replace(s, body=self.stmts(s.body))]
            case lp.If():
                return [replace(s, then=self.stmts(s.then), orelse=self.stmts(s.orelse))]
        raise NotCut

    def beside(self, s: lp.For) -> Poly | None:
        """c, where everything in the loop is written at its index plus c."""
        found = [self.at(x) for x in self.stores(s.body)]
        rest = found[0] - poly(s.sym)
        inside = {x.sym for x in lp.walk(s.body) if isinstance(x, (lp.For, lp.Accumulate))} | {s.sym}
        made = {x.var for x in lp.walk(s.body) if isinstance(x, (lp.Let, lp.Declare))}
        if s.vector or s.unroll or any(p != found[0] for p in found):
            return None
        return None if any(x in inside or (isinstance(x, lp.VarAtom) and x.var in made) for x in rest.leaves()) else rest

    def shorter(self, s: lp.For, beside: Poly) -> list[lp.Stmt]:
        self.count += 1
        first, most, last = (lp.Var(f"{self.size}_{name}_at{self.count}", I64, small=True) for name in ("first", "most", "last"))
        return [
            lp.Let(first, lp.Call("max", (lp.Index(s.low), lp.Index(self.low - beside)), I64)),
            lp.Let(most, lp.Call("min", (lp.Index(s.high), lp.Index(self.high - beside)), I64)),
            lp.Let(last, lp.Call("max", (lp.Use(first), lp.Use(most)), I64)),
            replace(s, low=poly(first.atom), high=poly(last.atom)),
        ]
