"""The code of a contraction: loops that say what it is, with what the matrix kernel needs to do it instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from atoll.ainf import ir
from atoll.loops import ir as lp
from atoll.lower.places import BufferPlace, Scope
from atoll.plan.contract import Contraction, position
from atoll.plan.stages import Stage
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

if TYPE_CHECKING:
    from atoll.lower.block import BlockLowerer

TRIANGLE_ROWS = 48  # of a triangle that are one product


def product_code(b: BlockLowerer, stage: Stage, scope: Scope) -> None:
    line, found = stage.line, stage.contraction
    assert line is not None and found is not None
    env: dict[Atom, Poly] = b.env(stage)
    nest = _Nest(found.rows, found.columns, found.sums)
    for binder in (*found.rows, *found.columns, *found.sums):
        nest.syms[binder] = Sym(binder.name)
        env[binder] = poly(nest.syms[binder])
    for binder in nest.syms:
        nest.low[binder], nest.high[binder] = poly(0), b.translate(binder.extent, env, scope)
    group = b.piece[0] if b.piece is not None else None
    if found.cut is not None and group is not None:
        nest.low[found.cut], nest.high[found.cut] = (b.translate(p, env, scope) for p in group.bounds)
    adds = group is not None and group.strip is not None and stage in group.strip.sums
    if adds and group is not None and group.strip is not None:
        over = group.strip.sums[stage]
        nest.low[over], nest.high[over] = (b.translate(poly(p), env, scope) for p in (group.strip.low, group.strip.high))
    block = None
    if found.triangle is not None:
        block, outer = Sym(f"{found.rows[0].name}_block"), scope
        scope = scope.child()
        _rows_of_a_triangle(b, found, nest, block, scope)
    place = b.places[(line, 0)]
    assert isinstance(place, BufferPlace)
    target = lp.Load(place.buffer, place.index(tuple(b.translate(poly(d), env, scope) for d in line.dims)))
    left, right = (_operand(b, side, found, nest, env, scope) for side in (found.left, found.right))
    body = _loops(nest, line, target, left, right, adds, b)
    stmt = None
    if isinstance(left, lp.Load) and isinstance(right, lp.Load):
        stmt = _product(nest, target, left, right, adds, body)
    scope.stmts += body if stmt is None else [stmt]
    if block is not None:
        outer.add(lp.For(block, poly(0), (b.translate(found.rows[0].extent, env, outer) + (TRIANGLE_ROWS - 1)) // TRIANGLE_ROWS, scope.stmts, False))


def _rows_of_a_triangle(b: BlockLowerer, found: Contraction, nest: _Nest, block: Sym, scope: Scope) -> None:
    """Rows and columns of one product: a few rows, and the columns that these have in the triangle."""
    assert found.triangle is not None
    (row,), (column,) = found.rows, found.columns
    lower, offset = found.triangle

    def variable(name: str, op: str, p: Poly, q: Poly) -> Poly:
        var = b.fn.var(name, I64, small=True)
        scope.add(lp.Let(var, lp.Call(op, (lp.Index(p), lp.Index(q)), I64)))
        return poly(var.atom)

    first, rows, columns = TRIANGLE_ROWS * poly(block), nest.high[row], nest.high[column]
    last = variable("last", "min", first + TRIANGLE_ROWS, rows)
    nest.low[row], nest.high[row] = first, last
    if lower:  # columns up to last - 1 + offset
        nest.high[column] = variable("most", "max", variable("most", "min", last + offset, columns), poly(0))
    else:  # from first - offset on
        nest.low[column] = variable("least", "min", variable("least", "max", first - offset, poly(0)), columns)


@dataclass(slots=True)
class _Nest:
    """The loops of a product: what its indices are called here and between what they run."""

    rows: tuple[ir.Binder, ...]
    columns: tuple[ir.Binder, ...]
    sums: tuple[ir.Binder, ...]
    syms: dict[ir.Binder, Sym] = field(default_factory=dict)
    low: dict[ir.Binder, Poly] = field(default_factory=dict)
    high: dict[ir.Binder, Poly] = field(default_factory=dict)

    def around(self, binders: Sequence[ir.Binder], body: lp.Stmts, parallel: bool) -> lp.Stmts:
        for binder in reversed(binders):
            body = [lp.For(self.syms[binder], self.low[binder], self.high[binder], body, parallel)]
        return body

    def extent(self, binder: ir.Binder) -> Poly:
        return self.high[binder] - self.low[binder]


def _operand(b: BlockLowerer, side: ir.Ref, found: Contraction, nest: _Nest, env: dict[Atom, Poly], scope: Scope) -> lp.Expr:
    """An element of a factor; a formula is computed first, for this round of the loops around the product."""
    if not found.is_packed(side) or not b.owner(side.line).inlining.is_inlined(side.line):
        return b.value(side, env, scope)
    outer = [x for x in (*found.rows, *found.columns) if x in side.leaves()]
    last = next((p.single() for p in reversed(side.index) if p.single() in nest.syms), None)
    order = [*outer, *found.sums] if last in found.sums else [*found.sums, *outer]
    buffer = b.fn.buffer(side.line.name, side.dtype, tuple(nest.extent(x) for x in order), "temp", "an operand of a product, for one round of the loops around it", side.line.span)
    b.keep_in_piece(buffer, scope)
    inner = scope.child()
    syms = {x: Sym(x.name) for x in order}
    value = b.value(side, {**env, **{x: poly(sym) for x, sym in syms.items()}}, inner)
    inner.add(lp.Store(buffer, tuple(poly(syms[x]) - nest.low[x] for x in order), value))
    body = inner.stmts
    for x in reversed(order):
        body = [lp.For(syms[x], nest.low[x], nest.high[x], body, True)]
    scope.stmts += body
    return lp.Load(buffer, tuple(poly(nest.syms[x]) - nest.low[x] for x in order))


def _loops(nest: _Nest, line: ir.Line, target: lp.Load, left: lp.Expr, right: lp.Expr, adds: bool, b: BlockLowerer) -> lp.Stmts:
    """For every row: zeros, then row by row of the right side; without columns, its sum. `adds`: to what is there."""
    dtype = target.dtype
    if not nest.columns and not adds:
        acc = lp.Acc(b.fn.line_var(line, dtype), "add")
        over = nest.sums[0]
        total = lp.Accumulate(nest.syms[over], nest.low[over], nest.high[over], [lp.Add(acc.var, "add", lp.Call("mul", (left, right), dtype))], [acc])
        return nest.around(nest.rows, [total, lp.Store(target.buffer, target.index, lp.Use(acc.var))], True)
    start = [] if adds else nest.around(nest.columns, [lp.Store(target.buffer, target.index, b.neutral("add", dtype))], True)
    step: lp.Stmt = lp.Update(target.buffer, target.index, "add", lp.Call("mul", (left, right), dtype))
    return nest.around(nest.rows, [*start, *nest.around(nest.sums, nest.around(nest.columns, [step], True), False)], True)


def _product(nest: _Nest, target: lp.Load, left: lp.Load, right: lp.Load, adds: bool, body: lp.Stmts) -> lp.Product | None:
    """The nest as a product, when memory is laid out as it needs."""
    rows, columns, sums, syms = nest.rows, nest.columns, nest.sums, nest.syms
    inside: set[Atom] = set(syms.values())

    def step(load: lp.Load, binder: ir.Binder) -> Poly | None:
        at = position(load.buffer.extents, load.index)
        found = at.slope(syms[binder])
        fixed = found is not None and inside.isdisjoint(found.leaves()) and syms[binder] not in (at - found * syms[binder]).leaves()
        return found if fixed else None

    def together(binders: tuple[ir.Binder, ...], loads: tuple[lp.Load, ...]) -> bool:
        """Several indices are one: each is a whole range of the next, in every array."""
        for outer, inner in pairwise(binders):
            for load in loads:
                far, near = step(load, outer), step(load, inner)
                if far is None or near is None or far != near * nest.extent(inner):
                    return False
        return True

    if not together(rows, (left, target)) or not together(columns, (right, target)) or (columns and step(target, columns[-1]) != poly(1)):
        return None
    steps = {
        "left_row": step(left, rows[-1]),
        "right_column": step(right, columns[-1]) if columns else poly(1),
        "target_row": step(target, rows[-1]),
    }
    left_sums = [step(left, s) for s in sums]
    right_sums = [step(right, s) for s in sums]
    if any(s is None for s in (*steps.values(), *left_sums, *right_sums)) or any(x.buffer.rows is not None for x in (left, right, target)):
        return None
    if target.buffer in (left.buffer, right.buffer):
        return None
    zero = {sym: nest.low[binder] for binder, sym in syms.items()}

    def first(load: lp.Load) -> lp.Load:
        return lp.Load(load.buffer, tuple(p.subst(zero) for p in load.index))

    return lp.Product(
        product(nest.extent(r) for r in rows),
        product(nest.extent(c) for c in columns),
        tuple(nest.extent(s) for s in sums),
        first(left),
        steps["left_row"],  # type: ignore[arg-type]
        tuple(left_sums),  # type: ignore[arg-type]
        first(right),
        steps["right_column"],  # type: ignore[arg-type]
        tuple(right_sums),  # type: ignore[arg-type]
        first(target),
        steps["target_row"],  # type: ignore[arg-type]
        body,
        adds=adds,
    )
