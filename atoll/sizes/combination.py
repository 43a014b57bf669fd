"""The last resort of the prover: a goal as a non-negative combination of facts, by linear programming (Farkas' lemma).

Monomials are the unknowns of the equations, multipliers of facts those of the program: scale * goal' = sum of mult * fact + rem, one equation per
monomial. The solver works with floats; its multipliers are made fractions, and the identity is checked with these, so a solver that errs finds no
proof but never a wrong one. Elimination (prover.py) is quicker and knows products; this is complete for linear goals, where many facts mislead
elimination: loops split twice, tiles of tiles.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from atoll.sizes.poly import ONE, ZERO, Atom, Poly, Quot, exact_quotient, poly
from atoll.sizes.prover import Proof, quotient_facts

if TYPE_CHECKING:
    from atoll.sizes.prover import Facts

_MOST_FACTS = 60
_MOST_CUTS = 6
_DENOMINATOR = 5000


def combination(ctx: Facts, goal: Poly) -> Proof | None:
    """A proof of goal >= 0, of the goal itself or of an integer cut of it."""
    quotients = list(dict.fromkeys(q for p in (goal, *ctx.known) for q in _quotients(p) if ctx.is_positive(q.den)))
    lemmas = {lemma.goal: lemma for q in quotients for lemma in _below(ctx, q)}
    cuts = [q.den for q in quotients]
    for cut in [ONE, *dict.fromkeys(cuts[:_MOST_CUTS])]:
        wanted = goal if cut is ONE else cut * goal + cut - 1
        offered = [(ONE, fact) for fact in _facts(ctx, wanted, quotients)]
        if cut.const() is None and ctx.sign(cut) > 0:
            offered += [(cut, fact) for fact in ctx.known]
        offered += [(by, fact) for fact, lemma in lemmas.items() for by in (ONE, lemma.cut or ONE) if ctx.sign(by) > 0]
        if len(offered) > _MOST_FACTS:
            return None
        found = _multipliers(ctx, wanted, offered)
        if found is not None:
            scale, terms, rem = found
            used = tuple(dict.fromkeys(lemmas[fact] for _, fact in terms if fact in lemmas))
            return Proof(goal, scale, terms, rem, cut=None if cut is ONE else cut, lemmas=used)
    shared = set.intersection(*({a for a in m if ctx.is_nonneg(a)} for m in goal.terms)) if goal.terms else set()
    for factor in sorted(shared, key=lambda a: a.uid):  # factor * less >= 0 follows from less >= 0
        less = exact_quotient(goal, poly(factor))
        inner = None if less is None else ctx.proof(less) or combination(ctx, less)
        if inner is not None:
            return Proof(goal, ONE, ((poly(factor), inner.goal),), ZERO, lemmas=(inner,))
    return None


def _quotients(p: Poly) -> list[Quot]:
    """The quotients in a polynomial, those inside others too."""
    found: dict[Quot, None] = {}
    waiting: list[Atom] = list(p.atoms())
    while waiting:
        atom = waiting.pop()
        if isinstance(atom, Quot) and atom not in found:
            found[atom] = None
            waiting += [*atom.num.atoms(), *atom.den.atoms()]
    return list(found)


def _below(ctx: Facts, quot: Quot) -> list[Proof]:
    """num + 1 <= den*k gives num // den <= k - 1: what a loop over several axes says of each. For divisors that are no numbers."""
    if quot.den.const() is not None:
        return []
    found = []
    for fact in ctx.known:
        k = exact_quotient(fact + quot.num + 1, quot.den)
        if k is not None:  # den*(k - 1 - q) + den - 1 = fact + (num - den*q)
            found.append(Proof(k - 1 - poly(quot), ONE, ((ONE, fact), (ONE, quotient_facts(quot)[0])), ZERO, cut=quot.den))
    return found


def _facts(ctx: Facts, goal: Poly, quotients: list[Quot]) -> list[Poly]:
    """Hypotheses that share an unknown with the goal, directly or through others, and what defines the quotients in them."""
    every = [*ctx.known, *(f for q in quotients for f in quotient_facts(q))]
    reached = set(goal.terms)
    found: dict[Poly, None] = {}
    while more := [f for f in every if f not in found and (f.terms.keys() - {()}) & reached]:
        for fact in more:
            found[fact] = None
            reached |= fact.terms.keys()
    return list(found)


def _multipliers(ctx: Facts, goal: Poly, offered: list[tuple[Poly, Poly]]) -> tuple[Poly, tuple[tuple[Poly, Poly], ...], Poly] | None:
    """(scale, terms, rem) with scale * goal = sum of terms + rem, of facts with what each may be multiplied by beside a number."""
    products = [by * fact for by, fact in offered]
    monomials = list(dict.fromkeys(m for p in (goal, *products) for m in p.terms))
    left = [m for m in monomials if m and all(ctx.is_nonneg(a) for a in m)]
    numbers = _solve(goal, products, monomials, left)
    if numbers is None:
        return None
    exact = [Fraction(x).limit_denominator(_DENOMINATOR) for x in numbers[: len(offered)]]
    scale = lcm(*(x.denominator for x in exact)) if exact else 1
    terms = tuple((by * int(x * scale), fact) for x, (by, fact) in zip(exact, offered, strict=True) if x > 0)
    rem = goal * scale
    for mult, fact in terms:
        rem = rem - mult * fact
    if all(c >= 0 and (not m or m in left) for m, c in rem.terms.items()):
        return poly(scale), terms, rem
    return None


def _solve(goal: Poly, offered: list[Poly], monomials: list[tuple[Atom, ...]], left: Iterable[tuple[Atom, ...]]) -> list[float] | None:
    """Non-negative multipliers of the facts, then of the monomials that may be left over and of 1."""
    import highspy  # 20 ms, and most goals never get here

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    columns: list[dict[tuple[Atom, ...], int]] = [dict(f.terms) for f in offered] + [{m: 1} for m in left] + [{(): 1}]
    for _ in columns:
        solver.addVar(0.0, highspy.kHighsInf)
    for k in range(len(offered)):
        solver.changeColCost(k, 1.0)  # few and small multipliers
    for monomial in dict.fromkeys([*monomials, ()]):
        entries = [(k, float(c[monomial])) for k, c in enumerate(columns) if c.get(monomial)]
        value = float(goal.terms.get(monomial, 0))
        solver.addRow(value, value, len(entries), [k for k, _ in entries], [c for _, c in entries])
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return list(solver.getSolution().col_value)
