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
from atoll.loops import profit
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.jam import RowUpdates, row_updates
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.split import begun, block_end, length, may_be_negative
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import Poly, Sym, poly


def pairwise(stmts: lp.Stmts, decisions: list[str], reassociate: bool = True) -> lp.Stmts:
    if not reassociate:
        return stmts

    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For) or (found := column_updates(stmt)) is None:
            return None
        decisions.append(f"sums over {stmt.sym} into memory are made of sums of {profit.SUMMED} rounds")
        many, inner = lp.Test("ge", length(stmt) - 2 * profit.SUMMED), found.inner
        some = (lp.Test("ge", length(inner)),) if may_be_negative(length(inner)) else ()  # else there is no memory of that size
        return [lp.If((many, *some), Blocks(found, profit.SUMMED).loops(), [stmt])]

    return innermost_first(stmts, rewrite, not_products)


def column_updates(loop: lp.For, dtypes: tuple[str, ...] = ("f32", "c64"), least: int | None = None) -> RowUpdates | None:
    """The additions of a loop over rows that does nothing else; None: it is another loop, or has fewer rounds than `least`."""
    rounds = (loop.high - loop.low).const()
    if (rounds is not None and rounds < (2 * profit.SUMMED if least is None else least)) or isinstance(found := row_updates(loop), Refused):
        return None
    sums = all(u.op == "add" and u.buffer.dtype.name in dtypes and u.buffer.rows is None for u in found.updates)
    return found if sums else None


class Blocks:
    """The loops that are made of one loop."""

    def __init__(self, found: RowUpdates, rounds: int) -> None:
        self.loop, self.inner, self.updates, self.together = found.loop, found.inner, found.updates, rounds
        self.own: list[lp.Buffer] = []

    def loops(self) -> lp.Stmts:
        body = self.level(2, self.loop.low, self.loop.high, None)
        return [*(lp.Alloc(b) for b in self.own), *body, *(lp.Free(b) for b in self.own)]

    def level(self, level: int, low: Poly, high: Poly, into: dict[lp.Buffer, lp.Buffer] | None) -> lp.Stmts:
        """Rounds low..high added to `into` (None: to where the loop adds them)."""
        if level == 0:
            return [self.rounds(low, high, into)]
        size = self.together**level
        own = {u.buffer: self.partial(u.buffer) for u in self.updates}
        block = Sym(f"{self.loop.sym.name}_block")
        first = low + size * poly(block)
        until, end = block_end(f"{self.loop.sym.name}_end", first, size, high)
        body: list[lp.Stmt] = [
            until,
            self.each(lambda u, at: lp.Store(own[u.buffer], (at - self.inner.low,), lp.Const(0.0, u.buffer.dtype))),
            *self.level(level - 1, first, end, own),
            self.each(lambda u, at: self.add(u, at, lp.Load(own[u.buffer], (at - self.inner.low,)), into)),
        ]
        return [lp.For(block, poly(0), begun(high - low, size), body, False)]

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
        return lp.Update(into[u.buffer], (at - self.inner.low,), "add", value, instance=u.instance if value is u.value else None)

    def rounds(self, low: Poly, high: Poly, into: dict[lp.Buffer, lp.Buffer] | None) -> lp.For:
        r, j = Sym(self.loop.sym.name), Sym(self.inner.sym.name)
        body = Copier({self.loop.sym: poly(r), self.inner.sym: poly(j)}).stmts(self.inner.body)
        made = [self.add(u, poly(j), u.value, into) if isinstance(u, lp.Update) and into is not None else u for u in body]
        return lp.For(r, low, high, [lp.For(j, self.inner.low, self.inner.high, made, True)], False)
