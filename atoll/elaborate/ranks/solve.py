"""The least solutions of a set of constraints (Schenck, fig. 4.11).

Three attempts, cheapest first. With no insertion at all the ranks are plain unification: if that succeeds the solution has size 0 and is
unique. Otherwise what is forced is propagated. What remains is solved as integer programs, one per independent part.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from atoll.elaborate.ranks import program
from atoll.elaborate.ranks.constraints import Application, Constraints
from atoll.elaborate.ranks.kinds import Clash, RankType, RankVar, Variable
from atoll.elaborate.ranks.program import Least, Values
from atoll.elaborate.ranks.propagate import Infeasible, Part, Propagation, row_of
from atoll.elaborate.ranks.relax import System, relax
from atoll.elaborate.ranks.schemes import close
from atoll.errors import Span
from atoll.sizes import Poly


@dataclass(frozen=True, slots=True)
class Insertion:
    """What one argument gets: the axes it is mapped over, and the reps that are not induced."""

    excess: int
    reps: int


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A value for every M and R."""

    system: System
    values: Values

    def maps(self, app: Application) -> int:
        return self.values[app.maps]

    def reps(self, app: Application) -> int:
        return self.values[app.reps]

    def insertion(self, app: Application) -> Insertion:
        """By spines (Schenck, fig. 4.12): the argument varies in the innermost frame + M levels, less its R outermost ones."""
        row, constant = row_of(app.frame, self.values)
        if row:  # a function about which nothing is known is mapped over something
            raise Clash
        depth = constant + self.maps(app)
        induced = min(self.reps(app), depth)
        return Insertion(depth - induced, self.reps(app) - induced)

    @property
    def cost(self) -> int:
        return sum(self.maps(app) + self.insertion(app).reps for app in self.system.applications)

    @property
    def size(self) -> int:
        """Every insertion, induced or not: the measure of the formal system."""
        return sum(self.maps(app) + self.reps(app) for app in self.system.applications)

    def types(self) -> Types:
        return Types(self.system, self.values)


@dataclass(frozen=True, slots=True)
class Outcome:
    """All least solutions: what is forced, and the choices of each part."""

    system: System
    forced: Values
    parts: tuple[tuple[Part, Least], ...] = ()
    columns: int = 0
    rows: int = 0

    @property
    def unique(self) -> bool:
        return all(len(least.solutions) == 1 for _, least in self.parts)

    def solutions(self) -> Iterator[Solution]:
        for choice in itertools.product(*(least.solutions for _, least in self.parts)):
            values = dict(self.forced)
            for part in choice:
                values.update(part)
            yield Solution(self.system, values)

    def the_solution(self) -> Solution:
        return next(self.solutions())

    def alternatives(self) -> list[Solution]:
        """The solutions of the first ambiguous part, the other parts held at their first solution."""
        for k, (_, least) in enumerate(self.parts):
            if len(least.solutions) > 1:
                fixed = dict(self.forced)
                for j, (_, other) in enumerate(self.parts):
                    if j != k:
                        fixed.update(other.solutions[0])
                return [Solution(self.system, {**fixed, **values}) for values in least.solutions]
        return [self.the_solution()]


def least(constraints: Constraints, limit: int = 12) -> Outcome:
    """The least solutions; raises Infeasible when the ranks do not fit with any insertion."""
    constraints.settle()
    system = relax(constraints)
    nothing: Values = {}
    for app in system.applications:
        nothing[app.maps] = nothing[app.reps] = 0
    try:
        Types(system, nothing)
        return Outcome(system, nothing)
    except Infeasible:
        pass
    propagation = Propagation(system)
    propagation.run()
    solved = []
    columns = rows = 0
    for part in propagation.parts():
        if part.applications:
            found = program.solve(part, propagation.known, limit)
            columns, rows = columns + found.columns, rows + found.rows
            solved.append((part, found))
    choices = {q for app in system.applications for q in (app.maps, app.reps)}
    forced = {var: value for var, value in propagation.known.items() if var in choices}
    outcome = Outcome(system, forced, tuple(solved), columns, rows)
    for app in system.applications:  # an application nothing constrains inserts nothing
        for q in (app.maps, app.reps):
            if q not in forced and not any(q in part.unknowns for part, _ in solved):
                forced[q] = 0
    Types(system, outcome.the_solution().values)
    return outcome


