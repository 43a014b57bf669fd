"""Histograms of floats, and of everything else that has no atomics, where there are few bins: a warp has bins of its own in shared memory.

    a warp      a part of the rounds, 32 neighbouring ones at a time. Lanes with the same key take turns in the order of their rounds; others have nothing to do with them
    at the end  for every bin what the warps have, added up in the order of their parts

So within a part additions are those of the loop, in its order; how long parts are is a formula of the number of rounds and bins (docs/sources.md G4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.jam import Renaming
from atoll.backends.cuda.points import Single
from atoll.backends.cuda.reduce import in_warp
from atoll.backends.cuda.threads import Names, neutral
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.sizes import Poly, poly
from atoll.types.dtypes import I32, I64

if TYPE_CHECKING:
    from atoll.backends.cuda.histograms import Histogram

BYTES = 32 * 1024  # of shared memory in a block
WARPS = (8, 1)  # of a block, where there are few bins and where there are more
MOST = {8: 2112, 1: 1056}  # warps in all
STEPS = 4  # times 32 rounds whose elements are on their way at once

_MONOID = {op: name for name, (op, _) in MONOIDS.items()}


def bins_of(h: Histogram, warps: int) -> int:
    """How many bins a warp has room for."""
    return BYTES // warps // h.update.buffer.dtype.size


def by_ranks(lowering: Any, h: Histogram, n: Poly, bins: Poly, warps: int) -> list[k.Statement]:
    """The launches, with so many warps in a block. `n` rounds, `bins` elements in all."""
    names: Names = lowering.names
    u = h.update
    groups, length = names.var("groups", I64, True), names.var("length", I64, True)
    lowering.host |= {groups, length}
    fits = lp.Call("min", (lp.Index(n // (warps * bins)), lp.Index(poly(MOST[warps] // warps))), I64)
    count = lp.Call("mul", (lp.Const(warps, I64), lp.Call("max", (fits, lp.Const(1, I64)), I64)), I64)
    many = poly(groups.atom)
    out: list[k.Statement] = [lp.Let(groups, count), lp.Let(length, lp.Index(k.WARP * ((n + k.WARP * many - 1) // (k.WARP * many))))]
    parts = names.buffer("parts", u.buffer.dtype, (many, bins), "temp", "bins of warps")
    made = _Warps(lowering, h, n, bins, poly(length.atom), parts, warps)
    out.append(lp.Alloc(parts))
    out += lowering.launch("bins", [k.Region(tuple(made.code()))], warps * k.WARP, many // warps, (made.own,), note="a histogram, in bins of warps")
    out += lowering.parallel(together(names, h, many, parts))
    return [*out, lp.Free(parts)]


def flat(index: tuple[Poly, ...], extents: tuple[Poly, ...]) -> Poly:
    place = poly(0)
    for q, extent in zip(index, extents, strict=True):
        place = place * extent + q
    return place


def together(names: Names, h: Histogram, groups: Poly, parts: lp.Buffer) -> list[lp.Stmt]:
    """Every bin and what the warps have for it."""
    b = h.update.buffer
    syms, q = [names.sym("b") for _ in b.extents], names.sym("q")
    index = tuple(poly(s) for s in syms)
    acc = lp.Acc(names.var("sum", b.dtype), _MONOID[h.update.op])
    adding = lp.Add(acc.var, acc.monoid, lp.Load(parts, (poly(q), flat(index, b.extents))))
    body: list[lp.Stmt] = [lp.Accumulate(q, poly(0), groups, [adding], [acc]), lp.Update(b, index, h.update.op, lp.Use(acc.var))]
    for sym, extent in zip(reversed(syms), reversed(b.extents), strict=True):
        body = [lp.For(sym, poly(0), extent, body, parallel=True)]
    return body


class _Warps:
    """The kernel."""

    def __init__(self, lowering: Any, h: Histogram, n: Poly, bins: Poly, length: Poly, parts: lp.Buffer, warps: int) -> None:
        self.names: Names = lowering.names
        self.h, self.n, self.bins, self.length, self.parts, self.warps = h, n, bins, length, parts, warps
        t = h.update.buffer.dtype
        self.acc = lp.Acc(self.names.var("bin", t), _MONOID[h.update.op])
        self.own = self.names.buffer("bins", t, (poly(warps * bins_of(h, warps)),), "shared")
        self.warp = poly(k.THREAD) // k.WARP if warps > 1 else poly(0)
        self.lane = poly(k.THREAD) % k.WARP if warps > 1 else poly(k.THREAD)
        self.group = warps * poly(k.BLOCK) + self.warp

    def each_bin(self, body: Any) -> lp.For:
        """The lanes take turns."""
        z = self.names.sym("z")
        return lp.For(z, poly(0), (self.bins - self.lane + (k.WARP - 1)) // k.WARP, body(self.lane + k.WARP * poly(z)), parallel=False)

    def code(self) -> list[Any]:
        first = self.warp * self.bins
        out: list[Any] = [self.each_bin(lambda at: [lp.Store(self.own, (first + at,), neutral(self.acc))]), k.WarpBarrier()]
        t, end = self.names.sym("t"), self.names.var("end", I64, True)
        out.append(lp.Let(end, lp.Call("min", (lp.Index(self.length * (self.group + 1)), lp.Index(self.n)), I64)))
        steps = [_Step(self, self.length * self.group + k.WARP * (STEPS * poly(t) + s) + self.lane, poly(end.atom)) for s in range(STEPS)]
        whole = lp.Test("ge", poly(end.atom) - 1 - (steps[-1].r - self.lane + (k.WARP - 1)))
        read = lp.If((whole,), [x for step in steps for x in step.reading(True)], [x for step in steps for x in step.reading(False)])
        body = [*(x for step in steps for x in step.declared()), read, *(x for step in steps for x in step.adding())]
        out.append(lp.For(t, poly(0), (self.length + (k.WARP * STEPS - 1)) // (k.WARP * STEPS), body, parallel=False))
        return [*out, k.WarpBarrier(), self.each_bin(lambda at: [lp.Store(self.parts, (self.group, at), lp.Load(self.own, (first + at,)))])]


class _Step:
    """32 rounds of a warp, one for each lane."""

    def __init__(self, of: _Warps, r: Poly, end: Poly) -> None:
        names: Names = of.names
        self.of, self.r, self.end, self.h = of, r, end, of.h
        self.key, self.there = names.var("key", I64, True), names.var("there", I64, True)
        self.value = names.var("value", of.own.dtype)
        syms = [x.sym for x in self.h.inner]
        u = self.h.update
        own = [a for a, q in enumerate(u.index) if q.single() not in syms]
        self.which = flat(tuple(u.index[a] for a in own), tuple(u.buffer.extents[a] for a in own))

    def stmts(self, body: list[Any]) -> list[Any]:
        """Statements of the loop's body at this round, with names of their own."""
        made = Renaming(self.of.names, {self.h.loop.sym: self.h.loop.low + self.r}).stmts(body)
        return Single(self.of.names, {}, self.r).stmts(made)

    def declared(self) -> list[Any]:
        out: list[Any] = [lp.Declare(self.key, lp.Const(-1, I64)), lp.Declare(self.there, lp.Const(0, I64))]
        return out if self.h.inner else [*out, lp.Declare(self.value, neutral(self.of.acc))]

    def reading(self, whole: bool) -> list[Any]:
        """Key and, where a round has one value, the value. `whole`: there is such a round for every lane."""
        u = self.h.update
        found: list[Any] = [lp.Assign(self.key, lp.Index(self.which)), lp.Assign(self.there, lp.Const(1, I64))]
        if not self.h.inner:
            found = [*self.h.last, *found, lp.Assign(self.value, u.value)]
        if self.h.tests:
            found = [lp.If(self.h.tests, found)]
        made = self.stmts([*self.h.first, *found])
        return made if whole else [lp.If((lp.Test("ge", self.end - 1 - self.r),), made)]

    def adding(self) -> list[Any]:
        """Lanes with the same key one after the other."""
        names, u, of = self.of.names, self.h.update, self.of
        before, count = names.var("before", I64, True), names.var("count", I64, True)
        turns, most, rounds = names.var("turns", I32), names.var("turns", I32), names.var("most", I64, True)
        acc = lp.Acc(turns, "maximum")
        mine = lp.Choose((lp.Test("ge", poly(self.there.atom) - 1),), lp.Cast(lp.Use(count), I32), lp.Const(0, I32))
        out: list[Any] = [k.Same(before, count, lp.Use(self.key)), lp.Declare(turns, mine), *in_warp(names, [acc], [turns]), k.Shuffle(most, lp.Use(turns), poly(0))]
        out.append(lp.Let(rounds, lp.Cast(lp.Use(most), I64)))
        place = (of.warp * of.bins + flat(u.index, u.buffer.extents),)
        if self.h.inner:
            update: list[Any] = [*self.h.last, lp.Update(of.own, place, u.op, u.value)]
            for loop in reversed(self.h.inner):
                update = [lp.For(loop.sym, loop.low, loop.high, update, parallel=False)]
            update = self.stmts([*self.h.first, *update])
        else:
            update = [lp.Update(of.own, (of.warp * of.bins + poly(self.key.atom),), u.op, lp.Use(self.value))]
        rank = names.sym("rank")
        turn = lp.If((lp.Test("ge", poly(self.there.atom) - 1), lp.Test("eq", poly(before.atom) - poly(rank))), update)
        return [*out, lp.For(rank, poly(0), poly(rounds.atom), [turn, k.WarpBarrier()], parallel=False)]  # type: ignore[list-item]

