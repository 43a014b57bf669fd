"""A sum into memory as sums of sums (regrouping of a reduction).

    for in order r in 0..n:  for j:  c[j] += e(r, j)
becomes
    for in order blocks of some * some rounds:
        far[j] = 0;  for in order blocks of some rounds:  near[j] = 0;  for in order r:  for j:  near[j] += e(r, j)
                                                          for j:  far[j] += near[j]
        for j:  c[j] += far[j]

    sums_of_sums(found, some, known)    of additions that jam.py has found to go to one element for every j; `known`: what is not negative there

Right where the operator is addition, of floats with the program's word (`Pass.regroups`); near and far are memory
that nobody else knows, as long as the inner range, which is the same in every round and has no fewer columns than
none: else there is no memory of that size.
"""

from __future__ import annotations

from collections.abc import Callable

from atoll.loops import ir as lp
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.jam import RowUpdates
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.split import Known, begun, block_end, length, may_be_negative
from atoll.sizes import Poly, Sym, poly


def sums_of_sums(found: RowUpdates, rounds: int, known: Known = ()) -> Made:
    if any(u.op != "add" or u.buffer.rows is not None for u in found.updates):
        return Refused("something else than sums is made, or in a window")
    if may_be_negative(length(found.inner), known):
        return Refused("columns may be fewer than none")
    return _Blocks(found, rounds).loops()


class _Blocks:
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
        self.own.append(
            lp.Buffer(
                name, target.dtype, (self.inner.high - self.inner.low,), "temp", "sums of some rounds", target.span
            ).called(target.shown)
        )
        return self.own[-1]

    def each(self, make: Callable[[lp.Update, Poly], lp.Stmt]) -> lp.For:
        j = Sym(self.inner.sym.name)
        return lp.For(j, self.inner.low, self.inner.high, [make(u, poly(j)) for u in self.updates], True)

    def add(self, u: lp.Update, at: Poly, value: lp.Expr, into: dict[lp.Buffer, lp.Buffer] | None) -> lp.Update:
        if into is None:
            return lp.Update(u.buffer, Copier({self.inner.sym: at}).index(u.index), "add", value)
        return lp.Update(
            into[u.buffer], (at - self.inner.low,), "add", value, instance=u.instance if value is u.value else None
        )

    def rounds(self, low: Poly, high: Poly, into: dict[lp.Buffer, lp.Buffer] | None) -> lp.For:
        r, j = Sym(self.loop.sym.name), Sym(self.inner.sym.name)
        body = Copier({self.loop.sym: poly(r), self.inner.sym: poly(j)}).stmts(self.inner.body)
        made = [self.add(u, poly(j), u.value, into) if isinstance(u, lp.Update) and into is not None else u for u in body]
        return lp.For(r, low, high, [lp.For(j, self.inner.low, self.inner.high, made, True)], False)