@dataclass
class Types:
    """The ranks of type variables once all M and R are numbers: classes of ranks that differ by a constant.

    This is ordinary unification of ranks; it fails (Infeasible) where two ranks disagree.
    """

    system: System
    values: Values
    known: dict[RankVar, int] = field(default_factory=dict)
    _choices: Values = field(default_factory=dict)
    _leader: dict[RankVar, tuple[RankVar, int]] = field(default_factory=dict)
    _low: dict[RankVar, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        choices = self._choices = {var: v for var, v in self.values.items() if var.kind in "MR"}
        waiting: list[tuple[Poly, Span]] = []
        for p, span in self.system.equal:
            if not self._take(p, span, choices):
                waiting.append((p, span))
        for p, span in waiting:
            if not self._take(p, span, choices):
                row, _ = row_of(p, choices)
                for var in row:
                    if var.kind == "slack" and var not in self.known:
                        choices[var] = self.known[var] = 0
                self._take(p, span, choices)
        for p, span in self.system.at_least:
            row, c = row_of(p, choices)
            if not row and c < 0:
                raise Infeasible(span)

    def _find(self, var: RankVar) -> tuple[RankVar, int]:
        """The leader of a variable's class and how much more the variable is."""
        leader, offset = self._leader.setdefault(var, (var, 0))
        if leader is var:
            return var, 0
        root, more = self._find(leader)
        self._leader[var] = (root, offset + more)
        return root, offset + more

    def _take(self, p: Poly, span: Span, choices: Values) -> bool:
        """Use an equation; False when it has more than two unknowns."""
        row, constant = row_of(p, choices)
        totals: dict[RankVar, int] = {}
        for var, coef in row.items():
            leader, offset = self._find(var)
            constant += coef * offset
            if leader in self.known:
                constant += coef * self.known[leader]
            else:
                totals[leader] = totals.get(leader, 0) + coef
        totals = {v: c for v, c in totals.items() if c}
        if not totals:
            if constant:
                raise Infeasible(span)
        elif len(totals) == 1:
            ((leader, coef),) = totals.items()
            if constant % coef or -constant // coef < -self._low.get(leader, 0):
                raise Infeasible(span)
            self.known[leader] = -constant // coef
        elif len(totals) == 2 and sum(totals.values()) == 0 and all(abs(c) == 1 for c in totals.values()):
            plus = next(v for v, c in totals.items() if c > 0)
            minus = next(v for v, c in totals.items() if c < 0)
            self._leader[plus] = (minus, -constant)  # plus = minus - constant
            self._low[minus] = min(self._low.get(minus, 0), self._low.get(plus, 0) - constant)
        else:
            return False
        return True

    def rank(self, p: Poly) -> tuple[int, RankVar | None]:
        """A rank as a number and the class it floats with (None when it is a number)."""
        row, constant = row_of(p, self._choices)
        floating: RankVar | None = None
        for var, coef in row.items():
            leader, offset = self._find(var)
            constant += coef * offset
            if leader in self.known:
                constant += coef * self.known[leader]
            elif coef == 1 and floating is None:
                floating = leader
                constant -= self._low.get(leader, 0)
        return constant, floating

    def close(self, t: RankType, made: dict[object, Variable] | None = None) -> RankType:
        """t with every rank put in; ranks that float become type variables."""
        return close(t, self.rank, made if made is not None else {})


def total(outcomes: Iterable[Outcome]) -> tuple[int, int]:
    """Columns and rows of all integer programs: what `bench/automap.py` reports."""
    found = list(outcomes)
    return sum(o.columns for o in found), sum(o.rows for o in found)
