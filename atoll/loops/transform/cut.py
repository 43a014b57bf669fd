"""A range cut where tests change (index-set splitting).

    for i in low..high:  f(i)       becomes       for i in low..start: f(i);   for i in start..stop: f(i);   for i in stop..high: f(i)

where start is the first index at or above all lower bounds and stop is just behind the last at or below all upper ones: low <= start <= stop <= high, whatever
the bounds are, if the range has rounds; else all three have none. Right because the parts are the range, in its order, and the bounds are the same in every round:
they may not mention the index, nor what the rounds make. What is known between them (a test holds) is what the cut is for; who cuts says it to the copier.

    in_two(loop, at, known)      for i in low..at: f(i);   for i in at..high: f(i)

where low <= at <= high is seen, in every round of what is around: else the second part would begin before the range does, or the first end after it.

    totals(loop), part_of_sum(loop, low, high)      var s = 0;   accumulate t over i in low..high: ...;   s := s + t;   ...

A sum whose parts are sums of their own, added in their order: floats are added in another order than in one go, so the program must allow it (`Pass.regroups`).

    without_terms(stmts)      accumulate s over i in low..high: nothing      becomes nothing, where nobody reads s

A sum that a test has left without terms. The statements are all that see its variable, so they are where its readers are looked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.questions import may_fail
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import combined, neutral
from atoll.loops.transform.walk import innermost_first
from atoll.sizes import Atom, Poly, poly
from atoll.sizes.prover import facts
from atoll.types.dtypes import I64

FAR = 1 << 62  # beyond every index, and far from overflow


@dataclass(frozen=True, slots=True)
class Cut:
    """Statements that find where the inner part begins and stops."""

    before: list[lp.Stmt]
    start: Poly
    stop: Poly


def cut(loop: lp.For | lp.Accumulate, lower: Iterable[Poly], upper: Iterable[Poly]) -> Cut | Refused:
    """`lower`: the least index where something begins to hold; `upper`: the greatest where something still does."""
    lows, highs = dict.fromkeys(lower), dict.fromkeys(upper)
    changing: set[Atom] = {loop.sym, *(s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign)))}
    if any(not changing.isdisjoint(p.leaves()) for p in (*lows, *highs)):
        return Refused("where it is cut changes from round to round")
    before: list[lp.Stmt] = []

    def settled(name: str, op: str, a: Poly, b: Poly) -> Poly:
        if a == b:
            return a
        var = fresh_like(name, I64)
        var.small = True
        before.append(lp.Let(var, lp.Call(op, (lp.Index(a), lp.Index(b)), I64)))
        return poly(var.atom)

    def within(p: Poly) -> Poly:
        """The bound with its variables cut to what is far from overflow and beyond every index."""
        wide = [leaf for leaf in p.leaves() if isinstance(leaf, lp.VarAtom) and not leaf.var.small]
        return p.subst({leaf: settled("above", "max", settled("below", "min", poly(leaf), poly(FAR)), poly(-FAR)) for leaf in wide})

    start, stop = loop.low, loop.high
    for bound in lows:
        start = settled("least", "max", start, within(bound))
    if lows:
        start = settled("first", "min", start, loop.high)
    for bound in highs:
        stop = settled("most", "min", stop, within(bound) + 1)
    if highs:
        stop = settled("last", "max", stop, start)
    return Cut(before, start, stop)


def in_two(loop: lp.For, at: Poly, known: tuple[Poly, ...]) -> tuple[lp.For, lp.For] | Refused:
    """The parts of a loop before and from a place on, the second a copy."""
    if not copyable([s for s in lp.walk(loop.body) if not isinstance(s, lp.Chunks)]) or any(isinstance(s, lp.Chunks) and s.buffers for s in lp.walk(loop.body)):
        return Refused("something in it cannot be copied")
    ctx = facts(known)
    if not ctx.proves(at - loop.low) or not ctx.proves(loop.high - at):
        return Refused("the place is not seen to be in the range")
    (rest,) = Copier({}).stmt(replace(loop, low=at))
    assert isinstance(rest, lp.For)
    return replace(loop, high=at), rest


def totals(loop: lp.Accumulate) -> list[lp.Stmt]:
    """What the parts of a sum are added to, under the names of the sum."""
    return [lp.Declare(a.var, neutral(a.monoid, a.var.dtype)) for a in loop.accs]


def part_of_sum(loop: lp.Accumulate, low: Poly, high: Poly, copier: Copier) -> list[lp.Stmt]:
    """The sum over a part of the range, added to the totals."""
    (part,) = copier.stmt(replace(loop, low=low, high=high))
    assert isinstance(part, lp.Accumulate)
    return [part, *(lp.Assign(a.var, combined(a.monoid, lp.Use(a.var), lp.Use(b.var))) for a, b in zip(loop.accs, part.accs, strict=True))]


def regroupable(loop: lp.Accumulate) -> bool:
    """Whether the sums of a loop may be made in parts."""
    return not loop.exact or all(a.var.dtype.is_integer or a.monoid not in ("add", "mul") for a in loop.accs)


def without_terms(stmts: lp.Stmts) -> list[lp.Stmt]:
    """The statements without sums that have no terms and that nobody reads. They are a whole scope of their variables."""
    named = {*lp.used_vars(stmts), *(s.var for s in lp.walk(stmts) if isinstance(s, (lp.Add, lp.Assign)))}

    def rewrite(s: lp.Stmt, known: object) -> list[lp.Stmt] | None:
        if not isinstance(s, lp.Accumulate) or not all(isinstance(x, (lp.Let, lp.Note)) for x in s.body) or may_fail(s.body):
            return None
        return [] if named.isdisjoint(a.var for a in s.accs) else None

    return innermost_first(stmts, rewrite)
