"""What one round stores and the next one reads stays in a variable (transform/carry.py), wherever that can be: the way through memory would add several cycles to every
round of a recurrence."""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.carry import carried
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first


def carry(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For) or isinstance(found := carried(stmt), Refused):
            return None
        for array in found.arrays:
            decisions.append(f"the element of {array.shown} a round of {stmt.sym} stores is kept for the next")
        return found.stmts

    return innermost_first(stmts, rewrite)
