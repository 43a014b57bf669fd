"""sum, prod, min, max, any, all, reduce, scan, fold and their relatives.

Arithmetic reductions take an array of scalars and lift over further axes (`sum(A)` of a matrix is its row sums); `axis=` says
otherwise. Over a generator there is one reduction per clause, and where a condition fails the neutral element stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from atoll.core import ir
from atoll.core.prims import MONOIDS
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import binary, condition, nary_math, prim, scalar_binary
from atoll.elaborate.builtins.names import OPERATORS
from atoll.elaborate.builtins.reshape import flatten, transpose
from atoll.elaborate.builtins.structure import unzip
from atoll.elaborate.calls import Args, apply, is_function
from atoll.elaborate.coerce import (
    array_of,
    coerce,
    common,
    convert,
    is_weak,
    join_types,
    make_tuple,
    project,
    project_all,
    scalar_dtype,
    to_dtype,
)
from atoll.elaborate.comprehension import over, reduce_clauses
from atoll.elaborate.decay import plain_type
from atoll.elaborate.elaborator import Elaborator, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.expressions import as_value, choose
from atoll.elaborate.lifting import lift
from atoll.elaborate.loop_statements import decayed, merge_state, restore, snapshot
from atoll.elaborate.namespace import literal
from atoll.elaborate.parameters import no_parameter
from atoll.errors import Span
from atoll.sizes import Poly, Sym, poly
from atoll.surface import syntax as s
from atoll.types.dtypes import BOOL, F64, I64, U64, DType
from atoll.types.types import BOOL_T, I64_T, Array, Index, Record, Scalar, Tuple, Type, array, rank, shape_of, strong, type_vars

# -- known operators


@dataclass(frozen=True, slots=True)
class Known:
    """A named associative operator on scalars."""

    monoid: str
    op: str  # the surface operator or built-in that applies it


_NAMED = {
    "add": Known("add", "+"),
    "mul": Known("mul", "*"),
    "minimum": Known("minimum", "min"),
    "maximum": Known("maximum", "max"),
    "min": Known("minimum", "min"),
    "max": Known("maximum", "max"),
    "and_": Known("and", "&"),
    "or_": Known("or", "|"),
    "xor": Known("xor", "^"),
}


def known_operator(op: Any, t: Type) -> Known | None:
    """The operator by its name; seen through a declared type, only where that says nothing else than the elements."""
    while isinstance(op, en.Declared) and all(type_vars(part) or part in (t, shape_of(t)[1]) for part in (*op.type.params, op.type.result)):
        op = op.fn
    return _NAMED.get(op.name) if isinstance(op, en.Builtin) else None


def combine_scalars(el: Elaborator, known: Known, a: Value, b: Value, span: Span) -> Value:
    if known.op in ("min", "max"):
        return prim(known.op, [a, b], Scalar(scalar_dtype(a.type)), span)
    if known.op in ("+", "*") and scalar_dtype(a.type) is BOOL:
        return prim("or" if known.op == "+" else "and", [a, b], Scalar(BOOL), span)
    plain = [Value(x.expr, Scalar(scalar_dtype(x.type))) for x in (a, b)]
    return scalar_binary(el, known.op, plain[0], plain[1], span)


def operator_lambda(el: Elaborator, op: Any, t: Type, span: Span, what: str) -> tuple[ir.Lam, str | None]:
    """A binary operator on elements of type t as a core lambda, and its name when it is a known one."""
    t = strong(t)
    known = known_operator(op, t)
    if not is_function(op):
        el.fail("E0247", span, name=what, found=el.show(op.type) if isinstance(op, Value) else describe(op))
    a, b = Sym("a"), Sym("b")
    el.level += 1
    with el.block(), el.hypotheses(lazy=False):
        x, y = Value(ir.Var(a, type=t), t), Value(ir.Var(b, type=t), t)
        if known is not None:
            result = lift_known(el, known, x, y, span)
        else:
            result = as_value(el, apply(el, op, [x, y], span), s.NoneValue(span=span))
        if isinstance(result.type, (Tuple, Record)) != isinstance(t, (Tuple, Record)):
            shown = el.show(t)
            el.fail("E0201", span, what=f"the operator of {what}", expected=shown, found=el.show(result.type), help=f"the operator takes two elements and gives one: {shown}, {shown} -> {shown}")
        result = coerce(el, result, t, span, f"the operator of {what}")
        body = el.close(result.expr)
    el.level -= 1
    _, elem = shape_of(t)
    simple = known is not None and isinstance(elem, (Scalar, Index))
    return ir.Lam((a, b), (t, t), body), known.monoid if simple and known is not None else None


def lift_known(el: Elaborator, known: Known, x: Value, y: Value, span: Span) -> Value:
    if isinstance(x.type, (Tuple, Record)) and isinstance(y.type, (Tuple, Record)):
        parts = [
            lift_known(el, known, project(x, k), project(y, k), span) for k in range(len(x.type.items))
        ]
        return make_tuple(parts, x.type, span)
    return lift(el, [x, y], [0, 0], lambda ab: combine_scalars(el, known, ab[0], ab[1], span), span, known.op)


# -- sum, prod, any, all, min, max of arrays and generators


def _accumulator(dtype: DType) -> DType:
    """The type sums and products are made in: bool and small integers become 64-bit."""
    if dtype is BOOL or dtype.kind == "i":
        return I64
    return U64 if dtype.kind == "u" else dtype


def _reduce_known(el: Elaborator, xs: Value, known: Known, span: Span) -> Value:
    """A known operator over the outermost axis of an array; elements that are arrays are combined elementwise."""
    assert isinstance(xs.type, Array)
    t = plain_type(strong(xs.type.elem))
    _, elem = shape_of(t)
    assert isinstance(elem, (Scalar, Index))
    number = MONOIDS[known.monoid][1](elem.dtype)
    if elem.dtype.is_complex:
        number = complex(number)
    one = Value(ir.Lit(_as_number(number, elem.dtype), type=Scalar(elem.dtype), span=span), Scalar(elem.dtype))
    sizes, _ = shape_of(t)
    neutral = one
    for size in reversed(sizes):
        expr = ir.View("repeat", (size,), (neutral.expr,), type=Array(neutral.expr.type, size), span=span)
        neutral = Value(expr, Array(neutral.type, size))
    lam, monoid = operator_lambda(el, en.Builtin(_builtin_of(known)), t, span, "the reduction")
    expr2 = ir.Reduce(lam, neutral.expr, xs.expr, monoid, type=t, span=span)
    result_type = t if not _weak_elem(xs.type) else array(Scalar(elem.dtype, weak=1), sizes)
    return Value(expr2, result_type)


def _builtin_of(known: Known) -> str:
    return {"and": "and_", "or": "or_"}.get(known.monoid, known.monoid)


def _weak_elem(t: Type) -> bool:
    _, elem = shape_of(t)
    return isinstance(elem, Scalar) and bool(elem.weak)


def _as_number(number: Any, dtype: DType) -> Any:
    if dtype is BOOL:
        return bool(number)
    return int(number) if dtype.is_integer else complex(number) if dtype.is_complex else float(number)


def _prepare(el: Elaborator, xs: Value, name: str, span: Span) -> Value:
    """Elements in the type the reduction works in."""
    _, elem = shape_of(xs.type)
    if not isinstance(elem, (Scalar, Index)):
        el.fail("E0203", span, what=name, found=el.show(xs.type))
    dtype = elem.dtype
    if name in ("sum", "prod"):
        wanted = _accumulator(dtype)
        return convert(el, xs, wanted, span) if wanted is not dtype or isinstance(elem, Index) else xs
    if name in ("any", "all"):
        if dtype is not BOOL:  # as in Python, those that are not 0
            return el.bind(binary(el, "!=", xs, Value(ir.Lit(0, type=I64_T, span=span), Scalar(I64, weak=True), poly(0)), span))
    elif dtype.is_complex:
        el.fail("E0206", span, op=name)
    return xs


_KNOWN = {
    "sum": Known("add", "+"),
    "prod": Known("mul", "*"),
    "any": Known("or", "|"),
    "all": Known("and", "&"),
    "min": Known("minimum", "min"),
    "max": Known("maximum", "max"),
}


def reduction(args: Args) -> Value:
    name = args.name
    if name in ("min", "max") and len([a for a in args.args]) > 1:
        return _smallest(args)
    if args.args and isinstance(args.args[0], en.Generator):
        optional: tuple[str, ...] = ("default",) if name in ("min", "max") else ("start",) if name == "sum" else ()
        _, extra = (*args.take("xs", optional=optional), None)[:2]
        return _over_generator(args, args.args[0], extra)
    optional = ("axis", "default", "key") if name in ("min", "max") else ("axis",)  # a key is extremes.py's
    xs, axis, *more = args.take("xs", optional=optional)
    default = more[0] if more else None
    value = args.array(_listed(args, xs))
    return over_axis(args, value, axis, lambda v: _reduce_array(args, v, default))


def _listed(args: Args, xs: Any) -> Any:
    """A tuple of numbers is a list of them: sum((1, 2)), prod(a.shape)."""
    value = args.value(xs)
    if not isinstance(value.type, Tuple) or not value.type.items or not all(isinstance(t, (Scalar, Index)) for t in value.type.items):
        return value
    return args.el.bind(array_of(args.el, project_all(args.el, value), args.span))


def _reduce_array(args: Args, xs: Value, default: Any) -> Value:
    """One axis of scalars."""
    el, name, span = args.el, args.name, args.span
    xs = _prepare(el, xs, name, span)
    assert isinstance(xs.type, Array)
    if name not in ("min", "max"):
        return _reduce_known(el, xs, _KNOWN[name], span)
    n = xs.type.size
    if default is not None:
        value = args.value(default)
        test = positive(el, n, span)

        found: Value = choose(el, test, lambda: _reduce_known(el, xs, _KNOWN[name], span), lambda: value, s.NoneValue(span=span))
        return found
    need_nonempty(el, n, name, span)
    return _reduce_known(el, xs, _KNOWN[name], span)


def positive(el: Elaborator, n: Poly, span: Span) -> Value:
    return scalar_binary(el, ">", el.size_value(n, span), el.size_value(poly(0), span), span)


def need_nonempty(el: Elaborator, n: Poly, name: str, span: Span) -> None:
    """The least of nothing is an error."""
    if not el.facts.proves(n - 1):
        el.emit(ir.Assert(positive(el, n, span).expr, name, span, code="E0704"))


def over_axis(args: Args, value: Value, axis: Any, reduce_one: Callable[[Value], Value]) -> Value:
    """Apply a rank-1 reduction along the axes a user names; without axis=, to the last one, lifted over the others."""
    el, span = args.el, args.span
    count = rank(value.type)
    if axis is None:
        if count > 1:
            note = f"{args.name} of {count} axes reduces the last one and lifts over the rest (axis= says otherwise)"
            el.notes.append((span, note))
        return lift(el, [value], [1], lambda xs: reduce_one(xs[0]), span, args.name)
    axes = list(range(count)) if isinstance(axis, en.NoneEntity) else _axes(args, axis, count)

    kept = [k for k in range(count) if k not in axes]
    order = tuple(kept + axes)
    moved = value if order == tuple(range(count)) else transpose(el, value, order, span, args.name)
    moved = el.bind(moved)
    for _ in axes[1:]:
        depth = len(kept)
        moved = lift(el, [moved], [rank(moved.type) - depth], lambda xs: flatten(el, xs[0], span), span, "flatten")
        moved = el.bind(moved)
    return lift(el, [moved], [1], lambda xs: reduce_one(xs[0]), span, args.name)


def _axes(args: Args, axis: Any, count: int) -> list[int]:
    values = project_all(args.el, axis) if isinstance(axis, Value) and isinstance(axis.type, Tuple) else [axis]
    found = []
    for value in values:
        if isinstance(value, Value) and isinstance(value.type, Scalar) and value.type.dtype.is_float:
            help_ = f"the second argument of {args.name} is the axis; add a first value yourself: 1.0 + {args.name}(x)"
            args.el.fail("E0213", args.span, what="axis", found=args.el.show(value.type), help=help_ if args.name == "sum" else None)
        k = args.poly(value, "axis").const()
        if k is None or not -count <= k < count:
            args.el.fail("E0249", args.span, axis=k if k is not None else args.span.text(), rank=count)
        found.append(k % count)
    return sorted(set(found))


def _smallest(args: Args) -> Value:
    """min(a, b, ...): elementwise."""
    for key in args.keywords:
        no_parameter(args.el, args.name, key, [], args.span)
    result = args.value(args.args[0])
    for other in args.args[1:]:
        result = nary_math(args.el, args.name, [result, args.value(other)], args.span, args.name)
    return result


def _over_generator(args: Args, generator: en.Generator, extra: Any) -> Value:
    el, name, span = args.el, args.name, args.span
    if name in ("min", "max"):
        return _extreme_of_generator(args, generator, extra)
    known = _KNOWN[name]

    def leaf(v: Value) -> Value:
        if name in ("any", "all"):
            return condition(el, v, span, name)
        if isinstance(v.type, (Scalar, Index)):
            return to_dtype(el, v, _accumulator(scalar_dtype(v.type)), span) if not v.weak else v
        return v

    def neutral(v: Value) -> Value:
        _, elem = shape_of(v.type)
        if not isinstance(elem, (Scalar, Index)):
            el.fail("E0203", span, what=name, found=el.show(v.type))
        dtype = elem.dtype
        number = _as_number(MONOIDS[known.monoid][1](dtype), dtype)
        sizes, _ = shape_of(v.type)
        out = Value(ir.Lit(number, type=Scalar(dtype), span=span), Scalar(dtype, is_weak(elem)))
        for size in reversed(sizes):
            expr = ir.View("repeat", (size,), (out.expr,), type=Array(out.expr.type, size), span=span)
            out = Value(expr, Array(out.type, size))
        return out

    def combine(xs: Value) -> Value:
        _, elem = shape_of(xs.type)
        if not isinstance(elem, (Scalar, Index)):
            el.fail("E0203", span, what=name, found=el.show(xs.type))
        return _reduce_known(el, _prepare(el, xs, name, span), known, span)

    result = reduce_clauses(el, generator.node, leaf, neutral, combine)
    if name == "sum" and extra is not None:
        result = binary(el, "+", args.value(extra), result, span)
    return result


def _extreme_of_generator(args: Args, generator: en.Generator, default: Any) -> Value:
    """min/max over a generator: remembers whether there was anything."""
    el, name, span = args.el, args.name, args.span
    known = _KNOWN[name]

    def leaf(v: Value) -> Value:
        if not isinstance(v.type, (Scalar, Index)) or scalar_dtype(v.type).is_complex:
            el.fail("E0203", span, what=name, found=el.show(v.type))
        yes = Value(ir.Lit(True, type=BOOL_T, span=span), BOOL_T)
        return make_tuple([yes, el.bind(Value(v.expr, strong(v.type)))], None, span)

    def neutral(v: Value) -> Value:
        assert isinstance(v.type, Tuple)
        t = v.type.items[1]
        dtype = scalar_dtype(t)
        number = _as_number(MONOIDS[known.monoid][1](dtype), dtype)
        no = Value(ir.Lit(False, type=BOOL_T, span=span), BOOL_T)
        return make_tuple([no, Value(ir.Lit(number, type=Scalar(dtype), span=span), Scalar(dtype))], None, span)

    def combine(xs: Value) -> Value:
        assert isinstance(xs.type, Array)
        parts = el.bind(unzip(el, el.bind(xs), span))
        found = _reduce_known(el, project(parts, 0), _KNOWN["any"], span)
        best = _reduce_known(el, project(parts, 1), known, span)
        return make_tuple([el.bind(found), el.bind(best)], None, span)

    pair = reduce_clauses(el, generator.node, leaf, neutral, combine)
    found, best = project(pair, 0), project(pair, 1)
    if default is None:
        el.emit(ir.Assert(found.expr, name, span, code="E0704"))
        return best

    fallback = args.value(default)
    return choose(el, found, lambda: best, lambda: fallback, s.NoneValue(span=span))  # type: ignore[no-any-return]


# -- reduce, scan, fold with any operator


def _elements(args: Args, op: Any, ne: Any, xs: Any) -> tuple[Value, Value, int]:
    """The array, the neutral element, and the rank of an element (that of the neutral one)."""
    if not is_function(op):
        args.el.fail("E0247", args.span, name=args.name, found=args.el.show(op.type) if isinstance(op, Value) else describe(op))
    array_ = args.array(xs)
    neutral = args.el.bind(args.value(ne))
    wanted = rank(neutral.type)
    if rank(array_.type) < wanted + 1:
        what = f"the elements and the neutral element of {args.name}"
        args.el.fail("E0202", args.span, what=what, first=args.el.show(array_.type), second=args.el.show(neutral.type))
    return array_, neutral, wanted


def _with_operator(args: Args, op: Any, array_: Value, neutral: Value, make: Callable[..., ir.Expr]) -> Value:
    el, span = args.el, args.span
    assert isinstance(array_.type, Array)
    t = plain_type(array_.type.elem)
    joined = _join_element(el, t, neutral.type, span, args.name)
    array_ = _as_elements(el, array_, joined, span)
    start = coerce(el, neutral, strong(joined), span, "the neutral element")
    lam, monoid = operator_lambda(el, op, joined, span, args.name)
    return Value(make(lam, start.expr, array_.expr, monoid, strong(joined)), strong(joined))


def _join_element(el: Elaborator, t: Type, ne: Type, span: Span, name: str) -> Type:
    if isinstance(t, (Scalar, Index)) and isinstance(ne, (Scalar, Index)):
        both = common(t, ne)
        if both is None:
            el.fail("E0202", span, what=name, first=el.show(t), second=el.show(ne))
        return both
    return join_types(el, t, ne, span, f"the elements and the neutral element of {name}")


def _as_elements(el: Elaborator, array_: Value, t: Type, span: Span) -> Value:
    assert isinstance(array_.type, Array)
    return coerce(el, array_, Array(strong(t), array_.type.size), span, "the elements")


def _reduce(args: Args) -> Value:
    op, ne, xs = args.take("op", "ne", "xs")
    array_, neutral, inner = _elements(args, op, ne, xs)

    def one(v: list[Value]) -> Value:
        def make(lam: ir.Lam, start: ir.Expr, arr: ir.Expr, monoid: str | None, t: Type) -> ir.Expr:
            return ir.Reduce(lam, start, arr, monoid, type=t, span=args.span)

        return _with_operator(args, op, v[0], v[1], make)

    return lift(args.el, [array_, neutral], [inner + 1, inner], one, args.span, "reduce")


def _scan(args: Args) -> Value:
    op, ne, xs, exclusive = args.take("op", "ne", "xs", optional=("exclusive",))
    array_, neutral, inner = _elements(args, op, ne, xs)
    excl = exclusive is not None and getattr(getattr(exclusive, "expr", None), "value", None) is True
    return _scan_value(args, op, array_, neutral, inner, excl)


def _scan_value(args: Args, op: Any, array_: Value, neutral: Value, inner: int, exclusive: bool) -> Value:
    def one(v: list[Value]) -> Value:
        assert isinstance(v[0].type, Array)
        size = v[0].type.size

        def make(lam: ir.Lam, start: ir.Expr, arr: ir.Expr, monoid: str | None, t: Type) -> ir.Expr:
            return ir.Scan(lam, start, arr, exclusive, monoid, type=Array(t, size), span=args.span)

        result = _with_operator(args, op, v[0], v[1], make)
        return Value(result.expr, result.expr.type)

    return lift(args.el, [array_, neutral], [inner + 1, inner], one, args.span, args.name)


def _cumulative(op: str, start: int) -> Any:
    def handler(args: Args) -> Value:
        (xs,) = args.take("xs")
        array_ = args.array(xs)
        array_ = _prepare(args.el, array_, "sum", args.span)
        return _scan_value(args, en.Builtin(op), array_, literal(start, args.span), 0, False)

    return handler


def _mean(args: Args) -> Value:
    xs, axis = args.take("xs", optional=("axis",))
    value = args.array(xs)

    def one(v: Value) -> Value:
        assert isinstance(v.type, Array)
        total = _reduce_known(args.el, _prepare(args.el, v, "sum", args.span), _KNOWN["sum"], args.span)
        return binary(args.el, "/", total, args.el.size_value(v.type.size, args.span), args.span)

    return over_axis(args, value, axis, one)


def _fold(args: Args) -> Value:
    """fold(f, init, xs): left to right, exact; the state may have another type than the elements."""
    el, span = args.el, args.span
    f, init, xs = args.take("f", "init", "xs")
    if not is_function(f):
        el.fail("E0247", span, name="fold", found=el.show(f.type) if isinstance(f, Value) else describe(f))
    start = args.el.bind(args.value(init))
    if isinstance(start.type, Array) and not isinstance(args.value(xs).type, Array):
        el.fail("E0238", span, name="fold", found=el.show(args.value(xs).type), help="the array comes last: fold(f, init, xs)")
    array_ = args.array(xs)
    it = over(el, array_)
    types = start.type

    t = decayed(types)
    for _ in range(4):
        saved = snapshot(el)
        el.level += 1
        state, index = Sym("state"), el.fresh_index("i", it.size)
        assert isinstance(index.expr, ir.Var)
        with el.block(), el.hypotheses(*el.index_facts(index, it.size)):
            held = Value(ir.Var(state, type=strong(t), span=span), t)
            result = args.value(apply(el, f, [held, it.element(el, index)], span))
            new = merge_state(el, t, result.type, "the state", span)
            if new == t:
                next_state = coerce(el, result, strong(t), span, "the state of fold")
                body = el.close(make_tuple([next_state], None, span).expr)
                el.level -= 1
                break
            el.frames.pop()
        restore(el, saved)
        t = new
    first = coerce(el, start, strong(t), span, "the first state of fold")
    assert isinstance(index.expr, ir.Var)
    out = ir.For(index.expr.sym, it.size, ((state, first.expr),), body, type=body.type, span=span)
    return project(el.bind(Value(out, Tuple((t,)))), 0)


HANDLERS = {
    **dict.fromkeys(("sum", "prod", "any", "all"), reduction),
    "reduce": _reduce,
    "scan": _scan,
    "fold": _fold,
    "cumsum": _cumulative("add", 0),
    "cumprod": _cumulative("mul", 1),
    "mean": _mean,
}

__all__ = ["F64", "HANDLERS", "OPERATORS", "Known", "known_operator", "need_nonempty", "operator_lambda", "over_axis", "positive", "reduction"]
