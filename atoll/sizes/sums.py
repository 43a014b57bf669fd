"""Sums of polynomials over ranges, exact for every value of the sizes: in closed form where there is one.

    sum of e for i in low..high  =  F(low + max(0, high - low)) - F(low)        e a polynomial in i, F its sum by Faulhaber's formula
    sum of [p >= 0] * e          cuts the range, where p is linear in i
    sum of [p == 0] * e          is e at that place, if it lies in the range
    anything else                stays a sum: an atom that is added up when it is evaluated

The atoms made here are read in `Clamp` as max(0, p), in `Holds` as 1 or 0. They vanish where the facts at hand decide them, so that a triangle is n**2/2 - n/2
and a loop from 1 to n - 1 is max(0, n - 2) unless n >= 2 is known. Coefficients of sums are fractions: a `Ratio` is a polynomial over an integer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, gcd, lcm
from typing import Any

from atoll.sizes.meeting import differ
from atoll.sizes.poly import ONE, ZERO, Atom, Monomial, Poly, PolyLike, Sym, floordiv, poly, show
from atoll.sizes.prover import Facts, facts

_MOST_TERMS = 120
NOTHING = facts(())


class Clamp(Atom):
    """max(0, p)"""

    __slots__ = ("of",)

    def __init__(self, of: Poly) -> None:
        super().__init__()
        self.of = of

    def __repr__(self) -> str:
        return f"max(0, {show(self.of)})"

    def substitute(self, env: Mapping[Any, Poly]) -> Poly | None:
        of = self.of.subst(env)
        return None if of is self.of else clamp(of)

    def leaves(self) -> frozenset[Atom]:
        return self.of.leaves()

    def value(self, env: Callable[[Atom], int]) -> int:
        return max(0, self.of.evaluate(env))


class Holds(Atom):
    """1 where p >= 0 (or, with `zero`, p == 0) holds, else 0"""

    __slots__ = ("of", "zero")

    def __init__(self, of: Poly, zero: bool) -> None:
        super().__init__()
        self.of, self.zero = of, zero

    def __repr__(self) -> str:
        c = min(0, self.of.constant_term())
        return f"[{show(self.of - c)} {'==' if self.zero else '>='} {-c}]"

    def substitute(self, env: Mapping[Any, Poly]) -> Poly | None:
        of = self.of.subst(env)
        return None if of is self.of else holds(of, self.zero)

    def leaves(self) -> frozenset[Atom]:
        return self.of.leaves()

    def value(self, env: Callable[[Atom], int]) -> int:
        p = self.of.evaluate(env)
        return int(p == 0 if self.zero else p >= 0)


class Total(Atom):
    """The sum of a polynomial over a range that no formula here gives."""

    __slots__ = ("sym", "low", "high", "of")

    def __init__(self, sym: Sym, low: Poly, high: Poly, of: Poly) -> None:
        super().__init__()
        self.sym, self.low, self.high, self.of = sym, low, high, of

    def __repr__(self) -> str:
        low = "" if not self.low.terms else f"{show(self.low)}, "
        return f"sum({show(self.of)} for {self.sym} in range({low}{show(self.high)}))"

    def substitute(self, env: Mapping[Any, Poly]) -> Poly | None:
        low, high, of = self.low.subst(env), self.high.subst(env), self.of.subst(env)
        if low is self.low and high is self.high and of is self.of:
            return None
        return _total(self.sym, low, high, of)

    def leaves(self) -> frozenset[Atom]:
        return self.low.leaves() | self.high.leaves() | (self.of.leaves() - {self.sym})

    def value(self, env: Callable[[Atom], int]) -> int:
        return sum(
            self.of.evaluate(lambda atom, i=i: i if atom is self.sym else env(atom))  # type: ignore[misc]
            for i in range(self.low.evaluate(env), self.high.evaluate(env))
        )


@lru_cache(maxsize=100_000)
def _atom(kind: Any, *parts: Any) -> Poly:
    return poly(kind(*parts))


def _total(sym: Sym, low: Poly, high: Poly, of: Poly) -> Poly:
    if not of.terms:
        return ZERO
    first, last = low.const(), high.const()
    if first is not None and last is not None and of.leaves() <= {sym}:
        return poly(sum(of.evaluate({sym: i}) for i in range(first, last)))
    return _atom(Total, sym, low, high, of)


def clamp(p: PolyLike, known: Facts = NOTHING) -> Poly:
    """max(0, p), simpler where the facts say which."""
    p = poly(p)
    const = p.const()
    if const is not None:
        return poly(max(0, const))
    if plain(p):
        if known.proves(p):
            return p
        if known.proves(-p):
            return ZERO
    elif len(clamped := [a for a in p.atoms() if isinstance(a, Clamp)]) == 1 and abs(scale := p.terms.get((clamped[0],), 0)) == 1:
        rest = p - poly(clamped[0]) * scale  # it is one of two: without the maximum, or with what is in it
        if plain(rest) and plain(clamped[0].of) and known.proves(rest) and known.proves(rest + clamped[0].of * scale):
            return p
    return _atom(Clamp, p)


def holds(p: PolyLike, zero: bool = False, known: Facts = NOTHING) -> Poly:
    """1 where p >= 0 (or p == 0) holds, else 0."""
    p = poly(p)
    const = p.const()
    if const is not None:
        return ONE if (const == 0 if zero else const >= 0) else ZERO
    if plain(p):
        if differ(p, ZERO, known) if zero else known.proves(-p - 1):
            return ZERO
        if known.proves(p) and (not zero or known.proves(-p)):
            return ONE
    return _atom(Holds, p, zero)


def plain(p: Poly) -> bool:
    """Made of what the prover knows: names and quotients."""
    return not any(isinstance(a, (Clamp, Holds, Total)) for a in _parts(p))


def _parts(p: Poly) -> list[Atom]:
    found: list[Atom] = []
    for atom in p.atoms():
        found.append(atom)
        for inner in (getattr(atom, "num", None), getattr(atom, "den", None)):
            if isinstance(inner, Poly):
                found += _parts(inner)
    return found


@dataclass(frozen=True, slots=True)
class Ratio:
    """num / den, den >= 1, always a whole number at whole sizes."""

    num: Poly
    den: int = 1

    def __add__(self, other: Ratio) -> Ratio:
        den = lcm(self.den, other.den)
        return reduced(self.num * (den // self.den) + other.num * (den // other.den), den)

    def __sub__(self, other: Ratio) -> Ratio:
        return self + Ratio(-other.num, other.den)

    def times(self, p: PolyLike) -> Ratio:
        return reduced(self.num * p, self.den)

    def __mul__(self, other: Ratio) -> Ratio:
        return reduced(self.num * other.num, self.den * other.den)

    def subst(self, env: Mapping[Any, Poly]) -> Ratio:
        return reduced(self.num.subst(env), self.den)

    def const(self) -> int | None:
        value = self.num.const()
        return None if value is None else value // self.den


def settled(r: Ratio, known: Facts) -> Ratio:
    """Simpler where the facts decide maxima and tests."""
    env: dict[Atom, Poly] = {}
    for atom in r.num.atoms():
        new = clamp(atom.of, known) if isinstance(atom, Clamp) else holds(atom.of, atom.zero, known) if isinstance(atom, Holds) else None
        if new is not None and new.single() is not atom:
            env[atom] = new
    return r.subst(env) if env else r


def where(held: Poly, e: Ratio, known: Facts = NOTHING) -> Ratio:
    """e * held. What is 0 at n = 0 anyway needs no [n >= 1]."""
    atom = held.single()
    if isinstance(atom, Holds) and not atom.zero:
        name = (atom.of + 1).single()
        if isinstance(name, Sym) and known.proves(poly(name)):
            at_zero = settled(e.subst({name: ZERO}), known)
            return (e - at_zero) + at_zero.times(held)
    return e.times(held)


NONE, ONCE = Ratio(ZERO), Ratio(ONE)


def reduced(num: Poly, den: int) -> Ratio:
    common = gcd(den, *num.terms.values()) if den > 1 else 1
    if common > 1:
        num = Poly({mono: coef // common for mono, coef in num.terms.items()})
    return Ratio(num, den // common)


def total(e: Ratio, sym: Sym, low: Poly, high: Poly, known: Facts = NOTHING) -> Ratio:
    """The sum of e for sym in low..high (excluded); 0 where high <= low. `known` is what holds outside the sum."""
    return _sum(e.num, sym, low, high, known, depth=6).times(1) * Ratio(ONE, e.den)


def _sum(num: Poly, sym: Sym, low: Poly, high: Poly, known: Facts, depth: int) -> Ratio:
    end = low + clamp(high - low, known)
    if sym not in num.leaves():
        return Ratio(num * (end - low))
    groups: dict[Monomial, dict[int, Poly]] = {}  # what of it is no polynomial in sym, then by powers of sym
    for mono, coef in num.terms.items():
        odd = tuple(a for a in mono if a is not sym and sym in a.leaves())
        rest = tuple(a for a in mono if a is not sym and sym not in a.leaves())
        by_power = groups.setdefault(odd, {})
        by_power[mono.count(sym)] = by_power.get(mono.count(sym), ZERO) + Poly({rest: coef})
    found = NONE
    for odd, powers in groups.items():
        if not odd:
            for power, each in powers.items():
                found = found + (_powers(power, end) - _powers(power, low)).times(each)
            continue
        inner = sum((coef * poly(sym) ** power for power, coef in powers.items()), ZERO)
        found = found + _odd(odd, inner, sym, low, high, known, depth)
    return found if len(found.num.terms) <= _MOST_TERMS else Ratio(_total(sym, low, high, num))


def _odd(odd: Monomial, inner: Poly, sym: Sym, low: Poly, high: Poly, known: Facts, depth: int) -> Ratio:
    """A sum whose terms have factors that are no polynomials in sym."""
    for at, atom in enumerate(odd):
        if depth == 0 or not isinstance(atom, (Clamp, Holds)):
            continue
        step = atom.of.coefficient(sym)
        scale = None if step is None else step.const()
        if step is None or not scale:
            continue
        rest = atom.of - step * sym
        if sym in rest.leaves():
            continue
        others = inner
        for k, other in enumerate(odd):
            if k != at:
                others = others * other
        if isinstance(atom, Clamp):
            others = others * atom.of
        elif atom.zero:
            if abs(scale) != 1:
                continue
            place = -rest * scale
            inside = holds(place - low, known=known) * holds(high - 1 - place, known=known)
            return Ratio(others.subst({sym: place}) * inside)
        if scale > 0:  # sym >= -rest / scale, rounded up
            first = floordiv(-rest + scale - 1, poly(scale))
            return _sum(others, sym, low + clamp(first - low, known), high, known, depth - 1)
        after = floordiv(rest, poly(-scale)) + 1
        return _sum(others, sym, low, high - clamp(high - after, known), known, depth - 1)
    whole = inner
    for atom in odd:
        whole = whole * atom
    return Ratio(_total(sym, low, high, whole))


@lru_cache(maxsize=64)
def _faulhaber(power: int) -> tuple[Fraction, ...]:
    """Coefficients of x, x**2, ... in the sum of i**power for 0 <= i < x."""
    numbers: list[Fraction] = []  # Bernoulli's, with B1 = -1/2
    for m in range(power + 1):
        numbers.append(Fraction(1) if m == 0 else -sum((comb(m + 1, k) * numbers[k] for k in range(m)), Fraction(0)) / (m + 1))
    return tuple(Fraction(comb(power + 1, power + 1 - d)) * numbers[power + 1 - d] / (power + 1) for d in range(1, power + 2))


def _powers(power: int, x: Poly) -> Ratio:
    """The sum of i**power for 0 <= i < x, continued to negative x."""
    coefficients = _faulhaber(power)
    den = lcm(*(c.denominator for c in coefficients))
    num, raised = ZERO, ONE
    for c in coefficients:
        raised = raised * x
        num = num + raised * int(c * den)
    return reduced(num, den)
