"""One part of a rank system as an integer program, solved with HiGHS (Schenck, table 4.2 and fig. 4.11).

    unknowns    M, R, ranks of type variables: integers in 0..U;  b: M <= U*b, R <= U*(1 - b)  (never both)
    z >= R - frame, z >= 0                                         the reps that are not induced
    least       W * (sum M + sum z) + (sum R - sum z)              induced reps break ties: W is more than they can be
    then        every solution with that value, each cut off by  sum |Q - Q'| >= 1  over all M and R

The last step is exact: flipping only the b of a solution, as the thesis conjectured to be enough, misses solutions (E13, test M47).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from atoll.elaborate.ranks.constraints import Application
from atoll.elaborate.ranks.kinds import RankVar
from atoll.elaborate.ranks.propagate import Infeasible, Part, Row, row_of

Values = dict[RankVar, int]


@dataclass(frozen=True, slots=True)
class Least:
    """The least solutions of one part."""

    cost: int
    induced: int
    solutions: tuple[Values, ...]
    complete: bool  # False when there are more than were asked for
    columns: int
    rows: int


def solve(part: Part, known: Mapping[RankVar, int], limit: int = 12) -> Least:
    """All least solutions, up to `limit`; raises Infeasible when there is none."""
    found = _Model(part, dict(known)).solve(limit)

    def order(values: Values) -> list[int]:
        """Maps before reps, the first application first: the order in which solutions are shown."""
        return [sign * values.get(q, 0) for app in part.applications for sign, q in ((-1, app.maps), (1, app.reps))]

    return replace(found, solutions=tuple(sorted(found.solutions, key=order)))


class _Model:
    def __init__(self, part: Part, known: Values) -> None:
        import highspy  # 20 ms, and most programs never get here

        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        self._highs.setOptionValue("mip_rel_gap", 0.0)
        self._integer = highspy.HighsVarType.kInteger
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._inf = highspy.kHighsInf
        self.part, self.known = part, known
        self.bound = 2 + sum(abs(c) for _, c in part.equal) + len(part.applications)
        self.columns = self.rows = 0
        self.column: dict[RankVar, int] = {}
        for var in part.unknowns:
            self.column[var] = self._add(self.bound)
        for row in part.equal:
            self._row(*self._coefficients(row), 0, 0)
        for row in part.at_least:
            self._row(*self._coefficients(row), 0, self._inf)
        self.choices = [q for app in part.applications for q in (app.maps, app.reps) if q in self.column]
        self.maps: list[int] = []
        self.extra: list[int] = []
        self.reps: list[int] = []
        for app in part.applications:
            self._application(app)

    # -- building

    def _add(self, high: float, integer: bool = True) -> int:
        self._highs.addVar(0.0, high)
        if integer:
            self._highs.changeColIntegrality(self.columns, self._integer)
        self.columns += 1
        return self.columns - 1

    def _row(self, coefficients: Mapping[int, float], constant: float, low: float, high: float) -> None:
        """low <= coefficients + constant <= high"""
        import numpy as np

        index = np.fromiter(coefficients.keys(), dtype=np.int32, count=len(coefficients))
        value = np.fromiter(coefficients.values(), dtype=np.float64, count=len(coefficients))
        self._highs.addRow(low - constant, high - constant, len(index), index, value)
        self.rows += 1

    def _coefficients(self, row: Row) -> tuple[dict[int, float], float]:
        coefficients, constant = row
        return {self.column[v]: float(c) for v, c in coefficients.items()}, float(constant)

    def _application(self, app: Application) -> None:
        maps, reps = self.column.get(app.maps), self.column.get(app.reps)
        if maps is not None:
            self.maps.append(maps)
        if maps is not None and reps is not None:
            either = self._add(1)
            self._row({maps: 1.0, either: -float(self.bound)}, 0, -self._inf, 0)
            self._row({reps: 1.0, either: float(self.bound)}, -self.bound, -self._inf, 0)
        frame, constant = row_of(app.frame, self.known)
        extra = self._add(self._inf, integer=False)
        self.extra.append(extra)
        row = {extra: 1.0, **{self.column[v]: float(c) for v, c in frame.items()}}
        total = float(constant - self.known.get(app.reps, 0))
        if reps is not None:
            self.reps.append(reps)
            row[reps] = -1.0
        self._row(row, total, 0, self._inf)

    # -- solving

    def solve(self, limit: int) -> Least:
        weight = float(1 + self.bound * len(self.reps))
        objective = {**dict.fromkeys(self.maps, weight), **dict.fromkeys(self.extra, weight - 1), **dict.fromkeys(self.reps, 1.0)}
        value = self._minimise(objective)
        if value is None:
            raise Infeasible
        cost, induced = divmod(value, int(weight))
        columns, rows = self.columns, self.rows
        solutions = [self._values()]
        if objective:
            self._row(objective, 0, -self._inf, value + 0.5)
        if not self.choices:
            return Least(cost, induced, tuple(solutions), True, columns, rows)
        while len(solutions) < limit:
            self._exclude(solutions[-1])
            if self._minimise({}) is None:
                return Least(cost, induced, tuple(solutions), True, columns, rows)
            solutions.append(self._values())
        return Least(cost, induced, tuple(solutions), False, columns, rows)

    def _minimise(self, objective: Mapping[int, float]) -> int | None:
        for column in range(self.columns):
            self._highs.changeColCost(column, objective.get(column, 0.0))
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            return None
        return round(float(self._highs.getInfo().objective_function_value))

    def _values(self) -> Values:
        found = self._highs.getSolution().col_value
        return {var: round(found[column]) for var, column in self.column.items()}

    def _exclude(self, solution: Values) -> None:
        """Some M or R is at least one more or one less than here."""
        away: dict[int, float] = {}
        for q in self.choices:
            value, column = solution[q], self.column[q]
            more = self._add(1)
            self._row({column: 1.0, more: -float(self.bound + 1)}, self.bound - value, 0, self._inf)
            away[more] = 1.0
            if value > 0:
                less = self._add(1)
                self._row({column: 1.0, less: float(self.bound + 1)}, -value - self.bound, -self._inf, 0)
                away[less] = 1.0
        self._row(away, 0, 1, self._inf)
