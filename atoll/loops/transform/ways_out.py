"""A loop that goes on while one thing and another hold leaves where the first does not (jump threading of a short-circuit condition).

    forever:  v = False;  if p + 1 < k: (y = x[p];  v := y != z) else: v := False;  break unless v;  ...
becomes
    forever:  v = False;  break unless p + 1 < k;  y = x[p];  v := y != z;  break unless v;  ...

    one_by_one(loop)    the loop that looks at the conditions one after the other

Right where nothing stands between the branch and the way out that asks for its answer, where the other branch only says that it does not hold, and where what the first branch assigns is declared
in the round: nobody sees afterwards what it would have been. Branches on the same condition that stand before it, make values of the round or check, and do not change the condition, go with it.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.refused import Refused
from atoll.types.dtypes import BOOL

FALSE = lp.Const(False, BOOL)


def one_by_one(loop: lp.Forever) -> lp.Forever | Refused:
    own = {s.var for s in loop.body if isinstance(s, lp.Declare)}
    body: list[lp.Stmt] = []
    changed = False
    for stmt in loop.body:
        branch = body[-1] if body else None
        if isinstance(stmt, lp.BreakUnless) and isinstance(branch, lp.If) and _only_answers(branch, stmt, own):
            body, then = _behind(branch, body[:-1], own)
            body += [lp.BreakUnless(branch.tests), *then]
            changed = True
        body.append(stmt)
    return lp.Forever(body) if changed else Refused("no way out of it asks for what only one branch finds")


def _behind(branch: lp.If, before: list[lp.Stmt], own: set[lp.Var]) -> tuple[list[lp.Stmt], list[lp.Stmt]]:
    """What stays before the way out, and what is done behind it: the branch, and those on the same condition that stand before it."""
    then = list(branch.then)
    place = len(before)
    while place and (_begins(s := before[place - 1]) or (isinstance(s, lp.If) and s.tests == branch.tests and _for_later(s, own))):
        place -= 1
        then[:0] = s.then if isinstance(s, lp.If) else []
    return [*before[:place], *(s for s in before[place:] if not isinstance(s, lp.If))], then


def _begins(s: lp.Stmt) -> bool:
    return isinstance(s, lp.Note) or (isinstance(s, lp.Declare) and (s.value is None or isinstance(s.value, lp.Const)))


def _for_later(branch: lp.If, own: set[lp.Var]) -> bool:
    """It makes values of the round, and checks, and does not change whether it is done."""
    plain = all(isinstance(s, (lp.Let, lp.Check)) or (isinstance(s, lp.Assign) and s.var in own) for s in branch.then)
    assigned = {s.var for s in branch.then if isinstance(s, lp.Assign)}
    return plain and not branch.orelse and assigned.isdisjoint(lp.used_vars(lp.BreakUnless(branch.tests)))


def _only_answers(branch: lp.If, leave: lp.BreakUnless, own: set[lp.Var]) -> bool:
    asked = leave.tests[0] if len(leave.tests) == 1 else None
    if asked is None or asked.kind != "true" or not isinstance(asked.expr, lp.Use) or asked.expr.var not in own:
        return False
    denied = [s for s in branch.orelse if not isinstance(s, lp.Note)]
    says_no = len(denied) == 1 and isinstance(denied[0], lp.Assign) and denied[0].var is asked.expr.var and denied[0].value == FALSE
    assigned = {s.var for s in lp.walk(branch.then) if isinstance(s, (lp.Assign, lp.Add))}
    return says_no and assigned <= own
