"""Loops of nothing but checks join the loop after them that runs through the same range, and values computed twice in it are computed once.

    for i: k = at[i]; check 0 <= k < n
    for i: k_1 = at[i]; check 0 <= k_1 < m; y[i] = x[k_1] + z[k_1]
becomes
    for i: k = at[i]; check 0 <= k < n; check 0 <= k < m; y[i] = x[k] + z[k]

so that loops/control/hoist_checks.py can make all of them where the values are used (transform/fuse.py).
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.fuse import checks_joined
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import in_turn


def join_checks(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def step(before: list[lp.Stmt], stmt: lp.Stmt) -> None:
        while before and not isinstance(joined := checks_joined(before[-1], stmt), Refused):
            before.pop()
            stmt = joined
            decisions.append("checks are made in the loop that uses what they look at")
        before.append(stmt)

    return in_turn(stmts, step)
