"""Loops of nothing but checks join the loop after them that runs through the same range, and values computed twice in it are computed once.

    for i: k = at[i]; check 0 <= k < n
    for i: k_1 = at[i]; check 0 <= k_1 < m; y[i] = x[k_1] + z[k_1]
becomes
    for i: k = at[i]; check 0 <= k < n; check 0 <= k < m; y[i] = x[k] + z[k]

so that loops/control/hoist_checks.py can make all of them where the values are used. What the second loop writes, the checks must not read. Which of
several checks is reported first is not part of the meaning of a program.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.control.same_checks import only_checks
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.walk import in_turn
from atoll.sizes import Atom, Poly, poly


def join_checks(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def step(before: list[lp.Stmt], stmt: lp.Stmt) -> None:
        while before and only_checks(before[-1]) and (joined := _join(before[-1], stmt, {})) is not None:
            before.pop()
            stmt = joined
            decisions.append("checks are made in the loop that uses what they look at")
        before.append(stmt)

    return in_turn(stmts, step)


def _join(checks: lp.Stmt, stmt: lp.Stmt, env: dict[Atom, Poly]) -> lp.Stmt | None:
    """A loop with the checks of another one over the same range; None when that cannot be done."""
    written = {s.buffer for s in lp.walk([stmt]) if isinstance(s, (lp.Store, lp.Update))}
    if any(x.buffer in written for s in lp.walk([checks]) for x in loads(s)) or any(isinstance(s, lp.Print) for s in lp.walk([stmt])):
        return None
    if isinstance(checks, lp.Chunks) and isinstance(stmt, lp.Chunks):
        inner = {**env, checks.low: poly(stmt.low), checks.high: poly(stmt.high)}
        loop = _only_loop(stmt.body)
        if checks.extent != stmt.extent or len(checks.body) != 1 or loop is None or (made := _join(checks.body[0], loop, inner)) is None:
            return None
        return replace(stmt, body=[made], work=stmt.work + checks.work)
    if not isinstance(checks, lp.For) or not isinstance(stmt, lp.For) or not stmt.parallel or stmt.vector or stmt.unroll or not copyable(stmt.body):
        return None
    if checks.low.subst(env) != stmt.low or checks.high.subst(env) != stmt.high:
        return None
    env = {**env, checks.sym: poly(stmt.sym)}
    if len(checks.body) == 1 and isinstance(checks.body[0], lp.For):
        loop = _only_loop(stmt.body)
        made = _join(checks.body[0], loop, env) if loop is not None else None
        return None if made is None else replace(stmt, body=[made])
    if any(isinstance(s, lp.For) for s in checks.body) or any(isinstance(s, (lp.For, lp.Accumulate)) for s in stmt.body):
        return None
    return replace(stmt, body=_once([*Copier(env).stmts(checks.body), *stmt.body], written))


def _only_loop(stmts: lp.Stmts) -> lp.For | None:
    return stmts[0] if len(stmts) == 1 and isinstance(stmts[0], lp.For) else None


def _once(body: lp.Stmts, written: set[lp.Buffer]) -> list[lp.Stmt]:
    """Equal values under one name, equal checks once."""
    seen: dict[lp.Expr, lp.Var] = {}
    tested: set[tuple[lp.Test, ...]] = set()
    copier = Copier({})
    out: list[lp.Stmt] = []
    for s in body:
        if isinstance(s, lp.Let):
            value = copier.expr(s.value)
            same = seen.get(value)
            if same is not None and same.dtype is s.var.dtype:
                copier.vars[s.var] = same
                copier.env[s.var.atom] = poly(same.atom)
                continue
            new = copier.var(s.var)
            out.append(lp.Let(new, value))
            if not any(x.buffer in written for x in loads(value)):
                seen[value] = new
            continue
        for made in copier.stmt(s):
            if isinstance(made, lp.Check) and made.tests in tested:
                continue
            if isinstance(made, lp.Check):
                tested.add(made.tests)
            out.append(made)
    return out
