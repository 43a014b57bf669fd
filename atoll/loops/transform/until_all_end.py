"""Loops of independent rounds that each end when they like, side by side: a round that has ended stays as it is
(predication of a loop, scalar expansion).

    for j:  x = f(j);  forever:  break unless x <= 4;  x = g(x, c[j]);   y[j] = x
becomes, for some neighbouring j at a time,
    for lane: x[lane] = f(j + lane), going[lane] = 1
    forever:  break unless some lane is going
        some times:  for lane:  go = going[lane] and x[lane] <= 4;  x[lane] = g(x[lane], c[j + lane]) if go else x[lane];  going[lane] = go
    for lane: y[j + lane] = x[lane]

    ending(loop, known)                          the parts of such a loop
    until_all_end(found, lanes, steps, known)    its rounds in lanes; those that do not fill them run as before

Right where rounds are independent but for what they add, which is kept for every lane and added in their order. A
step is computed once more for nothing, so nothing in it may fail, what it reads must be seen to be there
(predicate.py), and it reads nothing that rounds store.
"""

from __future__ import annotations

from collections.abc import Callable

from atoll.loops import ir as lp
from atoll.loops.questions import loads, slow, told
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.expand import lane_array
from atoll.loops.transform.predicate import masked, total
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.split import Known, first_of, in_blocks, summed_in_blocks
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64

_STRAIGHT = (lp.Let, lp.Declare, lp.Assign)


def ending(loop: lp.For | lp.Accumulate, known: Known) -> Ending | Refused:
    """for i:  straight;  forever: straight, with breaks;  straight, with stores or sums"""
    where = [k for k, s in enumerate(loop.body) if isinstance(s, lp.Forever)]
    if len(where) != 1 or (isinstance(loop, lp.For) and (not loop.parallel or loop.vector or loop.unroll)):
        return Refused("it is no loop of independent rounds that each end once")
    before, (endless, *after) = loop.body[: where[0]], loop.body[where[0] :]
    assert isinstance(endless, lp.Forever)
    if not all(isinstance(s, _STRAIGHT) for s in before) or not all(
        isinstance(s, (*_STRAIGHT, lp.Store if isinstance(loop, lp.For) else lp.Add)) for s in after
    ):
        return Refused("a round does more than compute, end and store")
    breaks = [s for s in endless.body if isinstance(s, lp.BreakUnless)]
    if not breaks or not all(isinstance(s, (*_STRAIGHT, lp.BreakUnless)) for s in endless.body):
        return Refused("a round does not end")
    found = Ending(loop, before, endless.body, after)
    return found.why_not((*known, *told(loop))) or found


def until_all_end(found: Ending, lanes: int, steps: int, known: Known) -> lp.Stmts:
    """`steps` are made between two looks whether some lane is going."""
    return _Lanes(found, lanes, steps).loops(known)


class Ending:
    """What a round does before its steps, in each of them, and after the last."""

    def __init__(self, loop: lp.For | lp.Accumulate, before: lp.Stmts, step: lp.Stmts, after: lp.Stmts) -> None:
        self.loop, self.before, self.step, self.after = loop, before, step, after
        self.local = {s.var for s in step if isinstance(s, (lp.Let, lp.Declare))}  # of a step
        made = {s.var for s in before if isinstance(s, (lp.Let, lp.Declare))}
        self.outer = (
            {s.var for s in (*before, *step, *after) if isinstance(s, lp.Assign)}
            - made
            - self.local
            - {s.var for s in after if isinstance(s, (lp.Let, lp.Declare))}
        )
        read = {*lp.used_vars(step), *lp.used_vars(after)} | {s.var for s in step if isinstance(s, lp.Assign)}
        self.kept = [s.var for s in before if isinstance(s, (lp.Let, lp.Declare)) and s.var in read]

    @property
    def widest(self) -> int:
        """Bytes of the widest variable of a round."""
        return max((v.dtype.size for v in (*self.kept, *self.local)), default=I64.size)

    def why_not(self, known: Known) -> Refused | None:
        """A step may be computed for a round that has ended."""
        steps = [s for s in self.step if not isinstance(s, lp.BreakUnless)]
        if self.outer or not self.kept or not copyable([*self.before, *steps, *self.after]):
            return Refused("rounds change a variable that they share, or cannot be copied")
        sums = {s.var for s in self.after if isinstance(s, lp.Add)}
        if any(v.dtype.is_complex for v in (*self.kept, *self.local, *sums)) or not sums.isdisjoint(
            lp.used_vars([s.value if isinstance(s, lp.Add) else s for s in self.after])
        ):
            return Refused("a round reads what it adds to, or has complex numbers")
        stored = {s.buffer for s in self.after if isinstance(s, lp.Store)}
        if any(x.buffer in stored for x in loads(self.step)):
            return Refused("a step reads what rounds store")
        return total(self.step, known, {*self.local, *self.kept})


