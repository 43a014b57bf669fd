"""Two loops in tiles (strip-mining of both, and interchange).

    for i in low..high:  lets;  for j in first..last:  y[..] = e(i, j)
becomes
    for blocks of i:  for whole blocks of j:  for i in the block:  lets;  for j in the block:  ...        and for i in the block:  for the j that are left

    tiled(outer, inner, long, short)

Right where the rounds of both are independent, values before the inner loop are made again in every tile of their
round, and the inner loop has the same range in all of them. It is made only where there are columns: else the first
block of them would begin before the range.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.split import block_end, first_of, length, over_blocks, whole_blocks
from atoll.sizes import Poly, Sym, poly


def tiled(outer: lp.For, inner: lp.For, long: int, short: int) -> Made:
    """For ranges of columns that are not empty; who asks tests it."""
    if not (outer.parallel and inner.parallel) or outer.vector or outer.unroll or inner.vector or inner.unroll:
        return Refused("their rounds are not independent, or scheduled as they stand")
    if (
        not outer.body
        or outer.body[-1] is not inner
        or not all(isinstance(s, lp.Let) for s in outer.body[:-1])
        or not copyable(outer.body)
    ):
        return Refused("there is more in the outer loop than values and the inner one")
    made = {s.var for s in outer.body[:-1] if isinstance(s, lp.Let)}
    if outer.sym in inner.low.leaves() | inner.high.leaves() or not made.isdisjoint(lp.used_vars((inner.low, inner.high))):
        return Refused("the inner loop has another range in every round")
    block, column = Sym(f"{outer.sym.name}_tile"), Sym(f"{inner.sym.name}_tile")
    first = first_of(outer, long, block)
    until, end = block_end(f"{outer.sym.name}_end", first, long, outer.high)
    whole = whole_blocks(length(inner), short)  # made only where there are columns
    start = first_of(inner, short, column)

    def rows(low: Poly, high: Poly) -> lp.For:
        i, j = Sym(outer.sym.name), Sym(inner.sym.name)
        copier = Copier({outer.sym: poly(i), inner.sym: low + poly(j)})
        before = copier.stmts(outer.body[:-1])
        return lp.For(i, first, end, [*before, lp.For(j, poly(0), high - low, copier.stmts(inner.body), True)], True)

    body: list[lp.Stmt] = [
        until,
        lp.For(column, poly(0), whole, [rows(start, start + short)], True),
        rows(inner.low + short * whole, inner.high),
    ]
    return [over_blocks(outer, long, block, body, True)]
