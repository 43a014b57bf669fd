"""One element of a term: an index pushed through its loops, guards and reshapes."""

from __future__ import annotations

from atoll.schedule import term as tm
from atoll.schedule.reshapes import RESHAPES, amount_or_zero
from atoll.sizes import Poly


def element(t: tm.Term, index: tuple[Poly, ...], shapes: tm.Shapes) -> tm.Term:
    """The scalar term t[index]: an index pushed through loops, guards and reshapes. Binders inside are t's own: refresh t first
    when it is used again elsewhere."""
    if not index:
        return t
    match t:
        case tm.Gen():
            return element(tm.substitute(t.body, {t.sym: t.low + index[0]}), index[1:], shapes)
        case tm.Sum():
            return tm.Sum(t.sym, t.low, t.high, element(t.body, index, shapes), t.monoid)
        case tm.Guard():
            return tm.guard(t.conds, element(t.body, index, shapes))
        case tm.Let():
            return tm.Let(t.name, t.bound, element(t.body, index, {**shapes, t.name: tm.shape(t.bound, shapes)}), t.rolled)
        case tm.Nest():
            inner = {**shapes, **dict(zip(t.names, t.shapes, strict=True))}
            return tm.with_kids(t, (element(t.body, index, inner),))
        case tm.Plus():
            return tm.Plus(element(t.left, index, shapes), element(t.right, index, shapes), t.monoid)
        case tm.Zero():
            return tm.Zero((), t.dtype)
        case tm.Cat():
            first = tm.shape(t.left, shapes)[t.axis]
            moved = (*index[: t.axis], index[t.axis] - first, *index[t.axis + 1 :])
            here = tm.Test("ge", first - 1 - index[t.axis])
            return tm.Choose((here,), element(t.left, index, shapes), element(t.right, moved, shapes))
        case tm.Reshape():
            row, inner_shape = RESHAPES[t.op], tm.shape(t.body, shapes)
            end, k = t.axis + row.takes, amount_or_zero(t.amount)
            conds, source = row.pull(inner_shape[t.axis : end], k, index[t.axis : t.axis + row.gives])
            moved = (*index[: t.axis], *source, *index[t.axis + row.gives :])
            return tm.guard(conds, element(t.body, moved, shapes))
    raise AssertionError(t)
