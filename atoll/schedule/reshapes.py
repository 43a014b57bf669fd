"""The reshape operators as rows. Shape and `pull` are those of views/catalogue.py; `push`, the other direction, is added here.

    shape  the extents of the result's axes, from the argument's
    pull   element [i...] of the result is element [j...] of the argument where conditions (each >= 0) hold, else a pad (zero)
    push   element [i...] of the argument goes to [j...] of the result: the reindexers of ATL figure 3, on (index, extent) pairs

An operator acts on `takes` neighbouring axes of its argument and `gives` that many; which ones is the term's business (its axis). A
window copies elements, so it has no push: it is only ever read through. `k` is the one parameter, when there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atoll.sizes import ZERO, Poly, cdiv, floordiv, poly
from atoll.views.catalogue import VIEWS

Extents = tuple[Poly, ...]
Pairs = list[tuple[Poly, Poly]]
Params = Callable[[Extents, Poly], tuple[object, ...]]
Push = Callable[[Pairs, Poly], Pairs]


@dataclass(frozen=True, slots=True)
class Row:
    op: str
    takes: int
    gives: int
    view: str
    params: Params
    push: Push | None
    has_amount: bool = True
    pads: bool = False  # some elements of the result come from nowhere
    cuts: bool = False  # some elements of the argument go nowhere

    def shape(self, extents: Extents, k: Poly) -> Extents:
        return VIEWS[self.view].shape((extents,), self.params(extents, k))

    def pull(self, extents: Extents, k: Poly, index: tuple[Poly, ...]) -> tuple[tuple[Poly, ...], tuple[Poly, ...]]:
        """(conditions, index into the argument)."""
        (piece,) = VIEWS[self.view].pull((extents,), self.params(extents, k), index)
        conditions = tuple(c for c in piece.conditions if (n := c.const()) is None or n < 0)
        return conditions, piece.index


def _split(extents: Extents, k: Poly) -> tuple[object, ...]:
    return (k, floordiv(extents[0], k))


def _push_split(pairs: Pairs, k: Poly) -> Pairs:
    (i, d) = pairs[0]
    return [(floordiv(i, k), cdiv(d, k)), (i % k, k)]


_ROWS = [
    Row("transpose", 2, 2, "transpose", lambda e, k: (1, 0), lambda p, k: [p[1], p[0]], has_amount=False),
    Row(
        "flatten",
        2,
        1,
        "flatten",
        lambda e, k: (),
        lambda p, k: [(p[0][0] * p[1][1] + p[1][0], p[0][1] * p[1][1])],
        has_amount=False,
    ),
    Row("split", 1, 2, "split", _split, lambda p, k: [(floordiv(p[0][0], k), floordiv(p[0][1], k)), (p[0][0] % k, k)]),
    Row("tile", 1, 2, "tile", lambda e, k: (k,), _push_split, pads=True),
    Row("trunc_r", 1, 1, "trunc_r", lambda e, k: (k,), lambda p, k: [(p[0][0], p[0][1] - k)], cuts=True),
    Row("trunc_l", 1, 1, "trunc_l", lambda e, k: (k,), lambda p, k: [(p[0][0] - k, p[0][1] - k)], cuts=True),
    Row("pad_r", 1, 1, "pad", lambda e, k: ((ZERO, k),), lambda p, k: [(p[0][0], p[0][1] + k)], pads=True),
    Row("pad_l", 1, 1, "pad", lambda e, k: ((k, ZERO),), lambda p, k: [(p[0][0] + k, p[0][1] + k)], pads=True),
    Row("reverse", 1, 1, "reverse", lambda e, k: (), lambda p, k: [(p[0][1] - 1 - p[0][0], p[0][1])], has_amount=False),
    Row("sample", 1, 1, "sample", lambda e, k: (k,), None, cuts=True),
    Row("window", 1, 2, "window", lambda e, k: (k,), None),
]

RESHAPES = {row.op: row for row in _ROWS}


def drop_conditions(row: Row, extents: Extents, k: Poly, index: tuple[Poly, ...]) -> tuple[Poly, ...]:
    """What must hold of an element of the argument for it to have a place in the result of a truncation."""
    if row.op == "trunc_r":
        return (extents[0] - k - 1 - index[0],)
    return (index[0] - k,) if row.op == "trunc_l" else ()


def amount_or_zero(k: Poly | None) -> Poly:
    return poly(0) if k is None else k
