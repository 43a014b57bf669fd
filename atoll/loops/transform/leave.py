"""A loop that decides to end ends at the end of that round, not at the beginning of the next (loop rotation for the flag of a `break`).

    going = True
    forever:  break unless i < n;  break unless going;  ...;  going := (going if p else False);  i := i + 1
becomes
    forever:  break unless i < n;  ...;  going := p;  i := i + 1;  break unless going

    flag_of(loop, before)        where the loop looks at a flag that holds when it begins; `before` is what stands before it in its block
    left_at_once(loop, before)   the loop that looks at the flag when a round ends

Right where the flag is declared as true in the block and not assigned before the loop, so that the first round finds it true, and where a round does nothing but to look for other ways
out before it looks at the flag: between the end of a round and that place every variable then keeps its value, and a way out that is no longer looked at changes nothing. Until a
round assigns the flag it is true, and is written so.
"""

from __future__ import annotations

from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import begins_as, changed
from atoll.loops.transform.refused import Refused
from atoll.types.dtypes import BOOL

TRUE, FALSE = lp.Const(True, BOOL), lp.Const(False, BOOL)


def flag_of(loop: lp.Forever, before: lp.Stmts) -> tuple[int, lp.Var] | Refused:
    for place, stmt in enumerate(loop.body):
        match stmt:
            case lp.BreakUnless((lp.Test("true", None, lp.Use(flag)),)) if begins_as(flag, TRUE, before):
                return place, flag
            case lp.BreakUnless() | lp.Note() | lp.Declare(_, None | lp.Const()):
                continue
        return Refused("a round does something before it looks at a flag")
    return Refused("it looks at no flag that holds when it begins")


def left_at_once(loop: lp.Forever, before: lp.Stmts) -> lp.Forever | Refused:
    found = flag_of(loop, before)
    if isinstance(found, Refused):
        return found
    place, flag = found
    rest = [s for k, s in enumerate(loop.body) if k != place]
    return lp.Forever([*_while_it_holds(rest, flag), loop.body[place]])


def _while_it_holds(stmts: lp.Stmts, flag: lp.Var) -> list[lp.Stmt]:
    """The statements of a round in which the flag holds, until it is assigned."""
    out: list[lp.Stmt] = []
    for k, stmt in enumerate(stmts):
        if isinstance(stmt, (lp.Let, lp.Declare, lp.Assign)) and stmt.value is not None:
            stmt = type(stmt)(stmt.var, _with(stmt.value, flag))
        out.append(stmt)
        if flag in changed([stmt])[0]:
            return [*out, *stmts[k + 1 :]]
    return out


def _with(e: Any, flag: lp.Var) -> Any:
    """A value where the flag is true."""
    match e:
        case lp.Use(var) if var is flag:
            return TRUE
        case lp.Choose(tests, then, orelse):
            a, b = _with(then, flag), _with(orelse, flag)
            return lp.Truth(tests) if a == TRUE and b == FALSE else lp.Choose(tests, a, b)
    return e
