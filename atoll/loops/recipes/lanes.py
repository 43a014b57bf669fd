"""Recurrences of independent rounds, a round in every lane of a vector.

    for i:  p[0] = a[i];  for in order j:  p[j + 1] = 1 / (p[j] + b[i, j]);  for j:  y[i, j] = p[j]
becomes, for eight neighbouring i at a time,
    for lane: q[0, lane] = a[i + lane];  for in order j:  for lane:  q[j + 1, lane] = 1 / (q[j, lane] + b[i + lane, j]);  ...

A recurrence leaves most of a core idle: each step waits for the one before. Eight of them do not wait for each
other. What a round has for itself gets an axis for the lanes: arrays their last one, variables a small array where
a later loop reads them. What makes it right is in transform/recurrences.py. Rounds that do not fill the lanes run
as before.

Where steps read rows, the lanes are far apart in memory, which costs as much as a short step gains (and far more
where rows meet in the same cache sets: measured 0.4 times on running sums of 1024 columns); so then a step must
divide, or call a function.

Where every step reads or writes along a row of its own (running sums down the columns), two kilobytes of a row go
at a time: memory is read as it lies.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads, mentions, slow
from atoll.loops.transform.recurrences import STRAIGHT, Limits, Recurrences, in_every_lane, recurrences
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.split import Aligned
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import poly
from atoll.types.dtypes import I64


def lanes(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    everywhere = mentions(stmts)
    aligned = Aligned()

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if isinstance(stmt, lp.Chunks):
            return [aligned.pieces(stmt)]
        found = recurrences(stmt, everywhere) if isinstance(stmt, (lp.For, lp.Accumulate)) else None
        if found is None or isinstance(found, Refused) or not _pays(found):
            return None
        along, count = _lanes(found)
        decisions.append(
            f"{count}{' or fewer' if along else ''} rounds of {found.loop.sym} side by side, as each of them waits for itself"
        )
        aligned.from_its_low(found.loop, count)
        return in_every_lane(found, count, along, Limits(profit.LANE_ROUNDS, profit.LANE_MEMORY))

    return innermost_first(stmts, rewrite, not_products)


def _lanes(found: Recurrences) -> tuple[bool, int]:
    """Whether lanes are a stretch of a row, and how many there are."""
    loop = found.loop
    sizes = {s.var.dtype.size for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare, lp.Add))} | {
        x.dtype.size for x in loads(loop.body)
    }
    widest = max(sizes, default=I64.size)
    along = (
        isinstance(loop, lp.For)
        and not found.private
        and not any(isinstance(s, lp.Alloc) for s in loop.body)
        and _go_along(loop, found.inner)
    )
    return along, profit.LANE_ROW // widest if along else profit.LANE_BYTES // widest


def _go_along(rounds: lp.For | lp.Accumulate, inner: list[lp.For]) -> bool:
    """Every step has elements of a row, and nothing that is far."""
    i = rounds.sym
    for loop in inner:
        places = [x.index for x in loads(loop.body)] + [s.index for s in loop.body if isinstance(s, lp.Store)]
        moving = [index for index in places if any(i in p.leaves() for p in index)]
        if loop.parallel or not moving or any(slow(s.value) for s in loop.body if isinstance(s, STRAIGHT)):
            return False
        for index in moving:
            next_to = index[-1].slope(i) == poly(1) and loop.sym not in index[-1].leaves()
            if not next_to or loop.sym not in {a for p in index[:-1] for a in p.leaves()}:
                return False
    return True


def _pays(found: Recurrences) -> bool:
    i, body, inner, private = found.loop.sym, found.loop.body, found.inner, found.private
    shared = [x.index for x in loads(body) if x.buffer not in private]
    shared += [s.index for s in lp.walk(body) if isinstance(s, lp.Store) and s.buffer not in private]
    chosen = {s.var.atom for loop in inner for s in loop.body if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}
    if any(not chosen.isdisjoint(p.leaves()) for index in shared for p in index):
        return False
    steps = [s for loop in inner for s in loop.body]
    read = [x.index for x in loads(steps) if x.buffer not in private] + [
        s.index for s in steps if isinstance(s, lp.Store) and s.buffer not in private
    ]
    far = any(i in p.leaves() for index in read for p in index[:-1]) or any(
        index and i in index[-1].leaves() and index[-1].slope(i) != poly(1) for index in read
    )
    return not far or any(slow(x.value) for s in inner if not s.parallel for x in s.body)  # type: ignore[union-attr]
