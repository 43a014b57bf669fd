"""Loops that add into memory take several rounds at once: each element is read and written once for all of them.

    for in order r:  for j:  c[j] += e(r, j)      becomes      for in order q:  for j:  c[j] = ((c[j] + e(r)) + e(r + 1)) + ...
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.jam import row_updates, updates_together
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first
from atoll.sizes import Sym


def jam(stmts: lp.Stmts, decisions: list[str], rounds: int) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For) or _few(stmt, rounds) or isinstance(found := row_updates(stmt), Refused):
            return None
        if len(found.updates) > profit.UPDATES:
            return None
        decisions.append(f"{rounds} rounds of {stmt.sym} at a time add along {found.inner.sym}")
        return updates_together(found, rounds, Sym(f"{stmt.sym.name}_by_{rounds}"), known)

    return innermost_first(stmts, rewrite, known=())


def _few(loop: lp.For, together: int) -> bool:
    count = (loop.high - loop.low).const()
    return count is not None and count < 2 * together
