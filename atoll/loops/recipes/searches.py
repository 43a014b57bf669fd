"""Loops of independent rounds that each end when they like (iterations until something converges or escapes), many
rounds side by side.

    for j:  x = f(j);  forever:  break unless x <= 4;  x = g(x, c[j]);   y[j] = x
becomes, for sixteen neighbouring j at a time,
    for lane: x[lane] = f(j + lane), going[lane] = 1
    forever:  break unless some lane is going
        four times:  for lane:  go = going[lane] and x[lane] <= 4;  x[lane] = g(x[lane], c[j + lane]) if go else x[lane];  going[lane] = go
    for lane: y[j + lane] = x[lane]

A round that has ended stays as it is while its neighbours go on, so every round does what it did
(transform/until_all_end.py). As many rounds go side by side as fill two vectors: one waits for itself.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.until_all_end import ending, until_all_end
from atoll.loops.transform.walk import Known, innermost_first, not_products


def searches(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, (lp.For, lp.Accumulate)) or isinstance(found := ending(stmt, known), Refused):
            return None
        lanes = profit.SEARCH_BYTES // found.widest
        decisions.append(f"{lanes} rounds of {stmt.sym} side by side until the last of them ends")
        return until_all_end(found, lanes, profit.SEARCH_STEPS, known)

    return innermost_first(stmts, rewrite, not_products, known=())
