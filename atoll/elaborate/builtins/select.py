"""where, filter, argmin, argmax, clip, pow."""

from __future__ import annotations

from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import binary, condition, nary_math, need_numbers, prim
from atoll.elaborate.builtins.reductions import need_nonempty, over_axis
from atoll.elaborate.builtins.structure import unzip
from atoll.elaborate.calls import Args, apply, is_function
from atoll.elaborate.coerce import common, is_weak, make_tuple, map_arrays, project, scalar_dtype, to_dtype
from atoll.elaborate.comprehension import build, build_array, with_conditions
from atoll.elaborate.elaborator import Elaborator, Mismatch, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.function_calls import open_value
from atoll.elaborate.indexing import element_at
from atoll.elaborate.lifting import lift
from atoll.errors import Span
from atoll.sizes import Sym, poly
from atoll.types.dtypes import BOOL
from atoll.types.types import BOOL_T, Array, Index, Scalar, Tuple, shape_of, strong


def _where(args: Args) -> Value:
    el, span = args.el, args.span
    c, x, y = (args.value(a) for a in args.take("c", "x", "y"))
    need_numbers(el, "where", [c, x, y], span)

    def apply_scalar(xs: list[Value]) -> Value:
        test, a, b = xs
        test = condition(el, test, span, "where")
        t = common(a.type, b.type)
        if t is None:
            el.fail("E0204", span, op="where", first=el.show(a.type), second=el.show(b.type))
        return prim("select", [test, to_dtype(el, a, t.dtype, span), to_dtype(el, b, t.dtype, span)], t, span)

    return lift(el, [c, x, y], [0, 0, 0], apply_scalar, span, "where")


def filter_by_mask(el: Elaborator, xs: Value, mask: Value, span: Span) -> Value:
    """The elements whose mask is true; their number is a new size."""
    assert isinstance(xs.type, Array) and isinstance(mask.type, Array) and isinstance(xs.expr.type, Array)
    el.equate(xs.type.size, mask.type.size, Mismatch(span, xs.type, mask.type, "filter", el.facts))
    count = Sym("k")
    el.labels[count] = f"len({span.text()})" if span.text() else "k"
    el.origins[count] = span
    t = Array(strong(xs.type.elem), poly(count))
    expr = ir.Filter(xs.expr, mask.expr, type=Array(xs.expr.type.elem, poly(count)), span=span)
    result = open_value(el, expr, t, [count], span)
    el.assume(xs.type.size - poly(count))
    return Value(result.expr, Array(xs.type.elem, poly(count)))


def _filter(args: Args) -> Value:
    el, span = args.el, args.span
    p, xs = args.take("p", "xs")
    if not is_function(p):
        el.fail("E0247", span, name="filter", found=el.show(p.type) if isinstance(p, Value) else describe(p))
    array_ = args.array(xs)
    mask = el.bind(map_arrays(el, [array_], lambda v: condition(el, apply(el, p, v, span), span, "filter")))
    return filter_by_mask(el, array_, mask, span)


def _arg_extreme(which: str) -> Any:
    def one(args: Args, xs: Value) -> Value:
        el, span = args.el, args.span
        _, elem = shape_of(xs.type)
        if isinstance(elem, Scalar) and elem.dtype.is_complex:
            el.fail("E0206", span, op=args.name)
        if not isinstance(elem, (Scalar, Index)):
            el.fail("E0203", span, what=args.name, found=el.show(xs.type))
        assert isinstance(xs.type, Array)
        need_nonempty(el, xs.type.size, args.name, span)
        t = Index(xs.type.size)
        return Value(ir.ArgReduce(which, xs.expr, type=t, span=span), t)

    def handler(args: Args) -> Value:
        if args.args and isinstance(args.args[0], en.Generator):
            args.take("xs")
            return _arg_of_generator(args, args.args[0], which, one)
        xs, axis = args.take("xs", optional=("axis",))
        value = args.array(xs)
        return over_axis(args, value, axis, lambda v: one(args, v))

    return handler


