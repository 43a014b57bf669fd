"""What stands under the same condition stands under it once.

    var a = 0;  if c:  check ...; a := i;     var b = 0;  if c and x[a]:  b := j;     y := (x[b] if c else 0)
becomes
    var a = 0;  var b = 0;  if c:  check ...; a := i;  if x[a]:  b := j;  y := x[b];     else:  y := 0

The normal form has a condition at every line; a program has one branch for many. What stands between goes before the branch, if it neither reads
memory nor waits for what the branch makes, or stays behind it, if what joins the branch may go past (code motion). Facts learnt in the branch (needless_checks.py) then
reach all of it, and what is computed twice in it is computed once (same_values.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.questions import changed, divides, loads, polys
from atoll.loops.transform.walk import plain_parts, with_bodies


def same_conditions(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    out: list[lp.Stmt] = []
    open_: list[int] = []  # where in `out` branches stand that later statements may join
    joined = 0

    def put(at: int, stmt: lp.Stmt) -> None:
        out.insert(at, stmt)
        open_[:] = [k + (k >= at) for k in open_]

    for stmt in stmts:
        if isinstance(stmt, lp.If):
            stmt = _positive(stmt)
        found = _under(stmt)
        place = None if found is None else _place(out, open_, stmt, found)
        if place is not None:
            at, more = place
            if isinstance(stmt, lp.Let):
                put(at, lp.Declare(stmt.var, None))
                at += 1
            out[at] = more
            joined += 1
        elif isinstance(stmt, lp.Declare) and (stmt.value is None or isinstance(stmt.value, lp.Const)):
            put(open_[0] if open_ else len(out), stmt)
        elif open_ and isinstance(branch := out[open_[-1]], lp.If) and _goes_before(stmt, branch) and not _meet(touched(stmt), out[open_[-1] + 1 :]):
            put(open_[-1], stmt)
        else:
            if not isinstance(stmt, _QUIET) or not all(isinstance(s, _QUIET) for s in lp.walk([stmt])):
                open_.clear()
            put(len(out), stmt)
            if isinstance(stmt, lp.If):
                open_[:] = [*open_[1 - _MOST_OPEN :], len(out) - 1]
    if joined:
        decisions.append(f"{joined} statements join a branch on the same condition")
    return [with_bodies(stmt, lambda body: same_conditions(body, decisions)) if plain_parts(stmt) else stmt for stmt in out]


_QUIET = (lp.Let, lp.Declare, lp.Assign, lp.Add, lp.Store, lp.Update, lp.If)  # later statements may go past these: they end, and nobody sees when
_MOST_OPEN = 4
_FAR = 48  # statements to go past

Found = tuple[tuple[lp.Test, ...], lp.Stmts, lp.Stmts]


@dataclass(frozen=True)
class Touched:
    """Variables and arrays that a statement reads and changes."""

    uses: frozenset[lp.Var]
    makes: frozenset[lp.Var]
    reads: frozenset[lp.Buffer]
    writes: frozenset[lp.Buffer]


def touched(stmt: lp.Stmt) -> Touched:
    made, written = changed([stmt])
    reads = {x.buffer for x in loads(stmt)} | {s.buffer for s in lp.walk([stmt]) if isinstance(s, lp.Update)}
    return Touched(frozenset(lp.used_vars(stmt)), frozenset(made), frozenset(reads), frozenset(written))


def _meet(one: Touched, others: lp.Stmts) -> bool:
    """Whether a statement could not change places with all of these: one of them makes what the other reads or makes."""
    return any(one.makes & (x.uses | x.makes) or one.uses & x.makes or one.writes & (x.reads | x.writes) or one.reads & x.writes for x in map(touched, others))


def _place(out: list[lp.Stmt], open_: list[int], stmt: lp.Stmt, found: Found) -> tuple[int, lp.If] | None:
    """The latest branch that a statement can join, past what stands behind it, and the branch with it."""
    mine: Touched | None = None
    for at in reversed(open_):
        branch = out[at]
        assert isinstance(branch, lp.If)
        if len(out) - at > _FAR or (more := _joined(branch, *found)) is None:
            continue
        mine = touched(stmt) if mine is None else mine
        return None if _meet(mine, out[at + 1 :]) else (at, more)
    return None


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


def _under(stmt: lp.Stmt) -> Found | None:
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
    if len(tests) >= common and set(tests[:common]) == set(branch.tests) and all(t.expr is None for t in branch.tests):
        tests = (*branch.tests, *tests[common:])  # tests of indices have no order
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
    return changed([branch])[0].isdisjoint(lp.used_vars(stmt)) and not any(map(divides, polys(stmt.value)))


_PLAIN = {"add", "sub", "mul", "neg", "min", "max", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"}
