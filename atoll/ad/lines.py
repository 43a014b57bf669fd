"""Questions about lines that both modes ask."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.replay import in_order
from atoll.ainf.scan_prim import line_refs
from atoll.core.slopes import is_constant
from atoll.errors import NOWHERE
from atoll.sizes import Atom, Poly, poly
from atoll.types.dtypes import I64


def own_ref(line: ir.Line, result: int, axes: tuple[Poly, ...] = ()) -> ir.Ref:
    """The line read at its own indices."""
    return ir.Ref(line, result, tuple(poly(d) for d in line.dims) + axes)


def own_indices(b: Builder, line: ir.Line, result: int) -> tuple[ir.Binder, ...]:
    """Fresh indices for every element of a line, dims and axes: an extent that depends on an index of the line depends on the fresh one."""
    env: dict[Atom, Poly] = {}
    fresh = []
    for d in line.dims:
        fresh.append(b.fresh_binder(d.name, d.extent.subst(env)))
        env[d] = poly(fresh[-1])
    return (*fresh, *(b.fresh_binder("i", n.subst(env)) for n in line.results[result].axes))


def is_active(line: ir.Line, active: Container[Any]) -> bool:
    """True when a line reads something active, at any depth."""
    return any((ref.line, ref.result) in active for ref in line_refs(line))


def spread(b: Builder, lines: list[ir.Line], active: set[tuple[ir.Line, int]]) -> None:
    """Everything that depends on something active is active."""
    for line in lines:
        if isinstance(line.prim, ir.Op) and is_constant(line.prim.name, line.results[0].dtype.kind):
            continue
        if is_active(line, active):
            active |= {(line, k) for k, r in enumerate(line.results) if b.has_slope(r.dtype)}


def lines_since(b: Builder, start: int, block: ir.Block | None = None) -> list[ir.Line]:
    """Lines made since then in a block, or in the current one, and those around it, each after what it uses; not those inside loops."""
    found: list[ir.Line] = []
    block = block or b.block
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
    """The product of all elements but this one: of those before it and of those after it.

    Not the total divided by the element (3.4.1, corrected in docs/sources.md, Schenck E17): with a test for zeros that is right, but
    its own derivative is not, as what is tested has none.
    """
    prim = line.prim
    assert isinstance(prim, ir.Reduce)
    dtype = line.results[0].dtype
    n = prim.binder.extent
    one = scalars.constant(dtype.numpy.type(1), dtype)
    sides = []
    for turned in (False, True):
        q = b.fresh_binder(prim.binder.name, n)
        with b.binding(q):
            x = ir.subst_operand(prim.arg, {prim.binder: n - 1 - poly(q) if turned else poly(q)})
        made, at = b.emit(ir.Scan("mul", q, x, one, True), (ir.Result(dtype, (n,)),), hint="p")
        sides.append(ir.Ref(made, 0, (*at, n - 1 - poly(prim.binder) if turned else poly(prim.binder))))
    return scalars.op(b, "mul", (sides[0], sides[1]), dtype, NOWHERE)
