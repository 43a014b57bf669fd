"""Questions about lines that both modes ask."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.replay import in_order
from atoll.ainf.scan_prim import blocks, line_refs
from atoll.errors import NOWHERE
from atoll.sizes import Poly, poly
from atoll.types.dtypes import I64


def own_ref(line: ir.Line, result: int, axes: tuple[Poly, ...] = ()) -> ir.Ref:
    """The line read at its own indices."""
    return ir.Ref(line, result, tuple(poly(d) for d in line.dims) + axes)


def is_active(line: ir.Line, active: Container[Any]) -> bool:
    """True when a line reads something active, at any depth."""
    return any((ref.line, ref.result) in active for ref in line_refs(line))


def lines_since(b: Builder, start: int) -> list[ir.Line]:
    """Lines made since then in the current block and those around it, each after what it uses; not those inside loops."""
    found: list[ir.Line] = []
    block: ir.Block | None = b.block
    while block is not None:
        found += [line for line in block.lines if line.id >= start]
        block = block.parent
    return list(in_order(sorted(found, key=lambda line: line.id)))


def arg_of(b: Builder, line: ir.Line) -> Poly:
    """Where the least or greatest element of a reduction is: the first one."""
    prim = line.prim
    assert isinstance(prim, ir.Reduce)
    which = "min" if prim.monoid == "minimum" else "max"
    fresh = b.fresh_binder(prim.binder.name, prim.binder.extent)
    arg = ir.subst_operand(prim.arg, {prim.binder: poly(fresh)})
    ref = b.ref(ir.ArgReduce(which, fresh, arg), ir.Result(I64, (), prim.binder.extent), hint="a")
    return poly(ir.ref_atom(ref))


def product_of_others(b: Builder, line: ir.Line) -> ir.Operand:
    """The product of all elements but this one, without dividing by zero (Schenck 2.5, corrected: notes/schenck.md E17).

    With no zero it is total / element; with one zero it is the product of the rest at the zero and 0 elsewhere; with more it is 0.
    """
    prim = line.prim
    assert isinstance(prim, ir.Reduce)
    dtype = line.results[0].dtype
    one, nothing = ir.Const(1.0, dtype), ir.Const(0.0, dtype)
    fresh = b.fresh_binder(prim.binder.name, prim.binder.extent)
    with b.binding(fresh):
        x = ir.subst_operand(prim.arg, {prim.binder: poly(fresh)})
        is_zero = _equals(b, x, nothing)
        without = scalars.select(b, (is_zero,), one, x, NOWHERE)
        counted = scalars.select(b, (is_zero,), ir.Const(1, I64), ir.Const(0, I64), NOWHERE)
    rest = b.ref(ir.Reduce("mul", fresh, without), ir.Result(dtype), hint="p")
    zeros = b.ref(ir.Reduce("add", fresh, counted), ir.Result(I64), hint="z")
    here_zero = _equals(b, prim.arg, nothing)
    safe = scalars.select(b, (here_zero,), one, prim.arg, NOWHERE)
    no_zero = ir.Cond("eq", poly(ir.ref_atom(zeros)))
    one_zero = ir.Cond("eq", poly(ir.ref_atom(zeros)) - 1)
    usual = scalars.op(b, "div", (rest, safe), dtype, NOWHERE)
    single = scalars.select(b, (one_zero, here_zero), rest, nothing, NOWHERE)
    return scalars.select(b, (no_zero,), usual, single, NOWHERE)


def _equals(b: Builder, x: ir.Operand, y: ir.Operand) -> ir.Cond:
    found = scalars.compare(b, "eq", x, y, NOWHERE)
    if isinstance(found, ir.Cond):
        return found
    if isinstance(found, ir.Const):
        return ir.Cond("ge", poly(0 if found.value else -1))
    assert isinstance(found, ir.Ref)
    return ir.Cond("true", None, found)


def has_blocks(line: ir.Line) -> bool:
    return bool(blocks(line.prim))
