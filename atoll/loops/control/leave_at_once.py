"""Loops that end by a flag are left where the flag is made (transform/leave.py): a C compiler then leaves there, and keeps none."""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.leave import flag_of, left_at_once
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import in_turn, plain_parts


def leave_at_once(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def step(before: list[lp.Stmt], stmt: lp.Stmt) -> None:
        if isinstance(stmt, lp.Forever) and not isinstance(found := flag_of(stmt, before), Refused) and not isinstance(made := left_at_once(stmt, before), Refused):
            decisions.append(f"the loop is left in the round that sets {found[1].shown}")
            stmt = made
        before.append(stmt)

    return in_turn(stmts, step, plain_parts)
