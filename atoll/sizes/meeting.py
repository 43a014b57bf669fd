"""Can two indices be equal? Every stage that moves reads past writes asks this, of whatever its own indices are made of.

    differ(x, y, ctx)               two indices are never equal, by what is known of their unknowns
    differ_somewhere(xs, ys, ctx)   so two elements of one array are never the same
    ways_apart(x - y, ctx)          why: which of the two is larger, and the proof
    outside(x, low, high, ctx)      an index is never in a range
    tells(index, sym, ...)          different values of an index are different elements

Callers say what the unknowns are: loops/dependence.py elements of loops and their rounds, ad/ and plan/ lines of the normal form, views/overlap.py (and through it
MADL) views, check/separate.py what it writes into certificates. The trusted checker (check/rewrites/refute.py) does not ask here: who reads a certificate should not have to trust
what wrote it. Nothing here knows of arithmetic that wraps around: who has values that may leave i64 must not ask.
What is not proved is not so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from atoll.sizes.poly import Atom, Poly
from atoll.sizes.prover import Facts, Proof


def ways_apart(difference: Poly, ctx: Facts) -> Iterator[tuple[int, Poly, Proof]]:
    """Proofs that it is at least 1, or at most -1: the sign, what is then not negative, and why."""
    for sign in (1, -1):
        goal = difference * sign - 1
        why = ctx.proof(goal)
        if why is not None:
            yield sign, goal, why


def differ(x: Poly, y: Poly, ctx: Facts) -> bool:
    """Two indices are never equal."""
    return any(True for _ in ways_apart(x - y, ctx))


def differ_somewhere(first: Iterable[Poly], second: Iterable[Poly], ctx: Facts) -> bool:
    """Two elements of one array are never the same: some index is never equal."""
    return any(differ(x, y, ctx) for x, y in zip(first, second, strict=True))


def never_divisible(difference: Poly) -> bool:
    """It is never 0, as it leaves a remainder: of multiples of a number one is at them, the other between them."""
    content, rest = difference.content(), difference.constant_term()
    return (content > 1 and rest % content != 0) or (content == 0 and rest != 0)


def outside(x: Poly, low: Poly, high: Poly, ctx: Facts) -> bool:
    """An index never lies in low..high."""
    return ctx.proves(low - x - 1) or ctx.proves(x - high)


def tells(index: Iterable[Poly], sym: Atom, others: AbstractSet[Atom] | None = None) -> bool:
    """Different values of an index are different elements: some place moves by a number with it (`i % 4` does not: it comes back). With `others`, whatever these are: they are not in that place."""
    for p in index:
        step = p.slope(sym)
        if step is not None and step.const() not in (None, 0) and (others is None or others.isdisjoint((p - step * sym).leaves())):
            return True
    return False
