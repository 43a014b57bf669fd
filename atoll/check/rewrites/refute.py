"""No integers satisfy these conditions: by Gauss, then Fourier and Motzkin, with cuts (rows are divided by what their coefficients share, and rounded).

A condition is ("ge" | "eq" | "ne", polynomial) or ("op", expression, truth). Monomials are unknowns of their own; a floor quotient by a literal is one with the
two facts that define it. What is found is sound: a refutation is a sum of multiples of conditions. What is not found may still be so.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from functools import lru_cache
from math import gcd
from typing import Any

from atoll.check.sums import Monomial, Poly, Quotient, add, const, free, mul, need, sub, value, var

Cond = tuple[Any, ...]
Case = list[Cond]
Group = list[Case]  # one of the cases holds
Row = dict[int, int]  # by the number of a monomial, odd where it has a quotient; 0 is the constant
NOTED: ContextVar[list[tuple[Cond, ...]] | None] = ContextVar("refuted", default=None)  # what was refuted by arithmetic, for those who do it again (traced.py)
LEFT: ContextVar[list[int] | None] = ContextVar("left", default=None)  # rows that may still be made
WORK = 3_000_000  # rows of all refutations of a certificate: some twenty seconds; the largest of ours take three
LIMIT = 300  # rows of one question; then it is given up


def refuted(conds: Sequence[Cond]) -> bool:
    """The conditions contradict each other, whatever stands in "ne"."""
    held: dict[Any, bool] = {}
    for c in conds:
        if c[0] == "op" and held.setdefault(c[1], c[2]) != c[2]:
            return True
    equations, rows = _rows(conds)
    found = _without_equations(equations, rows)
    refuted = found is None or _eliminated(found)
    noted = NOTED.get()
    if refuted and noted is not None:
        noted.append(tuple(conds))
    return refuted


def _rows(conds: Sequence[Cond]) -> tuple[list[Row], list[Row]]:
    equations: list[Row] = []
    rows: list[Row] = []
    seen: set[Quotient] = set()
    numbers: dict[Monomial, int] = {(): 0}

    def row(p: Poly) -> Row:
        made = {}
        for m, c in p:
            k = numbers.get(m)
            if k is None:
                k = numbers[m] = 2 * len(numbers) + any(isinstance(a, Quotient) for a in m)
            made[k] = c
        return made

    def quotients(p: Poly) -> None:
        for monomial, _ in p:
            for a in monomial:
                if isinstance(a, Quotient) and a not in seen:
                    seen.add(a)
                    quotients(a.num)
                    divisor = value(a.den)
                    if divisor is not None and divisor > 0:
                        scaled = mul(a.den, var(a))
                        rows.append(row(sub(a.num, scaled)))
                        rows.append(row(sub(add(scaled, const(divisor - 1)), a.num)))

    for c in conds:
        if c[0] in ("ge", "eq"):
            (rows if c[0] == "ge" else equations).append(row(c[1]))
            quotients(c[1])
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
    """True: this row alone cannot hold."""
    g, k = _shared(row), row.get(0, 0)
    if g == 0:
        return k < 0
    key = frozenset((m, c // g) for m, c in row.items() if m and c)
    k //= g
    rows[key] = min(k, rows.get(key, k))
    return False


def spend(rows: int) -> None:
    left = LEFT.get()
    if left is not None:
        left[0] -= rows
        need(left[0] >= 0, "more work than a certificate may ask for")


def _eliminated(given: list[Row]) -> bool:
    rows: Rows = {}
    spend(len(given))
    if any([_keep(rows, r) for r in given]):
        return True
    while rows:
        for key, k in rows.items():
            other = rows.get(frozenset((m, -c) for m, c in key))
            if other is not None and k + other < 0:
                return True
        count: dict[int, list[int]] = {}
        for key in rows:
            for m, c in key:
                count.setdefault(m, [0, 0])[c > 0] += 1
        m = min(count, key=lambda x: (_has_quotient(x), count[x][0] * count[x][1] - sum(count[x]), x))  # quotients last: rows of them alone are cut
        low: list[tuple[Row, int]] = []
        high: list[tuple[Row, int]] = []
        for key, k in list(rows.items()):
            row = dict(key)
            c = row.get(m, 0)
            if c:
                (low if c > 0 else high).append((row, k))
                del rows[key]
        if len(low) * len(high) > LIMIT:
            return False
        spend(len(low) * len(high))
        for a, k in low:
            for b, n in high:
                p, q = -b[m], a[m]
                made = {x: p * a.get(x, 0) + q * b.get(x, 0) for x in (*a, *(x for x in b if x not in a)) if x != m}
                made[0] = p * k + q * n
                if _keep(rows, made):
                    return True
        if len(rows) > LIMIT:
            return False
    return False


def cannot(conds: Sequence[Cond], groups: Sequence[Group] = ()) -> bool:
    """No integers satisfy the conditions and one case of every group."""
    if refuted(conds):
        return True
    groups = _near(conds, groups)
    if groups:
        return all(cannot([*conds, *case], groups[1:]) for case in groups[0])
    for k, c in enumerate(conds):
        if c[0] == "ne":
            others = [*conds[:k], *conds[k + 1 :]]
            return cannot([*others, ("ge", sub(c[1], const(1)))]) and cannot([*others, ("ge", sub(const(-1), c[1]))])
    return False


@lru_cache(1 << 16)
def _unknowns(p: Poly) -> frozenset[str]:
    return frozenset(free(p))


def _near(conds: Sequence[Cond], groups: Sequence[Group]) -> Sequence[Group]:
    """The groups about unknowns of the conditions, or of other groups that are: what else is known has no part in a refutation."""
    if not groups:
        return groups
    known: set[str] = set()
    for c in conds:
        if c[0] != "op":
            known |= _unknowns(c[1])
    mine = [(g, frozenset().union(*(_unknowns(c[1]) for case in g for c in case if c[0] != "op")), any(c[0] == "op" for case in g for c in case)) for g in groups]
    kept: set[int] = set()
    while True:
        more = [k for k, (_, names, data) in enumerate(mine) if k not in kept and (data or not names or names & known)]
        if not more:
            return [g for k, (g, _, _) in enumerate(mine) if k in kept]
        for k in more:
            kept.add(k)
            known |= mine[k][1]


def negations(c: Cond) -> list[Cond]:
    """Conditions one of which holds where this one does not."""
    if c[0] == "ge":
        return [("ge", sub(const(-1), c[1]))]
    if c[0] == "eq":
        return [("ge", sub(c[1], const(1))), ("ge", sub(const(-1), c[1]))]
    if c[0] == "ne":
        return [("eq", c[1])]
    return [("op", c[1], not c[2])]