def _arg_of_generator(args: Args, generator: en.Generator, which: str, one: Any) -> Value:
    """argmin(e for i in ...): the number of the round; with conditions, among the rounds that count."""
    el, span = args.el, args.span
    node = generator.node
    if len(node.clauses) != 1:
        el.fail("E0252", span, name=args.name)
    if not node.clauses[0].conditions:
        listed = type(node)(node.element, node.clauses, True, span=node.span)
        return one(args, el.bind(build(el, listed)))  # type: ignore[no-any-return]

    pairs = el.bind(with_conditions(el, node))
    parts = el.bind(unzip(el, pairs, span))
    mask, values = project(parts, 0), project(parts, 1)
    assert isinstance(values.type, Array)
    return masked_arg(args, mask, values, which)


def masked_arg(args: Args, mask: Value, values: Value, which: str) -> Value:
    """Reduce (taken, value, index) triples, keeping the first best."""
    el, span = args.el, args.span
    assert isinstance(values.type, Array)
    n = values.type.size
    elem = strong(values.type.elem)
    dtype = scalar_dtype(elem)

    def triple(i: Value) -> Value:
        return make_tuple([element_at(el, mask, i, span), element_at(el, values, i, span), Value(i.expr, Scalar(_I64))], None, span)

    triples = el.bind(build_array(el, n, "i", triple, span))
    a, b = Sym("a"), Sym("b")
    assert isinstance(triples.expr.type, Array)
    t = triples.expr.type.elem
    assert isinstance(t, Tuple)
    items = t.items
    va, vb = ir.Var(a, type=t), ir.Var(b, type=t)

    def part(v: ir.Var, k: int) -> ir.Expr:
        return ir.Proj(v, k, type=items[k])

    better: ir.Expr = ir.Prim("lt" if which == "min" else "gt", (part(vb, 1), part(va, 1)), type=BOOL_T)
    if dtype.is_float:
        nan_b = ir.Prim("isnan", (part(vb, 1),), type=BOOL_T)
        not_nan_a = ir.Prim("not", (ir.Prim("isnan", (part(va, 1),), type=BOOL_T),), type=BOOL_T)
        better = ir.Prim("or", (better, ir.Prim("and", (nan_b, not_nan_a), type=BOOL_T)), type=BOOL_T)
    not_a = ir.Prim("not", (part(va, 0),), type=BOOL_T)
    take_b = ir.Prim("and", (part(vb, 0), ir.Prim("or", (not_a, better), type=BOOL_T)), type=BOOL_T)
    lam = ir.Lam((a, b), (t, t), ir.If(take_b, vb, va, type=t))
    zero: Any = 0 if dtype.is_integer else False if dtype is BOOL else 0.0
    start = ir.MakeTuple(
        (ir.Lit(False, type=BOOL_T), ir.Lit(zero, type=Scalar(dtype)), ir.Lit(0, type=Scalar(_I64))), type=t
    )
    best = el.bind(Value(ir.Reduce(lam, start, triples.expr, None, type=t, span=span), t))
    el.emit(ir.Assert(project(best, 0).expr, args.name, span, code="E0704"))
    return project(best, 2)


def _clip(args: Args) -> Value:
    x, low, high = args.take("x", "low", "high")
    value = args.value(x)
    if not isinstance(low, en.NoneEntity):
        value = nary_math(args.el, "max", [value, args.value(low)], args.span, "clip")
    if not isinstance(high, en.NoneEntity):
        value = nary_math(args.el, "min", [value, args.value(high)], args.span, "clip")
    return value


def _pow(args: Args) -> Value:
    x, y = args.take("x", "y")
    return binary(args.el, "**", args.value(x), args.value(y), args.span)


def _square(args: Args) -> Value:
    (x,) = args.take("x")
    value = args.el.bind(args.value(x))
    return binary(args.el, "*", value, value, args.span)


_I64 = Index(poly(0)).dtype

HANDLERS = {
    "where": _where,
    "filter": _filter,
    "argmin": _arg_extreme("min"),
    "argmax": _arg_extreme("max"),
    "clip": _clip,
    "pow": _pow,
    "square": _square,
}

__all__ = ["BOOL", "HANDLERS", "filter_by_mask", "is_weak", "masked_arg"]
