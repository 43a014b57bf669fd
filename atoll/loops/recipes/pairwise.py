"""Sums of many rounds into memory are sums of sums, so that rounding errors do not grow with the number of rounds.

    for in order r in 0..n:  for j:  c[j] += e(r, j)
becomes, for 512 rounds and more,
    for in order blocks of 256 * 256 rounds:
        far[j] = 0;  for in order blocks of 256 rounds:  near[j] = 0;  for in order r:  for j:  near[j] += e(r, j)
                                                         for j:  far[j] += near[j]
        for j:  c[j] += far[j]

Only for 32-bit floats: a sum of 2**24 ones and more stops growing when it is made one by one. Sums into scalars are made in lanes and trees
(backends/c/loop_text.py); those of 64-bit floats have digits to spare.
"""

from __future__ import annotations

from collections.abc import Callable

from atoll.loops import ir as lp
from atoll.loops.dependence import own_elements
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.split import length, may_be_negative
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64

BLOCK = 256


def pairwise(stmts: lp.Stmts, decisions: list[str], reassociate: bool = True) -> lp.Stmts:
    if not reassociate:
        return stmts

    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For) or not (updates := column_updates(stmt)):
            return None
        decisions.append(f"sums over {stmt.sym} into memory are made of sums of {BLOCK} rounds")
        many, inner = lp.Test("ge", length(stmt) - 2 * BLOCK), stmt.body[0]
        assert isinstance(inner, lp.For)
        some = (lp.Test("ge", length(inner)),) if may_be_negative(length(inner)) else ()  # else there is no memory of that size
        return [lp.If((many, *some), Blocks(stmt, updates).loops(), [stmt])]

    return innermost_first(stmts, rewrite, not_products)


def column_updates(loop: lp.For, dtypes: tuple[str, ...] = ("f32", "c64"), least: int = 2 * BLOCK) -> list[lp.Update]:
    """The additions of a loop over rows that does nothing else; empty: it is another loop, or has fewer rounds than `least`."""
    rounds = (loop.high - loop.low).const()
    if loop.parallel or loop.vector or loop.unroll or len(loop.body) != 1 or (rounds is not None and rounds < least):
        return []
    inner = loop.body[0]
    if not isinstance(inner, lp.For) or not inner.parallel or inner.vector or inner.unroll or loop.sym in inner.low.leaves() | inner.high.leaves():
        return []
    if not all(isinstance(s, (lp.Let, lp.Update)) for s in inner.body) or not copyable(inner.body):
        return []
    found = [s for s in inner.body if isinstance(s, lp.Update)]
    written = {s.buffer for s in found}
    if not found or len(written) < len(found) or any(load.buffer in written for load in loads([s.value for s in inner.body if isinstance(s, (lp.Let, lp.Update))])):
        return []
    return found if all(_is_sum(s, loop.sym, inner.sym, dtypes) for s in found) else []


def _is_sum(s: lp.Update, outer: Sym, inner: Sym, dtypes: tuple[str, ...]) -> bool:
    """An addition to an element that every round of the inner loop has its own of, the same in all rounds of the outer one."""
    if s.op != "add" or s.buffer.dtype.name not in dtypes or s.buffer.rows is not None:
        return False
    return own_elements(s.index, inner, outer)


class Blocks:
    """The loops that are made of one loop."""

    def __init__(self, loop: lp.For, updates: list[lp.Update]) -> None:
        self.loop, self.updates = loop, updates
        inner = loop.body[0]
        assert isinstance(inner, lp.For)
        self.inner = inner
        self.own: list[lp.Buffer] = []

    def loops(self) -> lp.Stmts:
        body = self.level(2, self.loop.low, self.loop.high, None)
        return [*(lp.Alloc(b) for b in self.own), *body, *(lp.Free(b) for b in self.own)]

    def level(self, level: int, low: Poly, high: Poly, into: dict[lp.Buffer, lp.Buffer] | None) -> lp.Stmts:
        """Rounds low..high added to `into` (None: to where the loop adds them)."""
        if level == 0:
            return [self.rounds(low, high, into)]
        size = BLOCK**level
        own = {u.buffer: self.partial(u.buffer) for u in self.updates}
        block = Sym(f"{self.loop.sym.name}_block")
        end = fresh_like(f"{self.loop.sym.name}_end", I64)
        first = low + size * poly(block)
        body: list[lp.Stmt] = [
            lp.Let(end, lp.Call("min", (lp.Index(first + size), lp.Index(high)), I64)),
            self.each(lambda u, at: lp.Store(own[u.buffer], (at - self.inner.low,), lp.Const(0.0, u.buffer.dtype))),
            *self.level(level - 1, first, poly(end.atom), own),
            self.each(lambda u, at: self.add(u, at, lp.Load(own[u.buffer], (at - self.inner.low,)), into)),
        ]
        return [lp.For(block, poly(0), (high - low + (size - 1)) // size, body, False)]

    def partial(self, target: lp.Buffer) -> lp.Buffer:
        name = fresh_like(f"{target.name}_part", target.dtype).name
        self.own.append(lp.Buffer(name, target.dtype, (self.inner.high - self.inner.low,), "temp", "sums of some rounds", target.span).called(target.shown))
        return self.own[-1]

    def each(self, make: Callable[[lp.Update, Poly], lp.Stmt]) -> lp.For:
        j = Sym(self.inner.sym.name)
        return lp.For(j, self.inner.low, self.inner.high, [make(u, poly(j)) for u in self.updates], True)

    def add(self, u: lp.Update, at: Poly, value: lp.Expr, into: dict[lp.Buffer, lp.Buffer] | None) -> lp.Update:
        if into is None:
            return lp.Update(u.buffer, Copier({self.inner.sym: at}).index(u.index), "add", value)
        return lp.Update(into[u.buffer], (at - self.inner.low,), "add", value)

    def rounds(self, low: Poly, high: Poly, into: dict[lp.Buffer, lp.Buffer] | None) -> lp.For:
        r, j = Sym(self.loop.sym.name), Sym(self.inner.sym.name)
        body = Copier({self.loop.sym: poly(r), self.inner.sym: poly(j)}).stmts(self.inner.body)
        made = [self.add(u, poly(j), u.value, into) if isinstance(u, lp.Update) and into is not None else u for u in body]
        return lp.For(r, low, high, [lp.For(j, self.inner.low, self.inner.high, made, True)], False)
