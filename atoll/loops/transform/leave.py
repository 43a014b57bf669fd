"""A loop that decides to end ends at the end of that round, not at the beginning of the next (loop rotation for the flag of a `break`).

    going = True
    forever:  break unless i < n;  break unless going;  ...;  going := (going if p else False);  i := i + 1
becomes
    forever:  break unless i < n;  ...;  going := p;  i := i + 1;  break unless going

    flag_of(loop, before)        where the loop looks at a flag that holds when it begins, and what it looks at besides; `before` is what stands before it in its block
    left_at_once(loop, before)   the loop that looks at the flag when a round ends

The flag may be one of several conditions (`break unless going and k >= 2`), and what is done before them may ask for it (`if going and k >= 2: check ...`).

Right where the flag is declared as true in the block and not assigned before the loop, so that the first round finds it true, and where a round does nothing but to look for other ways
out, and what it does only while the flag holds, before it looks at the flag: between the end of a round and that place every variable then keeps its value, and a way out that is no longer looked at
changes nothing. Until a round assigns the flag it is true, and is written so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import begins_as, changed
from atoll.loops.transform.refused import Refused
from atoll.types.dtypes import BOOL

Tests = tuple[lp.Test, ...]
TRUE, FALSE = lp.Const(True, BOOL), lp.Const(False, BOOL)


def flag_of(loop: lp.Forever, before: lp.Stmts) -> tuple[int, lp.Var, Tests] | Refused:
    for place, stmt in enumerate(loop.body):
        if isinstance(stmt, lp.BreakUnless):
            terms = _terms(stmt.tests)
            flag = next((t.expr.var for t in terms if isinstance(t.expr, lp.Use) and t.kind == "true" and begins_as(t.expr.var, TRUE, before)), None)
            if flag is not None and not any(isinstance(s, lp.If) and not _asks(s, flag) for s in loop.body[:place]):
                return place, flag, tuple(t for t in terms if not _is(t, flag))
        elif not isinstance(stmt, (lp.Note, lp.If)) and not (isinstance(stmt, lp.Declare) and (stmt.value is None or isinstance(stmt.value, lp.Const))):
            return Refused("a round does something before it looks at a flag")
    return Refused("it looks at no flag that holds when it begins")


def left_at_once(loop: lp.Forever, before: lp.Stmts) -> lp.Forever | Refused:
    found = flag_of(loop, before)
    if isinstance(found, Refused):
        return found
    place, flag, others = found
    rest = [*loop.body[:place], *([lp.BreakUnless(others)] if others else []), *loop.body[place + 1 :]]
    asks = lp.BreakUnless((lp.Test("true", None, lp.Use(flag)),)) if others else loop.body[place]
    return lp.Forever([*_while_it_holds(rest, flag), asks])


def _terms(tests: Tests) -> Tests:
    """The conditions that tests are made of, in their order."""

    def of(t: lp.Test) -> Tests:
        match t:
            case lp.Test("true", None, lp.Truth(inside)):
                return _terms(inside)
            case lp.Test("true", None, lp.Call("and", (a, b), _)) if a.dtype is BOOL:
                return (*of(lp.Test("true", None, a)), *of(lp.Test("true", None, b)))
            case lp.Test("true", None, lp.Choose(inside, then, lp.Const(False, _))):
                return (*_terms(inside), *of(lp.Test("true", None, then)))
        return (t,)

    return tuple(found for t in tests for found in of(t))


def _is(t: lp.Test, flag: lp.Var) -> bool:
    return t.kind == "true" and isinstance(t.expr, lp.Use) and t.expr.var is flag


def _asks(branch: lp.If, flag: lp.Var) -> bool:
    """A branch that does nothing unless the flag holds, and does not change it."""
    return not branch.orelse and flag not in changed([branch])[0] and any(_is(t, flag) for t in branch.tests)


def _while_it_holds(stmts: lp.Stmts, flag: lp.Var) -> list[lp.Stmt]:
    """The statements of a round in which the flag holds, until it is assigned."""
    out: list[lp.Stmt] = []
    for k, stmt in enumerate(stmts):
        if isinstance(stmt, (lp.Let, lp.Declare, lp.Assign)) and stmt.value is not None:
            stmt = type(stmt)(stmt.var, _with(stmt.value, flag))
        elif isinstance(stmt, lp.If) and any(_is(t, flag) for t in stmt.tests):
            left = tuple(t for t in stmt.tests if not _is(t, flag))
            out += [replace(stmt, tests=left)] if left else stmt.then
            continue
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
