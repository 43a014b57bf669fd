"""The reshape operators of ATL and MADL: they act on the outermost axis and cost nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.calls import Args
from atoll.elaborate.coerce import coerce, join_types, project_all, zero
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.errors import Span
from atoll.sizes import Poly, Sym, cdiv, poly
from atoll.sizes.poly import exact_quotient
from atoll.types.types import I64_T, Array, Index, Record, Scalar, Tuple, Type, array, rank, shape_of, strong


def view(op: str, params: tuple[Any, ...], args: list[Value], t: Type, span: Span) -> Value:
    """A view node; `t` is the result's type, perhaps weak."""
    expr = ir.View(op, params, tuple(a.expr for a in args), type=strong(t), span=span)
    return Value(expr, t)


def transpose(el: Elaborator, value: Value, axes: tuple[int, ...] | None, span: Span, name: str) -> Value:
    sizes, elem = shape_of(value.type)
    if axes is None:
        if len(sizes) != 2:
            el.fail("E0255", span, name=name, rank=len(sizes))
        axes = (1, 0)
    if sorted(axes) != list(range(len(axes))) or len(axes) > len(sizes):
        el.fail("E0256", span, axes=axes, rank=len(sizes))
    kept = sizes[len(axes) :]
    t = array(array(elem, kept), [sizes[k] for k in axes])
    ones = frozenset(axes.index(k) if k < len(axes) else k for k in value.ones)
    return replace(view("transpose", tuple(axes), [value], t, span), ones=ones)


def flatten(el: Elaborator, value: Value, span: Span) -> Value:
    t = value.type
    if rank(t) < 2:
        el.fail("E0238", span, name="flatten", found=el.show(t))
    assert isinstance(t, Array) and isinstance(t.elem, Array)
    return view("flatten", (), [value], Array(t.elem.elem, t.size * t.elem.size), span)


def _transpose(args: Args) -> Value:
    a, axes = args.take("a", optional=("axes",))
    value = args.array(a)
    order = None
    if axes is not None and not isinstance(axes, en.NoneEntity):
        given = args.value(axes)
        parts = project_all(args.el, given) if isinstance(given.type, Tuple) else [given]
        numbers = [args.poly(p, "an axis").const() for p in parts]
        if any(n is None for n in numbers):
            args.el.fail("E0256", args.span, axes=args.span.text(), rank=rank(value.type))
        order = tuple(int(n) for n in numbers if n is not None)
    return transpose(args.el, value, order, args.span, "transpose")


def _flatten(args: Args) -> Value:
    (a,) = args.take("a")
    return flatten(args.el, args.array(a), args.span)


def _outer(args: Args, *names: str) -> tuple[Value, list[Poly], Type, Poly]:
    a, *rest = args.take("a", *names)
    value = args.array(a)
    assert isinstance(value.type, Array)
    return value, [args.poly(r, n) for r, n in zip(rest, names, strict=True)], value.type.elem, value.type.size


def _split(args: Args) -> Value:
    """split(a, k): the length is a multiple of k by type, or by a check on entry."""
    el = args.el
    value, (k,), elem, n = _outer(args, "k")
    n = el.solver.resolve(n)
    _positive(args, k)
    quotient = exact_quotient(n, k)
    if quotient is None:
        divisor = k.const()
        if divisor is None:
            el.fail("E0307", args.span, size=repr(n), k=repr(k))
        quotient = n // divisor
        if not el.facts.proves_equal(n, quotient * divisor):
            if n.const() is not None:
                el.fail("E0307", args.span, size=repr(n), k=repr(k))
            el.require(quotient * divisor - n, f"{args.span.text()} (a multiple of {divisor})", args.span)
    t = Array(Array(elem, k), quotient)
    return view("split", (k, quotient), [value], t, args.span)


def _positive(args: Args, k: Poly) -> None:
    args.el.require(k - 1, args.span.text() or args.name, args.span)


def _tile(args: Args) -> Value:
    value, (k,), elem, n = _outer(args, "k")
    _positive(args, k)
    t = Array(Array(elem, k), cdiv(n, k))
    return view("tile", (k,), [value, _fill(args, elem)], t, args.span)


def _fill(args: Args, elem: Type) -> Value:
    """The zero a padded element is made of: a scalar per leaf."""
    _, scalar = shape_of(elem)
    if isinstance(scalar, (Tuple, Record)):
        args.el.fail("E0258", args.span, name=args.name)
    t = strong(scalar)
    return Value(zero(args.el, t, args.span), t)


def concat(args: Args) -> Value:
    el = args.el
    given = list(args.args)
    if len(given) == 1:
        only = args.value(given[0])
        if isinstance(only.type, Tuple):
            given = list(project_all(el, only))
        else:
            helped = "write concat(a, b): a list of arrays is one array with an axis more"
            el.fail("E0235", args.span, name="concat", expected="2 or more arguments", found=1, help=helped)
    if not given or args.keywords:
        el.fail("E0237", args.span, name="concat", missing="a")
    values = [args.array(x) for x in given]
    t = values[0].type
    assert isinstance(t, Array)
    elem = t.elem
    for other in values[1:]:
        assert isinstance(other.type, Array)
        elem = join_types(el, elem, other.type.elem, args.span, f"the parts of {args.name}")
    total = poly(0)
    parts = []
    for v in values:
        assert isinstance(v.type, Array)
        total = total + v.type.size
        parts.append(coerce(el, v, Array(strong(elem), v.type.size), args.span, f"a part of {args.name}"))
    return view("concat", (), parts, Array(elem, total), args.span)


