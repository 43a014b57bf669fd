"""Roots of an equation in one unknown size: from `x*x = n*n` follows `x = n`, because sizes are not negative.

    a_k*x^k + ... + a_1*x  =  q          a_j >= 0 literal numbers, q without x

The left side grows with x, so over numbers >= 0 there is at most one solution, and a polynomial that satisfies the equation and is
not negative is *the* solution: nothing is guessed. It is found term by term, the largest first, as a square root is by hand: the
largest term of the root is the k-th root of the largest of q, and each further term is what the largest term of the remainder asks for.
"""

from __future__ import annotations

from collections import Counter

from atoll.sizes.poly import ZERO, Atom, Monomial, Poly, poly

_TERMS = 16


def root(p: Poly, x: Atom) -> Poly | None:
    """The polynomial r with p = 0 at x = r, when p grows with x (or falls) on numbers >= 0 and there is one.

    >>> from atoll.sizes import Sym
    >>> n, x = Sym("n"), Sym("x")
    >>> root(poly(x)**2 + x - poly(n)**2 - 3*poly(n) - 2, x)
    n + 1
    """
    sides = _sides(p, x)
    return None if sides is None else _solve(*sides)


def grows(p: Poly, x: Atom) -> bool:
    """True when p = 0 has at most one solution x >= 0 for the reason above."""
    return _sides(p, x) is not None


def _sides(p: Poly, x: Atom) -> tuple[dict[int, int], Poly] | None:
    """p = 0 as: literal multiples > 0 of powers of x, equal to what x is not in."""
    parts = _by_power(p, x)
    if parts is None:
        return None
    numbers = {power: part.const() for power, part in parts.items() if power}
    known = {power: c for power, c in numbers.items() if c is not None}
    if not known or len(known) < len(numbers):
        return None
    if all(c < 0 for c in known.values()):
        return {power: -c for power, c in known.items()}, parts.get(0, ZERO)
    return (known, -parts.get(0, ZERO)) if all(c > 0 for c in known.values()) else None


def _by_power(p: Poly, x: Atom) -> dict[int, Poly] | None:
    """The coefficients of the powers of x; None when x stands inside a quotient."""
    terms: dict[int, dict[Monomial, int]] = {}
    for mono, coef in p.terms.items():
        left = tuple(a for a in mono if a is not x)
        if any(x in a.leaves() for a in left):
            return None
        terms.setdefault(len(mono) - len(left), {})[left] = coef
    return {power: Poly(part) for power, part in terms.items()}


def _solve(left: dict[int, int], right: Poly) -> Poly | None:
    """r with sum(c * r**power) = right."""
    top = max(left)
    number = right.const()
    if number is not None:
        return _whole(left, number)
    first = _term_root(_largest(right), left[top], top)
    if first is None:
        return None
    ((mono, coef),) = first.terms.items()
    slope = poly(top * left[top] * coef ** (top - 1)) * Poly({mono * (top - 1): 1} if mono else {(): 1})
    found = first
    for _ in range(_TERMS):
        remainder = right
        for power, c in left.items():
            remainder = remainder - found**power * c
        if not remainder.terms:
            return found
        step = _divide(_largest(remainder), slope)
        if step is None:
            return None
        found = found + step
    return None


def _whole(left: dict[int, int], right: int) -> Poly | None:
    low, high = 0, max(right, 0)
    while low < high:
        middle = (low + high) // 2
        if sum(c * middle**power for power, c in left.items()) < right:
            low = middle + 1
        else:
            high = middle
    return poly(low) if sum(c * low**power for power, c in left.items()) == right else None


def _largest(p: Poly) -> Poly:
    """The largest term, by degree and then by the order of the unknowns."""
    mono = max(p.terms, key=lambda m: (len(m), [-a.uid for a in m]))
    return Poly({mono: p.terms[mono]})


def _term_root(term: Poly, factor: int, power: int) -> Poly | None:
    """The term t with factor * t**power = term."""
    ((mono, coef),) = term.terms.items()
    whole = _whole({power: factor}, coef)
    number = None if whole is None else whole.const()
    counts = Counter(mono)
    if not number or any(count % power for count in counts.values()):
        return None
    atoms: Monomial = tuple(a for a, count in counts.items() for _ in range(count // power))
    return Poly({tuple(sorted(atoms, key=lambda a: a.uid)): number})


def _divide(term: Poly, by: Poly) -> Poly | None:
    ((mono, coef),) = term.terms.items()
    ((below, divisor),) = by.terms.items()
    if coef % divisor:
        return None
    left = list(mono)
    for atom in below:
        if atom not in left:
            return None
        left.remove(atom)
    return Poly({tuple(left): coef // divisor})
