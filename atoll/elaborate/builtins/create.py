"""Making arrays: zeros, ones, full, iota, rep, displays of equal things."""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.calls import Args
from atoll.elaborate.coerce import array_of, convert, project_all, to_dtype
from atoll.elaborate.comprehension import build_array
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.elaborate.function_values import is_known
from atoll.elaborate.lifting import rep
from atoll.elaborate.namespace import literal
from atoll.errors import Span
from atoll.sizes import Poly
from atoll.types.dtypes import F32, F64
from atoll.types.types import SCALARS, Array, Record, Scalar, Tuple, shape_of


def shape_polys(args: Args, shape: Any) -> list[Poly]:
    """A shape: one integer or a tuple of them."""
    if isinstance(shape, Value) and isinstance(shape.type, (Tuple, Record)):
        return [args.poly(part, "a size") for part in project_all(args.el, shape)]
    if isinstance(shape, en.TupleEntity):
        return [args.poly(part, "a size") for part in shape.items]
    return [args.poly(shape, "a size")]


def filled(el: Elaborator, sizes: list[Poly], value: Value, span: Span) -> Value:
    """An array of these sizes with the value everywhere."""
    for size in reversed(sizes):
        el.require(size, span.text() or "the shape", span)
        expr = ir.View("repeat", (size,), (value.expr,), type=Array(value.expr.type, size), span=span)
        value = Value(expr, Array(value.type, size))
    return value


def _constant(number: float) -> Any:
    def handler(args: Args) -> Value:
        shape, dtype = args.take("shape", optional=("dtype",))
        value = Value(literal(number, args.span).expr, Scalar(F64, weak=2))
        if dtype is not None and not isinstance(dtype, en.NoneEntity):
            if isinstance(dtype, en.Builtin) and dtype.name in ("int", "float", "bool", "complex"):
                names = {"int": "i64", "float": "f64", "bool": "bool", "complex": "c128"}
                dtype = en.TypeRef(SCALARS[names[dtype.name]])
            if not (isinstance(dtype, en.TypeRef) and isinstance(dtype.type, Scalar)):
                args.el.fail("E0246", args.span)
            wanted = F32 if dtype.type.dtype.is_storage else dtype.type.dtype  # stored where it is returned
            if wanted.kind == "b":
                value = Value(ir.Lit(bool(number), type=Scalar(wanted), span=args.span), Scalar(wanted))
            else:
                number_ = int(number) if wanted.is_integer else number
                value = to_dtype(args.el, literal(number_, args.span), wanted, args.span)
        return filled(args.el, shape_polys(args, shape), value, args.span)

    return handler


def _full(args: Args) -> Value:
    shape, x = args.take("shape", "x")
    return filled(args.el, shape_polys(args, shape), args.el.bind(args.value(x)), args.span)


def _like(number: float) -> Any:
    def handler(args: Args) -> Value:
        (x,) = args.take("x")
        value = args.value(x)
        sizes, elem = shape_of(value.type)
        if not isinstance(elem, Scalar):
            args.el.fail("E0238", args.span, name=args.name, found=args.el.show(value.type))
        one = Value(ir.Lit(_number(number, elem), type=Scalar(elem.dtype), span=args.span), elem)
        return filled(args.el, list(sizes), one, args.span)

    return handler


def _number(number: float, t: Scalar) -> bool | int | float:
    return bool(number) if t.dtype.kind == "b" else int(number) if t.dtype.is_integer else number


def _full_like(args: Args) -> Value:
    x, fill = args.take("x", "fill")
    value, filler = args.value(x), args.value(fill)
    sizes, elem = shape_of(value.type)
    if isinstance(elem, Scalar) and not elem.weak:
        filler = convert(args.el, filler, elem.dtype, args.span)
    return filled(args.el, list(sizes), filler, args.span)


def _iota(args: Args) -> Value:
    (n,) = args.take("n")
    size = args.poly(n, "a size")
    args.el.require(size, args.span.text() or "iota", args.span)
    return build_array(args.el, size, "i", lambda index: index, args.span)


def _rep(args: Args) -> Any:
    (x,) = args.take("x")
    if is_known(x):
        return en.Lifted(x.fn, x.times + 1) if isinstance(x, en.Lifted) else en.Lifted(x, 1)
    return rep(args.el, args.el.bind(args.value(x)), args.span)


def _repeat(args: Args) -> Value:
    x, n = args.take("x", "n")
    value = args.el.bind(args.value(x))
    return filled(args.el, [args.poly(n, "a size")], value, args.span)


def _stack(args: Args) -> Value:
    (items,) = args.take("items")
    value = args.value(items)
    if isinstance(value.type, Tuple):
        return array_of(args.el, project_all(args.el, value), args.span)
    return value


HANDLERS = {
    "zeros": _constant(0.0),
    "ones": _constant(1.0),
    "full": _full,
    "zeros_like": _like(0.0),
    "ones_like": _like(1.0),
    "full_like": _full_like,
    "iota": _iota,
    "rep": _rep,
    "repeat": _repeat,
    "stack": _stack,
}
