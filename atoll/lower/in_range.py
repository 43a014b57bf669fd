"""Tests of indices that the ranges of the loops around them answer: i + 1 <= n - 1 where i < n - 1.

An adjoint of a slice is 0 outside it; read inside, its test holds. A test in the way would keep what stands behind it in a branch of its own, and what two such branches
compute would be computed twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atoll.loops import ir as lp
from atoll.sizes import Atom, Poly, Quot, Sym, poly

_ROUNDS = 6  # ranges may mention outer indices, those others


def in_range(p: Poly, extent: Poly, ranges: Mapping[Atom, Poly], sizes: Sequence[Sym]) -> bool:
    """True when 0 <= p < extent by the ranges of the loops around. A remainder is, where one of these has as many rounds, so that there is one at all."""
    for quot in p.atoms():
        if isinstance(quot, Quot) and quot.den == extent and p == quot.num - quot.den * poly(quot) and any(ranges.get(leaf) == extent for leaf in quot.num.leaves()):
            return True
    return all(always_holds(lp.Test("ge", q), ranges, sizes) for q in (p, extent - 1 - p))


def always_holds(test: lp.Test, ranges: Mapping[Atom, Poly], sizes: Sequence[Sym]) -> bool:
    """True when `p >= 0` holds for all 0 <= i < ranges[i]: each index is put where p is smallest, and what is left has no negative part."""
    if test.kind != "ge" or test.poly is None:
        return False
    p = test.poly
    for _ in range(_ROUNDS):
        found = next((leaf for leaf in p.leaves() if leaf in ranges), None)
        if found is None:
            break
        factor = p.slope(found)
        times = None if factor is None else factor.const()
        if times is None or found in (p - times * poly(found)).leaves():  # not linear, or inside a quotient
            return False
        p = p.subst({found: ranges[found] - 1 if times < 0 else poly(0)})
    return all(number >= 0 and all(atom in sizes for atom in mono) for mono, number in p.terms.items())
