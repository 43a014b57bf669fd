"""Products of vectors and matrices: `@`, dot, matmul, outer."""

from __future__ import annotations

from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import need_numbers, scalar_binary
from atoll.elaborate.builtins.reductions import Known, _reduce_known
from atoll.elaborate.calls import Args
from atoll.elaborate.coerce import map_arrays
from atoll.elaborate.comprehension import build_array
from atoll.elaborate.elaborator import Elaborator, Mismatch
from atoll.elaborate.entities import Value
from atoll.elaborate.indexing import element_at
from atoll.elaborate.lifting import lift
from atoll.errors import Span
from atoll.types.types import Array, rank, strong


def _dot(el: Elaborator, x: Value, y: Value, span: Span) -> Value:
    """The sum of products of two vectors."""
    assert isinstance(x.type, Array) and isinstance(y.type, Array)
    el.equate(x.type.size, y.type.size, Mismatch(span, x.type, y.type, "`@`", el.facts))
    products = map_arrays(el, [x, y], lambda v: scalar_binary(el, "*", v[0], v[1], span), ["x", "y"])
    return _reduce_known(el, products, Known("add", "+"), span)


def matmul(el: Elaborator, left: Any, right: Any, span: Span) -> Value:
    """a @ b for vectors and matrices; more axes lift over the leading ones."""
    a, b = need_numbers(el, "`@`", [left, right], span)
    ra, rb = rank(a.type), rank(b.type)
    if ra == 0 or rb == 0:
        el.fail("E0260", span, first=el.show(a.type), second=el.show(b.type))
    a, b = el.bind(a), el.bind(b)
    ranks: list[int | None] = [min(ra, 2), min(rb, 2)]
    return lift(el, [a, b], ranks, lambda v: _product(el, v[0], v[1], span), span, "`@`")


def _product(el: Elaborator, a: Value, b: Value, span: Span) -> Value:
    if rank(a.type) == 1 and rank(b.type) == 1:
        return _dot(el, a, b, span)
    if rank(b.type) == 1:
        return map_arrays(el, [a], lambda v: _dot(el, v[0], b, span), ["row"])
    if rank(a.type) == 1:
        return _times_columns(el, a, b, span)
    return map_arrays(el, [a], lambda v: _times_columns(el, v[0], b, span), ["row"])


def _times_columns(el: Elaborator, row: Value, b: Value, span: Span) -> Value:
    """[sum(row[p] * b[p, j] for p) for j]"""
    assert isinstance(row.type, Array) and isinstance(b.type, Array) and isinstance(b.type.elem, Array)
    el.equate(row.type.size, b.type.size, Mismatch(span, row.type, b.type, "`@`", el.facts))
    inner, outer = row.type.size, b.type.elem.size

    def column(j: Value) -> Value:
        def product(p: Value) -> Value:
            x = element_at(el, row, p, span)
            y = element_at(el, element_at(el, b, p, span), j, span)
            return scalar_binary(el, "*", x, y, span)

        products = build_array(el, inner, "p", product, span)
        return _reduce_known(el, products, Known("add", "+"), span)

    return build_array(el, outer, "j", column, span)


def _matmul(args: Args) -> Value:
    a, b = args.take("a", "b")
    return matmul(args.el, args.value(a), args.value(b), args.span)


def _dot_call(args: Args) -> Value:
    """dot(x, y) of vectors, lifted like any function."""
    x, y = (args.el.bind(args.value(v)) for v in args.take("x", "y"))
    need_numbers(args.el, "dot", [x, y], args.span)
    if rank(x.type) == 0 or rank(y.type) == 0:
        args.el.fail("E0260", args.span, first=args.el.show(x.type), second=args.el.show(y.type))
    return lift(args.el, [x, y], [1, 1], lambda v: _dot(args.el, v[0], v[1], args.span), args.span, "dot")


def _outer(args: Args) -> Value:
    el, span = args.el, args.span
    x, y = (args.array(v) for v in args.take("x", "y"))
    need_numbers(el, "outer", [x, y], span)
    return map_arrays(
        el, [x], lambda a: map_arrays(el, [y], lambda b: scalar_binary(el, "*", a[0], b[0], span), ["y"]), ["x"]
    )


HANDLERS = {"matmul": _matmul, "dot": _dot_call, "outer": _outer}

__all__ = ["HANDLERS", "en", "matmul", "strong"]
