"""A loop that decides to end ends at the end of that round, not at the beginning of the next (loop rotation for the flag of a `break`).

    going = True
    forever:  break unless i < n;  break unless going;  ...;  going := (going if p else False);  i := i + 1
becomes
    forever:  break unless i < n;  ...;  going := p;  i := i + 1;  break unless going

Between the end of a round and the place where the flag is looked at stands nothing but other ways out, so every variable has the same value either
way; in the first round the flag holds. A C compiler then leaves where the flag is made, and keeps none.
"""

from __future__ import annotations

from typing import Any

from atoll.loops import ir as lp
from atoll.loops.transform.walk import in_turn, plain_parts
from atoll.types.dtypes import BOOL


def leave_at_once(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def step(before: list[lp.Stmt], stmt: lp.Stmt) -> None:
        if isinstance(stmt, lp.Forever) and (found := _flag(stmt.body, before)) is not None:
            place, flag = found
            rest = [s for k, s in enumerate(stmt.body) if k != place]
            decisions.append(f"the loop is left in the round that sets {flag.shown}")
            stmt = lp.Forever([*_while_it_holds(rest, flag), stmt.body[place]])
        before.append(stmt)

    return in_turn(stmts, step, plain_parts)


def _flag(body: lp.Stmts, before: lp.Stmts) -> tuple[int, lp.Var] | None:
    """Where a loop looks at a flag that holds when it begins, with nothing before it but other ways out."""
    for place, stmt in enumerate(body):
        match stmt:
            case lp.BreakUnless((lp.Test("true", None, lp.Use(flag)),)) if _holds(flag, before):
                return place, flag
            case lp.BreakUnless() | lp.Note() | lp.Declare(_, None | lp.Const()):
                continue
        return None
    return None


def _holds(flag: lp.Var, before: lp.Stmts) -> bool:
    """It is declared as true in this block, and not assigned since."""
    for k, stmt in enumerate(before):
        if isinstance(stmt, lp.Declare) and stmt.var is flag:
            known = isinstance(stmt.value, lp.Const) and stmt.value.value is True
            return known and not any(isinstance(s, lp.Assign) and s.var is flag for s in lp.walk(before[k:]))
    return False


def _while_it_holds(stmts: lp.Stmts, flag: lp.Var) -> list[lp.Stmt]:
    """The statements of a round in which the flag holds, until it is assigned."""
    out: list[lp.Stmt] = []
    for k, stmt in enumerate(stmts):
        if isinstance(stmt, (lp.Let, lp.Declare, lp.Assign)):
            stmt = type(stmt)(stmt.var, None if stmt.value is None else _with(stmt.value, flag))  # type: ignore[arg-type]
        out.append(stmt)
        if any(isinstance(s, lp.Assign) and s.var is flag for s in lp.walk([stmt])):
            return [*out, *stmts[k + 1 :]]
    return out


def _with(e: Any, flag: lp.Var) -> Any:
    """A value where the flag is true."""
    match e:
        case lp.Use(var) if var is flag:
            return lp.Const(True, BOOL)
        case lp.Choose(tests, then, orelse):
            a, b = _with(then, flag), _with(orelse, flag)
            if e.dtype is BOOL and a == lp.Const(True, BOOL) and b == lp.Const(False, BOOL):
                return lp.Truth(tests)
            return lp.Choose(tests, a, b)
    return e
