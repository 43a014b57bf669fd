"""State of loops in derivatives: parameters, reads of arrays that may be updated in place, whole arrays, updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


def put(b: Builder, base: ir.Abs, result: ir.Result, where: tuple[Poly, ...], value: ir.Abs) -> ir.Line:
    """base with base[where, ...] = value."""
    target = (*where, *(poly(x) for x in value.binders))
    line, _ = b.emit(ir.Scatter(base, value.binders, target, value.body), (result,), hint="u")
    return line


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
