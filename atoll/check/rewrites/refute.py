"""No integers satisfy these conditions: by Gauss, then Fourier and Motzkin, with cuts (rows are divided by what their coefficients share, and rounded).

A condition is ("ge" | "eq" | "ne", polynomial) or ("op", expression, truth). Monomials are unknowns of their own; a floor quotient by a literal is one with the
two facts that define it. What is found is sound: a refutation is a sum of multiples of conditions. What is not found may still be so.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd
from typing import Any

from atoll.check.sums import Monomial, Poly, Quotient, add, const, free, mul, need, sub, value, var

Cond = tuple[Any, ...]
Case = list[Cond]
Group = list[Case]  # one of the cases holds
Row = dict[int, int]  # by the number of a monomial, odd where it has a quotient; 0 is the constant
NOTED: ContextVar[list[tuple[tuple[Cond, ...], tuple[Group, ...]]] | None] = ContextVar("refuted", default=None)  # questions that were answered with yes, for those who do it again (verified.py)
WORK = 270_000  # rows of all refutations of a certificate: about a second
LIMIT = 300  # rows of one question; then it is given up


@dataclass
class Budget:
    """What one certificate may ask for, and what was found: the same is asked often."""

    rows: int = WORK  # that may still be made
    found: dict[frozenset[Cond], bool] = field(default_factory=dict)
    numbers: dict[Monomial, int] = field(default_factory=lambda: {(): 0})  # of monomials: odd where there is a quotient
    made: dict[Poly, tuple[Row, tuple[Quotient, ...]]] = field(default_factory=dict)  # polynomials as rows, with the quotients inside
    laws: dict[Quotient, tuple[Row, ...]] = field(default_factory=dict)

    def row(self, p: Poly) -> tuple[Row, tuple[Quotient, ...]]:
        found = self.made.get(p)
        if found is None:
            inside: dict[Quotient, None] = {}
            row = {}
            for m, c in p:
                k = self.numbers.get(m)
                if k is None:
                    k = self.numbers[m] = 2 * len(self.numbers) + any(isinstance(a, Quotient) for a in m)
                row[k] = c
                for a in m:
                    if isinstance(a, Quotient):
                        inside.update(dict.fromkeys((*self.row(a.num)[1], a)))
            found = self.made[p] = (row, tuple(inside))
        return found

    def law(self, q: Quotient) -> tuple[Row, ...]:
        """d * floor(n / d) <= n <= d * floor(n / d) + d - 1, where d is a number above 0."""
        found = self.laws.get(q)
        if found is None:
            d = value(q.den)
            scaled = mul(q.den, var(q))
            known = () if d is None or d <= 0 else (sub(q.num, scaled), sub(add(scaled, const(d - 1)), q.num))
            found = self.laws[q] = tuple(self.row(p)[0] for p in known)
        return found


LEFT: ContextVar[Budget | None] = ContextVar("left", default=None)


def refuted(conds: Sequence[Cond]) -> bool:
    """The conditions contradict each other, whatever stands in "ne"."""
    held: dict[Any, bool] = {}
    for c in conds:
        if c[0] == "op" and held.setdefault(c[1], c[2]) != c[2]:
            return True
    budget = LEFT.get()
    if budget is None:
        return _refuted(conds)
    key = frozenset([c for c in conds if c[0] in ("ge", "eq")])
    if key not in budget.found:
        budget.found[key] = _refuted(conds)
    return budget.found[key]


def _refuted(conds: Sequence[Cond]) -> bool:
    equations, rows = _rows(conds)
    found = _without_equations(equations, rows)
    return found is None or _eliminated(found)


def _rows(conds: Sequence[Cond]) -> tuple[list[Row], list[Row]]:
    """Equations, and rows that are not negative, with the laws of the quotients in them."""
    budget = LEFT.get() or Budget()
    equations: list[Row] = []
    rows: list[Row] = []
    inside: dict[Quotient, None] = {}
    for c in conds:
        if c[0] in ("ge", "eq"):
            row, quotients = budget.row(c[1])
            (rows if c[0] == "ge" else equations).append(row)
            inside.update(dict.fromkeys(quotients))
    for q in inside:
        rows += budget.law(q)
    return equations, rows


def _has_quotient(m: int) -> int:
    return m & 1


def _shared(row: Row) -> int:
    return gcd(*(c for m, c in row.items() if m))


def _without_equations(equations: list[Row], rows: list[Row]) -> list[Row] | None:
    """The rows with every equation used up that gives an unknown; None: the equations have no solution."""
    while equations:
        e = equations.pop()
        g, k = _shared(e), e.get(0, 0)
        if g == 0:
            if k:
                return None
            continue
        if k % g:
            return None
        e = {m: c // g for m, c in e.items() if c}
        alone = [m for m, c in e.items() if m and abs(c) == 1]
        if not alone:
            rows = [*rows, e, {m: -c for m, c in e.items()}]
            continue
        m = min(alone, key=_has_quotient)
        rest = {x: -c * e[m] for x, c in e.items() if x != m}
        equations, rows = [_put(r, m, rest) for r in equations], [_put(r, m, rest) for r in rows]
    return rows


def _put(row: Row, m: int, rest: Row) -> Row:
    c = row.get(m, 0)
    if not c:
        return row
    made = {x: v for x, v in row.items() if x != m}
    for x, v in rest.items():
        made[x] = made.get(x, 0) + c * v
    return {x: v for x, v in made.items() if v}


Rows = dict[frozenset[tuple[int, int]], int]  # of the same coefficients only the strictest is kept: its constant


def _keep(rows: Rows, row: Row) -> bool:
    """True: this row cannot hold, alone or beside its contrary."""
    k = row.get(0, 0)
    left = [(m, c) for m, c in row.items() if m and c]
    g = gcd(*[c for _, c in left])
    if g == 0:
        return k < 0
    if g > 1:
        left = [(m, c // g) for m, c in left]
        k //= g
    key = frozenset(left)
    if rows.get(key, k + 1) <= k:
        return False
    rows[key] = k
    other = rows.get(frozenset([(m, -c) for m, c in left]))
    return other is not None and k + other < 0


def spend(rows: int) -> None:
    left = LEFT.get()
    if left is not None:
        left.rows -= rows
        need(left.rows >= 0, "more work than a certificate may ask for")


def _eliminated(given: list[Row]) -> bool:
    rows: Rows = {}
    spend(len(given))
    for r in given:
        if _keep(rows, r):
            return True
    while rows:
        count: dict[int, list[int]] = {}
        for key in rows:
            for m, c in key:
                if m in count:
                    count[m][c > 0] += 1
                else:
                    count[m] = [0, 1] if c > 0 else [1, 0]
        free = {m for m, (low, high) in count.items() if not low or not high}
        if free:  # bounded on one side: rows of these can always be satisfied
            rows = {key: k for key, k in rows.items() if not any(m in free for m, _ in key)}
            continue
        m = min(count, key=lambda x: (_has_quotient(x), count[x][0] * count[x][1] - sum(count[x]), x))  # quotients last: rows of them alone are cut
        lower: list[tuple[Row, int]] = []
        upper: list[tuple[Row, int]] = []
        for key, k in list(rows.items()):
            row = dict(key)
            c = row.get(m, 0)
            if c:
                (lower if c > 0 else upper).append((row, k))
                del rows[key]
        if len(lower) * len(upper) > LIMIT:
            return False
        spend(len(lower) * len(upper))
        for a, k in lower:
            q = a[m]
            for b, n in upper:
                p = -b[m]
                made = {x: p * c for x, c in a.items()} if p != 1 else dict(a)
                for x, c in b.items():
                    made[x] = made.get(x, 0) + q * c
                made[0] = p * k + q * n
                if _keep(rows, made):
                    return True
        if len(rows) > LIMIT:
            return False
    return False


def cannot(conds: Sequence[Cond], groups: Sequence[Group] = ()) -> bool:
    """No integers satisfy the conditions and one case of every group."""
    answer = _cannot(conds, groups)
    noted = NOTED.get()
    if answer and noted is not None:
        noted.append((tuple(conds), tuple(groups)))
    return answer


def _cannot(conds: Sequence[Cond], groups: Sequence[Group]) -> bool:
    if refuted(conds):
        return True
    groups = near(conds, groups)
    if groups:
        return all(_cannot([*conds, *case], groups[1:]) for case in groups[0])
    for k, c in enumerate(conds):
        if c[0] == "ne":
            others = [*conds[:k], *conds[k + 1 :]]
            return _cannot([*others, ("ge", sub(c[1], const(1)))], ()) and _cannot([*others, ("ge", sub(const(-1), c[1]))], ())
    return False


@lru_cache(1 << 16)
def _unknowns(p: Poly) -> frozenset[str]:
    return frozenset(free(p))


def near(conds: Sequence[Cond], groups: Sequence[Group]) -> Sequence[Group]:
    """The groups about unknowns of the conditions, or of other groups that are: what else is known has no part in a refutation. A group that says what a name is
    counts only where the name itself is asked about: every unknown has such a value."""
    if not groups:
        return groups
    known: set[str] = set()
    for c in conds:
        if c[0] != "op":
            known |= _unknowns(c[1])
    mine = [(g, frozenset().union(*(_unknowns(c[1]) for case in g for c in case if c[0] != "op")), any(c[0] == "op" for case in g for c in case), _subject(g)) for g in groups]
    kept: set[int] = set()
    while True:
        more = [k for k, (_, names, data, v) in enumerate(mine) if k not in kept and (data or not names or (v in known if v is not None else names & known))]
        if not more:
            return [g for k, (g, _, _, _) in enumerate(mine) if k in kept]
        for k in more:
            kept.add(k)
            known |= mine[k][1]


def _subject(g: Group) -> str | None:
    """The name of which a group says that it is one of some values, each in its case."""
    found: set[str] | None = None
    for case in g:
        if not case or case[-1][0] != "eq":
            return None
        mine = {m[0] for m, c in case[-1][1] if c == 1 and len(m) == 1 and isinstance(m[0], str)}
        found = mine if found is None else found & mine
    names = [v for v in found or () if all(v not in _unknowns(c[1]) for case in g for c in case[:-1] if c[0] != "op") and all(_once(case[-1][1], v) for case in g)]
    return names[0] if len(names) == 1 else None


def _once(p: Poly, v: str) -> bool:
    return sum(v in _unknowns(((m, 1),)) for m, _ in p) == 1


def negations(c: Cond) -> list[Cond]:
    """Conditions one of which holds where this one does not."""
    if c[0] == "ge":
        return [("ge", sub(const(-1), c[1]))]
    if c[0] == "eq":
        return [("ge", sub(c[1], const(1))), ("ge", sub(const(-1), c[1]))]
    if c[0] == "ne":
        return [("eq", c[1])]
    return [("op", c[1], not c[2])]
