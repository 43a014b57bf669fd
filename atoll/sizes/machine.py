"""Polynomials as a machine with 64-bit integers has them: sums and products wrap around."""

from __future__ import annotations

from collections.abc import Callable

from atoll.sizes.poly import Atom, Poly, Quot, poly


def wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def bounds(p: Poly) -> tuple[Poly, Poly]:
    """low and high of range(low, high), which has p rounds: what is taken away, and what it is taken from. A remainder a - k * (a // k) is one integer: the parts of it
    are far larger than it is, and k * (a // k) + 2 wraps around where a % k + 2 does not."""
    whole, low, high = p, poly(0), poly(0)
    found = [(atom, k) for atom in sorted((a for a in p.atoms() if isinstance(a, Quot)), key=lambda a: a.uid) if (k := _times(p, atom))]
    for taken in ([pair for pair in found if _is_shorter(p, [pair])], found):  # one by one, or all: a of a % 7 - a % 5 is in neither
        if taken and _is_shorter(p, taken):
            low, high = (sum((_part(one) for one in taken if (one[1] > 0) == above), poly(0)) for above in (False, True))
            whole, low = p - low - high, -low
            break
    return low + Poly({m: -c for m, c in whole.terms.items() if c < 0}), high + Poly({m: c for m, c in whole.terms.items() if c > 0})


def _times(p: Poly, quotient: Quot) -> int:
    """How often the remainder of a division is a part of p, if it is one."""
    whole = quotient.den * poly(quotient)
    return next((-p.terms[m] // c for m, c in whole.terms.items() if m in p.terms and p.terms[m] % c == 0), 0)


def _part(taken: tuple[Quot, int]) -> Poly:
    quotient, times = taken
    return times * (quotient.num - quotient.den * poly(quotient))


def _is_shorter(p: Poly, taken: list[tuple[Quot, int]]) -> bool:
    """Nothing new is left where remainders are taken out."""
    return len((p - sum(map(_part, taken), poly(0))).terms) <= len(p.terms) - len(taken) - (len(taken) == 1)


MOST_ROUNDS = 2**62
"""More are not counted: nobody sees the end of so many, and a little more than what is counted still is an integer."""


def rounds(low: int, high: int, step: int = 1) -> int:
    """How many rounds range(low, high, step) has, or the first MOST_ROUNDS of them. A step of 0 makes none."""
    distance, stride = (high - low, step) if step > 0 else (low - high, -step)
    return min(-(-distance // stride), MOST_ROUNDS) if distance > 0 and stride > 0 else 0


def extent(p: Poly, value: Callable[[Atom], int]) -> int:
    """The number of rounds that p says, counted by a machine: its bounds have wrapped around, the distance between them has not."""
    low, high = bounds(p)
    return rounds(wrapped(low.evaluate(value)), wrapped(high.evaluate(value)))


def compared(p: Poly, value: Callable[[Atom], int], is_wide: Callable[[Atom], bool]) -> int:
    """p where its sign decides. A comparison of integers a < b is made as b - a - 1 >= 0 and means what it means over the integers, at the ends of their
    range too; any other sum of integers that may be large (`is_wide`) is an index that has wrapped around."""
    exact = p.evaluate(value)
    return exact if stands_alone(p, is_wide) else wrapped(exact)


def stands_alone(p: Poly, is_wide: Callable[[Atom], bool]) -> bool:
    """A comparison of at most two integers that may be large, each as it is: a variable, or a quotient of such. Of a - k * (a // k) the sum is small, but its
    parts are not."""
    wide = {atom for mono in p.terms for atom in mono if any(map(is_wide, atom.leaves()))}
    signs = [p.terms.get((a,), 0) for a in wide]
    alone = all(s in (1, -1) for s in signs) and all(len(mono) == 1 or not wide & set(mono) for mono in p.terms)
    return alone and (len(wide) < 2 or sorted(signs) == [-1, 1])
