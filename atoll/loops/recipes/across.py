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
from atoll.loops.questions import loads, straight
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.split import first_of, in_blocks, started_blocks
from atoll.loops.transform.walk import Known, innermost_first
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64, DType

BYTES = 256  # of the sums that are made at once: four vectors, so that additions need not wait for each other
ROUNDS = 256  # of a sum of floats, before they are added to the total


def across(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        found = _side_by_side(stmt, known) if isinstance(stmt, lp.For) else None
        if found is not None and isinstance(stmt, lp.For):
            decisions.append(f"sums of neighbouring {stmt.sym} side by side")
        return found

    return innermost_first(stmts, rewrite, known=())


def _side_by_side(loop: lp.For, known: tuple[Poly, ...]) -> lp.Stmts | None:
    sums = [s for s in loop.body if isinstance(s, lp.Accumulate)]
    if not loop.parallel or loop.vector or loop.unroll or len(sums) != 1:
        return None
    inner = sums[0]
    place = loop.body.index(inner)
    before, after = loop.body[:place], loop.body[place + 1 :]
    if not all(isinstance(s, lp.Let) for s in before) or not straight(after) or not straight(inner.body):
        return None
    if loop.sym in inner.low.leaves() | inner.high.leaves() or any(True for _ in lp.used_vars((inner.low, inner.high))):
        return None
    if any(a.var.dtype.is_complex or a.monoid not in MONOIDS for a in inner.accs) or not _neighbours(inner.body, loop.sym):
        return None
    width = max(d.size for d in (a.var.dtype for a in inner.accs))
    lanes = BYTES // width // (1 if len(inner.accs) < 3 else 2)
    count = (loop.high - loop.low).const()
    if count is not None and count < lanes:
        return None  # not one stretch
    return _Stretch(loop, inner, before, after, lanes).loops(known)


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
        buffer = lp.Buffer(fresh_like(name, dtype).name, dtype, (poly(self.lanes),), "temp", "lanes")
        buffer.local = True
        self.locals.append(buffer)
        return buffer

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
        return [lp.Store(b, (poly(lane),), lp.Const(MONOIDS[by[v]][1](b.dtype), b.dtype)) for v, b in buffers.items()]

    def in_blocks(self, kept: dict[lp.Var, lp.Buffer], parts: dict[lp.Var, lp.Buffer], totals: dict[lp.Var, lp.Buffer]) -> list[lp.Stmt]:
        """Rounds in blocks: the first adds to the totals, which for most sums is all of them; the others have sums of their own."""
        inner = self.inner
        number, first, last = Sym(f"{inner.sym.name}_block"), Sym("lane"), Sym("lane")
        end = fresh_like(f"{inner.sym.name}_end", I64)
        low = inner.low + ROUNDS * poly(number)
        by = {a.var: a.monoid for a in inner.accs}
        add = [lp.Update(totals[v], (poly(last),), MONOIDS[by[v]][0], lp.Load(parts[v], (poly(last),))) for v in parts]
        body: list[lp.Stmt] = [
            lp.Let(end, lp.Call("min", (lp.Index(low + ROUNDS), lp.Index(inner.high)), I64)),
            self.each(self.neutral(parts, first), first),
            self.rounds(low, poly(end.atom), kept, parts),
            self.each(list(add), last),
        ]
        stop = fresh_like(f"{inner.sym.name}_end", I64)
        return [
            lp.Let(stop, lp.Call("min", (lp.Index(inner.low + ROUNDS), lp.Index(inner.high)), I64)),
            self.rounds(inner.low, poly(stop.atom), kept, totals),
            lp.For(number, poly(1), started_blocks(inner, ROUNDS), body, False),
        ]

    def rounds(self, low: Poly, high: Poly, kept: dict[lp.Var, lp.Buffer], sums: dict[lp.Var, lp.Buffer]) -> lp.Stmt:
        lane, sym = Sym("lane"), Sym(self.inner.sym.name)
        copier = self.copier(lane)
        copier.env[self.inner.sym] = poly(sym)
        body: list[lp.Stmt] = [lp.Let(copier.var(v), lp.Load(b, (poly(lane),))) for v, b in kept.items() if v in set(lp.used_vars(self.inner.body))]
        for s in copier.stmts(self.inner.body):
            body += self.added(s, sums, lane)
        return lp.For(sym, low, high, [self.each(body, lane)], False)

    def added(self, s: lp.Stmt, sums: dict[lp.Var, lp.Buffer], lane: Sym) -> list[lp.Stmt]:
        """A statement with additions to scalars as additions to lanes."""
        if isinstance(s, lp.Add):
            return [lp.Update(sums[s.var], (poly(lane),), MONOIDS[s.monoid][0], s.value)]
        if isinstance(s, lp.If):
            then = [x for t in s.then for x in self.added(t, sums, lane)]
            return [lp.If(s.tests, then, [x for t in s.orelse for x in self.added(t, sums, lane)])]
        return [s]


def _short(length: Poly) -> bool:
    known = length.const()
    return known is not None and known <= 2 * ROUNDS
