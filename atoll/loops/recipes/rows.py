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
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.loops.transform.jam import OneSum, one_sum, sums_together
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.split import blocks_and_rest, counted, first_of
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import Poly, Sym
from atoll.sizes.poly import product


def rows(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For):
            return None
        few = _all_at_once(stmt)
        if few is not None:
            decisions.append(f"the sums of all rounds of {stmt.sym} at once")
            return few
        found = _together(stmt, known)
        if found is not None:
            decisions.append(f"sums of {profit.ROWS} rounds of {stmt.sym} at a time, where rows are long or all are near")
        return found

    return innermost_first(stmts, rewrite, not_products, known=())


def _all_at_once(loop: lp.For) -> lp.Stmts | None:
    """A few rounds of literal number, as one sum of each: what they share is read once for all of them."""
    count = (loop.high - loop.low).const()
    if not loop.parallel or loop.vector or loop.unroll or count is None or count < 2:
        return None
    found = one_sum(loop)
    if isinstance(found, Refused) or count * len(found.inner.accs) > profit.SUMS or not _shares(found):
        return None
    made = sums_together(found, [loop.low + k for k in range(count)])
    return None if isinstance(made, Refused) else made


def _shares(found: OneSum) -> bool:
    """Rounds share some of what their sums read."""
    moving = [{a for p in x.index for a in p.leaves()} for x in loads(found.inner.body)]
    i, r = found.loop.sym, found.inner.sym
    return any(i not in m and r in m for m in moving) and any(i in m for m in moving)


def _together(loop: lp.For, known: tuple[Poly, ...]) -> lp.Stmts | None:
    if loop.vector or loop.unroll or isinstance(found := one_sum(loop), Refused):
        return None
    inner = found.inner
    if len(inner.accs) != 1 or not _shares(found):
        return None
    block = Sym(f"{loop.sym.name}_by_{profit.ROWS}")
    first = first_of(loop, profit.ROWS, block)
    size = inner.accs[0].var.dtype.size
    own = next(x for x in loads(inner.body) if any(loop.sym in p.leaves() for p in x.index))  # of a row
    long = lp.Test("ge", inner.high - inner.low - profit.LONG_ROW // size)
    near = lp.Test("ge", profit.NEAR // size - product(own.buffer.extents))
    some, blocks = counted("blocks", loop, profit.ROWS, [(long,), (near,)], known)
    body = sums_together(found, [first + k for k in range(profit.ROWS)], known)
    if isinstance(body, Refused):
        return None
    return [some, *blocks_and_rest(loop, profit.ROWS, block, body, blocks)]
