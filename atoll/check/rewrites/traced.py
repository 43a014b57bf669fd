"""A refutation again, with every row that it takes written down: what the checker proved in Coq reads (proofs/Arithmetic.v, `refutes`).

    hypotheses   the conditions, each >= 0 (an equation is two of them)
    rows         cut * goal + cut - 1 = rest + sum of multiplier * row       where rest is a number, and rows are hypotheses, rows before, or laws of a quotient by a literal
    the last     a negative number

refute.py finds that there is one; here the same steps are done on polynomials, with their reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any

from atoll.check.rewrites.refute import LIMIT, Cond
from atoll.check.sums import Monomial, Poly, Quotient, add, const, make, mul, need, sub, value, var

Source = tuple[Any, ...]  # ("known", p) | ("below" | "above", num, den)
Row = tuple[Poly, int, int, int, tuple[tuple[int, Source], ...]]  # goal, scale, rest, cut, terms


class Traced:
    def __init__(self, conds: Sequence[Cond]) -> None:
        self.hypotheses: list[Poly] = []
        self.rows: dict[Poly, Row] = {}
        self.numbers: dict[Monomial, int] = {}
        self.known: dict[Poly, Source] = {}
        equations: list[Poly] = []
        given: list[Poly] = []
        seen: set[Quotient] = set()
        for c in conds:
            if c[0] == "ge":
                given.append(self.hypothesis(c[1]))
            elif c[0] == "eq":
                equations.append(self.hypothesis(c[1]))
                self.hypothesis(negated(c[1]))
            if c[0] in ("ge", "eq"):
                given += self.laws(c[1], seen)
        self.last = self.eliminated(self.without(equations, given))

    def hypothesis(self, p: Poly) -> Poly:
        if p not in self.known:
            self.hypotheses.append(p)
            self.known[p] = ("known", p)
        return p

    def laws(self, p: Poly, seen: set[Quotient]) -> list[Poly]:
        """d * floor(n / d) <= n <= d * floor(n / d) + d - 1, for literal d > 0."""
        found: list[Poly] = []
        for monomial, _ in p:
            for a in monomial:
                if isinstance(a, Quotient) and a not in seen:
                    seen.add(a)
                    found += self.laws(a.num, seen)
                    d = value(a.den)
                    if d is not None and d > 0:
                        scaled = mul(a.den, var(a))
                        for kind, law in (("below", sub(a.num, scaled)), ("above", sub(add(scaled, const(d - 1)), a.num))):
                            self.known.setdefault(law, (kind, a.num, a.den))
                            found.append(law)
        return found

    def row(self, terms: Sequence[tuple[int, Poly]]) -> Poly:
        """A sum of multiples, divided by what its coefficients share and rounded."""
        total: Poly = ()
        for k, p in terms:
            total = add(total, mul(const(k), p))
        g, c = shared(total), constant(total)
        if g <= 1:
            goal, cut, rest = total, 1, 0
        else:
            rest = g - 1 - c % g
            goal, cut = make({m: k // g for m, k in total}), g
        if goal not in self.known:
            self.rows[goal] = (goal, 1, rest, cut, tuple((k, self.known[p]) for k, p in terms))
            self.known[goal] = ("known", goal)
        return goal

    def without(self, equations: list[Poly], rows: list[Poly]) -> list[Poly]:
        """Every equation that gives an unknown is used up; an equation is known with both signs."""
        while equations:
            e = equations.pop()
            g, c = shared(e), constant(e)
            if g == 0:
                if c:
                    return [e if c < 0 else negated(e)]
                continue
            if g > 1:  # both signs, rounded: where the constant is no multiple they contradict each other
                up, down = self.row([(1, e)]), self.row([(1, negated(e))])
                if c % g:
                    return [up, down]
                e = up
            alone = [m for m, k in e if m and abs(k) == 1]
            if not alone:
                rows = [*rows, e, negated(e)]
                continue
            m = min(alone, key=lambda m: has_quotient(m))
            sign = dict(e)[m]
            rows = [self.put(r, m, e, sign) for r in rows]
            equations = [self.both(r, m, e, sign) for r in equations]
        return rows

    def put(self, p: Poly, m: Monomial, e: Poly, sign: int) -> Poly:
        c = dict(p).get(m, 0)
        if not c:
            return p
        k = -c * sign
        return self.row([(1, p), (k, e) if k > 0 else (-k, negated(e))])

    def both(self, p: Poly, m: Monomial, e: Poly, sign: int) -> Poly:
        """An equation without m: not rounded, it is one with both signs."""
        c = dict(p).get(m, 0)
        if not c:
            return p
        k = -c * sign
        made = add(p, mul(const(k), e))
        for goal, q, f in ((made, p, e), (negated(made), negated(p), negated(e))):
            if goal not in self.known:
                terms = ((1, self.known[q]), (abs(k), self.known[f if k > 0 else negated(f)]))
                self.rows[goal] = (goal, 1, 0, 1, terms)
                self.known[goal] = ("known", goal)
        return made

    def eliminated(self, given: list[Poly]) -> Poly:
        """Fourier and Motzkin: the row that cannot hold."""
        rows: dict[Poly, Poly] = {}  # of the same coefficients only the strictest is kept

        def keep(p: Poly) -> Poly | None:
            if shared(p) == 0:
                return p if constant(p) < 0 else None
            p = self.row([(1, p)]) if shared(p) > 1 else p
            key = tuple(t for t in p if t[0])
            if key not in rows or constant(p) < constant(rows[key]):
                rows[key] = p
            return None

        for p in given:
            if (bad := keep(p)) is not None:
                return bad
        while rows:
            for p in rows.values():
                other = rows.get(tuple(t for t in negated(p) if t[0]))
                if other is not None and constant(p) + constant(other) < 0:
                    return self.row([(1, p), (1, other)])
            count: dict[Monomial, list[int]] = {}
            for key in rows:
                for m, c in key:
                    count.setdefault(m, [0, 0])[c > 0] += 1
            for m in count:
                self.numbers.setdefault(m, len(self.numbers))
            free = {m for m, (below, above) in count.items() if not below or not above}
            if free:
                rows = {key: p for key, p in rows.items() if not any(m in free for m, _ in key)}
                continue
            m = min(count, key=lambda x: (has_quotient(x), count[x][0] * count[x][1] - sum(count[x]), self.numbers[x]))
            low = [p for p in rows.values() if dict(p).get(m, 0) > 0]
            high = [p for p in rows.values() if dict(p).get(m, 0) < 0]
            for p in (*low, *high):
                del rows[tuple(t for t in p if t[0])]
            if len(low) * len(high) > LIMIT:
                break
            for a in low:
                for b in high:
                    if (bad := keep(self.row([(-dict(b)[m], a), (dict(a)[m], b)]))) is not None:
                        return bad
            if len(rows) > LIMIT:
                break
        return ()

    def needed(self) -> list[Row]:
        """The rows that the last one rests on, each after those it cites."""
        need(self.last and value(self.last) is not None and constant(self.last) < 0, "a refutation that is not found again")
        out: dict[Poly, Row] = {}

        def visit(p: Poly) -> None:
            if p in self.rows and p not in out:
                for _, source in self.rows[p][4]:
                    if source[0] == "known":
                        visit(source[1])
                out[p] = self.rows[p]

        visit(self.last)
        if self.last not in out:  # a hypothesis is false as it stands
            out[self.last] = (self.last, 1, 0, 1, ((1, self.known[self.last]),))
        return list(out.values())


def negated(p: Poly) -> Poly:
    return mul(const(-1), p)


def constant(p: Poly) -> int:
    return dict(p).get((), 0)


def shared(p: Poly) -> int:
    return gcd(*(c for m, c in p if m))


def has_quotient(m: Monomial) -> bool:
    return any(isinstance(a, Quotient) for a in m)

