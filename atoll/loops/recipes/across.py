"""Sums side by side: where neighbouring rounds read neighbouring elements, vectors hold the sums of a round in every
lane (transform/side_by_side.py).

    for i:  s = sum over r of e(i, r);  result[i] = f(s)
becomes, for stretches of neighbouring i,
    total[lane] = 0;   for in order r:  for lane:  total[lane] += e(i + lane, r);   for lane:  result[i + lane] = f(total[lane])

Nothing is added up across lanes, and what does not depend on i is read once for all of them. Sums of floats take a
fixed number of rounds at a time and add those up, so that errors do not grow with the length.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.loops.transform.jam import one_sum
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.side_by_side import side_by_side, with_sums
from atoll.loops.transform.walk import Known, innermost_first
from atoll.sizes import poly


def across(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For) or isinstance(found := with_sums(stmt), Refused) or not _neighbours(stmt):
            return None
        lanes, count = _lanes(found.sums), (stmt.high - stmt.low).const()
        if count is not None and count < lanes:
            return None  # not one stretch
        decisions.append(f"sums of neighbouring {stmt.sym} side by side")
        return side_by_side(found, lanes, profit.SUMMED, known)

    return innermost_first(stmts, rewrite, known=())


def _lanes(accs: list[lp.Acc]) -> int:
    """Neighbours in a stretch."""
    at_once = profit.SIDE_BY_SIDE
    if any(a.var.dtype.is_complex for a in accs):
        at_once = profit.SIDE_BY_SIDE_COMPLEX
    elif len(accs) > 2:
        at_once //= 2
    return at_once // max(a.var.dtype.size for a in accs)


def _neighbours(loop: lp.For) -> bool:
    """Every element that a loop inside touches is the same for all rounds, or the next one for the next round; and of some that sums read every term has another one.
    Else a sum is as well made in vectors along its own terms (measured: 2.7 times as fast where what is read depends on a test); of a single one it is enough that rounds differ."""
    single = not isinstance(found := one_sum(loop), Refused) and not any(
        True for _ in lp.used_vars((found.inner.low, found.inner.high))
    )
    i, near = loop.sym, False
    inside = {s.sym for s in lp.walk(loop.body) if isinstance(s, (lp.For, lp.Accumulate))}
    for s in loop.body:
        if isinstance(s, (lp.For, lp.Accumulate)):
            stores = [x.index for x in lp.walk(s.body) if isinstance(x, (lp.Store, lp.Update))]
            for index in (*stores, *(x.index for x in loads(s.body))):
                moves = [i in p.leaves() for p in index]
                if any(moves):
                    if any(moves[:-1]) or index[-1].slope(i) != poly(1):
                        return False
                    near = near or (
                        isinstance(s, lp.Accumulate) and (single or any(not inside.isdisjoint(p.leaves()) for p in index))
                    )
    return near
