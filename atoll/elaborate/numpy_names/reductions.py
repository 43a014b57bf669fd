"""Reductions over all axes or the ones axis= names: np.sum, np.mean, x.max(), np.median, np.std and their relatives.

Each is a function of one axis; `Call.reduced` puts the axes together, lifts over the others and keeps axes of one for keepdims=True.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.elaborate.arithmetic import binary, nary_math
from atoll.elaborate.broadcasting import has_ones
from atoll.elaborate.builtins.reductions import need_nonempty
from atoll.elaborate.coerce import convert
from atoll.elaborate.entities import Value
from atoll.elaborate.numpy_names.call import Call
from atoll.sizes import poly
from atoll.types.dtypes import BOOL, DTYPES
from atoll.types.types import Array, rank


def _masked(c: Call, x: Value, where: Any, neutral: Value) -> Value:
    """x, with the neutral element where the mask is false."""
    mask = c.value(where)
    if c.dtype_of(mask) is not BOOL:
        c.wrong(mask, "bools in where=")
    return c.el.bind(c.builtin("where", mask, x, neutral))


def _typed(c: Call, x: Value, dtype: Any) -> Value:
    wanted = c.dtype(dtype)
    return x if wanted is None else c.convert(x, wanted)


def _computed_in(c: Call, x: Value, dtype: Any, least: str) -> Value:
    """x in the type dtype= names, where the result is of that type too; what cannot be computed in it is refused. `least`: "i" or "f"."""
    wanted = c.dtype(dtype)
    if wanted is BOOL or (wanted is not None and wanted.is_integer and least == "f"):
        c.refuse(f"dtype={wanted.name}", "leave dtype= out and convert the result: i64(...)" if wanted.is_integer else f"compare the result: {c.name}(x) != 0")
    return _typed(c, x, dtype)


def _given_in(c: Call, dtype: Any, result: Value) -> Value:
    """A result in the type dtype= names."""
    wanted = c.dtype(dtype)
    return result if wanted is None or c.dtype_of(result) is wanted else c.convert(c.el.bind(result), wanted)


def _whole(c: Call, x: Value) -> bool:
    """Whether the elements are integers or bools, of which none is NaN."""
    return c.dtype_of(x).is_integer or c.dtype_of(x) is BOOL


def _total(builtin: str, neutral: float, nan: bool = False) -> Callable[..., Any]:
    """sum and prod: in the type dtype= says, from initial=, of the elements where= counts; with `nan` NaN counts as the neutral element."""

    def handler(c: Call, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False, initial: Any = None, where: Any = None) -> Value:
        x = c.value(a)
        if nan and c.none(dtype) and c.none(initial) and c.none(where):
            return c.reduced(x, axis, keepdims, lambda v: c.library(f"statistics.nan_{builtin}", v))
        if nan and not _whole(c, x):
            x = c.el.bind(c.builtin("where", c.el.bind(c.builtin("isnan", x)), c.number(neutral, x), x))
        x = _typed(c, x, dtype)
        if c.dtype_of(x) is BOOL:
            x = c.convert(x, DTYPES["i64"])
        if not c.none(where):
            x = _masked(c, x, where, c.number(neutral, x))
        total = c.reduced(x, axis, keepdims, lambda v: c.builtin(builtin, v))
        wanted = c.dtype(dtype)
        total = convert(c.el, total, wanted, c.span) if wanted is not None and c.dtype_of(total) is not wanted else total
        if not c.none(initial):
            first = c.convert(c.value(initial), c.dtype_of(total))  # NumPy makes it one of the elements: 2 of 2.5 where they are integers
            total = binary(c.el, "+" if builtin == "sum" else "*", total, first, c.span)
        return total

    return handler


def _extreme(builtin: str) -> Callable[..., Any]:
    def handler(c: Call, a: Any, axis: Any = None, *, keepdims: Any = False, initial: Any = None, where: Any = None) -> Value:
        x = c.value(a)
        first = None if c.none(initial) else c.value(initial)
        if first is not None:  # NumPy makes it one of the elements
            first = c.el.bind(c.truth(first)) if c.dtype_of(x) is BOOL else c.convert(first, c.dtype_of(x))
        if not c.none(where):
            if first is None:
                c.refuse("where= without initial=", "say what the result is where nothing counts: initial=...")
            x = _masked(c, x, where, first)
        if first is None:
            return c.reduced(x, axis, keepdims, lambda v: c.builtin(builtin, v))
        least = c.reduced(x, axis, keepdims, lambda v: c.builtin(builtin, v, default=first))
        return nary_math(c.el, builtin, [least, first], c.span, c.name)

    return handler


def _logical(builtin: str) -> Callable[..., Any]:
    def handler(c: Call, a: Any, axis: Any = None, *, keepdims: Any = False, where: Any = None) -> Value:
        x = c.truth(a)
        if not c.none(where):
            x = _masked(c, x, where, c.number(builtin == "all", x))
        return c.reduced(x, axis, keepdims, lambda v: c.builtin(builtin, v))

    return handler


def _position(builtin: str) -> Callable[..., Any]:
    def handler(c: Call, a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
        return c.reduced(c.value(a), axis, keepdims, lambda v: c.builtin(builtin, v))

    return handler


def _mean(c: Call, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False, where: Any = None) -> Value:
    x = _summed(c, _computed_in(c, c.value(a), dtype, "f"))
    if not c.none(where):
        total = _total("sum", 0)(c, x, axis, keepdims=keepdims, where=where)
        return _given_in(c, dtype, binary(c.el, "/", total, _counted(c, x, where, axis, keepdims), c.span))
    return _given_in(c, dtype, c.reduced(x, axis, keepdims, lambda v: c.library("statistics.mean", v)))


def _summed(c: Call, x: Value) -> Value:
    """x, of which a mean is taken: a sum of unsigned integers is u64, which does not meet the number of elements."""
    return c.convert(x, DTYPES["f64"]) if c.dtype_of(x).kind == "u" else x


def _counted(c: Call, x: Value, where: Any, axis: Any, keepdims: Any) -> Value:
    """How many elements where= counts."""
    counted = c.builtin("where", c.value(where), c.filled(c.shape(x), c.number(1, DTYPES["i64"])), c.number(0, DTYPES["i64"]))
    return c.el.bind(c.reduced(c.el.bind(counted), axis, keepdims, lambda v: c.builtin("sum", v)))


def _spread(function: str, nan: bool = False) -> Callable[..., Any]:
    def handler(
        c: Call, a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False, where: Any = None, correction: Any = None
    ) -> Value:
        x = c.floats(_computed_in(c, c.value(a), dtype, "f"))
        less = c.value(ddof if c.none(correction) else correction)
        if not c.none(where):
            mask = c.op("&", c.value(where), c.op("==", x, x)) if nan else where
            return _given_in(c, dtype, _masked_spread(c, function, x, less, (axis, keepdims, mask)))
        kind = ("complex_" if c.dtype_of(x).is_complex else "") + ("nan_" if nan else "")
        return _given_in(c, dtype, c.reduced(x, axis, keepdims, lambda v: c.library(f"statistics.{kind}{function}", v, less)))

    return handler


def _masked_spread(c: Call, function: str, x: Value, less: Value, over: tuple[Any, Any, Any]) -> Value:
    """The variance, or deviation, of the elements where= counts."""
    axis, keepdims, where = over
    if c.dtype_of(x).is_complex:
        c.refuse("where= of complex numbers", f"select them before: {c.name}(x[mask])")
    away = c.op("-", x, _mean(c, x, axis, keepdims=True, where=where))
    squares = c.el.bind(_total("sum", 0)(c, c.op("*", away, away), axis, keepdims=keepdims, where=where))
    found: Value = c.library(f"statistics.{function}_of_total", squares, _counted(c, x, where, axis, keepdims), less)
    return found


def _plain(function: str, floats: bool = False) -> Callable[..., Any]:
    """A function of one axis of the library, with axis= and keepdims= only."""

    def handler(c: Call, a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
        x = c.value(a)
        return c.reduced(c.floats(x) if floats else x, axis, keepdims, lambda v: c.library(f"statistics.{function}", v))

    return handler


def _nan_mean(c: Call, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Value:
    x = _summed(c, _computed_in(c, c.value(a), dtype, "f"))
    return _given_in(c, dtype, c.reduced(x, axis, keepdims, lambda v: c.library("statistics.nan_mean", v)))


_METHODS = {"linear": 0, "lower": 1, "higher": 2, "nearest": 3, "midpoint": 4, "hazen": 5, "weibull": 6, "median_unbiased": 7, "normal_unbiased": 8, "interpolated_inverted_cdf": 9}


def _quantile(percent: bool, nan: bool = False) -> Callable[..., Any]:
    def handler(c: Call, a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False) -> Value:
        x = c.floats(c.value(a))
        kept = c.dtype_of(x)
        x = c.convert(x, DTYPES["f64"])
        name = c.text(method, "method")
        if name not in _METHODS:
            c.refuse(f'method="{name}"', f"choose one of {', '.join(_METHODS)}")
        given = c.value(q)
        short = not c.is_weak(given) and c.dtype_of(given) is kept
        at = c.convert(given, DTYPES["f64"])
        most = 100 if percent else 1
        at = c.library("statistics.share", at, c.number(most, at))
        if percent:
            at = c.op("/", at, c.number(100, at))
        function = "statistics.nan_quantile" if nan else "statistics.quantile"
        found = c.rows(at, lambda one: c.reduced(x, axis, keepdims, lambda v: c.library(function, v, one, _METHODS[name])), rank(at.type))
        return c.convert(found, kept) if rank(at.type) == 0 or short else found

    return handler


def _average(c: Call, a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False) -> Value:
    x = c.value(a)
    if not c.none(weights) and (c.dtype_of(x).is_float or c.dtype_of(c.array(weights)).is_float):
        x, weights = c.promoted([x, c.array(weights)])
    if c.flag(returned, "returned"):
        return c.tuple([c.el.bind(_average(c, x, axis, weights, keepdims=keepdims)), c.el.bind(_weight(c, x, axis, weights, keepdims))])
    if c.none(weights):
        return _mean(c, x, axis, keepdims=keepdims)
    w = c.array(weights)
    if rank(w.type) == 1 and rank(x.type) > 1:
        if c.none(axis):
            c.refuse("weights of another shape without axis=", "say along which axis the weights go: axis=0")
        k = c.axis(axis, rank(x.type))
        return c.reduced(x, axis, keepdims, lambda v: c.library("statistics.weighted_mean", v, w)) if k >= 0 else x
    if rank(w.type) != rank(x.type):
        c.wrong(w, "weights of the shape of the array, or one for each place along the axis")
    total = _total("sum", 0)(c, c.op("*", x, w), axis, keepdims=keepdims)
    found: Value = c.library("statistics.by_weight", c.el.bind(total), c.el.bind(_total("sum", 0)(c, w, axis, keepdims=keepdims)))
    return found


def _weight(c: Call, x: Value, axis: Any, weights: Any, keepdims: Any) -> Value:
    """The sum of the weights for every place of the result, in its type."""
    ones = c.filled(c.shape(x), c.number(1, c.floats(x)))
    w = c.floats(c.array(weights)) if not c.none(weights) else None
    if w is not None and rank(w.type) == rank(x.type):
        found: Value = _total("sum", 0)(c, w, axis, keepdims=keepdims)
        return found
    return c.reduced(c.el.bind(ones), axis, keepdims, lambda v: c.builtin("sum", v if w is None else c.op("*", v, w)))


def _count_nonzero(c: Call, a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    return c.reduced(c.truth(a), axis, keepdims, lambda v: c.builtin("sum", v))


def _ptp(c: Call, a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    x = c.value(a)
    return c.reduced(x, axis, keepdims, lambda v: binary(c.el, "-", c.builtin("max", v), c.builtin("min", v), c.span))


def _cumulative(builtin: str) -> Callable[..., Any]:
    def handler(c: Call, a: Any, axis: Any = None, dtype: Any = None) -> Value:
        x = _computed_in(c, c.value(a), dtype, "i")
        return _given_in(c, dtype, c.along(x, axis, lambda v: c.builtin(builtin, v), flat=True))

    return handler


def _cumulative_2024(builtin: str, neutral: int) -> Callable[..., Any]:
    """np.cumulative_sum, np.cumulative_prod: of one axis, which arrays of several must name."""

    def handler(c: Call, x: Any, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Value:
        value = _computed_in(c, c.array(x), dtype, "i")
        if c.none(axis) and rank(value.type) > 1:
            c.refuse("an array of several axes without axis=", "name the axis: axis=0")

        def one(v: Value) -> Value:
            found = c.el.bind(c.builtin(builtin, v))
            first = c.el.bind(c.filled([poly(1)], c.number(neutral, c.dtype_of(found))))
            return c.builtin("concat", first, found) if c.flag(include_initial, "include_initial") else found

        return _given_in(c, dtype, c.along(value, 0 if c.none(axis) else axis, one))

    return handler


def _running(function: str) -> Callable[..., Any]:
    def handler(c: Call, a: Any, axis: Any = None) -> Value:
        return c.along(c.value(a), axis, lambda v: c.library(f"statistics.{function}", v), flat=True)

    return handler


def _covariance(c: Call, m: Any, y: Any, rowvar: Any) -> Value:
    """The rows whose covariances are asked for."""
    x = c.wide(c.floats(c.array(m)))
    if rank(x.type) > 2:
        c.wrong(x, "one or two axes")
    if rank(x.type) == 2 and not c.flag(rowvar, "rowvar"):
        x = c.moved(x, [1, 0])
    rows = x if rank(x.type) == 2 else c.new_axis(x, 0)
    if not c.none(y):
        other = c.wide(c.floats(c.array(y)))
        if rank(other.type) == 2 and not c.flag(rowvar, "rowvar"):
            other = c.moved(other, [1, 0])
        rows = c.builtin("concat", rows, other if rank(other.type) == 2 else c.new_axis(other, 0))
    return c.el.bind(rows)


def _cov(c: Call, m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None) -> Value:
    rows = _covariance(c, m, y, rowvar)
    less: Any = ddof if not c.none(ddof) else 0 if c.flag(bias, "bias") else 1
    kind = "complex_covariance" if c.dtype_of(rows).is_complex else "covariance"
    result = c.library(f"statistics.{kind}", rows, less)
    return _one_or_many(c, result, rows, m, y)


def _one_or_many(c: Call, result: Value, rows: Value, m: Any, y: Any) -> Value:
    """Of one variable a number."""
    if _is_one(c, m, y):
        return c.at(c.el.bind(c.at(c.el.bind(result), 0)), 0)
    c.not_one(c.shape(rows)[0], "give one variable as an array with one axis: x[0]")
    return result


def _is_one(c: Call, m: Any, y: Any) -> bool:
    return c.none(y) and rank(c.array(m).type) == 1


def _corrcoef(c: Call, x: Any, y: Any = None, rowvar: Any = True) -> Value:
    rows = _covariance(c, x, y, rowvar)
    if c.dtype_of(rows).is_complex:
        c.wrong(rows, "real numbers")
    return _one_or_many(c, c.library("statistics.correlation", rows), rows, x, y)


WORDS: dict[str, Callable[..., Any]] = {
    "sum": _total("sum", 0),
    "prod": _total("prod", 1),
    **dict.fromkeys(("max", "amax"), _extreme("max")),
    **dict.fromkeys(("min", "amin"), _extreme("min")),
    "any": _logical("any"),
    "all": _logical("all"),
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
    "mean": _mean,
    "var": _spread("variance"),
    "std": _spread("deviation"),
    "median": _plain("median", floats=True),
    "ptp": _ptp,
    "average": _average,
    "count_nonzero": _count_nonzero,
    "percentile": _quantile(True),
    "quantile": _quantile(False),
    "nanpercentile": _quantile(True, nan=True),
    "nanquantile": _quantile(False, nan=True),
    **{f"nan{name}": _plain(f"nan_{name}") for name in ("max", "min", "median", "argmax", "argmin")},
    "nansum": _total("sum", 0, nan=True),
    "nanprod": _total("prod", 1, nan=True),
    "nanmean": _nan_mean,
    "nanvar": _spread("variance", nan=True),
    "nanstd": _spread("deviation", nan=True),
    "cumsum": _cumulative("cumsum"),
    "cumulative_sum": _cumulative_2024("cumsum", 0),
    "cumulative_prod": _cumulative_2024("cumprod", 1),
    "cumprod": _cumulative("cumprod"),
    "nancumsum": _running("nan_cumsum"),
    "nancumprod": _running("nan_cumprod"),
    "cov": _cov,
    "corrcoef": _corrcoef,
}

__all__ = ["WORDS", "Array", "has_ones", "need_nonempty"]
