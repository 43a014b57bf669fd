"""The methods of ufuncs: np.add.reduce, np.maximum.accumulate, np.multiply.outer, np.add.at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import negate
from atoll.elaborate.broadcasting import stretched
from atoll.elaborate.entities import Value
from atoll.elaborate.numpy_names.call import Call
from atoll.elaborate.numpy_names.places import ravel_multi_index
from atoll.elaborate.numpy_names.reductions import WORDS as reductions
from atoll.elaborate.numpy_names.shapes import reshaped
from atoll.types.dtypes import BOOL, DTYPES
from atoll.types.types import Tuple, rank

I64 = DTYPES["i64"]

REDUCE = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any"}
SCAN = {"add": "add", "multiply": "mul", "maximum": "maximum", "minimum": "minimum", "logical_and": "and_", "logical_or": "or_"}
PLACED = ("add", "subtract", "multiply", "maximum", "minimum")


def reduce(ufunc: str) -> Callable[..., Any]:
    """The reduction of that name, along the first axis unless axis= says otherwise."""
    word = reductions[REDUCE[ufunc]]

    def apply_to(c: Call, array: Any, **keywords: Any) -> Any:
        return word(Call(c.el, en.Word(c.name, REDUCE[ufunc]), c.span), array, **keywords)

    if ufunc in ("add", "multiply"):

        def total(c: Call, array: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False, initial: Any = None, where: Any = None) -> Any:
            return apply_to(c, array, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

        return total
    if ufunc in ("maximum", "minimum"):

        def extreme(c: Call, array: Any, axis: Any = 0, *, keepdims: Any = False, initial: Any = None, where: Any = None) -> Any:
            return apply_to(c, array, axis=axis, keepdims=keepdims, initial=initial, where=where)

        return extreme

    def truth(c: Call, array: Any, axis: Any = 0, *, keepdims: Any = False, where: Any = None) -> Any:
        return apply_to(c, array, axis=axis, keepdims=keepdims, where=where)

    return truth


def fold(ufunc: str) -> Callable[..., Any]:
    """np.bitwise_or.reduce, np.gcd.reduce: of integers, one after the other; of bools by their truth."""

    def handler(c: Call, array: Any, axis: Any = 0, *, keepdims: Any = False) -> Value:
        x = c.array(array)
        truths = c.dtype_of(x) is BOOL
        if truths and ufunc in ("bitwise_and", "bitwise_or"):
            return c.reduced(x, axis, keepdims, lambda v: c.builtin("all" if ufunc == "bitwise_and" else "any", v))
        if (truths and ufunc in ("gcd", "lcm")) or (ufunc != "logical_xor" and not truths and not c.dtype_of(x).is_integer):
            c.wrong(x, "integers")
        if ufunc == "logical_xor" or truths:
            return c.op("!=", c.reduced(c.convert(c.truth(x), I64), axis, keepdims, lambda v: c.library("mathematics.folded_xor", v)), 0)
        return c.reduced(c.plain(x), axis, keepdims, lambda v: c.library(f"mathematics.folded_{ufunc.removeprefix('bitwise_')}", v))

    return handler


def accumulate(ufunc: str) -> Callable[..., Any]:
    def handler(c: Call, array: Any, axis: Any = 0) -> Value:
        x = c.array(array)
        if ufunc in ("add", "multiply"):
            return c.along(x, axis, lambda v: c.builtin("cumsum" if ufunc == "add" else "cumprod", v))
        if ufunc.startswith("logical"):
            x = c.truth(x)
        return c.along(x, axis, lambda v: c.library(f"mathematics.running_{ufunc}", v))

    return handler


def outer(word: Callable[..., Any]) -> Callable[..., Any]:
    def handler(c: Call, A: Any, B: Any) -> Any:
        a, b = c.value(A), c.value(B)
        for _ in range(rank(b.type)):
            a = c.new_axis(a, rank(a.type))
        return word(c, a, b)

    return handler


def at(ufunc: str) -> Callable[..., Any]:
    """np.add.at(x, i, v): equal indices count as often as they occur. A tuple of index arrays, one for each axis, names elements."""

    def handler(c: Call, a: Any, indices: Any, b: Any) -> Value:
        x, value = c.array(a), c.value(b)
        if ufunc == "subtract":
            value = c.el.bind(negate(c.el, value, c.span))
        op = en.Builtin(SCAN["add" if ufunc == "subtract" else ufunc])
        parts = c.parts(indices) if isinstance(indices, en.TupleEntity) or (isinstance(indices, Value) and isinstance(indices.type, Tuple)) else None
        if parts is None:
            i = c.integers(indices)
        elif len(parts) == rank(x.type):
            i = c.el.bind(ravel_multi_index(c, indices, en.TupleEntity(tuple(c.count(size) for size in c.shape(x)))))
        else:
            c.refuse("indices of some of the axes", f"give {rank(x.type)} index arrays, one for each axis")
        along = rank(i.type) != 1
        if along and (parts is None and rank(x.type) > 1):
            c.refuse("indices that are not one array with one axis", "flatten the indices and the values first")
        if along and rank(value.type):
            value = c.flat(c.el.bind(stretched(c.el, value, c.shape(i), c.span)))
        flat = c.flat(x) if parts is not None else x
        found = c.builtin("scatter", flat, c.flat(i) if along else i, value, op=op)
        return reshaped(c, c.el.bind(found), c.shape(x)) if parts is not None else found

    return handler
