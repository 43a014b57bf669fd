"""Which function elaborates which built-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import binary, cast_call, nary_math, unary_math
from atoll.elaborate.builtins import (
    contract,
    create,
    derive,
    extremes,
    iterate,
    random,
    reductions,
    reshape,
    scatter,
    select,
    sorting,
    structure,
    trees,
    vmap,
)
from atoll.elaborate.builtins.names import OPERATORS, SCALAR_NARY, SCALAR_UNARY
from atoll.elaborate.calls import Args, apply
from atoll.elaborate.entities import TypeRef
from atoll.types.dtypes import F64
from atoll.types.types import SCALARS, Index, Scalar, shape_of

Handler = Callable[[Args], Any]


def _numpys(args: Args, given: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The function of this name as NumPy means it."""
    from atoll.elaborate.numpy_names.table import apply_word

    return apply_word(args.el, en.Word(args.name, args.name), given, keywords, args.span)


def _unary(args: Args) -> Any:
    if args.name == "round" and len(args.args) + len(args.keywords) == 2:  # to a number of decimals
        x, decimals = args.take("x", "ndigits")
        return _numpys(args, (x, decimals), {})
    (x,) = args.take("x")
    value = args.value(x)
    name = SCALAR_UNARY[args.name]
    if name in ("floor", "ceil", "round", "trunc", "conj", "real") and _is_integer(value):
        return value
    if name in ("isnan", "isinf", "isfinite") and _is_integer(value):
        return unary_math(args.el, name, cast_call(args.el, F64, value, args.span), args.span, args.name)
    return unary_math(args.el, name, value, args.span, args.name)


def _is_integer(value: Any) -> bool:
    _, elem = shape_of(value.type)
    return isinstance(elem, Index) or (isinstance(elem, Scalar) and elem.dtype.kind in "biu")


def _nary(args: Args) -> Any:
    prim, arity = SCALAR_NARY[args.name]
    values = [args.value(x) for x in args.take(*[f"x{k + 1}" for k in range(arity)])]
    return nary_math(args.el, prim, list(values), args.span, args.name)


def _operator(args: Args) -> Any:
    a, b = args.take("a", "b")
    return binary(args.el, OPERATORS[args.name], args.value(a), args.value(b), args.span)


def _cast(args: Args) -> Any:
    target = {"int": "i64", "float": "f64", "bool": "bool", "complex": "c128"}[args.name]
    return apply(args.el, TypeRef(SCALARS[target]), args.args, args.span, args.keywords)


_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(SCALAR_UNARY, _unary),
    **dict.fromkeys(SCALAR_NARY, _nary),
    **dict.fromkeys(OPERATORS, _operator),
    **dict.fromkeys(("int", "float", "bool", "complex"), _cast),
    **contract.HANDLERS,
    **create.HANDLERS,
    **derive.HANDLERS,
    **extremes.HANDLERS,
    **iterate.HANDLERS,
    **random.HANDLERS,
    **reductions.HANDLERS,
    **reshape.HANDLERS,
    **scatter.HANDLERS,
    **select.HANDLERS,
    **sorting.HANDLERS,
    **structure.HANDLERS,
    **trees.HANDLERS,
    **vmap.HANDLERS,
}


_ALONG = ("sort", "argsort", "cumsum", "cumprod")  # of the last axis, lifted; with axis= they are what NumPy's are


def apply_builtin(args: Args) -> Any:
    """The application of a built-in name."""
    if args.name in _ALONG and "axis" in args.keywords:
        return _numpys(args, args.args, args.keywords)
    return _HANDLERS[args.name](args)
