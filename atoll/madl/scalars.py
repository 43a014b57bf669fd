"""Scalar operations as a table: what they take, what they give, what they mean.

    family    any, number (int, float or fixed point), real (float or fixed point), integer, float, bool: what the operands may be; all have one type unless said otherwise
    gives     same, bool, or the name of a type
    prim      the primitive of core/prims.py that has this meaning, where there is one; `means` otherwise

The meanings are those of core/prims.py, as everywhere in Atoll: integers wrap around, `/` and `%` of integers are floor division and its remainder (`//` and `%` of
a function), shifts by the width or more give 0 (or -1). Where a function would stop with an error, code made from MADL goes on, because it has no way to fail:
an integer divided by zero is 0, a shift by a negative number is 0, a float that is no integer converts to the nearest one there is. C's own
division, which truncates, is `quot` and `rem`. The square root of a negative integer is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.core.meanings import DivisionByZero, NegativeShift
from atoll.core.prims import PRIMS
from atoll.types.dtypes import DType


@dataclass(frozen=True, slots=True)
class ScalarOp:
    name: str
    arity: int
    family: str
    gives: str = "same"
    prim: str | None = None  # on every operand type
    float_prim: str | None = None  # on floats only; `means` covers integers
    int_prim: str | None = None  # on integers, where it is total; the C of it is
    means: Callable[..., Any] | None = None
    sizes: int = 0  # how many <<..>> it takes


def _wrapped(value: int, like: Any) -> Any:
    bits = like.dtype.itemsize * 8
    value &= (1 << bits) - 1
    if like.dtype.kind == "i" and value >> (bits - 1):
        value -= 1 << bits
    return like.dtype.type(value)


def _total(prim: str) -> Callable[..., Any]:
    """A primitive that gives 0 where it would fail."""

    def means(a: Any, b: Any) -> Any:
        try:
            return PRIMS[prim].means(a, b)
        except (DivisionByZero, NegativeShift):
            return a.dtype.type(0)

    return means


def _quot(a: Any, b: Any) -> Any:
    if b == 0:
        return a.dtype.type(0)
    quotient = abs(int(a)) // abs(int(b))
    return _wrapped(quotient if (a < 0) == (b < 0) else -quotient, a)


def _rem(a: Any, b: Any) -> Any:
    if b == 0:
        return a.dtype.type(0)
    return _wrapped(int(math.copysign(1, int(a))) * (abs(int(a)) % abs(int(b))), a)


def _isqrt(a: Any) -> Any:
    return a.dtype.type(math.isqrt(int(a)) if a > 0 else 0)


def clamp(value: int, size: int) -> int:
    """The index in 0..size-1 nearest to a number."""
    return max(0, min(value, size - 1))


def wrap(value: int, size: int) -> int:
    """The index a number has on a circle of `size`."""
    return value % size if size > 0 else 0


_ROWS = [
    *(ScalarOp(name, 2, "number", prim=name) for name in ("add", "sub", "mul", "min", "max")),
    ScalarOp("div", 2, "number", float_prim="div", int_prim="floordiv", means=_total("floordiv")),
    ScalarOp("mod", 2, "integer", int_prim="mod", means=_total("mod")),
    ScalarOp("quot", 2, "integer", means=_quot),
    ScalarOp("rem", 2, "integer", means=_rem),
    ScalarOp("neg", 1, "number", prim="neg"),
    ScalarOp("abs", 1, "number", prim="abs"),
    ScalarOp("sqrt", 1, "number", float_prim="sqrt", means=_isqrt),
    *(ScalarOp(name, 2, "number", gives="bool", prim=name) for name in ("lt", "le", "gt", "ge")),
    *(ScalarOp(name, 2, "scalar", gives="bool", prim=name) for name in ("eq", "ne")),
    *(ScalarOp(name, 2, "bool", prim=name) for name in ("and", "or")),
    ScalarOp("not", 1, "bool", prim="not"),
    ScalarOp("select", 3, "scalar", prim="select"),
    *(
        ScalarOp(name, 1, "float", prim=prim)
        for name, prim in (
            *((n, n) for n in "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh cbrt erf erfc floor ceil round trunc".split()),
            ("asin", "arcsin"),
            ("acos", "arccos"),
            ("atan", "arctan"),
            ("asinh", "arcsinh"),
            ("acosh", "arccosh"),
            ("atanh", "arctanh"),
        )
    ),
    ScalarOp("atan2", 2, "float", prim="arctan2"),
    ScalarOp("hypot", 2, "float", prim="hypot"),
    ScalarOp("pow", 2, "float", prim="pow"),
    ScalarOp("copysign", 2, "float", prim="copysign"),
    *(ScalarOp(name, 1, "float", gives="bool", prim=name) for name in ("isnan", "isfinite")),
    ScalarOp("sign", 1, "number", prim="sign"),
    ScalarOp("q", 1, "scalar", gives="fixed", sizes=2),
    ScalarOp("uq", 1, "scalar", gives="fixed", sizes=2),
    ScalarOp("clamp", 1, "integer", gives="idx", sizes=1),
    ScalarOp("wrap", 1, "integer", gives="idx", sizes=1),
    *(ScalarOp(f"bit_{name}", 2, "integer", prim=name) for name in ("and", "or", "xor")),
    ScalarOp("bit_not", 1, "integer", prim="not"),
    ScalarOp("shift_left", 2, "integer", int_prim="shl", means=_total("shl")),
    ScalarOp("shift_right", 2, "integer", int_prim="shr", means=_total("shr")),
    *(ScalarOp(name, 1, "scalar", gives=name) for name in "i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 int float bool".split()),
]

SCALAR_OPS = {row.name: row for row in _ROWS}
CONVERSIONS = {"int": "i32", "float": "f64", **{n: n for n in "i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool".split()}}
SHORT = {"clip": ("min", ("max", 0, 1), 2)}
"""Functions that are short for others: clip(x, low, high) is min(max(x, low), high)."""

FUNCTIONS = frozenset(SHORT) | frozenset(SCALAR_OPS) - frozenset("add sub mul div mod neg lt le gt ge eq ne and or not select".split())
"""Operations that are written as calls."""

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "neg": "-", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "eq": "==", "ne": "!=", "and": "&&", "or": "||", "not": "not", "select": "if",
    "bit_and": "&", "bit_or": "|", "bit_xor": "^", "bit_not": "~",
}  # fmt: skip


def convert(value: Any, dtype: DType) -> Any:
    """A conversion that always has a value: floats truncate and saturate, NaN is the least integer."""
    target = dtype.numpy
    if target.kind in "iu" and isinstance(value, np.floating):
        low, high = dtype.limits()
        if math.isnan(value):
            return target.type(low)
        return target.type(max(low, min(high, int(value))) if math.isfinite(value) else high if value > 0 else low)
    if target.kind in "iu":
        return _wrapped(int(value), target.type(0))
    if target.kind == "b":
        return target.type(value != 0)
    with np.errstate(all="ignore"):
        return target.type(value)


def apply(name: str, args: list[Any]) -> Any:
    """The value of an operation on NumPy scalars of one type."""
    row = SCALAR_OPS[name]
    with np.errstate(all="ignore"):
        if name == "select":
            return args[1] if args[0] else args[2]
        if row.prim is not None:
            return PRIMS[row.prim].means(*args)
        if row.float_prim is not None and isinstance(args[0], np.floating):
            return PRIMS[row.float_prim].means(*args)
    assert row.means is not None
    return row.means(*args)


def allowed(family: str, dtype: DType) -> bool:
    """True when a scalar type belongs to a family."""
    return {
        "any": True,
        "scalar": not dtype.is_complex,
        "number": dtype.is_real,
        "integer": dtype.is_integer,
        "real": dtype.is_float,  # and fixed-point numbers
        "float": dtype.is_float,
        "bool": dtype.kind == "b",
    }[family]
