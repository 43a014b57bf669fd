"""Several rounds of an outer loop in one run of its inner loops (unroll-and-jam).

    one_sum(loop)                        a loop as: values; one sum; what is made of it
    sums_together(sum, rounds, known)    the sums of some rounds in one loop
    loops_together(loop, size, block)    the inner loops of some neighbouring rounds
    updates_together(loop, size, block)  additions of neighbouring rounds to the same elements

What two rounds do is interleaved, and nothing else changes: each does what it did, in its own order. So it is right where rounds are independent; or, for updates, where
each element is touched by one round of the inner loop, which takes the outer ones in their order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.dependence import own_elements, rounds_apart
from atoll.loops.questions import loads, straight
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.split import Known, first_of, in_blocks
from atoll.sizes import Poly, Sym
from atoll.types.dtypes import BOOL


@dataclass(frozen=True, slots=True)
class OneSum:
    """for i:  before;  inner;  after         where the sum has the same range in every round"""

    loop: lp.For
    before: lp.Stmts
    inner: lp.Accumulate
    after: lp.Stmts


def one_sum(loop: lp.For) -> OneSum | Refused:
    """The parts of a loop whose rounds make one sum each. Nothing in it fails, and it can be copied."""
    sums = [s for s in loop.body if isinstance(s, lp.Accumulate)]
    if len(sums) != 1:
        return Refused("a round has no sum, or several")
    inner = sums[0]
    place = loop.body.index(inner)
    before, after = loop.body[:place], loop.body[place + 1 :]
    if not all(isinstance(s, lp.Let) for s in before) or not straight(after) or not straight(inner.body):
        return Refused("a round does more than a sum")
    own = {s.var for s in before if isinstance(s, lp.Let)}
    if loop.sym in inner.low.leaves() | inner.high.leaves() or not own.isdisjoint(lp.used_vars((inner.low, inner.high))):
        return Refused("the sum has another range in every round")
    return OneSum(loop, before, inner, after)


def sums_together(found: OneSum, rounds: list[Poly], known: Known = ()) -> Made:
    """These rounds, with one loop for all of their sums."""
    loop, inner = found.loop, found.inner
    if not (loop.parallel or rounds_apart(loop, known)):
        return Refused("rounds are not seen to be independent")
    starts: list[lp.Stmt] = []
    adds: list[lp.Stmt] = []
    accs: list[lp.Acc] = []
    ends: list[lp.Stmt] = []
    for k in rounds:
        copier = Copier({loop.sym: k})
        starts += copier.stmts(found.before)
        accs += [lp.Acc(copier.var(a.var), a.monoid) for a in inner.accs]
        adds += copier.stmts(inner.body)
        ends += copier.stmts(found.after)
    return [*starts, lp.Accumulate(inner.sym, inner.low, inner.high, adds, accs, inner.exact), *ends]


def loops_together(loop: lp.For, size: int, block: Sym, known: Known = ()) -> Made:
    """for i:  for j: f(i, j);  ...      as      for blocks:  for j: f(first, j); f(first + 1, j); ...;  ...        and the rounds that are left"""
    inside = [s for s in loop.body if isinstance(s, lp.For)]
    if not loop.parallel or not all(s.parallel for s in inside):
        return Refused("rounds are not known to be independent")
    if len(inside) != len(loop.body) or not copyable(loop.body):
        return Refused("a round does more than loops")
    if any(loop.sym in s.low.leaves() | s.high.leaves() for s in inside):
        return Refused("an inner loop has another range in every round")
    made: list[lp.Stmt] = []
    for inner in inside:
        copies = [Copier({loop.sym: first_of(loop, size, block) + k}).stmts(inner.body) for k in range(size)]
        made.append(lp.For(inner.sym, inner.low, inner.high, [s for body in copies for s in body], True))
    return in_blocks(loop, size, block, made, known)


@dataclass(frozen=True, slots=True)
class RowUpdates:
    """for in order r:  for j:  lets;  c[j] op= e(r, j)         an element for every j, the same in all rounds; `inner` reads nothing that it writes"""

    loop: lp.For
    inner: lp.For
    updates: list[lp.Update]


def row_updates(loop: lp.For) -> RowUpdates | Refused:
    """The parts of a loop that adds rows to elements of memory, and does nothing else."""
    inner = loop.body[0] if len(loop.body) == 1 else None
    if loop.parallel or loop.vector or loop.unroll or not isinstance(inner, lp.For) or not inner.parallel or inner.vector or inner.unroll:
        return Refused("these are no rounds in order over independent ones")
    if loop.sym in inner.low.leaves() | inner.high.leaves():
        return Refused("the inner loop has another range in every round")
    if not all(isinstance(s, (lp.Let, lp.Update)) for s in inner.body) or not copyable(inner.body):
        return Refused("a round does more than add")
    updates = [s for s in inner.body if isinstance(s, lp.Update)]
    written = {u.buffer for u in updates}
    if not updates or len(written) != len(updates):
        return Refused("two additions may meet in one element")
    if any(x.buffer in written for s in inner.body for x in loads(s.value)):  # type: ignore[union-attr]
        return Refused("a round reads what another one adds to")
    if not all(own_elements(u.index, inner.sym, loop.sym) for u in updates):
        return Refused("two additions may meet in one element")
    return RowUpdates(loop, inner, updates)


_BETTER = {"min": "lt", "max": "gt"}


def updates_together(found: RowUpdates, size: int, block: Sym, known: Known = ()) -> lp.Stmts:
    """Each element is read and written once for `size` rounds; the order of its additions is what it was, so is every bit.

    The least and the greatest of floats must not lose a NaN. Several rounds compare plainly, which is one instruction, and whether there was one is kept beside."""
    loop, inner, updates = found.loop, found.inner, found.updates
    totals = {u.buffer: fresh_like(u.buffer.name, u.buffer.dtype) for u in updates}
    body: list[lp.Stmt] = [lp.Declare(totals[u.buffer], lp.Load(u.buffer, u.index)) for u in updates]
    lost = {u.buffer: fresh_like("nan", BOOL) for u in updates if u.op in _BETTER and u.buffer.dtype.is_float}
    body += [lp.Declare(v, _is_nan(totals[b])) for b, v in lost.items()]
    for k in range(size):
        for s in Copier({loop.sym: first_of(loop, size, block) + k}).stmts(inner.body):
            if not isinstance(s, lp.Update):
                body.append(s)
            elif s.buffer in lost:
                body += _compared(s, totals[s.buffer], lost[s.buffer])
            else:
                total = totals[s.buffer]
                body.append(lp.Assign(total, lp.Call(s.op, (lp.Use(total), s.value), s.buffer.dtype), instance=s.instance))
    for u in updates:
        value: lp.Expr = lp.Use(totals[u.buffer])
        if u.buffer in lost:
            value = lp.Choose((lp.Test("true", None, lp.Use(lost[u.buffer])),), lp.Const(math.nan, u.buffer.dtype), value)
        body.append(lp.Store(u.buffer, u.index, value))
    return in_blocks(loop, size, block, [lp.For(inner.sym, inner.low, inner.high, body, True)], known)


def _is_nan(v: lp.Var) -> lp.Expr:
    return lp.Call("ne", (lp.Use(v), lp.Use(v)), BOOL)


def _compared(u: lp.Update, total: lp.Var, lost: lp.Var) -> list[lp.Stmt]:
    """A round of the least or the greatest, without looking for NaN in the comparison. Of equals it takes the later, as min and max do."""
    given = fresh_like("given", total.dtype)
    keeps = lp.Test("true", None, lp.Call(_BETTER[u.op], (lp.Use(total), lp.Use(given)), BOOL))
    return [
        lp.Let(given, u.value),
        lp.Assign(lost, lp.Call("or", (lp.Use(lost), _is_nan(given)), BOOL)),
        lp.Assign(total, lp.Choose((keeps,), lp.Use(total), lp.Use(given))),
    ]
