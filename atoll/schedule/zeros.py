"""Every cell that a term would write, set to a constant: before a sum adds to them, and beside a guard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from atoll.loops import ir as lp
from atoll.schedule import term as tm
from atoll.schedule.context import Context
from atoll.schedule.cover import Lowering, Tree, both, nowhere, under
from atoll.schedule.place import Place
from atoll.schedule.reshapes import RESHAPES, amount_or_zero
from atoll.sizes import Poly, Sym, poly

if TYPE_CHECKING:
    from atoll.schedule.to_loops import Lowerer

Gone = frozenset[Sym]  # loops that sums run and zeros do not


def zeros(lowerer: Lowerer, t: tm.Term, context: Context, place: Place, value: lp.Const, gone: Gone = frozenset()) -> Lowering | None:
    """The cells set to a constant, if the place has room for all of them: guards are kept where they are needed for that, unless they mention a
    loop that is gone."""
    return Zeros(lowerer, value).made(t, context, place, gone) or Zeros(lowerer, value, guarded=True).made(t, context, place, gone)


@dataclass(frozen=True, slots=True)
class Zeros:
    """How cells are set; None where the place is seen to have no room for one."""

    lowerer: Lowerer
    value: lp.Const
    guarded: bool = False  # guards are kept
    anyway: bool = False  # room is not asked for

    def made(self, t: tm.Term, context: Context, place: Place, gone: Gone) -> Lowering | None:
        match t:
            case tm.Gen():
                return self.gen(t, context, place, gone)
            case tm.Sum():
                return self.made(t.body, context.down(t, 0), place, gone | {t.sym})
            case tm.Let() | tm.Nest():
                return self.made(t.body, context.down(t, 1 if isinstance(t, tm.Let) else 0), place, gone)
            case tm.Plus():
                return self.made(t.left, context.down(t, 0), place, gone)
            case tm.Guard():
                return self.guard(t, context, place, gone)
            case tm.Cat():
                return self.cat(t, context, place, gone)
            case tm.Reshape():
                return self.reshape(t, context, place, gone)
            case tm.Zero() if t.shape:
                return self.made(elements(t), context, place, gone)
        _, drops = place.reach.push([])
        if isinstance(place.target, lp.Buffer) and not self.anyway and not all(context.facts.proves(d) for d in drops):
            return None
        return self.lowerer.write(self.value, Place(place.target, place.reach, arms=place.arms))

    def gen(self, t: tm.Gen, context: Context, place: Place, gone: Gone) -> Lowering | None:
        sym = Sym(t.sym.name)
        if t.sym in self.lowerer.notes.vector:
            self.lowerer.notes.vector[sym] = self.lowerer.notes.vector[t.sym]
        if t.sym in self.lowerer.notes.unroll:
            self.lowerer.notes.unroll.add(sym)
        copy = tm.Gen(sym, t.low, t.high, tm.substitute(t.body, {t.sym: poly(sym)}))
        pair = (self.lowerer.poly(poly(sym) - t.low), self.lowerer.poly(t.high - t.low))
        made = self.made(copy.body, context.down(copy, 0), place.moved(place.reach.enter(pair), place.local.enter(pair)), gone)
        if made is None:
            return None
        body, inner = made
        low = self.lowerer.poly(t.low)
        return self.lowerer.loop(copy, body), lambda index, here, env: inner(index[1:], here, {**env, sym: low + index[0]})

    def guard(self, t: tm.Guard, context: Context, place: Place, gone: Gone) -> Lowering | None:
        if not self.guarded or any(c.leaves() & gone for c in t.conds):
            return self.made(t.body, context, place, gone)
        made = self.made(t.body, context.down(t, 0), place, gone)
        if made is None:
            return None
        conds = tuple(self.lowerer.poly(c) for c in t.conds)
        return [lp.If(tuple(lp.Test("ge", c) for c in conds), made[0])], both(conds, made[1], nowhere)

    def cat(self, t: tm.Cat, context: Context, place: Place, gone: Gone) -> Lowering | None:
        n, m = (self.lowerer.poly(tm.shape(arm, context.shapes)[t.axis]) for arm in (t.left, t.right))
        sides = [(poly(0), m), (n, n)]
        reaches = [(place.reach.beside(t.axis, *side), place.local.beside(t.axis, *side)) for side in sides]
        left = self.made(t.left, context, place.moved(*reaches[0], (id(t), 0)), gone)
        right = self.made(t.right, context, place.moved(*reaches[1], (id(t), 1)), gone)
        if left is None or right is None:
            return None
        in_left, in_right = left[1], right[1]

        def cover(index: tuple[Poly, ...], here: Context, env: dict[Sym, Poly]) -> Tree | None:
            beyond = (*index[: t.axis], index[t.axis] - n, *index[t.axis + 1 :])
            return under(
                n - 1 - index[t.axis], here, lambda c: in_left(index, c, env), lambda c: in_right(beyond, c, env)
            )

        return left[0] + right[0], cover

    def reshape(self, t: tm.Reshape, context: Context, place: Place, gone: Gone) -> Lowering | None:
        row = RESHAPES[t.op]
        made = self.made(t.body, context, place.moved(place.reach.through(t), place.local.through(t)), gone)
        if made is None:
            return None
        extents = tuple(self.lowerer.poly(p) for p in tm.shape(t.body, context.shapes)[t.axis : t.axis + row.takes])
        k, inside = self.lowerer.poly(amount_or_zero(t.amount)), made[1]

        def pulled(index: tuple[Poly, ...], here: Context, env: dict[Sym, Poly]) -> Tree | None:
            conds, source = row.pull(extents, k, index[t.axis : t.axis + row.gives])
            if not all(here.facts.proves(c) for c in conds):
                return None
            return inside((*index[: t.axis], *source, *index[t.axis + row.gives :]), here, env)

        return made[0], pulled


def elements(t: tm.Zero) -> tm.Term:
    """Zeros of a shape, each a scalar in loops of their own."""
    nest: tm.Term = tm.Zero((), t.dtype)
    for n in reversed(t.shape):
        nest = tm.Gen(Sym("z"), poly(0), n, nest)
    return nest
