"""Loops that end by a flag are left where the flag is made (transform/leave.py), and those with several conditions at the first that does not hold (transform/ways_out.py).

A C compiler then leaves there, and keeps no flag; conditions that count are seen to (backends/c/stretches.py).
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.leave import flag_of, left_at_once
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import in_turn, plain_parts
from atoll.loops.transform.ways_out import one_by_one


def leave_at_once(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def step(before: list[lp.Stmt], stmt: lp.Stmt) -> None:
        if isinstance(stmt, lp.Forever) and not isinstance(found := flag_of(stmt, before), Refused) and not isinstance(made := left_at_once(stmt, before), Refused):
            decisions.append(f"the loop is left in the round that sets {found[1].shown}")
            stmt = made
        if isinstance(stmt, lp.Forever) and not isinstance(turns := one_by_one(stmt), Refused):
            decisions.append("the loop looks at its conditions one by one")
            stmt = turns
        before.append(stmt)

    return in_turn(stmts, step, plain_parts)
