"""Sums along the first axis of pieces made of parts of the rows, in memory of their own (privatisation and regrouping
of a reduction).

    pieces lo..hi of m:  ...  for in order r in 0..n:  for j in lo..hi:  c[j] += e(r, j)  ...
becomes
    pieces of some parts:  own[p] = neutral;  for in order r of part p:  for j in 0..m:  own[p, j] += e(r, j)
    pieces lo..hi of m:  ...  for in order p in 0..parts:  for j in lo..hi:  c[j] += own[p, j]  ...

    in_parts(whole, parts)

Right where the loop over rows only adds, by an operator that may be regrouped (floats with the program's word,
`Pass.regroups`), each to an array of its own and at places that are the same in every round, from nothing that the
pieces make or write; the rest of the pieces is done as before. The number of parts is fixed, so the result does not
depend on threads. Several sums of one loop have parts of the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.pieces import pieces
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import monoid_of, neutral
from atoll.loops.transform.split import is_wide, part_of, started_blocks
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.machine import MOST_ROUNDS


@dataclass(frozen=True, slots=True)
class InParts:
    """The statements, where these tests hold; the loop over rows, and its additions."""

    made: lp.Stmts
    tests: tuple[lp.Test, ...]
    rounds: lp.For
    updates: list[lp.Update]


def in_parts(whole: lp.Chunks, count: int) -> InParts | Refused:
    if whole.accs or whole.buffers or not copyable([s for s in whole.body if not isinstance(s, (lp.Alloc, lp.Free))]):
        return Refused("its parts are added up, or cannot be copied")
    sums = [(k, s, _updates(s, whole)) for k, s in enumerate(whole.body) if isinstance(s, lp.For) and not s.parallel]
    if len(sums) != 1 or not sums[0][2]:
        return Refused("it has no loop over rows that adds along the pieces, or more than one")
    place, rounds, updates = sums[0]
    columns = rounds.body[0]
    assert isinstance(columns, lp.For)
    own = {u.buffer: _own(u.buffer, count, whole.extent) for u in updates}
    part, copy = Sym("part"), Sym("part")
    bounds, first, last = part_of(rounds, count, poly(part))
    j = Sym(columns.sym.name)
    adding = [
        lp.Update(own[s.buffer], (poly(part), poly(j)), s.op, s.value, instance=s.instance) if isinstance(s, lp.Update) else s
        for s in Copier({columns.sym: poly(j)}).stmts(columns.body)
    ]
    zero = Sym(columns.sym.name)
    cleared = [
        lp.Store(own[u.buffer], (poly(part), poly(zero)), neutral(str(monoid_of(u.op)), u.buffer.dtype)) for u in updates
    ]
    body: list[lp.Stmt] = [
        *bounds,
        lp.For(zero, poly(0), whole.extent, [*cleared], True),
        lp.For(rounds.sym, first, last, [lp.For(j, poly(0), whole.extent, adding, True)], False),
    ]
    work = started_blocks(rounds, count) * whole.extent * profit.ADDED
    parts = pieces(lp.For(part, poly(0), poly(count), body, True), work)
    together = [lp.Update(u.buffer, u.index, u.op, lp.Load(own[u.buffer], (poly(copy), poly(columns.sym)))) for u in updates]
    joined = lp.For(copy, poly(0), poly(count), [lp.For(columns.sym, columns.low, columns.high, [*together], True)], False)
    again = Copier({})
    copies = [
        [x for s in part for x in ([s] if isinstance(s, (lp.Alloc, lp.Free)) else again.stmts([s]))]
        for part in (whole.body[:place], whole.body[place + 1 :])
    ]
    around = [*copies[0], joined, *copies[1]]
    rest = lp.Chunks(whole.low, whole.high, whole.extent, poly(4 * count), around, align=whole.align)
    countable = (lp.Test("ge", MOST_ROUNDS - rounds.high + rounds.low),) if is_wide(rounds.high - rounds.low) else ()
    return InParts([*map(lp.Alloc, own.values()), parts, rest, *map(lp.Free, own.values())], countable, rounds, updates)


def _own(target: lp.Buffer, count: int, extent: Poly) -> lp.Buffer:
    """What the parts add up, a row for each."""
    name = fresh_like(f"{target.name}_parts", target.dtype).name  # several sums may be made in one buffer
    return lp.Buffer(name, target.dtype, (poly(count), extent), "temp", "sums of parts of the rows", target.span).called(
        target.shown
    )


def _updates(rounds: lp.For, pieces: lp.Chunks) -> list[lp.Update]:
    """The additions of a loop that adds rows along the pieces' own index, each to an array of its own, from nothing that the pieces make; none where it does more."""
    if len(rounds.body) != 1 or not isinstance(rounds.body[0], lp.For):
        return []
    columns = rounds.body[0]
    if (
        not columns.parallel
        or (columns.low, columns.high) != (poly(pieces.low), poly(pieces.high))
        or not copyable(columns.body)
    ):
        return []
    if not all(isinstance(s, (lp.Let, lp.Update)) for s in columns.body):
        return []
    updates = [s for s in columns.body if isinstance(s, lp.Update)]
    inside = {rounds.sym, pieces.low, pieces.high}
    if not updates or len({u.buffer for u in updates}) != len(updates) or any(not _adds(u, rounds) for u in updates):
        return []
    made = [s for s in lp.walk(pieces.body) if not any(s is x for x in lp.walk([rounds]))]
    written = {s.buffer for s in lp.walk(pieces.body) if isinstance(s, (lp.Store, lp.Update, lp.Alloc))}
    variables = {s.var for s in made if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}
    if any(isinstance(s, (lp.Swap, lp.CopyBuffer, lp.Helper, lp.Product, lp.Chunks)) for s in made):
        return []
    if any(x.buffer in written for x in loads(columns.body)) or not variables.isdisjoint(lp.used_vars([rounds])):
        return []
    if not inside.isdisjoint(rounds.low.leaves() | rounds.high.leaves()) or any(
        not inside.isdisjoint({pieces.low, pieces.high} & p.leaves()) for x in loads(columns.body) for p in x.index
    ):
        return []
    return updates


def _adds(u: lp.Update, rounds: lp.For) -> bool:
    """By an operator that may be regrouped, at a place that is the same in every round."""
    return (
        monoid_of(u.op) is not None
        and not u.buffer.dtype.is_complex
        and rounds.sym not in {a for p in u.index for a in p.leaves()}
    )
