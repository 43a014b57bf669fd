"""Several rounds of an elimination in one pass over what they all update (transform/update_once.py).

    for in order p:  D(p);  for i in p + 1..n:  for j in p + 1..n:  a[i, j] = a[i, j] - a[i, p] * a[p, j]
becomes, for four rounds p, p + 1, p + 2, p + 3 at a time,
    for each of them:  D;  the update of the rows and columns below p + 4, which the next rounds read
    for i in p + 4..n:  for j in p + 4..n:  v = a[i, j];  v = v - a[i, p] * a[p, j];  v = v - a[i, p + 1] * a[p + 1, j];  ...;  a[i, j] = v

What is large is read and written once for four rounds. Small eliminations stay as they are.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.update_once import update_behind, updated_once
from atoll.loops.transform.walk import Known, not_products, outermost_first


def several_rounds(stmts: lp.Stmts, decisions: list[str], together: int) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For) or isinstance(found := update_behind(stmt), Refused):
            return None
        made = updated_once(found, together, profit.ELIMINATION_ROWS, known)
        if isinstance(made, Refused):
            return None
        decisions.append(
            f"{together} rounds of {stmt.sym} at a time: first what the next ones read, then the rest of {found.store.buffer.shown} in one pass"
        )
        return made

    return outermost_first(stmts, rewrite, not_products, known=())
