"""What stands under a condition stands in the branch on it that is there already, past what is in between (jump threading, code motion).

    if c:  A       B       if c and d:  C           becomes          if c:  A;  if d:  C       B
    if c:  A       B       y = (e if c else f)      becomes          var y     if c:  A;  y := e   else:  y := f       B

    condition(stmt)                    a statement as a branch, if it is one
    joined(branch, stmt, between)      the branch with the statement in it, which stood behind `between`
    goes_before(stmt, branch, between) why a value may not be made before the branch instead; None where it may

Right where the tests of the branch come first in those of the statement and are the same after the branch as before it: nothing in it makes or writes what they are made of. Nothing in between
stops the program, prints or leaves a loop (QUIET), makes or changes what the statement reads or makes, or reads what it makes. Tests of indices have no order, as none of them can fail; those of data
keep theirs. What is done where the further tests do not hold stands on both sides then, so it is one statement at most. A value goes before the branch where it reads no memory and does not
divide: a check in the branch may be what makes that right.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.questions import changed, divides, loads, polys
from atoll.loops.transform.refused import Refused

QUIET = (lp.Let, lp.Declare, lp.Assign, lp.Add, lp.Store, lp.Update, lp.If)  # others may go past these: they end, and nobody sees when
_PLAIN = {"add", "sub", "mul", "neg", "min", "max", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"}


@dataclass(frozen=True, slots=True)
class Joined:
    """The branch with more in it, and what has to be declared before it."""

    before: list[lp.Stmt]
    branch: lp.If


@dataclass(frozen=True, slots=True)
class Touched:
    """Variables and arrays that a statement reads and changes."""

    uses: frozenset[lp.Var]
    makes: frozenset[lp.Var]
    reads: frozenset[lp.Buffer]
    writes: frozenset[lp.Buffer]

    def meets(self, other: Touched) -> bool:
        """One of them makes what the other reads or makes."""
        return bool(self.makes & (other.uses | other.makes) or self.uses & other.makes or self.writes & (other.reads | other.writes) or self.reads & other.writes)


def touched(stmt: lp.Stmt) -> Touched:
    made, written = changed([stmt])
    reads = {x.buffer for x in loads(stmt)} | {s.buffer for s in lp.walk([stmt]) if isinstance(s, lp.Update)}
    return Touched(frozenset(lp.used_vars(stmt)), frozenset(made), frozenset(reads), frozenset(written))


def quiet(stmt: lp.Stmt) -> bool:
    return all(isinstance(s, QUIET) for s in lp.walk([stmt]))


def joined(branch: lp.If, stmt: lp.Stmt, between: lp.Stmts) -> Joined | Refused:
    found = condition(stmt)
    if found is None:
        return Refused("it is no branch")
    more = _with(branch, found)
    if isinstance(more, Refused):
        return more
    if _leaves(stmt) or not all(map(quiet, between)):
        return Refused("something in between is seen, or may end the program or a loop")
    if _meets(stmt, between):
        return Refused("something in between makes what it reads, or reads or makes what it makes")
    return Joined([lp.Declare(stmt.var, None)] if isinstance(stmt, lp.Let) else [], more)


def goes_before(stmt: lp.Stmt, branch: lp.If, between: lp.Stmts) -> Refused | None:
    if not isinstance(stmt, (lp.Let, lp.Declare)):
        return Refused("it is no value")
    if stmt.value is not None and (loads(stmt.value) or any(isinstance(e, lp.Call) and e.op not in _PLAIN for e in lp.subexprs(stmt.value)) or any(map(divides, polys(stmt.value)))):
        return Refused("it reads memory, or may wait for a check")
    if not changed([branch])[0].isdisjoint(lp.used_vars(stmt)):
        return Refused("the branch makes what it is made of")
    return Refused("something in between makes what it is made of") if _meets(stmt, between) else None


def _meets(stmt: lp.Stmt, others: lp.Stmts) -> bool:
    if not others:
        return False
    mine = touched(stmt)
    return any(mine.meets(touched(other)) for other in others)


def _leaves(stmt: lp.Stmt) -> bool:
    """It ends the loop around it."""
    return isinstance(stmt, lp.BreakUnless) or (not isinstance(stmt, lp.Forever) and any(_leaves(s) for body in lp.bodies(stmt) for s in body))


def positive(stmt: lp.If) -> lp.If:
    """A branch on "not all of these" as one on all of them, with its sides exchanged."""
    if len(stmt.tests) == 1 and stmt.tests[0].kind == "false" and isinstance(stmt.tests[0].expr, lp.Call):
        found = _conjuncts(stmt.tests[0].expr)
        if found is not None:
            return lp.If(found, stmt.orelse, stmt.then)
    return stmt


def condition(stmt: lp.Stmt) -> lp.If | None:
    match stmt:
        case lp.If():
            return stmt
        case lp.Let(var, lp.Choose(tests, then, orelse)) | lp.Assign(var, lp.Choose(tests, then, orelse)):
            return lp.If(tests, [lp.Assign(var, then, instance=stmt.instance)], [lp.Assign(var, orelse, instance=stmt.instance)])
    return None


def _conjuncts(e: lp.Expr | None) -> tuple[lp.Test, ...] | None:
    """The tests that a bool is true for; None when it is something else."""
    match e:
        case lp.Truth(tests):
            return tests
        case lp.Call("and", (a, b), _):
            x, y = _conjuncts(a), _conjuncts(b)
            return None if x is None or y is None else (*x, *y)
    return None


def _with(branch: lp.If, more: lp.If) -> lp.If | Refused:
    """The branch with what another one does."""
    tests, then, orelse = more.tests, more.then, more.orelse
    if len(tests) == 1 and len(branch.tests) == 1 and tests[0].negated() == branch.tests[0]:
        tests, then, orelse = branch.tests, orelse, then
    elif len(tests) == 1 and tests[0].kind == "false" and _conjuncts(tests[0].expr) == branch.tests:
        tests, then, orelse = branch.tests, orelse, then
    common = len(branch.tests)
    if len(tests) >= common and set(tests[:common]) == set(branch.tests) and all(t.expr is None for t in branch.tests):
        tests = (*branch.tests, *tests[common:])  # tests of indices have no order
    rest = tests[common:]
    if tests[:common] != branch.tests:
        return Refused("it stands under another condition")
    if _changes(branch, tests[:common]):
        return Refused("what is tested may be something else after the branch")
    if rest and len(orelse) > 1:
        return Refused("what is done where the further tests do not hold would stand there twice")
    return lp.If(branch.tests, [*branch.then, *([lp.If(rest, then, orelse)] if rest else then)], [*branch.orelse, *orelse])


def _changes(branch: lp.If, tests: tuple[lp.Test, ...]) -> bool:
    made, written = changed([branch])
    return not made.isdisjoint(lp.used_vars(tests)) or any(x.buffer in written for t in tests for x in loads(t))
