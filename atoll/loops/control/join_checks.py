"""Loops of nothing but checks join the loop after them that runs through the same range, and values computed twice in it are computed once.

    for i: k = at[i]; check 0 <= k < n
    for i: k_1 = at[i]; check 0 <= k_1 < m; y[i] = x[k_1] + z[k_1]
becomes
    for i: k = at[i]; check 0 <= k < n; check 0 <= k < m; y[i] = x[k] + z[k]

so that loops/control/hoist_checks.py can make all of them where the values are used. Fusion (transform/fuse.py), and values that are the same have one name.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.questions import only_checks
from atoll.loops.transform.copier import copyable
from atoll.loops.transform.fuse import fused, once
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import in_turn


def join_checks(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def step(before: list[lp.Stmt], stmt: lp.Stmt) -> None:
        while before and only_checks(before[-1]) and (joined := _join(before[-1], stmt)) is not None:
            before.pop()
            stmt = joined
            decisions.append("checks are made in the loop that uses what they look at")
        before.append(stmt)

    return in_turn(stmts, step)


def _join(checks: lp.Stmt, stmt: lp.Stmt) -> lp.Stmt | None:
    """A loop with the checks of another one in its rounds, also where both are nests; None when that cannot be done."""
    if not isinstance(checks, (lp.For, lp.Chunks)) or not isinstance(stmt, (lp.For, lp.Chunks)) or _prints(stmt) or isinstance(made := fused(checks, stmt), Refused):
        return None
    if isinstance(stmt, lp.For) and (not stmt.parallel or not copyable(stmt.body)):
        return None
    body = made.body
    inner = checks.body[0] if len(checks.body) == 1 else None
    if isinstance(inner, (lp.For, lp.Chunks)) or isinstance(checks, lp.Chunks):
        found = _join(body[0], body[1]) if len(body) == 2 else None
        return None if found is None else replace(made, body=[found])
    if any(isinstance(s, (lp.For, lp.Accumulate)) for s in body):
        return None
    return replace(made, body=once(body))


def _prints(stmt: lp.Stmt) -> bool:
    """What is printed is printed before a check that comes after it fails."""
    return any(isinstance(s, lp.Print) for s in lp.walk([stmt]))
