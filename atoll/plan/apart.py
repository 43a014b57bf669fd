"""Updates whose rounds touch different elements: x[.., i, ..] = v or += v, where i is the round.

Such a loop has no order, and it may be shared: what others do to x in round i, before or after, is at i too, so every element sees
what it would see with a loop for each.
"""

from __future__ import annotations

from atoll.ainf import ir
from atoll.plan.inplace import InPlace, is_base_read
from atoll.plan.stages import Stage
from atoll.sizes import Poly, poly


def own_place(stage: Stage, binder: ir.Binder) -> int | None:
    """The position of the index of an updated array at which a round of this loop has its own number."""
    if not isinstance(stage.prim, ir.Scatter) or binder not in stage.prim.binders:
        return None
    at = poly(binder)
    return next((len(stage.dims) + k for k, p in enumerate(stage.prim.index) if p == at), None)


def reads_own(other: Stage, theirs: ir.Binder, ref: ir.Ref, at: Poly) -> bool:
    """A stage that reads, at index `at` of its loop, an array that another one updates reads what this round has done with it."""
    place = own_place(other, theirs)
    return place is not None and ref.index[place] == at


def updates_own(stage: Stage, binder: ir.Binder, other: Stage, theirs: ir.Binder, ref: ir.Ref | None, inplace: InPlace) -> bool:
    """An update in place of an array that another stage updates (`ref`), or reads and must have read before; both at the round's own number."""
    if stage.line is None or (place := own_place(stage, binder)) is None or (base := inplace.takes.get((stage.line, 0))) is None:
        return False
    if ref is not None:
        if (ref.line, ref.result) != base or own_place(other, theirs) != place:
            return False
        return is_base_read(ref, stage.prim.base) or ref.index[place] == poly(binder)
    read = [r for r in other.refs if (r.line, r.result) == base]
    return bool(read) and all(r.index[place] == poly(theirs) for r in read)
