"""State of loops in derivatives: parameters, reads of arrays that may be updated in place, whole arrays, updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atoll.ad.indicator import guarded, reach, sum_over
from atoll.ad.kronecker import guarded_value, sign_on_steady
from atoll.ainf import ir
from atoll.ainf.builder import Builder
from atoll.ainf.guards import guard_operand
from atoll.ainf.replay import Reader, make_param
from atoll.sizes import Poly, poly
from atoll.types.dtypes import DType


def new_param(b: Builder, block: ir.Block, name: str, dtype: DType, axes: tuple[Poly, ...]) -> ir.Line:
    return make_param(b, block, ir.Param(len(block.params), name), ir.Result(dtype, axes))


def read(b: Builder, line: ir.Line, result: int, index: tuple[Poly, ...]) -> ir.Operand:
    """An element of an array that may be updated in place: a line, so that a plan can move it."""
    ref = guard_operand(b, ir.Ref(line, result, index))
    assert isinstance(ref, ir.Ref)
    info = line.results[result]
    if ref.line is not line or not info.axes:
        return ref
    return b.ref(ir.Op("read", (ref,)), ir.Result(ref.dtype, (), info.bound), hint="r")


def whole(b: Builder, line: ir.Line, result: int = 0, prefix: tuple[Poly, ...] = ()) -> ir.Abs:
    """The whole array a line is."""
    binders = tuple(b.fresh_binder("ijk"[n % 3], a) for n, a in enumerate(line.results[result].axes))
    with b.binding(*binders):
        body = read(b, line, result, (*prefix, *(poly(x) for x in binders)))
    return ir.Abs(binders, body)


@dataclass(frozen=True)
class Version:
    """The newest version of something that is added to in place: a result of a line, its first indices given."""

    line: ir.Line
    result: int = 0
    prefix: tuple[Poly, ...] = ()

    @property
    def info(self) -> ir.Result:
        return self.line.results[self.result]

    def whole(self, b: Builder) -> ir.Abs:
        return whole(b, self.line, self.result, self.prefix)

    def read(self, b: Builder, index: tuple[Poly, ...] = ()) -> ir.Operand:
        return read(b, self.line, self.result, (*self.prefix, *index))


def put(b: Builder, base: ir.Abs, result: ir.Result, where: tuple[Poly, ...], value: ir.Abs, when: tuple[ir.Cond, ...] = ()) -> ir.Line:
    """base with base[where, ...] = value, where all of `when` hold."""
    target = (*where, *(poly(x) for x in value.binders))
    line, _ = b.emit(ir.Scatter(base, value.binders, target, value.body, when=when), (result,), hint="u")
    return line


def added_at(
    b: Builder, base: ir.Abs, info: ir.Result, where: tuple[Poly, ...], value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]
) -> Version:
    """base with base[where] += value for all binders. Binders the place does not mention are summed first. Where the value is 0 by conditions, nothing is added: the place may be none there."""
    while (found := guarded_value(value)) is not None:
        conds, value = (*conds, *(c for c in found[0] if c not in conds)), found[1]
    where, value, conds, binders = _in_order_of_place(b, where, value, conds, binders)
    mentioned = {leaf for p in where for leaf in p.leaves()}
    mentioned |= {leaf for x in mentioned if isinstance(x, ir.Binder) for leaf in reach(x)}  # a range may depend on another index
    apart = [x for x in binders if x not in mentioned]
    kept = [x for x in binders if x in mentioned]
    inner = [c for c in conds if any(x in c.leaves() for x in apart)]
    outer = [c for c in conds if c not in inner]
    with b.binding(*kept), b.under(*outer):
        total = guarded(b, inner, value, info.dtype)
        for x in reversed(apart):
            total = sum_over(b, x, total, info.dtype)
        total = sign_on_steady(b, total, kept, info.dtype)
    made, _ = b.emit(ir.Scatter(base, tuple(kept), where, total, "add", False, tuple(outer)), (ir.Result(info.dtype, info.axes),), hint="g")
    return Version(made)


def _in_order_of_place(
    b: Builder, where: tuple[Poly, ...], value: ir.Operand, conds: tuple[ir.Cond, ...], binders: list[ir.Binder]
) -> tuple[tuple[Poly, ...], ir.Operand, tuple[ir.Cond, ...], list[ir.Binder]]:
    """New binders, made in the order the place mentions them: lines have their indices in that order, and memory is gone through as it lies."""
    place = [x for p in where for x in binders if x in p.leaves()]
    order = list(dict.fromkeys([*place, *binders]))
    if order == binders or any(set(binders) & leaf.extent.leaves() or leaf.facts for leaf in binders):
        return where, value, conds, binders
    env = {x: poly(b.fresh_binder(x.name, x.extent)) for x in order}
    fresh = [env[x].single() for x in order]
    return tuple(p.subst(env) for p in where), ir.subst_operand(value, env), tuple(c.subst(env) for c in conds), fresh  # type: ignore[return-value]


def state_reader(b: Builder, line: ir.Line, result: int = 0, before: tuple[Poly, ...] = ()) -> Reader:
    """Reading a result of a line, its first indices given."""
    return lambda index: read(b, line, result, before + index)


def line_reader(line: ir.Line) -> Reader:
    """Reading a line that is never updated."""
    return lambda index: ir.Ref(line, 0, index)


def abs_reader(array: ir.Abs, env: dict[Any, Poly]) -> Reader:
    def at(index: tuple[Poly, ...]) -> ir.Operand:
        return ir.subst_operand(array.body, {**env, **dict(zip(array.binders, index, strict=True))})

    return at


class HandedOn:
    """The rule of a value that is kept elsewhere, as on a tape: its adjoint is that of the line that would compute it."""

    tangents = None

    def adjoints(self, sizes: tuple[ir.Operand, ...], args: list[ir.Abs], seeds: list[ir.Abs]) -> list[ir.Abs]:
        return seeds
