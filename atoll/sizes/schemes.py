"""Size schemes: sizes with some symbols free to be anything, compared up to a change of variables (Pauget, chapter 2).

`[k] -> [n] -> [n - k + 1]` and `[k] -> [n + k - 1] -> [n]` say the same thing. One scheme is at least as general as another when the
sizes of the other, its variables held fixed, can be had by choosing the variables of the first: equations for the same solver that
infers sizes. Two schemes are equivalent when each is at least as general as the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from atoll.sizes.poly import Atom, Poly, PolyLike, Sym, poly
from atoll.sizes.solver import Solver


@dataclass(frozen=True, slots=True)
class Scheme:
    """Sizes in a fixed order (axis by axis, parameter by parameter, then the result) and the variables they are for all of."""

    variables: frozenset[Sym]
    sizes: tuple[Poly, ...]

    def __repr__(self) -> str:
        names = " ".join(sorted(v.name for v in self.variables))
        return f"for all {names}: {', '.join(map(repr, self.sizes))}" if names else ", ".join(map(repr, self.sizes))


def scheme(sizes: Iterable[PolyLike], variables: Iterable[Sym] | None = None) -> Scheme:
    """A scheme for all symbols that occur in its sizes, or for the given ones."""
    polys = tuple(map(poly, sizes))
    if variables is None:
        variables = {leaf for p in polys for leaf in p.leaves() if isinstance(leaf, Sym)}
    return Scheme(frozenset(variables), polys)


def is_instance(general: Scheme, special: Scheme) -> bool:
    """True when the sizes of `special` can be had by choosing the variables of `general`.

    >>> n, k = Sym("n"), Sym("k")
    >>> is_instance(scheme([n, k]), scheme([n, n]))
    True
    >>> is_instance(scheme([n, n]), scheme([n, k]))
    False
    """
    if len(general.sizes) != len(special.sizes):
        return False
    solver: Solver[None] = Solver()
    chosen: dict[Atom, Poly] = {v: solver.fresh(v.name) for v in sorted(general.variables, key=lambda v: v.uid)}
    for mine, theirs in zip(general.sizes, special.sizes, strict=True):
        solver.equate(mine.subst(chosen), theirs, None)
    solver.propagate()
    return not solver.pending


def equivalent(a: Scheme, b: Scheme) -> bool:
    """True when both schemes have the same instances.

    >>> n, k = Sym("n"), Sym("k")
    >>> equivalent(scheme([k, n, poly(n) - k + 1]), scheme([k, poly(n) + k - 1, n]))
    True
    """
    return is_instance(a, b) and is_instance(b, a)
