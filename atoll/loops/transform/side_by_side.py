"""Rounds with sums in them side by side, a lane for each (an outer loop in vectors, by scalar expansion).

    for i:  s = sum over r of e(i, r);  result[i] = f(s);  for in order r:  a[r, i] = g(a[r, i], s)
becomes, for stretches of neighbouring i,
    total[lane] = 0;   for in order r:  for lane:  total[lane] += e(i + lane, r);   for lane:  result[i + lane] = f(total[lane]);
    for in order r:  for lane:  a[r, i + lane] = g(a[r, i + lane], total[lane])

    with_sums(loop)                                  a loop of sums, loops and straight code between them, in which sums and loops run as far in every round
    side_by_side(found, lanes, summed, known)        its stretches; then the rounds that do not fill one, as before

Right where rounds are independent, nothing in them fails, and how far the loops inside run is the same in all of
them: each round does what it did in its order, and what it hands on from one part to the next has an element for
every lane (expand.py). Sums may stand in sums. A sum of floats that may be made in any order takes `summed` rounds
at a time and adds those up; one that must go from left to right does.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.questions import atoms, changed, loads, may_fail, straight
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.expand import in_lanes, lane_array
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import added_to, neutral
from atoll.loops.transform.split import Known, block_end, first_of, in_blocks, over_blocks
from atoll.sizes import Poly, Sym, poly


@dataclass(frozen=True, slots=True)
class WithSums:
    """The loop, and the values that say how far loops inside run, which are the same in all rounds."""

    loop: lp.For
    alike: list[lp.Let]
    sums: list[lp.Acc]


def with_sums(loop: lp.For) -> WithSums | Refused:
    sums = [a for s in lp.walk(loop.body) if isinstance(s, lp.Accumulate) for a in s.accs]
    if not loop.parallel or loop.vector or loop.unroll:
        return Refused("its rounds are not independent, or scheduled as they stand")
    if not sums or any(a.monoid not in MONOIDS for a in sums):
        return Refused("a round has no sums, or by an operator that is not known")
    alike = _alike(loop)
    if alike is None:
        return Refused("a loop inside has another range in every round")
    return (
        WithSums(loop, alike, sums)
        if _may_be(loop)
        else Refused("a round does more than sums, loops and straight code between them")
    )


def side_by_side(found: WithSums, lanes: int, summed: int, known: Known = ()) -> lp.Stmts:
    stretch = Sym(f"{found.loop.sym.name}_by_{lanes}")
    return in_blocks(found.loop, lanes, stretch, _Stretch(found, lanes, summed, stretch).of(found.loop.body), known)


def _alike(loop: lp.For) -> list[lp.Let] | None:
    """The values that say how far loops inside run, which have to be the same in all rounds; None where they are not."""
    every = list(lp.walk(loop.body))
    made = {s.var: s for s in every if isinstance(s, lp.Let)}
    others = (
        {loop.sym}
        | {s.var.atom for s in every if isinstance(s, lp.Declare)}
        | {a.var.atom for s in every if isinstance(s, lp.Accumulate) for a in s.accs}
    )
    written = changed(loop.body)[1]
    wanted: dict[lp.Var, lp.Let] = {}
    ends = [p for s in every if isinstance(s, (lp.For, lp.Accumulate)) for p in (s.low, s.high)]
    queue: list[lp.Expr | Poly] = [*ends]
    while queue:
        x = queue.pop()
        if others & atoms(x) or any(y.buffer in written for y in loads(x)):
            return None
        for v in lp.used_vars(x):
            if v in made and v not in wanted:
                wanted[v] = made[v]
                queue.append(made[v].value)
    return [s for s in every if isinstance(s, lp.Let) and s.var in wanted]


def _may_be(loop: lp.For) -> bool:
    """Rounds hand each other nothing, and a stretch can be made of all that is in them: sums, loops and straight code between them."""
    if (
        not copyable(loop.body)
        or may_fail(loop.body)
        or any(
            loop.sym not in {a for p in s.index for a in p.leaves()}
            for s in lp.walk(loop.body)
            if isinstance(s, (lp.Store, lp.Update))
        )
    ):
        return False
    for s in lp.walk(loop.body):
        if isinstance(s, lp.For) and (s.vector or s.unroll or s.scan):
            return False
        if isinstance(s, lp.If) and not straight([s]):
            return False
    return all(isinstance(s, (lp.Let, lp.Accumulate, lp.For)) or straight([s]) for s in loop.body) and any(
        isinstance(s, lp.Accumulate) for s in loop.body
    )


class _Stretch:
    """What neighbouring rounds do, side by side."""

    def __init__(self, found: WithSums, lanes: int, summed: int, stretch: Sym) -> None:
        self.loop, self.alike, self.lanes, self.summed = found.loop, {s.var for s in found.alike}, lanes, summed
        self.first = first_of(self.loop, lanes, stretch)
        self.handed_on = _handed_on(self.loop.body, self.alike)
        self.kept: dict[lp.Var, lp.Buffer] = {}
        self.totals: dict[lp.Var, lp.Buffer] = {}
        self.shared = Copier({self.loop.sym: self.first})  # indices of loops around, and what is alike
        self.locals: list[lp.Buffer] = []  # of the block that is being made

    def local(self, name: str, var: lp.Var) -> lp.Buffer:
        self.locals.append(lane_array(name, var.dtype, self.lanes))
        return self.locals[-1]

    def of(self, body: lp.Stmts) -> list[lp.Stmt]:
        """A block. What it hands on from one part to the next lives in it."""
        around, self.locals = self.locals, []
        self.kept |= {v: self.local(v.name, v) for v in _made_in(body) if v in self.handed_on}
        out: list[lp.Stmt] = []
        run: list[lp.Stmt] = []
        for s in body:
            if isinstance(s, (lp.For, lp.Accumulate)) or (isinstance(s, lp.Let) and s.var in self.alike):
                out += self.each(run)
                run = []
                out += (
                    self.inner(s)
                    if isinstance(s, lp.For)
                    else self.sum(s)
                    if isinstance(s, lp.Accumulate)
                    else self.shared.stmts([s])
                )
            else:
                run.append(s)
        out += self.each(run)
        own, self.locals = self.locals, around
        return [*(lp.Alloc(b) for b in own), *out, *(lp.Free(b) for b in own)]

    def each(self, run: lp.Stmts) -> list[lp.Stmt]:
        """Straight code, for every lane."""
        if not run:
            return []
        lane = Sym("lane")
        copier = Copier({**self.shared.env, self.loop.sym: self.first + poly(lane)})
        copier.vars.update(self.shared.vars)
        body = in_lanes(run, copier, self.kept, poly(lane))
        return [self.lane_loop(lane, added_to(body, lambda var: lp.Load(self.totals[var], (poly(lane),))))]

    def lane_loop(self, lane: Sym, body: lp.Stmts) -> lp.For:
        return lp.For(lane, poly(0), poly(self.lanes), body, True)

    def inner(self, loop: lp.For) -> list[lp.Stmt]:
        low, high = self.shared.poly(loop.low), self.shared.poly(loop.high)
        return [lp.For(self.shared.bound(loop.sym), low, high, self.of(loop.body), False)]

    def sum(self, inner: lp.Accumulate) -> list[lp.Stmt]:
        totals = {a.var: self.kept.get(a.var) or self.local(a.var.name, a.var) for a in inner.accs}
        start = self.begun(inner, totals)
        low, high = self.shared.poly(inner.low), self.shared.poly(inner.high)
        floats = any(a.monoid == "add" and a.var.dtype.kind in "fc" for a in inner.accs)
        if inner.exact or not floats or self.short(inner.high - inner.low):
            return [start, self.rounds(inner, low, high, totals)]
        number = Sym(f"{inner.sym.name}_block")
        parts = {a.var: self.local(f"{a.var.name}_part", a.var) for a in inner.accs}
        until, end = block_end(f"{inner.sym.name}_end", low + self.summed * poly(number), self.summed, high)
        body: list[lp.Stmt] = [
            until,
            self.begun(inner, parts),
            self.rounds(inner, low + self.summed * poly(number), end, parts),
            self.added(inner, parts, totals),
        ]
        ranged = lp.Accumulate(inner.sym, low, high, (), ())
        if not straight(inner.body):
            return [start, over_blocks(ranged, self.summed, number, body)]
        until, stop = block_end(
            f"{inner.sym.name}_end", low, self.summed, high
        )  # the first block is all of most sums, and is the total
        return [start, until, self.rounds(inner, low, stop, totals), over_blocks(ranged, self.summed, number, body, first=1)]

    def short(self, length: Poly) -> bool:
        known = length.const()
        return known is not None and known <= 2 * self.summed

    def begun(self, inner: lp.Accumulate, sums: dict[lp.Var, lp.Buffer]) -> lp.For:
        lane = Sym("lane")
        return self.lane_loop(lane, [lp.Store(sums[a.var], (poly(lane),), neutral(a.monoid, a.var.dtype)) for a in inner.accs])

    def added(self, inner: lp.Accumulate, parts: dict[lp.Var, lp.Buffer], totals: dict[lp.Var, lp.Buffer]) -> lp.For:
        lane = Sym("lane")
        return self.lane_loop(
            lane,
            [
                lp.Update(totals[a.var], (poly(lane),), MONOIDS[a.monoid][0], lp.Load(parts[a.var], (poly(lane),)))
                for a in inner.accs
            ],
        )

    def rounds(self, inner: lp.Accumulate, low: Poly, high: Poly, sums: dict[lp.Var, lp.Buffer]) -> lp.Stmt:
        self.totals.update(sums)
        return lp.For(self.shared.bound(inner.sym), low, high, self.of(inner.body), False)


def _made_in(body: lp.Stmts) -> list[lp.Var]:
    """The variables of a block, sums too, but not those of the loops in it."""
    here = [s for s in body if not isinstance(s, (lp.For, lp.Accumulate))]
    return [
        *(s.var for s in lp.walk(here) if isinstance(s, (lp.Let, lp.Declare))),
        *(a.var for s in body if isinstance(s, lp.Accumulate) for a in s.accs),
    ]


def _handed_on(body: lp.Stmts, alike: set[lp.Var]) -> set[lp.Var]:
    """Variables that are made in one run of straight code, or are sums, and used in another."""
    made: dict[lp.Var, int] = {}
    used: dict[lp.Var, set[int]] = {}
    run = 0

    def go(stmts: lp.Stmts) -> None:
        nonlocal run
        run += 1
        for s in stmts:
            if isinstance(s, (lp.For, lp.Accumulate)):
                made.update((v, -1) for v in _made_in([s]))
                go(s.body)
                run += 1
            elif isinstance(s, lp.Let) and s.var in alike:
                run += 1
            else:
                made.update((v, run) for v in _made_in([s]))
                for v in (*lp.used_vars([s]), *(x.var for x in lp.walk([s]) if isinstance(x, lp.Assign))):
                    used.setdefault(v, set()).add(run)

    go(body)
    return {v for v, at in made.items() if used.get(v, set()) - {at}}
