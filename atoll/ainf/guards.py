"""Safe reads: a reference that is only in range under the conditions of the path becomes a line under those conditions."""

from __future__ import annotations

from typing import Any

from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.sizes import Poly, poly


def guard_operand(b: Builder, operand: ir.Operand) -> ir.Operand:
    if not b.path or isinstance(operand, ir.Const):
        return operand
    if isinstance(operand, ir.Ref):
        return guard_ref(b, operand)
    return scalars.from_poly(guard_poly(b, operand.poly))


def guard_cond(b: Builder, cond: ir.Cond) -> ir.Cond:
    if cond.poly is not None:
        return ir.Cond(cond.kind, guard_poly(b, cond.poly))
    assert cond.ref is not None
    return ir.Cond(cond.kind, None, guard_ref(b, cond.ref))


def guard_poly(b: Builder, p: Poly) -> Poly:
    env: dict[Any, Poly] = {}
    for leaf in p.leaves():
        if isinstance(leaf, ir.RefAtom):
            new = guard_ref(b, leaf.ref)
            if new is not leaf.ref:
                env[leaf] = poly(ir.ref_atom(new))
    return p.subst(env)


def guard_ref(b: Builder, ref: ir.Ref) -> ir.Ref:
    if not ref.index:
        return ref
    index = tuple(guard_poly(b, p) for p in ref.index)
    if any(a is not c for a, c in zip(index, ref.index, strict=True)):
        ref = ir.Ref(ref.line, ref.result, index)
    goals = list(zip(index, extents_at(ref.line, ref.result, index), strict=True))
    needs = b.needed_for_range(goals)
    if needs is None:  # in range by construction, but only the whole path says so
        needs = tuple(given for given in b.path if given.lazy)
    if not needs:
        return ref
    result = ref.line.results[ref.result]
    bound = None if result.bound is None else result.bound.subst(dict(zip(ref.line.dims, index, strict=False)))
    return b.ref(ir.Op("read", (ref,)), ir.Result(ref.dtype, (), bound), hint="r", needs=needs)


def extents_at(line: ir.Line, result: int, index: tuple[Poly, ...]) -> tuple[Poly, ...]:
    """The extents a reference must respect, at its own index (inner extents may mention outer indices)."""
    env = dict(zip(line.dims, index, strict=False))
    return tuple(n.subst(env) for n in line.extents(result))