class _Lanes:
    """The rounds of such a loop in lanes."""

    def __init__(self, found: Ending, lanes: int, steps: int) -> None:
        self.loop, self.before, self.step, self.after, self.kept, self.lanes, self.steps = (
            found.loop,
            found.before,
            found.step,
            found.after,
            found.kept,
            lanes,
            steps,
        )

    def loops(self, known: Known) -> lp.Stmts:
        loop = self.loop
        self.block = Sym(f"{loop.sym.name}_by_lanes")
        self.across = {v: lane_array(v.name, v.dtype, self.lanes) for v in self.kept}
        self.going = lane_array("going", I64, self.lanes)
        self.terms = {id(s): lane_array(s.var.name, s.var.dtype, self.lanes) for s in self.after if isinstance(s, lp.Add)}
        arrays = [*self.across.values(), self.going, *self.terms.values()]
        left, round_, lane = fresh_like("left", I64), Sym("again"), Sym("lane")
        left.small = True
        some = lp.Accumulate(
            lane, poly(0), poly(self.lanes), [lp.Add(left, "add", lp.Load(self.going, (poly(lane),)))], [lp.Acc(left, "add")]
        )
        work: list[lp.Stmt] = [
            *(lp.Alloc(b) for b in arrays),
            self.each(self.first),
            lp.Forever(
                [
                    some,
                    lp.BreakUnless((lp.Test("ge", poly(left.atom) - 1),)),
                    lp.For(round_, poly(0), poly(self.steps), [self.each(self.again)], False),
                ]
            ),
            self.each(self.last),
            *self.added(),
            *(lp.Free(b) for b in arrays),
        ]
        if isinstance(loop, lp.For):
            return in_blocks(loop, self.lanes, self.block, work, known)
        return [summed_in_blocks(loop, self.lanes, self.block, work)]

    def added(self) -> list[lp.Stmt]:
        """What the lanes add, in their order."""
        lane = Sym("lane")
        adds: list[lp.Stmt] = [
            lp.Add(s.var, s.monoid, lp.Load(self.terms[id(s)], (poly(lane),))) for s in self.after if isinstance(s, lp.Add)
        ]
        return [lp.For(lane, poly(0), poly(self.lanes), adds, False)] if adds else []

    def each(self, part: Callable[[Copier, Poly], list[lp.Stmt]]) -> lp.For:
        lane = Sym("lane")
        copier = Copier({self.loop.sym: first_of(self.loop, self.lanes, self.block) + lane})
        body = part(copier, poly(lane))
        waits = any(slow(s.value) for s in body if isinstance(s, (*_STRAIGHT, lp.Store)))
        return lp.For(
            lane, poly(0), poly(self.lanes), body, True, vector=self.lanes if waits else 0
        )  # else C compilers write them out, and call scalar functions

    def first(self, copier: Copier, lane: Poly) -> list[lp.Stmt]:
        body = copier.stmts(self.before)
        body += [lp.Store(b, (lane,), lp.Use(copier.vars[v])) for v, b in self.across.items()]
        return [*body, lp.Store(self.going, (lane,), lp.Const(1, I64))]

    def again(self, copier: Copier, lane: Poly) -> list[lp.Stmt]:
        """A step of every lane, kept by those that go on."""
        changed = {s.var for s in self.step if isinstance(s, lp.Assign)} & set(self.kept)
        going = fresh_like("going", I64)
        going.small = True
        body: list[lp.Stmt] = [lp.Let(going, lp.Load(self.going, (lane,)))]
        go: lp.Expr = lp.Truth((lp.Test("ge", poly(going.atom) - 1),))
        for v, b in self.across.items():
            body.append(lp.Let(copier.var(v), lp.Load(b, (lane,))))
        steps, go = masked(self.step, go, copier, changed)
        body += steps
        body += [lp.Store(b, (lane,), lp.Use(copier.vars[v])) for v, b in self.across.items() if v in changed]
        return [
            *body,
            lp.Store(self.going, (lane,), lp.Choose((lp.Test("true", None, go),), lp.Const(1, I64), lp.Const(0, I64))),
        ]

    def last(self, copier: Copier, lane: Poly) -> list[lp.Stmt]:
        used = set(lp.used_vars(self.after))
        body: list[lp.Stmt] = [lp.Let(copier.var(v), lp.Load(b, (lane,))) for v, b in self.across.items() if v in used]
        for s in self.after:
            body += [lp.Store(self.terms[id(s)], (lane,), copier.expr(s.value))] if isinstance(s, lp.Add) else copier.stmt(s)
        return body
