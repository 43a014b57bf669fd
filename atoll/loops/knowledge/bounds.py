"""How large integers can be on the machine: intervals of polynomials, and sums that may have wrapped around as unknowns of their own."""

from __future__ import annotations

from collections.abc import Iterable

from atoll.core.binding import MOST_SIZE
from atoll.sizes import Atom, Poly, Quot, Sym, poly

LEAST, MOST = -(1 << 63), (1 << 63) - 1
Interval = tuple[int, int]


class Bounds:
    """Bounds in one function. `fixed` are its sizes."""

    def __init__(self, sizes: Iterable[Sym]) -> None:
        self.fixed = frozenset(sizes)
        self.sums: dict[Poly, Poly] = {}  # sums that may wrap around, and the unknown that each of them is
        self.meant: dict[Atom, Poly] = {}
        self.by_leaf: dict[Atom, list[Poly]] = {}

    def of(self, p: Poly, known: tuple[Poly, ...]) -> Interval:
        """Between what the polynomial lies, for values of its unknowns that are 64-bit integers."""
        return self._sum(p, None, known, 2, {})

    def _sum(self, p: Poly, but: Atom | None, known: tuple[Poly, ...], depth: int, seen: dict[tuple[Atom, int], Interval]) -> Interval:
        """The interval of p without its term in `but`."""
        low = high = 0
        for mono, coef in p.terms.items():
            if but is not None and mono == (but,):
                continue
            a, b = coef, coef
            for atom in mono:
                if (atom, depth) not in seen:
                    seen[(atom, depth)] = self._atom(atom, known, depth, seen)
                x, y = seen[(atom, depth)]
                ends = (a * x, a * y, b * x, b * y)
                a, b = min(ends), max(ends)
            low, high = low + a, high + b
        return low, high

    def _atom(self, atom: Atom, known: tuple[Poly, ...], depth: int, seen: dict[tuple[Atom, int], Interval]) -> Interval:
        if atom in self.fixed:
            return 0, MOST_SIZE
        low, high = LEAST, MOST
        if isinstance(atom, Quot):
            a, b = self._sum(atom.num, None, known, depth, seen)
            low, high = max(low, min(a, 0)), min(high, max(b, 0))
        for p in known if depth else ():
            step = p.terms.get((atom,), 0)
            if step in (1, -1) and len(p.terms) <= 4 and sum(atom in mono for mono in p.terms) == 1:
                a, b = self._sum(p, atom, known, depth - 1, seen)
                if step == 1:  # the atom is at least what the rest lacks
                    low = max(low, -b)
                else:
                    high = min(high, b)
        return low, high

    def within(self, p: Poly, known: tuple[Poly, ...], least: int, most: int) -> bool:
        low, high = self.of(p, known)
        return least <= low and high <= most

    def wrapped(self, p: Poly, known: tuple[Poly, ...]) -> Poly:
        """The sum as the machine computes it: itself where it cannot wrap around, else in terms of another that is known, else an unknown."""
        if self.within(p, known, LEAST, MOST):
            return p
        if p in self.sums:
            return self.sums[p]
        alike = dict.fromkeys(q for leaf in sorted(p.leaves() - self.fixed, key=_age) for q in self.by_leaf.get(leaf, ()))
        for other in alike:
            unknown = self.sums[other]
            for sign in (1, -1):
                found = p - sign * other + sign * unknown
                if self.within(found, known, LEAST, MOST):
                    return found
        unknown = poly(Sym("w"))
        self.sums[p] = unknown
        self.meant[next(iter(unknown.leaves()))] = p
        for leaf in p.leaves():
            self.by_leaf.setdefault(leaf, []).append(p)
        return unknown

    def settled(self, p: Poly, known: tuple[Poly, ...]) -> list[Poly]:
        """Sums in p that turn out not to have wrapped around: what is known now leaves no other possibility. Facts that say so."""
        found: list[Poly] = []
        for leaf in sorted(p.leaves() & self.meant.keys(), key=_age):
            low, high = self.of(poly(leaf), known)
            least, most = self.of(self.meant[leaf], known)
            if least > high - (1 << 64) and most < low + (1 << 64):
                found += [self.meant[leaf] - leaf, poly(leaf) - self.meant[leaf]]
        return found


def _age(atom: Atom) -> int:
    return atom.uid
