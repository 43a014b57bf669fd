"""Size inference: equations between polynomials, solved by eliminating isolated unknowns (Pauget, chapter 2 and appendix A.1).

An equation `p = 0` with p = ±x + r, x an unknown that does not occur in r, gives x. This is repeated until nothing changes, after
dividing each equation by the gcd of its coefficients. Because sizes are not negative, `x*x = n*n` gives x too (sizes/roots.py). Every
step keeps all solutions, so what is found is most general, and what is left over is shown to the user as an equation. Nothing is
ever guessed.

Unknowns live at a level. A rigid symbol made at a deeper level (the index of a loop, an existential size) may not be put into an
unknown made further out; an equation that would force that is split by powers of the rigid symbol instead, as MADL does: from
`a*i + b = 0` with i rigid and b free of anything that could mention i follow `a = 0` and `b = 0`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import gcd
from typing import Generic, TypeVar

from atoll.sizes.poly import Atom, Poly, Sym, poly
from atoll.sizes.roots import grows, root

Reason = TypeVar("Reason")


@dataclass
class Equation(Generic[Reason]):
    """left = right, and why it must hold."""

    left: Poly
    right: Poly
    reason: Reason


@dataclass
class Solver(Generic[Reason]):
    """Unknown sizes and what is known about them."""

    unknowns: dict[Sym, int] = field(default_factory=dict)  # level at which each was made
    rigid: dict[Sym, int] = field(default_factory=dict)  # level of symbols that may not escape outwards
    solution: dict[Atom, Poly] = field(default_factory=dict)
    pending: list[Equation[Reason]] = field(default_factory=list)
    nonneg: Callable[[Poly, Reason], bool] | None = None  # whether a size is known not to be negative, where the equation arose

    def fresh(self, name: str = "s", level: int = 0) -> Poly:
        """A new unknown."""
        sym = Sym(name)
        self.unknowns[sym] = level
        return poly(sym)

    def resolve(self, p: Poly) -> Poly:
        """p with everything known put in."""
        if not self.solution:
            return p
        for _ in range(1000):
            new = p.subst(self.solution)
            if new is p:
                return p
            p = new
        raise AssertionError("size substitution does not end")

    def open_unknowns(self, p: Poly) -> list[Sym]:
        return [leaf for leaf in self.resolve(p).leaves() if isinstance(leaf, Sym) and leaf in self.unknowns]

    def equate(self, left: Poly, right: Poly, reason: Reason) -> None:
        """Require left = right; solved now if that decides an unknown, kept for later otherwise."""
        if left == right:
            return
        self.pending.append(Equation(left, right, reason))
        self.propagate()

    def impossible(self, p: Poly) -> bool:
        """True when p = 0 has no solution in whole numbers >= 0, whatever the unknowns are: 3*k = 4, k*k = 8."""
        p = self.resolve(p)
        common = p.content()
        if not common or p.constant_term() % common:
            return bool(p.terms)
        unknown = self.open_unknowns(p)
        return len(unknown) == 1 and p.leaves() == {unknown[0]} and grows(p, unknown[0]) and root(p, unknown[0]) is None

    def propagate(self) -> None:
        """Eliminate isolated unknowns until nothing changes."""
        changed = True
        while changed and self.pending:
            changed = False
            for equation in list(self.pending):
                difference = self.resolve(equation.left - equation.right)
                if not difference.terms or self._isolate(difference) or self._root(difference, equation.reason):
                    self.pending.remove(equation)
                    changed = True
                else:
                    pieces = self._decompose(difference)
                    if pieces:
                        self.pending.remove(equation)
                        self.pending += [Equation(piece, Poly({}), equation.reason) for piece in pieces]
                        changed = True

    def _isolate(self, p: Poly) -> bool:
        """Solve p = 0 for one unknown, the deepest first."""
        common = 0
        for coef in p.terms.values():
            common = gcd(common, coef)
        if common > 1:
            p = Poly({mono: coef // common for mono, coef in p.terms.items()})
        candidates = [
            mono[0]
            for mono, coef in p.terms.items()
            if len(mono) == 1 and abs(coef) == 1 and isinstance(mono[0], Sym) and mono[0] in self.unknowns
        ]
        for sym in sorted(candidates, key=lambda c: (-self.unknowns[c], -c.uid)):
            value = p - poly(sym) * p.terms[(sym,)]
            if sym in value.leaves():
                continue
            if p.terms[(sym,)] > 0:
                value = -value
            if self._define(sym, value):
                return True
        return False

    def _define(self, sym: Sym, value: Poly) -> bool:
        """sym := value, unless that would let a symbol escape outwards."""
        level = self.unknowns[sym]
        if any(self.rigid.get(leaf, 0) > level for leaf in value.leaves() if isinstance(leaf, Sym)):
            return False
        for leaf in value.leaves():  # an unknown that now stands for an outer one must not capture inner symbols
            if isinstance(leaf, Sym) and leaf in self.unknowns:
                self.unknowns[leaf] = min(self.unknowns[leaf], level)
        self.solution[sym] = value
        return True

    def _root(self, p: Poly, reason: Reason) -> bool:
        """Solve p = 0 for its only unknown, a size, when p grows with it."""
        if p.degree() < 2 or self.nonneg is None:
            return False
        unknown = self.open_unknowns(p)
        if len(unknown) != 1:
            return False
        found = root(p, unknown[0])
        return found is not None and self.nonneg(found, reason) and self._define(unknown[0], found)

    def _decompose(self, p: Poly) -> list[Poly] | None:
        """Split p = a*i + b by a rigid symbol i that nothing in b can mention."""
        inner = sorted((leaf for leaf in p.leaves() if isinstance(leaf, Sym) and leaf in self.rigid), key=lambda s: -self.rigid[s])
        for sym in inner:
            rest = Poly({mono: coef for mono, coef in p.terms.items() if sym not in _leaves(mono)})
            if any(self.unknowns.get(leaf, -1) >= self.rigid[sym] for leaf in rest.leaves() if isinstance(leaf, Sym)):
                continue
            factor = _divide_by(p - rest, sym)
            if factor is None or not any(isinstance(leaf, Sym) and leaf in self.unknowns for leaf in p.leaves()):
                continue
            return [piece for piece in (factor, rest) if piece.terms]
        return None


def _leaves(mono: Iterable[Atom]) -> set[Atom]:
    return {leaf for atom in mono for leaf in atom.leaves()}


def _divide_by(p: Poly, sym: Sym) -> Poly | None:
    """p / sym when sym is a factor of every term."""
    terms = {}
    for mono, coef in p.terms.items():
        if sym not in mono:
            return None
        at = mono.index(sym)
        terms[mono[:at] + mono[at + 1 :]] = coef
    return Poly(terms)
