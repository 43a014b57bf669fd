"""The code of a strip (plan/strips.py): sums are started, then for every strip in order the group that makes what they add, and those that add it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atoll.ainf import ir
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.lower.places import BufferPlace, Scope, VarPlace
from atoll.plan.fuse import Strip
from atoll.plan.stages import Stage
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

if TYPE_CHECKING:
    from atoll.lower.block import BlockLowerer

ELEMENTS = 16384  # of the largest array that a strip has memory for, about
LEAST = 48  # indices of a strip: products add so many terms at a time


def strip_code(b: BlockLowerer, strip: Strip, number: int, scope: Scope) -> None:
    maker = strip.maker
    assert maker.extent is not None
    extent = b.translate(maker.extent, {}, scope)
    length, first, last = b.fn.var("strip_length", I64, True), b.fn.var(strip.low.name, I64, True), b.fn.var(strip.high.name, I64, True)
    scope.add(lp.Let(length, lp.Call("max", (lp.Index(poly(LEAST)), lp.Index(poly(ELEMENTS) // (_row(b, strip) + 1))), I64)))
    b.strip = (strip, scope, length)
    for k, group in enumerate(strip.adding, number + 1):
        for stage in group.stages:
            b.make_places(stage, scope, k)
            _start(b, stage, scope)
    totals: dict[Stage, lp.Var] = {}
    for stage, binder in maker.members.items():
        if binder in stage.inner and isinstance(stage.prim, ir.Reduce) and stage.line is not None:
            totals[stage] = b.fn.line_var(stage.line, stage.line.results[0].dtype)
            scope.add(lp.Declare(totals[stage], b.neutral(stage.prim.monoid, totals[stage].dtype)))
            b.places[(stage.line, 0)] = VarPlace(lp.Use(totals[stage]))
    t, inner = Sym("strip"), scope.child()
    inner.add(lp.Let(first, lp.Index(poly(t) * poly(length.atom))))
    inner.add(lp.Let(last, lp.Call("min", (lp.Index(poly(first.atom) + poly(length.atom)), lp.Index(extent)), I64)))
    b.ambient[strip.low], b.ambient[strip.high] = poly(first.atom), poly(last.atom)
    b.lower_group(maker, number, inner)
    for stage, total in totals.items():
        part = lp.Use(b.totals[stage])
        inner.add(lp.Assign(total, lp.Call(MONOIDS[stage.prim.monoid][0], (lp.Use(total), part), total.dtype)))
    for k, group in enumerate(strip.adding, number + 1):
        b.lower_group(group, k, inner)
    del b.ambient[strip.low], b.ambient[strip.high]
    b.strip = None
    scope.add(lp.For(t, poly(0), (extent + poly(length.atom) - 1) // poly(length.atom), inner.stmts, parallel=False))



def _row(b: BlockLowerer, strip: Strip) -> Poly:
    """Elements that the widest array of the group has for one index, as far as sizes tell."""
    rows: list[Poly] = []
    for stage, binder in strip.maker.members.items():
        if binder in stage.dims:
            rows.append(product(b.estimate(d.extent) for d in stage.dims if d is not binder))
    return max(rows, key=lambda p: sum(map(len, p.terms)))


def _start(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    """Neutral elements in all of what a stage adds to."""
    line = stage.line
    assert line is not None
    place = b.places[(line, 0)]
    assert isinstance(place, BufferPlace) and isinstance(line.prim, ir.Reduce)
    env: dict[Atom, Poly] = {d: poly(Sym(d.name)) for d in line.dims}
    index = place.index(tuple(env[d] for d in line.dims))
    body: list[lp.Stmt] = [lp.Store(place.buffer, index, b.neutral(line.prim.monoid, line.results[0].dtype))]
    for d in reversed(line.dims):
        (sym,) = env[d].leaves()
        assert isinstance(sym, Sym)
        body = [lp.For(sym, poly(0), b.translate(d.extent, env, scope), body, True)]
    scope.stmts += body
