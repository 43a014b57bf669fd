"""hist, scatter, gather."""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.builtins.reductions import _as_elements, _join_element, operator_lambda
from atoll.elaborate.calls import Args, is_function
from atoll.elaborate.coerce import coerce, map_arrays, over_array, to_dtype
from atoll.elaborate.decay import beside, plain, plain_type
from atoll.elaborate.elaborator import Mismatch, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.indexing import _meet_weak, repeat_into
from atoll.elaborate.lifting import lift
from atoll.types.dtypes import I64
from atoll.types.types import Array, Index, Scalar, rank, shape_of, strong

ORDER = {
    "hist": "the order is hist(op, neutral, number of bins, where each value goes, the values)",
    "scatter": "the order is scatter(array, where each value goes, the values); indices are integers, i64(...) converts",
    "gather": "the order is gather(array, indices); indices are integers, i64(...) converts",
}


def _indices(args: Args, entity: Any) -> Value:
    """An array of integers, as i64."""
    value = args.array(entity)
    _, elem = shape_of(value.type)
    if rank(value.type) != 1 or not (isinstance(elem, Index) or (isinstance(elem, Scalar) and elem.dtype.is_integer)):
        args.el.fail("E0253", args.span, name=args.name, found=args.el.show(value.type), help=ORDER.get(args.name) if not isinstance(elem, Scalar) or elem.dtype.is_float else None)
    if isinstance(elem, Index) or (elem.dtype is I64 and not getattr(elem, "weak", 0)):
        return value
    return args.el.bind(over_array(args.el, value, lambda i: to_dtype(args.el, i, I64, args.span)))


def _mode(args: Args, mode: Any) -> bool:
    if mode is None:
        return False
    text = mode.parts[0] if isinstance(mode, en.TextValue) and len(mode.parts) == 1 else None
    if text not in ("error", "drop"):
        args.el.fail("E0254", args.span, name=args.name)
    return text == "drop"


def _same_length(args: Args, indices: Value, values: Value) -> None:
    assert isinstance(indices.type, Array) and isinstance(values.type, Array)
    why = Mismatch(args.span, indices.type, values.type, args.name, args.el.facts)
    args.el.equate(indices.type.size, values.type.size, why)


def _hist(args: Args) -> Value:
    """hist(op, ne, k, is, vs): values may be rows; the neutral element is repeated to a row."""
    el, span = args.el, args.span
    op, ne, k, is_, vs, mode = args.take("op", "ne", "k", "is", "vs", optional=("mode",))
    if not is_function(op):
        el.fail("E0247", span, name="hist", found=el.show(op.type) if isinstance(op, Value) else describe(op), help=ORDER["hist"])
    if isinstance(k, Value) and isinstance(k.type, Array):
        el.fail("E0213", span, what="the number of bins", found=el.show(k.type), help=ORDER["hist"])
    size = args.poly(k, "the number of bins")
    el.require(size, span.text() or "hist", span)
    indices, values, neutral = _indices(args, is_), args.array(vs), args.value(ne)
    _same_length(args, indices, values)
    assert isinstance(values.type, Array)

    t = plain_type(values.type.elem)
    neutral = repeat_into(neutral, t, span)
    joined = _join_element(el, t, neutral.type, span, "hist")
    values = _as_elements(el, values, joined, span)
    start = coerce(el, neutral, strong(joined), span, "the neutral element")
    lam, monoid = operator_lambda(el, op, joined, span, "hist")
    out = Array(strong(joined), size)
    expr = ir.Hist(lam, start.expr, size, indices.expr, values.expr, monoid, _mode(args, mode), type=out, span=span)
    return Value(expr, out)


def _scatter(args: Args) -> Value:
    el, span = args.el, args.span
    xs, is_, vs, op, mode = args.take("xs", "is", "vs", optional=("op", "mode"))
    target, indices, values = args.array(xs), _indices(args, is_), args.value(vs)
    assert isinstance(target.type, Array) and isinstance(indices.type, Array)

    target = _meet_weak(el, target, values.type, span)
    target = el.bind(plain(target) if op is not None and not isinstance(op, en.NoneEntity) else beside(el, target, values))
    assert isinstance(target.type, Array)
    wanted = Array(strong(target.type.elem), indices.type.size)
    if rank(values.type) < rank(wanted):
        values = repeat_into(values, wanted, span)
    values = coerce(el, values, wanted, span, "the values of scatter")
    lam, monoid = None, None
    if op is not None and not isinstance(op, en.NoneEntity):
        lam, monoid = operator_lambda(el, op, target.type.elem, span, "scatter")
    out = strong(target.type)
    target = coerce(el, target, out, span, "the target of scatter")
    expr = ir.Scatter(target.expr, indices.expr, values.expr, lam, monoid, _mode(args, mode), type=out, span=span)
    return Value(expr, out)


def _gather(args: Args) -> Value:
    el, span = args.el, args.span
    xs, is_ = args.take("xs", "is")
    array_ = args.array(xs)
    index = args.el.bind(args.value(is_))
    _, elem = shape_of(index.type)
    if not (isinstance(elem, Index) or (isinstance(elem, Scalar) and elem.dtype.is_integer)):
        el.fail("E0253", span, name="gather", found=el.show(index.type))

    def one(v: list[Value]) -> Value:
        i = v[0] if isinstance(v[0].type, Index) else to_dtype(el, v[0], I64, span)
        assert isinstance(array_.type, Array) and isinstance(array_.expr.type, Array)
        return Value(ir.At(array_.expr, i.expr, type=array_.expr.type.elem, span=span), array_.type.elem)

    return lift(el, [index], [0], one, span, "gather")


HANDLERS = {"hist": _hist, "scatter": _scatter, "gather": _gather}

__all__ = ["HANDLERS", "map_arrays"]
