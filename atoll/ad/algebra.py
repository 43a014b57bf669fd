"""The algebra the scalar rules are written in, made of lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from atoll.ad.kronecker import delta, negative, one_of, plus, product, times, together, total
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.core.meanings import wrap
from atoll.core.prims import PRIMS
from atoll.core.slopes import NOT_DIFFERENTIABLE, RULES
from atoll.errors import NOWHERE, Span, fail
from atoll.types.dtypes import DType


class LineAlgebra:
    """Operations on operands of one dtype; products and sums with 0 and 1 are not made."""

    def __init__(self, b: Builder, dtype: DType, span: Span = NOWHERE) -> None:
        self.b, self.dtype = b, dtype
        self.span = span  # of what is differentiated, for operations that have no derivative themselves

    def const(self, value: float) -> ir.Operand:
        return scalars.constant(wrap(int(value), self.dtype.numpy), self.dtype) if self.dtype.is_integer else ir.Const(float(value), self.dtype)

    def op(self, name: str, *args: ir.Operand) -> ir.Operand:
        if name == "mul":
            for x, y in (args, args[::-1]):
                if isinstance(x, ir.Const):
                    if x.value == 1.0:
                        return y
                    if x.value == -1.0:
                        return self.op("neg", y)
        rule = _DELTAS.get(name)
        simple = rule(self.b, *args, self.dtype) if rule is not None else None
        if simple is not None:
            return simple
        if name in ("add", "mul"):
            return (plus if name == "add" else times)(self.b, args[0], args[1], self.dtype)
        return scalars.op(self.b, name, args, self.dtype, NOWHERE if name in RULES else self.span)

    def choose(self, test: str, a: ir.Operand, b: ir.Operand, then: ir.Operand, orelse: ir.Operand) -> ir.Operand:
        found = scalars.compare(self.b, test, a, b, NOWHERE)
        if isinstance(found, ir.Const):
            return then if found.value else orelse
        cond = found if isinstance(found, ir.Cond) else ir.Cond("true", None, found)  # type: ignore[arg-type]
        if isinstance(then, ir.Const) and then.value == 0:  # a product with it is then a choice, no multiplication (ad/kronecker.py)
            return scalars.select(self.b, (cond.negated(),), orelse, then, NOWHERE)
        return scalars.select(self.b, (cond,), then, orelse, NOWHERE)


class LineParts:
    """Operations on complex numbers and their parts, each in the type it has for its arguments (core/slopes.py: AHEAD, BACK)."""

    def __init__(self, b: Builder, dtype: DType) -> None:
        self.b = b
        self.nothing = ir.Const(0.0, dtype.part())

    def of(self, name: str, *args: ir.Operand) -> ir.Operand:
        dtype = PRIMS[name].result(ir.operand_dtype(args[0]))
        if name in ("mul", "neg", "add", "div"):
            return LineAlgebra(self.b, dtype).op(name, *args)
        return scalars.op(self.b, name, args, dtype, NOWHERE)

    def where_positive(self, x: ir.Operand, then: Callable[[], ir.Operand]) -> ir.Operand:
        cond = ir.Cond("true", None, scalars.compare(self.b, "gt", x, self.nothing, NOWHERE))  # type: ignore[arg-type]
        with self.b.under(cond):
            value = then()
        return scalars.select(self.b, (cond,), value, self.nothing, NOWHERE)


_DELTAS: dict[str, Callable[..., ir.Operand | None]] = {"mul": product, "neg": negative, "add": total}


def added_up(b: Builder, parts: list[ir.Operand], dtype: DType) -> ir.Operand:
    """The sum of what flows into a value. What flows into single places of it is added place by place, so that no place adds what flowed into others as 0."""
    sums: list[ir.Operand] = []
    for x in together(parts):
        both = total(b, sums[-1], x, dtype) if sums else None
        sums[-1:] = [both] if both is not None else [*sums[-1:], x]
    places = [x for x in sums if delta(x) is not None]
    chosen = one_of(b, places)
    if chosen is not None:
        sums = [*(x for x in sums if x not in places), chosen]
    whole = sums[0]
    for x in sums[1:]:
        whole = LineAlgebra(b, dtype).op("add", whole, x)
    return whole


def refuse(line: ir.Line, what: str | None = None) -> NoReturn:
    """There is no derivative: say what has none."""
    if what is None:
        if isinstance(line.prim, ir.Op):
            what = NOT_DIFFERENTIABLE.get(line.prim.name, line.prim.name)
        else:
            what = type(line.prim).__name__.lower()
    fail("E1001", line.span, what=what)


__all__ = ["Any", "LineAlgebra", "LineParts", "added_up", "refuse"]
