"""What stands under the same condition stands under it once.

    var a = 0;  if c:  check ...; a := i;     var b = 0;  if c and x[a]:  b := j;     y := (x[b] if c else 0)
becomes
    var a = 0;  var b = 0;  if c:  check ...; a := i;  if x[a]:  b := j;  y := x[b];     else:  y := 0

The normal form has a condition at every line; a program has one branch for many. What stands between goes before the branch or stays behind it (transform/branches.py). Facts
learnt in the branch (needless_checks.py) then reach all of it, and what is computed twice in it is computed once (same_values.py).
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.branches import Joined, condition, goes_before, joined, positive, quiet
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import plain_parts, with_bodies


def same_conditions(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    block = _Block()
    for stmt in stmts:
        block.add(stmt)
    if block.joined:
        decisions.append(f"{block.joined} statements join a branch on the same condition")
    return [with_bodies(stmt, lambda body: same_conditions(body, decisions)) if plain_parts(stmt) else stmt for stmt in block.out]


class _Block:
    """What is made of a block so far."""

    def __init__(self) -> None:
        self.out: list[lp.Stmt] = []
        self.open: list[int] = []  # where in `out` branches stand that later statements may join
        self.joined = 0

    def add(self, stmt: lp.Stmt) -> None:
        if isinstance(stmt, lp.If):
            stmt = positive(stmt)
        found = self.place(stmt)
        if found is not None:
            at, made = found
            for s in made.before:
                self.put(at, s)
            self.out[at + len(made.before)] = made.branch
            self.joined += 1
        elif isinstance(stmt, lp.Declare) and (stmt.value is None or isinstance(stmt.value, lp.Const)):
            self.put(self.open[0] if self.open else len(self.out), stmt)
        elif self.open and isinstance(branch := self.out[self.open[-1]], lp.If) and goes_before(stmt, branch, self.out[self.open[-1] + 1 :]) is None:
            self.put(self.open[-1], stmt)
        else:
            if not quiet(stmt):
                self.open.clear()
            self.put(len(self.out), stmt)
            if isinstance(stmt, lp.If):
                self.open = [*self.open[1 - profit.OPEN_BRANCHES :], len(self.out) - 1]

    def put(self, at: int, stmt: lp.Stmt) -> None:
        self.out.insert(at, stmt)
        self.open = [k + (k >= at) for k in self.open]

    def place(self, stmt: lp.Stmt) -> tuple[int, Joined] | None:
        """The latest branch that a statement can join, and the branch with it."""
        if condition(stmt) is None:
            return None
        for at in reversed(self.open):
            branch = self.out[at]
            assert isinstance(branch, lp.If)
            if len(self.out) - at <= profit.FAR_BRANCH and not isinstance(made := joined(branch, stmt, self.out[at + 1 :]), Refused):
                return at, made
        return None
