"""sort, sorted, argsort: stable, by one key or several.

Several keys (a key that is a tuple, or elements that are) are sorted by the last one first: a stable sort keeps that order among equals. `reverse=True` keeps equal
elements in their order too, as in Python: the keys are read backwards, sorted, and the order is read backwards.
"""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import condition
from atoll.elaborate.builtins.structure import unzip
from atoll.elaborate.calls import Args, apply
from atoll.elaborate.coerce import map_arrays, project
from atoll.elaborate.comprehension import build_array
from atoll.elaborate.entities import Value
from atoll.elaborate.expressions import choose
from atoll.elaborate.lifting import lift
from atoll.errors import Span
from atoll.surface import syntax as s
from atoll.types.types import Array, Index, Record, Scalar, Tuple, Type, rank, shape_of


def _sort(args: Args) -> Value:
    """sort(xs) of scalars lifts over further axes; of tuples, or with a key, whole elements are moved."""
    el, span = args.el, args.span
    array_, key, reverse = _given(args)
    if key is None and not isinstance(shape_of(array_.type)[1], (Tuple, Record)):
        return lift(el, [array_], [1], lambda v: _moved(args, v[0], None, reverse), span, "sort")
    return _moved(args, array_, key, reverse)


def _argsort(args: Args) -> Value:
    array_, key, reverse = _given(args)
    if key is None and not isinstance(shape_of(array_.type)[1], (Tuple, Record)):
        return lift(args.el, [array_], [1], lambda v: _order(args, v[0], None, reverse), args.span, "argsort")
    return _order(args, array_, key, reverse)


def _given(args: Args) -> tuple[Value, Any, Value | None]:
    xs, key, reverse = args.take("xs", optional=("key", "reverse"))
    back = None if reverse is None else condition(args.el, reverse, args.span, "`reverse=`")
    if back is not None and isinstance(back.expr, ir.Lit) and not back.expr.value:
        back = None
    return args.array(xs), None if isinstance(key, en.NoneEntity) else key, back


def _moved(args: Args, xs: Value, key: Any, reverse: Value | None) -> Value:
    xs = args.el.bind(xs)
    order = args.el.bind(_order(args, xs, key, reverse))
    return map_arrays(args.el, [order], lambda i: _element(xs, i[0], args.span), ["i"])


def _element(xs: Value, index: Value, span: Span) -> Value:
    assert isinstance(xs.type, Array) and isinstance(xs.expr.type, Array)
    return Value(ir.At(xs.expr, index.expr, type=xs.expr.type.elem, span=span), xs.type.elem)


def _order(args: Args, xs: Value, key: Any, reverse: Value | None) -> Value:
    """The places of the elements in order."""
    if reverse is None or isinstance(reverse.expr, ir.Lit):
        return _places(args, xs, key, reverse is not None)
    found: Value = choose(args.el, reverse, lambda: _places(args, xs, key, True), lambda: _places(args, xs, key, False), s.NoneValue(span=args.span))
    return found


def _places(args: Args, xs: Value, key: Any, reverse: bool) -> Value:
    el, span = args.el, args.span
    keys = xs if key is None else map_arrays(el, [xs], lambda v: args.value(apply(el, key, v, span)))
    parts = key_parts(args, el.bind(keys), keys is not xs)
    if reverse:
        parts = [_backwards(args, part) for part in parts]
    order = _by(parts[-1], span)
    for part in reversed(parts[:-1]):
        order = el.bind(order)
        inner = el.bind(_by(el.bind(map_arrays(el, [order], lambda i, p=part: _element(p, i[0], span), ["i"])), span))  # type: ignore[misc]
        before = order
        order = map_arrays(el, [inner], lambda i, o=before: _element(o, i[0], span), ["i"])  # type: ignore[misc]
    if not reverse:
        return order
    order = _backwards(args, el.bind(order))
    assert isinstance(order.type, Array) and isinstance(order.type.elem, Index)
    return map_arrays(el, [order], lambda i: _from_end(i[0], order.type, span), ["i"])


def _from_end(index: Value, t: Type, span: Span) -> Value:
    """The place counted from the other end."""
    assert isinstance(t, Array)
    last = ir.SizeOf(t.size - 1, type=Scalar(Index(t.size).dtype), span=span)
    place = Index(t.size)
    return Value(ir.Prim("sub", (last, index.expr), type=place, span=span), place)


def _backwards(args: Args, xs: Value) -> Value:
    assert isinstance(xs.type, Array)
    size = xs.type.size
    made = build_array(args.el, size, "i", lambda i: _element(xs, _from_end(i, Array(i.type, size), args.span), args.span), args.span)
    return args.el.bind(made)


def _by(keys: Value, span: Span) -> Value:
    assert isinstance(keys.type, Array)
    t = Array(Index(keys.type.size), keys.type.size)
    return Value(ir.Argsort(keys.expr, type=t, span=span), t)


def key_parts(args: Args, keys: Value, made: bool) -> list[Value]:
    """Keys that are numbers, the first the most important."""
    el = args.el
    _, elem = shape_of(keys.type)
    if rank(keys.type) == 1 and isinstance(elem, (Tuple, Record)) and elem.items:
        columns = el.bind(unzip(el, keys, args.span))
        return [part for k in range(len(elem.items)) for part in key_parts(args, el.bind(project(columns, k)), made)]
    if rank(keys.type) != 1 or not isinstance(elem, (Scalar, Index)) or elem.dtype.is_complex:
        better = "let key= give one number, or a tuple of numbers, for each element; for a row, key=lambda row: row[0], say" if made and rank(keys.type) > 1 else None
        el.fail("E0251", args.span, name=args.name, found=el.show(keys.type), help=better)
    return [keys]


HANDLERS = {"sort": _sort, "sorted": _sort, "argsort": _argsort}
