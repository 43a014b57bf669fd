"""What stands under the same condition stands under it once.

    var a = 0;  if c:  check ...; a := i;     var b = 0;  if c and x[a]:  b := j;     y := (x[b] if c else 0)
becomes
    var a = 0;  var b = 0;  if c:  check ...; a := i;  if x[a]:  b := j;  y := x[b];     else:  y := 0

The normal form has a condition at every line; a program has one branch for many. What stands between goes before the branch, if it neither reads
memory nor waits for what the branch makes. Facts learnt in the branch (needless_checks.py) then reach all of it.
"""

from __future__ import annotations

from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import changed, divides, loads
from atoll.loops.transform.walk import plain_parts, with_bodies


def same_conditions(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    out: list[lp.Stmt] = []
    at = -1  # where in `out` the branch stands that later statements may join
    joined = 0
    for stmt in stmts:
        if isinstance(stmt, lp.If):
            stmt = _positive(stmt)
        branch = out[at] if at >= 0 else None
        found = _under(stmt)
        if isinstance(branch, lp.If) and found is not None and (more := _joined(branch, *found)) is not None:
            if isinstance(stmt, lp.Let):
                out.insert(at, lp.Declare(stmt.var, None))
                at += 1
            out[at] = more
            joined += 1
            continue
        if isinstance(stmt, lp.If):
            at = len(out)
            out.append(stmt)
        elif isinstance(branch, lp.If) and _goes_before(stmt, branch):
            out.insert(at, stmt)
            at += 1
        else:
            at = -1
            out.append(stmt)
    if joined:
        decisions.append(f"{joined} statements join a branch on the same condition")
    return [with_bodies(stmt, lambda body: same_conditions(body, decisions)) if plain_parts(stmt) else stmt for stmt in out]


def _positive(stmt: lp.If) -> lp.If:
    """A branch on "not all of these" as one on all of them, with its sides exchanged."""
    if len(stmt.tests) == 1 and stmt.tests[0].kind == "false" and isinstance(stmt.tests[0].expr, lp.Call):
        found = _conjuncts(stmt.tests[0].expr)
        if found is not None:
            return lp.If(found, stmt.orelse, stmt.then)
    return stmt


def _conjuncts(e: lp.Expr | None) -> tuple[lp.Test, ...] | None:
    """The tests that a bool is true for; None when it is something else."""
    match e:
        case lp.Truth(tests):
            return tests
        case lp.Call("and", (a, b), _):
            x, y = _conjuncts(a), _conjuncts(b)
            return None if x is None or y is None else (*x, *y)
    return None


def _under(stmt: lp.Stmt) -> tuple[tuple[lp.Test, ...], lp.Stmts, lp.Stmts] | None:
    """A statement as a branch."""
    match stmt:
        case lp.If(tests, then, orelse):
            return tests, then, orelse
        case lp.Let(var, lp.Choose(tests, then, orelse)) | lp.Assign(var, lp.Choose(tests, then, orelse)):
            return tests, [lp.Assign(var, then, instance=stmt.instance)], [lp.Assign(var, orelse, instance=stmt.instance)]
    return None


def _joined(branch: lp.If, tests: tuple[lp.Test, ...], then: lp.Stmts, orelse: lp.Stmts) -> lp.If | None:
    """The branch with more in it, if that is what happens anyway."""
    if len(tests) == 1 and len(branch.tests) == 1 and tests[0].negated() == branch.tests[0]:
        tests, then, orelse = branch.tests, orelse, then
    elif len(tests) == 1 and tests[0].kind == "false" and _conjuncts(tests[0].expr) == branch.tests:
        tests, then, orelse = branch.tests, orelse, then
    common = len(branch.tests)
    rest = tests[common:]
    if tests[:common] != branch.tests or _changes(branch, tests[:common]) or (rest and len(orelse) > 1):
        return None
    return lp.If(branch.tests, [*branch.then, *([lp.If(rest, then, orelse)] if rest else then)], [*branch.orelse, *orelse])


def _changes(branch: lp.If, tests: tuple[lp.Test, ...]) -> bool:
    """Whether what is tested may be something else after the branch."""
    made, written = changed([branch])
    return not made.isdisjoint(lp.used_vars(tests)) or any(x.buffer in written for t in tests for x in loads(t))


def _goes_before(stmt: lp.Stmt, branch: lp.If) -> bool:
    """A value that can be made before the branch: no memory is read, no division waits for a check."""
    if not isinstance(stmt, (lp.Let, lp.Declare)):
        return False
    if stmt.value is not None and (loads(stmt.value) or any(isinstance(e, lp.Call) and e.op not in _PLAIN for e in lp.subexprs(stmt.value))):
        return False
    return changed([branch])[0].isdisjoint(lp.used_vars(stmt)) and not _divides(stmt.value)


_PLAIN = {"add", "sub", "mul", "neg", "min", "max", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"}


def _divides(e: Any) -> bool:
    return e is not None and any(divides(p) for x in lp.subexprs(e) for p in _polys(x))


def _polys(e: lp.Expr) -> list[Any]:
    if isinstance(e, lp.Index):
        return [e.poly]
    return [t.poly for t in e.tests if t.poly is not None] if isinstance(e, (lp.Choose, lp.Truth)) else []
