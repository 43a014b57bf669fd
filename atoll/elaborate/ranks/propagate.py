"""Putting in what is forced: with known ranks on both sides of an application its M and R are numbers.

Every step keeps all solutions, so ambiguity is neither lost nor invented. Arithmetic on annotated operands disappears here completely;
what is left falls into parts that share no unknown, and only those become integer programs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from atoll.elaborate.ranks.constraints import Application
from atoll.elaborate.ranks.kinds import RankVar
from atoll.elaborate.ranks.relax import System
from atoll.errors import NOWHERE, Span
from atoll.sizes import Poly

Row = tuple[dict[RankVar, int], int]  # coefficients and constant


class Infeasible(Exception):
    """No choice of maps and reps makes the ranks fit; `span` is where that shows."""

    def __init__(self, span: Span = NOWHERE) -> None:
        super().__init__()
        self.span = span


@dataclass(frozen=True, slots=True)
class Part:
    """Unknowns that depend on each other, with the rows that tie them together."""

    unknowns: tuple[RankVar, ...]
    equal: tuple[Row, ...]
    at_least: tuple[Row, ...]
    applications: tuple[Application, ...]


def row_of(p: Poly, known: dict[RankVar, int]) -> Row:
    """A linear form as coefficients and constant, with known ranks put in."""
    coefficients: dict[RankVar, int] = {}
    constant = 0
    for mono, coef in p.terms.items():
        if not mono:
            constant += coef
            continue
        (var,) = mono
        assert isinstance(var, RankVar)
        value = known.get(var)
        if value is not None:
            constant += coef * value
        else:
            coefficients[var] = coefficients.get(var, 0) + coef
    return {v: c for v, c in coefficients.items() if c}, constant


class Propagation:
    """The forced values of a system."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.known: dict[RankVar, int] = {}
        self._rows: list[tuple[dict[RankVar, int], list[int], Span]] = []
        self._uses: dict[RankVar, list[int]] = {}
        self._partner: dict[RankVar, RankVar] = {}
        for app in system.applications:
            self._partner[app.maps], self._partner[app.reps] = app.reps, app.maps
        for p, span in system.equal:
            coefficients, constant = row_of(p, {})
            for var in coefficients:
                self._uses.setdefault(var, []).append(len(self._rows))
            self._rows.append((coefficients, [constant], span))
        self._queue = deque(range(len(self._rows)))
        self._queued = [True] * len(self._rows)

    def run(self) -> None:
        while self._queue:
            at = self._queue.popleft()
            self._queued[at] = False
            self._look(*self._rows[at])

    def _look(self, row: dict[RankVar, int], constant: list[int], span: Span) -> None:
        (c,) = constant
        if not row:
            if c:
                raise Infeasible(span)
            return
        if len(row) == 1:
            ((var, coef),) = row.items()
            if c % coef:
                raise Infeasible(span)
            self._set(var, -c // coef, span)
            return
        if len(row) == 2:
            (a, x), (b, y) = row.items()
            if self._partner.get(a) is b and x == -y:
                difference = -c // x  # a - b
                self._set(a, max(difference, 0), span)
                self._set(b, max(-difference, 0), span)
                return
        signs = {coef > 0 for coef in row.values()}
        if len(signs) == 1:
            (positive,) = signs
            if c and (c > 0) == positive:
                raise Infeasible(span)
            if not c:
                for var in list(row):
                    self._set(var, 0, span)

    def _set(self, var: RankVar, value: int, span: Span) -> None:
        if var in self.known:
            if self.known[var] != value:
                raise Infeasible(span)
            return
        if value < 0:
            raise Infeasible(span)
        self.known[var] = value
        for at in self._uses.get(var, ()):
            row, constant, _ = self._rows[at]
            constant[0] += row.pop(var) * value
            if not self._queued[at]:
                self._queued[at] = True
                self._queue.append(at)
        other = self._partner.get(var)
        if other is not None and value > 0:
            self._set(other, 0, span)

    # -- what is left

    def parts(self) -> list[Part]:
        """The rest, cut where nothing is shared."""
        leader: dict[RankVar, RankVar] = {}

        def find(v: RankVar) -> RankVar:
            while leader.setdefault(v, v) is not v:
                v = leader[v]
            return v

        def join(group: Iterable[RankVar]) -> None:
            first: RankVar | None = None
            for var in group:
                if first is None:
                    first = find(var)
                else:
                    leader[find(var)] = first

        equal = [(row, c[0]) for row, c, _ in self._rows if row]
        at_least = []
        for p, span in self.system.at_least:
            row, c2 = row_of(p, self.known)
            if not row and c2 < 0:
                raise Infeasible(span)
            if any(coef < 0 for coef in row.values()) or c2 < 0:
                at_least.append((row, c2))
        frames = {app: row_of(app.frame, self.known)[0] for app in self.system.applications}
        unknown = {app: [v for v in (app.maps, app.reps) if v not in self.known] for app in self.system.applications}
        open_apps = [app for app, free in unknown.items() if free or (frames[app] and self.known[app.reps])]
        for row, _ in (*equal, *at_least):
            join(row)
        for app in open_apps:
            join(unknown[app] + list(frames[app]))
        groups: dict[RankVar, list[RankVar]] = {}
        for var in list(leader):
            groups.setdefault(find(var), []).append(var)
        rows: dict[RankVar, tuple[list[Row], list[Row], list[Application]]] = {lead: ([], [], []) for lead in groups}
        for row, c3 in equal:
            rows[find(next(iter(row)))][0].append((row, c3))
        for row, c3 in at_least:
            rows[find(next(iter(row)))][1].append((row, c3))
        for app in open_apps:
            rows[find((unknown[app] + list(frames[app]))[0])][2].append(app)
        return [
            Part(tuple(groups[lead]), tuple(equal_), tuple(least), tuple(apps))
            for lead, (equal_, least, apps) in rows.items()
        ]
