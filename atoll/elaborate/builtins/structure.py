"""map, unzip, len, size, copy, print and other forms that are about structure, not numbers."""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.calls import Args, apply, is_function, text_parts
from atoll.elaborate.coerce import count_axes, map_arrays
from atoll.elaborate.elaborator import Elaborator, Mismatch, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.flexible import exact_ranks
from atoll.elaborate.parameters import assign, no_parameter, places
from atoll.errors import Span
from atoll.sizes import poly
from atoll.types.types import Array, Record, Tuple, components, rank


def _map(args: Args) -> Value:
    """map(f, xs, ...): over the outermost axes, never more."""
    el = args.el
    if len(args.args) < 2 or args.keywords:
        el.fail("E0237", args.span, name="map", missing="f" if not args.args else "xs")
    f, *xs = args.args
    if not is_function(f):
        el.fail("E0247", args.span, name="map", found=el.show(f.type) if isinstance(f, Value) else describe(f))
    arrays = [args.array(x) for x in xs]
    first = arrays[0].type
    assert isinstance(first, Array)
    for other in arrays[1:]:
        assert isinstance(other.type, Array)
        el.equate(first.size, other.type.size, Mismatch(args.span, first, other.type, "`map`", el.facts))
    if isinstance(f, en.Closure):
        assign(el, "the lambda" if f.name == "<lambda>" else f.name, places(f.params), arrays, {}, args.span, written=False)
    _check_exact(args, f, arrays)
    text = en.undeclared(f)
    names = [p.name for p in text.params] if isinstance(text, en.Closure) else None
    if names is not None and len(names) != len(arrays):
        names = None
    return map_arrays(el, arrays, lambda items: args.value(apply(el, f, items, args.span)), names)


def _check_exact(args: Args, f: Any, arrays: list[Value]) -> None:
    """map inserts nothing: a named function must take the elements as they are (a lambda always does)."""
    elements = [Value(a.expr, a.type.elem) for a in arrays if isinstance(a.type, Array)]
    for wanted, element in zip(exact_ranks(args.el, f, len(arrays), elements), elements, strict=True):
        if wanted is not None and wanted != rank(element.type):
            name = describe(f).removeprefix("the function ")
            found = f"{count_axes(rank(element.type))} ({args.el.show(element.type)})"
            letters = ", ".join("xyzuvw"[: len(arrays)]) if len(arrays) <= 6 else "..."
            help_ = f"write map(lambda {letters}: {name}({letters}), ...) to lift {name} inside the map"
            args.el.fail("E0263", args.span, name=name, expected=count_axes(wanted), found=found, help=help_)


def unzip(el: Elaborator, value: Value, span: Span) -> Value:
    """An array of tuples as a tuple of arrays."""
    assert isinstance(value.type, Array) and isinstance(value.expr.type, Array)
    n = value.type.size
    items = tuple(Array(t, n) for t in components(value.type.elem))
    core = tuple(Array(t, n) for t in components(value.expr.type.elem))
    if isinstance(value.expr, ir.Zip):
        return Value(ir.MakeTuple(value.expr.items, type=Tuple(core), span=span), Tuple(items))
    return Value(ir.Unzip(value.expr, type=Tuple(core), span=span), Tuple(items))


def _unzip(args: Args) -> Value:
    (xs,) = args.take("xs")
    value = args.array(xs)
    assert isinstance(value.type, Array)
    if not isinstance(value.type.elem, (Tuple, Record)):
        args.el.fail("E0248", args.span, found=args.el.show(value.type))
    return unzip(args.el, value, args.span)


def _len(args: Args) -> Value:
    (x,) = args.take("x")
    if isinstance(x, en.TupleEntity):
        return args.el.size_value(_poly(len(x.items)), args.span)
    value = args.value(x)
    if isinstance(value.type, (Tuple, Record)):
        return args.el.size_value(_poly(len(value.type.items)), args.span)
    if not isinstance(value.type, Array):
        args.el.fail("E0238", args.span, name="len", found=args.el.show(value.type))
    return args.el.size_value(value.type.size, args.span)


def _poly(n: int) -> Any:
    return poly(n)


def _size(args: Args) -> Value:
    """at.size(e): an integer that may be a size from here on."""
    (e,) = args.take("e")
    p = args.poly(e, "a size")
    args.el.require(p, args.span.text() or "at.size", args.span)
    return args.el.size_value(p, args.span)


def _copy(args: Args) -> Value:
    (x,) = args.take("x")
    value = args.value(x)
    return Value(ir.Copy(value.expr, type=value.expr.type, span=args.span), value.type, ones=value.ones)


def _stop(args: Args) -> Value:
    """at.stop(x): x, as a constant for derivatives."""
    (x,) = args.take("x")
    value = args.value(x)
    return Value(ir.Stop(value.expr, type=value.expr.type, span=args.span), value.type)


def _print(args: Args) -> en.NoneEntity:
    parts: list[Any] = []
    sep = args.keywords.get("sep")
    between = sep.parts[0] if isinstance(sep, en.TextValue) else " "
    for key in args.keywords:
        if key != "sep":
            no_parameter(args.el, "print", key, ["sep"], args.span)
    for k, arg in enumerate(args.args):
        if k:
            parts.append(between)
        if isinstance(arg, en.TextValue):
            parts += text_parts(arg)
        else:
            parts.append((args.el.bind(args.value(arg)).expr, ""))
    args.el.emit(ir.Print(tuple(parts), args.span))
    return en.NoneEntity()


HANDLERS = {
    "map": _map,
    "unzip": _unzip,
    "len": _len,
    "size": _size,
    "copy": _copy,
    "stop": _stop,
    "print": _print,
}
