"""Loops in one another as one (loop coalescing): the same rounds in the same order, counted through.

    for i in a..a + n:  for j in b..b + m:  S(i, j)          becomes          for p in 0..n * m:  q = p // m;  S(a + q, b + p - q * m)

Right whatever S does, because the rounds stay in their order; a thread each may do them where both loops were parallel. What must hold is that there is one number of rounds: that of
the inner loop is the same in every round of the outer one, and neither is negative (two loops without rounds would have some together). Statements before the inner loop are done in
every round of both: they make variables only, or fail as they did, and read nothing that the loop inside writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.questions import changed, loads
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.split import Known, is_wide, length, may_be_negative
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64


@dataclass(frozen=True, slots=True)
class Coalescible:
    """Loops with as many rounds whatever the round around them, outermost first; what is done before those inside; what is done in the innermost."""

    loops: tuple[lp.For, ...]
    first: tuple[lp.Stmt, ...]
    body: lp.Stmts


def _none(_: lp.Let | lp.Check) -> bool:
    return False


def coalescible(loop: lp.For, may_be_repeated: Callable[[lp.Let | lp.Check], bool] = _none) -> Coalescible:
    """The loops that can be one with this, parallel only if it is. `may_be_repeated`: what a recipe is ready to do in every round, of variables that are made before an inner loop."""
    loops, first, body = [loop], list[lp.Stmt](), loop.body
    inside: set[Atom] = {loop.sym}
    while True:
        whole: list[lp.Stmt] = [s for s in body if not isinstance(s, lp.Note)]
        before, last = whole[:-1], whole[-1] if whole else None
        if not isinstance(last, lp.For) or last.parallel != loop.parallel or last.vector or last.unroll or last.scan:
            break
        if not all(isinstance(s, (lp.Let, lp.Check)) and may_be_repeated(s) for s in before):
            break
        inside |= {s.var.atom for s in before if isinstance(s, lp.Let)}
        rounds = length(last)
        if not inside.isdisjoint(last.low.leaves() | last.high.leaves()) or not rounds.terms:
            break  # of no rounds there are no places
        variables, written = changed([last])
        if not variables.isdisjoint(lp.used_vars(before)) or not written.isdisjoint(read.buffer for read in loads(before)):
            break
        loops, first, body = [*loops, last], [*first, *before], last.body
        inside.add(last.sym)
    return Coalescible(tuple(loops), tuple(first), body)


def places(number: Poly, extents: Sequence[Poly], keep: Callable[[int | None, Poly], Poly] = lambda axis, value: value) -> list[Poly]:
    """Where a round is along each of the loops, outermost first: the digits of its number. `keep` names what is computed: the place along an axis, or (None) what is left of the number."""
    found: list[Poly] = []
    for axis in range(len(extents) - 1, 0, -1):
        rest = keep(None, number // extents[axis])
        found.append(keep(axis, number - rest * extents[axis]))
        number = rest
    return [keep(0, number), *reversed(found)] if extents else []


def coalesced(loop: lp.For, known: Known = ()) -> Made:
    """The loop and all that are directly inside it as one loop."""
    found = coalescible(loop)
    if len(found.loops) < 2:
        return Refused("no loop inside it has as many rounds whatever its round is")
    if loop.vector or loop.unroll or loop.scan:
        return Refused("it is scheduled as it stands")
    extents = [length(x) for x in found.loops]
    if any(is_wide(n) for n in extents):
        return Refused("the number of rounds may be too large to be counted")
    if any(may_be_negative(n, known) for n in extents):
        return Refused("one of the loops may have fewer rounds than none")
    together, begin = Sym(loop.sym.name), list[lp.Stmt]()

    def keep(axis: int | None, value: Poly) -> Poly:
        var = fresh_like("q" if axis is None else found.loops[axis].sym.name, I64)
        var.small = True
        begin.append(lp.Let(var, lp.Index(value if axis is None else found.loops[axis].low + value)))
        return poly(var.atom)

    env: dict[Atom, Poly] = {x.sym: p for x, p in zip(found.loops, places(poly(together), extents, keep), strict=True)}
    return [lp.For(together, poly(0), product(extents), [*begin, *Copier(env).stmts(found.body)], loop.parallel)]
