"""Requirements on sizes in the user's words."""

from __future__ import annotations

from collections.abc import Callable

from atoll.sizes.poly import Atom, Poly, Quot, Sym, poly, show


def condition(p: Poly) -> str:
    """`p >= 0` as a person would write it: `n >= 2`, `k <= n`, `n % 4 == 0`."""
    for atom in p.atoms():  # -(n % 4) >= 0
        if isinstance(atom, Quot) and p == poly(atom) * atom.den - atom.num:
            return f"{_operand(atom.num)} % {_operand(atom.den)} == 0"
    unknown = [leaf for leaf in p.leaves() if isinstance(leaf, Sym)]
    if len(unknown) == 1:
        coef = p.coefficient(unknown[0])
        const = (p - coef * unknown[0]).const() if coef is not None else None
        factor = coef.const() if coef is not None else None
        if factor and const is not None:
            if factor > 0:
                return f"{unknown[0]} >= {-(const // factor)}"
            return f"{unknown[0]} <= {const // -factor}"
    positive = Poly({mono: coef for mono, coef in p.terms.items() if coef > 0})
    negative = Poly({mono: -coef for mono, coef in p.terms.items() if coef < 0})
    return f"{show(negative)} <= {show(positive)}"


def _operand(p: Poly) -> str:
    return show(p) if p.single() is not None or p.const() is not None else f"({show(p)})"


def requirement(p: Poly, value: Callable[[Atom], int]) -> str:
    """`n >= 2, but n is 1`."""
    unknown = sorted((leaf for leaf in p.leaves() if isinstance(leaf, Sym)), key=lambda s: s.name)
    values = " and ".join(f"{sym} is {value(sym)}" for sym in unknown)
    return f"{condition(p)}, but {values}" if values else condition(p)
