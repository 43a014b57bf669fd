"""Sums of several rows at a time, which share what does not depend on the row.

    for i:  s = sum over r of a[i, r] * x[r];  y[i] = f(s)
becomes
    for q:  s0, s1, s2, s3 = sums over r of a[4q, r] * x[r], a[4q + 1, r] * x[r], ...;  y[4q] = f(s0);  ...

x is read once for four rows. Each sum is added up as it was, so every bit stays. Rounds must not depend on each other: the plan says so, or
it is seen here from the elements they write and read. Short rows from memory are left alone: one after the other they are a single
stream, which the processor fetches ahead (measured: three times as fast as four rows of a kilobyte at a time). Where the number of rounds is
literal and small, as for the weights of a convolution, all of them are made at once.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.dependence import rounds_apart
from atoll.loops.questions import loads, straight
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.split import counted, first_of, left_over
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.poly import product

ROWS = 4
MOST = 16  # sums in one loop
LONG = 16384  # bytes of x that do not stay in the first-level cache beside a row
NEAR = 2 << 20  # bytes of all rows that are in a cache anyway


def rows(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, lp.For):
            return None
        few = _all_at_once(stmt)
        if few is not None:
            decisions.append(f"the sums of all rounds of {stmt.sym} at once")
            return few
        found = _together(stmt, known)
        if found is not None:
            decisions.append(f"sums of {ROWS} rounds of {stmt.sym} at a time, where rows are long or all are near")
        return found

    return innermost_first(stmts, rewrite, not_products, known=())


def _all_at_once(loop: lp.For) -> list[lp.Stmt] | None:
    """A few rounds of literal number, as one sum of each: what they share is read once for all of them."""
    count = (loop.high - loop.low).const()
    sums = [s for s in loop.body if isinstance(s, lp.Accumulate)]
    if not loop.parallel or loop.vector or loop.unroll or count is None or count < 2 or len(sums) != 1 or count * len(sums[0].accs) > MOST:
        return None
    inner = _shared(loop, sums[0])
    if inner is None:
        return None
    return _side_by_side(loop, inner, [loop.low + k for k in range(count)])


def _shared(loop: lp.For, inner: lp.Accumulate) -> lp.Accumulate | None:
    """The sum of a round, if rounds share some of what it reads, and it has the same length in all of them."""
    place = loop.body.index(inner)
    before, after = loop.body[:place], loop.body[place + 1 :]
    if not all(isinstance(s, lp.Let) for s in before) or not straight(after) or not straight(inner.body):
        return None
    own = {s.var for s in before if isinstance(s, lp.Let)}
    if loop.sym in inner.low.leaves() | inner.high.leaves() or not own.isdisjoint(lp.used_vars((inner.low, inner.high))):
        return None
    moving = [{a for p in x.index for a in p.leaves()} for x in loads(inner.body)]
    shared = any(loop.sym not in m and inner.sym in m for m in moving)
    return inner if shared and any(loop.sym in m for m in moving) else None


def _side_by_side(loop: lp.For, inner: lp.Accumulate, rounds: list[Poly]) -> list[lp.Stmt]:
    """Some rounds of a loop with one loop for all of their sums."""
    place = loop.body.index(inner)
    starts: list[lp.Stmt] = []
    adds: list[lp.Stmt] = []
    accs: list[lp.Acc] = []
    ends: list[lp.Stmt] = []
    for k in rounds:
        copier = Copier({loop.sym: k})
        starts += copier.stmts(loop.body[:place])
        accs += [lp.Acc(copier.var(a.var), a.monoid) for a in inner.accs]
        adds += copier.stmts(inner.body)
        ends += copier.stmts(loop.body[place + 1 :])
    return [*starts, lp.Accumulate(inner.sym, inner.low, inner.high, adds, accs, inner.exact), *ends]


def _together(loop: lp.For, known: tuple[Poly, ...]) -> list[lp.Stmt] | None:
    sums = [s for s in loop.body if isinstance(s, lp.Accumulate)]
    if loop.vector or loop.unroll or len(sums) != 1 or len(sums[0].accs) != 1:
        return None
    inner = _shared(loop, sums[0])
    if inner is None or not (loop.parallel or rounds_apart(loop, known)):
        return None
    read = [(x, loop.sym in {a for p in x.index for a in p.leaves()}) for x in loads(inner.body)]
    block = Sym(f"{loop.sym.name}_by_{ROWS}")
    size = inner.accs[0].var.dtype.size
    long = lp.Test("ge", inner.high - inner.low - LONG // size)
    near = lp.Test("ge", NEAR // size - product(next(x for x, moves in read if moves).buffer.extents))
    some, blocks = counted("blocks", loop, ROWS, [(long,), (near,)], known)
    body = _side_by_side(loop, inner, [first_of(loop, ROWS, block) + k for k in range(ROWS)])
    return [some, lp.For(block, poly(0), blocks, body, loop.parallel), left_over(loop, ROWS, blocks)]
