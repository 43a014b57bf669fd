"""Short sums side by side: where neighbouring sums read neighbouring elements, vectors hold a sum each in every lane.

    for i:  s = sum over r of e(i, r);  result[i] = f(s)
becomes, for stretches of neighbouring i,
    total[lane] = 0;   for in order r:  for lane:  total[lane] += e(i + lane, r);   for lane:  result[i + lane] = f(total[lane])

Nothing is added up across lanes, and what does not depend on i is read once for all of them. Sums of floats take a fixed number of rounds
at a time and add those up, so that errors do not grow with the length; a sum that must go from left to right goes from left to right.
The rounds that do not fill a stretch are made as before.
"""

from __future__ import annotations

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.expand import lane_array
from atoll.loops.transform.jam import one_sum
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import added_to, neutral
from atoll.loops.transform.split import block_end, first_of, in_blocks, over_blocks
from atoll.loops.transform.walk import Known, innermost_first
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import DType


def across(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        found = _side_by_side(stmt, known) if isinstance(stmt, lp.For) else None
        if found is not None and isinstance(stmt, lp.For):
            decisions.append(f"sums of neighbouring {stmt.sym} side by side")
        return found

    return innermost_first(stmts, rewrite, known=())


def _side_by_side(loop: lp.For, known: tuple[Poly, ...]) -> lp.Stmts | None:
    if not loop.parallel or loop.vector or loop.unroll or isinstance(found := one_sum(loop), Refused):
        return None
    inner = found.inner
    if any(True for _ in lp.used_vars((inner.low, inner.high))) or not _neighbours(inner.body, loop.sym):
        return None
    if any(a.var.dtype.is_complex or a.monoid not in MONOIDS for a in inner.accs):
        return None
    width = max(a.var.dtype.size for a in inner.accs)
    lanes = profit.SIDE_BY_SIDE // width // (1 if len(inner.accs) < 3 else 2)
    count = (loop.high - loop.low).const()
    if count is not None and count < lanes:
        return None  # not one stretch
    return _Stretch(loop, inner, found.before, found.after, lanes).loops(known)


def _neighbours(body: lp.Stmts, i: Sym) -> bool:
    """Every element read is the same for all i, or the next one for the next i; and some are."""
    near = False
    for load in loads(body):
        inside = [i in p.leaves() for p in load.index]
        if any(inside):
            if any(inside[:-1]) or load.index[-1].coefficient(i) != poly(1):
                return False
            near = True
    return near


class _Stretch:
    """The loops that are made of one loop."""

    def __init__(self, loop: lp.For, inner: lp.Accumulate, before: lp.Stmts, after: lp.Stmts, lanes: int) -> None:
        self.loop, self.inner, self.before, self.after, self.lanes = loop, inner, before, after, lanes
        self.block = Sym(f"{loop.sym.name}_by_{lanes}")
        self.locals: list[lp.Buffer] = []

    def local(self, name: str, dtype: DType) -> lp.Buffer:
        self.locals.append(lane_array(name, dtype, self.lanes))
        return self.locals[-1]

    def each(self, make: lp.Stmts, lane: Sym) -> lp.For:
        return lp.For(lane, poly(0), poly(self.lanes), make, True)

    def copier(self, lane: Sym) -> Copier:
        return Copier({self.loop.sym: first_of(self.loop, self.lanes, self.block) + poly(lane)})

    def loops(self, known: tuple[Poly, ...]) -> lp.Stmts:
        inner = self.inner
        lets = [s for s in self.before if isinstance(s, lp.Let)]
        kept = {s.var: self.local(s.var.name, s.var.dtype) for s in lets}
        totals = {a.var: self.local(f"{a.var.name}_total", a.var.dtype) for a in inner.accs}
        blocks = not inner.exact and any(a.monoid == "add" and a.var.dtype.is_float for a in inner.accs) and not _short(inner.high - inner.low)
        parts = {a.var: self.local(f"{a.var.name}_part", a.var.dtype) for a in inner.accs} if blocks else totals

        lane = Sym("lane")
        copier = self.copier(lane)
        start = copier.stmts(self.before)
        start += [lp.Store(kept[s.var], (poly(lane),), lp.Use(copier.vars[s.var])) for s in lets]
        work: list[lp.Stmt] = [self.each([*start, *self.neutral(totals, lane)], lane)]
        if blocks:
            work += self.in_blocks(kept, parts, totals)
        else:
            work.append(self.rounds(inner.low, inner.high, kept, parts))

        lane = Sym("lane")
        copier = self.copier(lane)
        end = [lp.Let(copier.var(v), lp.Load(b, (poly(lane),))) for v, b in {**kept, **totals}.items()]
        work.append(self.each([*end, *copier.stmts(self.after)], lane))

        body: list[lp.Stmt] = [*(lp.Alloc(b) for b in self.locals), *work, *(lp.Free(b) for b in self.locals)]
        return in_blocks(self.loop, self.lanes, self.block, body, known)

    def neutral(self, buffers: dict[lp.Var, lp.Buffer], lane: Sym) -> list[lp.Stmt]:
        by = {a.var: a.monoid for a in self.inner.accs}
        return [lp.Store(b, (poly(lane),), neutral(by[v], b.dtype)) for v, b in buffers.items()]

    def in_blocks(self, kept: dict[lp.Var, lp.Buffer], parts: dict[lp.Var, lp.Buffer], totals: dict[lp.Var, lp.Buffer]) -> list[lp.Stmt]:
        """Rounds in blocks: the first adds to the totals, which for most sums is all of them; the others have sums of their own."""
        inner = self.inner
        number, first, last = Sym(f"{inner.sym.name}_block"), Sym("lane"), Sym("lane")
        low = inner.low + profit.SUMMED * poly(number)
        until, end = block_end(f"{inner.sym.name}_end", low, profit.SUMMED, inner.high)
        by = {a.var: a.monoid for a in inner.accs}
        add = [lp.Update(totals[v], (poly(last),), MONOIDS[by[v]][0], lp.Load(parts[v], (poly(last),))) for v in parts]
        body: list[lp.Stmt] = [
            until,
            self.each(self.neutral(parts, first), first),
            self.rounds(low, end, kept, parts),
            self.each(list(add), last),
        ]
        until, stop = block_end(f"{inner.sym.name}_end", inner.low, profit.SUMMED, inner.high)
        return [
            until,
            self.rounds(inner.low, stop, kept, totals),
            over_blocks(inner, profit.SUMMED, number, body, first=1),
        ]

    def rounds(self, low: Poly, high: Poly, kept: dict[lp.Var, lp.Buffer], sums: dict[lp.Var, lp.Buffer]) -> lp.Stmt:
        lane, sym = Sym("lane"), Sym(self.inner.sym.name)
        copier = self.copier(lane)
        copier.env[self.inner.sym] = poly(sym)
        body: list[lp.Stmt] = [lp.Let(copier.var(v), lp.Load(b, (poly(lane),))) for v, b in kept.items() if v in set(lp.used_vars(self.inner.body))]
        body += added_to(copier.stmts(self.inner.body), lambda var: lp.Load(sums[var], (poly(lane),)))
        return lp.For(sym, low, high, [self.each(body, lane)], False)


def _short(length: Poly) -> bool:
    known = length.const()
    return known is not None and known <= 2 * profit.SUMMED
