"""Updates that read, of the array they change, what no other round changes: then rounds may store where they read.

    A[i, j + p + 1] = A[i, j + p + 1] - A[i, p] * A[p, j + p + 1]      for j, when i > p

The first is the round's own place; the others are in a column and in a row that no round writes. Everything is asked for all pairs of
rounds, whatever their order, so that rounds may also be cut into pieces. Only sizes, indices and numbers of rounds are reasoned about: none of
them can wrap around. What is not proved is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from atoll.ainf import ir
from atoll.sizes import ZERO, Atom, Poly, poly
from atoll.sizes.meeting import differ, tells
from atoll.sizes.prover import Facts, facts


class Around:
    """What is known of the indices and sizes outside a block: `rounds` has the indices of loops, and how many rounds these have."""

    def __init__(self, rounds: Mapping[Atom, Poly], sizes: Iterable[Atom]) -> None:
        self.rounds, self.sizes = rounds, frozenset(sizes)

    def knows(self, p: Poly) -> bool:
        """Every unknown is an index or a size."""
        return all(isinstance(a, ir.Binder) or a in self.rounds or a in self.sizes for a in p.leaves())

    def context(self, goal: Poly) -> Facts:
        found: dict[Poly, None] = {}
        seen: set[Atom] = set()
        queue = list(goal.leaves())
        while queue:
            atom = queue.pop()
            if atom in seen:
                continue
            seen.add(atom)
            mine = [poly(atom)]
            extent = atom.extent if isinstance(atom, ir.Binder) else self.rounds.get(atom)
            if extent is not None:
                mine.append(extent - 1 - poly(atom))
            for fact in mine if atom in self.sizes or extent is not None else []:
                if self.knows(fact):
                    found[fact] = None
                    queue += fact.leaves()
        return facts().add(found)

    def never_zero(self, difference: Poly) -> bool:
        if not self.knows(difference):
            return False
        return differ(difference, ZERO, self.context(difference))


NOTHING = Around({}, ())


def reads_undisturbed(prim: ir.Scatter, index: tuple[Poly, ...], around: Around) -> bool:
    """No other round of an update writes the element of its array that a round reads at this index."""
    if index == prim.index:
        return prim.monoid is None or _distinct(prim)
    other: dict[Atom, Poly] = {}
    for b in prim.binders:
        other[b] = poly(ir.Binder(b.name, b.extent.subst(other)))
    return any(around.never_zero(w.subst(other) - r) for w, r in zip(prim.index, index, strict=True))


def _distinct(prim: ir.Scatter) -> bool:
    """Every round has a place of its own: each of its indices is told by some index of the array."""
    data = {a for p in prim.index for a in p.leaves() if isinstance(a, ir.RefAtom)}
    return all(tells(prim.index, b, {*prim.binders, *data}) for b in prim.binders)
