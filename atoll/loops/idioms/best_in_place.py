"""Elements that rounds replace by what is better are the best of all rounds (transform/best_in_place.py): longest increasing subsequences, costs of splits, whatever a loop inside another improves.

The best is in a register then, and rounds in vectors.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.questions import changed, filled_on_condition
from atoll.loops.transform.best_in_place import best_in_place as made
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first, plain_parts


def best_in_place(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    perhaps_empty = filled_on_condition(stmts)

    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For) or not perhaps_empty.isdisjoint(changed(stmt.body)[1]) or isinstance(found := made(stmt, known), Refused):
            return None
        decisions.append(f"the best of the rounds of {stmt.sym} replaces one element")
        return found

    return innermost_first(stmts, rewrite, plain_parts, ())
