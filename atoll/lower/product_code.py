"""The code of a contraction: loops that say what it is, with what the matrix kernel needs to do it instead."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from atoll.ainf import ir
from atoll.loops import ir as lp
from atoll.lower.places import BufferPlace, Scope
from atoll.plan.contract import position
from atoll.plan.stages import Stage
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import product

if TYPE_CHECKING:
    from atoll.lower.block import BlockLowerer


def product_code(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    line, found = stage.line, stage.contraction
    assert line is not None and found is not None
    env: dict[Atom, Poly] = b.env(stage)
    syms: dict[ir.Binder, Sym] = {}
    for binder in (*found.rows, *found.columns, *found.sums):
        syms[binder] = Sym(binder.name)
        env[binder] = poly(syms[binder])
    place = b.places[(line, 0)]
    assert isinstance(place, BufferPlace)
    target = lp.Load(place.buffer, place.index(tuple(b.translate(poly(d), env, scope) for d in line.dims)))
    left, right = b.value(found.left, env, scope), b.value(found.right, env, scope)
    extent = {binder: b.translate(binder.extent, env, scope) for binder in syms}
    body = _loops(found.rows, found.columns, found.sums, syms, extent, target, left, right, b)
    stmt = None
    if isinstance(left, lp.Load) and isinstance(right, lp.Load):
        stmt = _product(found.rows, found.columns, found.sums, syms, extent, target, left, right, body)
    scope.stmts += body if stmt is None else [stmt]


def _loops(
    rows: tuple[ir.Binder, ...],
    columns: tuple[ir.Binder, ...],
    sums: tuple[ir.Binder, ...],
    syms: dict[ir.Binder, Sym],
    extent: dict[ir.Binder, Poly],
    target: lp.Load,
    left: lp.Expr,
    right: lp.Expr,
    b: BlockLowerer,
) -> list[lp.Stmt]:
    """For every row: zeros, then row by row of the right side."""

    def around(binders: tuple[ir.Binder, ...], body: list[lp.Stmt], parallel: bool) -> list[lp.Stmt]:
        for binder in reversed(binders):
            body = [lp.For(syms[binder], poly(0), extent[binder], body, parallel)]
        return body

    dtype = target.dtype
    start = around(columns, [lp.Store(target.buffer, target.index, b.neutral("add", dtype))], True)
    step: lp.Stmt = lp.Update(target.buffer, target.index, "add", lp.Call("mul", (left, right), dtype))
    return around(rows, [*start, *around(sums, around(columns, [step], True), False)], True)


def _product(
    rows: tuple[ir.Binder, ...],
    columns: tuple[ir.Binder, ...],
    sums: tuple[ir.Binder, ...],
    syms: dict[ir.Binder, Sym],
    extent: dict[ir.Binder, Poly],
    target: lp.Load,
    left: lp.Load,
    right: lp.Load,
    body: list[lp.Stmt],
) -> lp.Product | None:
    """The nest as a product, when memory is laid out as it needs."""
    inside: set[Atom] = set(syms.values())

    def step(load: lp.Load, binder: ir.Binder) -> Poly | None:
        at = position(load.buffer.extents, load.index)
        found = at.coefficient(syms[binder])
        fixed = found is not None and inside.isdisjoint(found.leaves()) and syms[binder] not in (at - found * syms[binder]).leaves()
        return found if fixed else None

    def together(binders: tuple[ir.Binder, ...], loads: tuple[lp.Load, ...]) -> bool:
        """Several indices are one: each is a whole range of the next, in every array."""
        for outer, inner in pairwise(binders):
            for load in loads:
                far, near = step(load, outer), step(load, inner)
                if far is None or near is None or far != near * extent[inner]:
                    return False
        return True

    if not together(rows, (left, target)) or not together(columns, (right, target)) or step(target, columns[-1]) != poly(1):
        return None
    steps = {
        "left_row": step(left, rows[-1]),
        "right_column": step(right, columns[-1]),
        "target_row": step(target, rows[-1]),
    }
    left_sums = [step(left, s) for s in sums]
    right_sums = [step(right, s) for s in sums]
    if any(s is None for s in (*steps.values(), *left_sums, *right_sums)) or any(x.buffer.rows is not None for x in (left, right, target)):
        return None
    if target.buffer in (left.buffer, right.buffer):
        return None
    zero = {sym: poly(0) for sym in syms.values()}

    def first(load: lp.Load) -> lp.Load:
        return lp.Load(load.buffer, tuple(p.subst(zero) for p in load.index))

    return lp.Product(
        product(extent[r] for r in rows),
        product(extent[c] for c in columns),
        tuple(extent[s] for s in sums),
        first(left),
        steps["left_row"],  # type: ignore[arg-type]
        tuple(left_sums),  # type: ignore[arg-type]
        first(right),
        steps["right_column"],  # type: ignore[arg-type]
        tuple(right_sums),  # type: ignore[arg-type]
        first(target),
        steps["target_row"],  # type: ignore[arg-type]
        body,
    )
