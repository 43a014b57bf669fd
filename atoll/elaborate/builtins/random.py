"""at.random in bodies: `at.random.normal(key, (n, m))` is a call of the Atoll function that makes such arrays (atoll/random.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import cast_call
from atoll.elaborate.builtins.create import shape_polys
from atoll.elaborate.calls import Args, apply
from atoll.elaborate.entities import Value
from atoll.elaborate.namespace import literal
from atoll.random import DISTRIBUTIONS, NAMES, Distribution, drawn, helper
from atoll.sizes import Poly
from atoll.types.dtypes import U64
from atoll.types.types import Array, Scalar, rank, shape_of


def _sizes(args: Args, shape: Any, default: tuple[Poly, ...]) -> list[Poly]:
    return list(default) if _left_out(shape) else shape_polys(args, shape)


def _left_out(entity: Any) -> bool:
    return entity is None or isinstance(entity, en.NoneEntity)


def _call(args: Args, fn: Any, key: Any, sizes: list[Poly], *more: Any) -> Value:
    axes = [args.el.size_value(size, args.span) for size in sizes]
    found: Value = apply(args.el, en.FnRef(fn), [args.value(key), *axes, *more], args.span)
    return found


def _draw(d: Distribution) -> Callable[[Args], Value]:
    names = [p for p, _ in d.params]

    def handler(args: Args) -> Value:
        key, shape, *given, dtype = args.take("key", optional=("shape", *names, "dtype"))
        params = []
        for (name, default), entity in zip(d.params, given, strict=True):
            if _left_out(entity) and default is None:
                args.el.fail("E0237", args.span, name=args.name, missing=name, help=f"write at.{args.name}(key, shape, {name}=...)")
            params.append(literal(default, args.span) if _left_out(entity) and default is not None else args.el.bind(args.value(entity)))
        widest = max(params, key=lambda p: rank(p.type))
        sizes = _sizes(args, shape, shape_of(widest.type)[0])
        single = isinstance(dtype, en.TypeRef) and isinstance(dtype.type, Scalar) and dtype.type.dtype.name == "f32"
        ranks = tuple(min(rank(p.type), len(sizes)) for p in params)
        return _call(args, drawn(d.name, len(sizes), ranks, "f32" if single and d.result == "f64" else "f64"), key, sizes, *params)

    return handler


def _key(args: Args) -> Value:
    (seed,) = args.take("seed")
    return cast_call(args.el, U64, args.value(seed), args.span)


def _split(args: Args) -> Value:
    key, n = args.take("key", optional=("n",))
    sizes = shape_polys(args, literal(2, args.span) if _left_out(n) else n)
    return _call(args, helper("split", len(sizes)), key, sizes)


def _fold_in(args: Args) -> Value:
    from atoll.std.random import fold_in

    key, data = args.take("key", "data")
    return _call(args, fold_in, key, [], args.value(data))


def _permutation(args: Args) -> Value:
    from atoll.std.random import shuffled

    key, x = args.take("key", "x")
    rows = args.value(x)
    if not isinstance(rows.type, Array):
        return _call(args, shuffled, key, [args.poly(rows, "a size")])
    count = rows.type.size
    return _picked(args, args.el.bind(rows), _call(args, shuffled, key, [count]))


def _picked(args: Args, rows: Value | None, places: Value) -> Value:
    found: Value = places if rows is None else apply(args.el, en.Builtin("gather"), [rows, places], args.span)
    return found


def _choice(args: Args) -> Value:
    from atoll.std.random import shuffled

    key, a, shape, replace, p = args.take("key", "a", optional=("shape", "replace", "p"))
    given = args.value(a)
    rows = args.el.bind(given) if isinstance(given.type, Array) else None
    count = rows.type.size if rows is not None and isinstance(rows.type, Array) else args.poly(given, "a size")
    sizes = _sizes(args, shape, ())
    again = True if replace is None else replace.expr.value if isinstance(replace, Value) and isinstance(replace.expr, ir.Lit) else None
    if again is None or (not again and (not _left_out(p) or len(sizes) != 1)):
        help_ = "replace is True or False, written out; without replacement there are one axis and no p"
        args.el.fail("E0610", args.span, name="at.random.choice", text="this way of choosing is not there", help=help_)
    if not again:
        order = args.el.bind(_call(args, shuffled, key, [count]))
        args.el.require(count - sizes[0], args.span.text() or "choice", args.span)
        taken = apply(args.el, en.Builtin("trunc_r"), [order, args.el.size_value(count - sizes[0], args.span)], args.span)
        return _picked(args, rows, args.value(taken))
    if not _left_out(p):
        weights = args.array(p)
        assert isinstance(weights.type, Array)
        return _picked(args, rows, _call(args, helper("weighted", len(sizes)), key, sizes, weights))
    low, high = literal(0, args.span), args.el.size_value(count, args.span)
    return _picked(args, rows, _call(args, drawn("integers", len(sizes), (0, 0)), key, sizes, low, high))


def _categorical(args: Args) -> Value:
    key, logits, shape = args.take("key", "logits", optional=("shape",))
    given = args.array(logits)
    axes = shape_of(given.type)[0][:-1]
    sizes = _sizes(args, shape, axes)
    return _call(args, helper("categorical", len(sizes), len(axes)), key, sizes, given)


_OTHERS: dict[str, Callable[[Args], Value]] = {
    "key": _key,
    "split": _split,
    "fold_in": _fold_in,
    "permutation": _permutation,
    "choice": _choice,
    "categorical": _categorical,
}
HANDLERS = {f"random.{name}": _OTHERS[name] if name in _OTHERS else _draw(DISTRIBUTIONS[name]) for name in NAMES}