def _beside_zeros(args: Args, value: Value) -> Value:
    """Indices of n beside zeros are indices of n where n is at least 1, and integers where it may be 0."""
    sizes, elem = shape_of(value.type)
    if not isinstance(elem, Index) or args.el.facts.proves(elem.size - 1):
        return value
    return coerce(args.el, value, array(I64_T, sizes), args.span, f"what {args.name} pads")


def _pad_one(side: str) -> Any:
    def handler(args: Args) -> Value:
        value, (k,), _, n = _outer(args, "k")
        args.el.require(k, args.span.text() or args.name, args.span)
        widths = (k, poly(0)) if side == "l" else (poly(0), k)
        value = _beside_zeros(args, value)
        assert isinstance(value.type, Array)
        return view("pad", (widths,), [value, _fill(args, value.type.elem)], Array(value.type.elem, n + k), args.span)

    return handler


def _pad(args: Args) -> Value:
    """pad(a, widths, value=0): widths is one number, a pair, or a pair per axis."""
    el = args.el
    a, widths, fill = args.take("a", "widths", optional=("value",))
    array_ = args.array(a)
    sizes, elem = shape_of(array_.type)
    if not isinstance(elem, (Scalar, Index)):
        el.fail("E0258", args.span, name="pad")
    if fill is None:
        array_ = _beside_zeros(args, array_)
    elif isinstance(elem, Index):
        array_ = coerce(el, array_, array(I64_T, sizes), args.span, "what pad pads")
    _, elem = shape_of(array_.type)
    pairs = _widths(args, widths, len(sizes))
    for before, after in pairs:
        el.require(before, args.span.text() or "pad", args.span)
        el.require(after, args.span.text() or "pad", args.span)
    t: Type = array(elem, [n + b + c for n, (b, c) in zip(sizes, pairs, strict=True)])
    if fill is None:
        filler = _fill(args, elem)
    else:
        filler = coerce(el, args.value(fill), strong(elem), args.span, "the padding value")
        filler = el.bind(filler)
    return view("pad", tuple(pairs), [array_, filler], t, args.span)


def _widths(args: Args, widths: Any, count: int) -> list[tuple[Poly, Poly]]:
    el = args.el
    if not isinstance(widths, Value) or not isinstance(widths.type, (Tuple, Array)):
        k = args.poly(widths, "a width")
        return [(k, k)] * count
    parts = project_all(el, widths) if isinstance(widths.type, Tuple) else _literal_rows(args, widths)
    if parts and isinstance(parts[0].type, (Tuple, Array)):
        if len(parts) != count:
            el.fail("E0259", args.span, count=count)
        return [_pair(args, p) for p in parts]
    if len(parts) != 2:
        el.fail("E0259", args.span, count=count)
    before, after = (args.poly(p, "a width") for p in parts)
    return [(before, after)] * count


def _literal_rows(args: Args, widths: Value) -> list[Value]:
    if isinstance(widths.expr, ir.MakeArray):
        return [Value(e, e.type, poly(e.value) if isinstance(e, ir.Lit) else None) for e in widths.expr.items]  # type: ignore[arg-type]
    args.el.fail("E0259", args.span, count=rank(widths.type))


def _pair(args: Args, part: Value) -> tuple[Poly, Poly]:
    items = project_all(args.el, part) if isinstance(part.type, Tuple) else _literal_rows(args, part)
    if len(items) != 2:
        args.el.fail("E0259", args.span, count=2)
    return args.poly(items[0], "a width"), args.poly(items[1], "a width")


def _trunc(op: str) -> Any:
    def handler(args: Args) -> Value:
        value, (k,), elem, n = _outer(args, "k")
        text = args.span.text() or args.name
        args.el.require(k, text, args.span)
        args.el.require(n - k, text, args.span)
        return view(op, (k,), [value], Array(elem, n - k), args.span)

    return handler


def _window(args: Args) -> Value:
    value, (k,), elem, n = _outer(args, "k")
    text = args.span.text() or "window"
    args.el.require(k, text, args.span)
    args.el.require(n - k + 1, text, args.span)
    return view("window", (k,), [value], Array(Array(elem, k), n - k + 1), args.span)


def _sample(args: Args) -> Value:
    value, (k,), elem, n = _outer(args, "k")
    _positive(args, k)
    return view("sample", (k,), [value], Array(elem, cdiv(n, k)), args.span)


def _reverse(args: Args) -> Value:
    value, _, elem, n = _outer(args)
    return view("reverse", (), [value], Array(elem, n), args.span)


def _rotate(args: Args) -> Value:
    """rotate(a, k): any integer k, reduced to 0..n-1 first."""
    el = args.el
    value, (k,), elem, n = _outer(args, "k")
    if not (el.facts.proves(k) and el.facts.proves(n - k)):
        shift = Sym("shift")
        number = ir.SizeOf(k, type=I64_T, span=args.span)
        length = ir.Prim(
            "max", (ir.SizeOf(n, type=I64_T), ir.Lit(1, type=I64_T)), type=I64_T, span=args.span
        )
        el.emit(ir.Bind(shift, ir.Prim("mod", (number, length), type=I64_T, span=args.span)))
        el.session.bounded.add(shift)
        k = poly(shift)
        el.assume(k, n - k)
    return view("rotate", (k,), [value], Array(elem, n), args.span)


HANDLERS = {
    "transpose": _transpose,
    "flatten": _flatten,
    "split": _split,
    "tile": _tile,
    "concat": concat,
    "pad_l": _pad_one("l"),
    "pad_r": _pad_one("r"),
    "pad": _pad,
    "trunc_l": _trunc("trunc_l"),
    "trunc_r": _trunc("trunc_r"),
    "window": _window,
    "sample": _sample,
    "reverse": _reverse,
    "rotate": _rotate,
}
