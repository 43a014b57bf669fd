"""Fixed-point numbers: what their operations mean, and the loops for them.

q<<i, f>> has i + f bits (8, 16 or 32), f of them behind the point and one for the sign; uq<<i, f>> has no sign. A value is its bits divided by 2**f. There is one rule: the exact
result is rounded to the nearest number of the type, halves upwards, and what is too large or too small becomes the largest or the smallest one. So q<<16, 0>> is
a saturating i16. Division by zero gives 0, as everywhere in MADL; NaN becomes the smallest number. A conversion to an integer type cuts off what is behind
the point, as it does for floats, and saturates.

The meanings here are computed with fractions; the C (fixed_support.py) with integers. tests/madl/test_fixed.py holds them against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from atoll.errors import Span, fail
from atoll.loops import ir as lp
from atoll.madl import helps
from atoll.madl.represented import Fixed
from atoll.madl.scalars import CONVERSIONS, SYMBOLS
from atoll.types.dtypes import BOOL, DTYPES, I64, DType
from atoll.types.types import Scalar, Type

_EXACT: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b if b else Fraction(0),
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
}
_COMPARE: dict[str, Callable[..., Any]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
OPERATIONS = frozenset([*_EXACT, *_COMPARE, "select"])
"""What can be done with fixed-point numbers besides converting them."""


def is_fixed(*types: Type) -> bool:
    return any(isinstance(t, Fixed) for t in types)


def saturated(value: int, dtype: DType) -> int:
    low, high = dtype.limits()
    return max(low, min(high, value))


def represent(value: Any, t: Fixed) -> int:
    """The bits of the number of a type that is nearest to a value."""
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        low, high = t.dtype.limits()
        return high if value > 0 else low
    exact = Fraction(value) if not isinstance(value, np.generic) else Fraction(value.item())
    return saturated(math.floor(exact * 2**t.fraction + Fraction(1, 2)), t.dtype)


def represents(value: int | float | bool, t: Fixed) -> bool:
    """Whether a number of the text lies in the range of a type."""
    if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        return False
    low, high = t.dtype.limits()
    return bool(low <= math.floor(Fraction(value) * 2**t.fraction + Fraction(1, 2)) <= high)


def exact(raw: Any, t: Type) -> Any:
    """The value of an operand: a fraction where it is a fixed-point number or an integer."""
    if isinstance(t, Fixed):
        return Fraction(int(raw), 2**t.fraction)
    return raw if isinstance(raw, np.floating) else Fraction(int(raw))


def apply(op: str, args: list[Any], types: list[Type], result: Type) -> Any:
    """The value of an operation of which an operand or the result is a fixed-point number."""
    if op == "select":
        return args[1] if args[0] else args[2]
    if op in ("q", "uq"):
        assert isinstance(result, Fixed)
        return result.dtype.numpy.type(represent(exact(args[0], types[0]), result))
    if op in CONVERSIONS:
        return _converted(exact(args[0], types[0]), DTYPES[CONVERSIONS[op]])
    values = [exact(a, t) for a, t in zip(args, types, strict=True)]
    if op in _COMPARE:
        return np.bool_(_COMPARE[op](*values))
    assert isinstance(result, Fixed)
    return result.dtype.numpy.type(represent(_EXACT[op](*values), result))


def _converted(value: Fraction, dtype: DType) -> Any:
    if dtype.kind == "b":
        return np.bool_(value != 0)
    if dtype.is_float:
        return dtype.numpy.type(_to_float(value, dtype))
    return dtype.numpy.type(saturated(math.trunc(value), dtype))


def _to_float(value: Fraction, dtype: DType) -> float:
    """The bits as a float, then the point moved: one rounding, which only f32 needs."""
    return float(dtype.numpy.type(value.numerator)) / value.denominator


# -- loops


def check(op: str, span: Span, t: Type, where: str) -> None:
    if op not in OPERATIONS and op not in CONVERSIONS and op not in ("q", "uq"):
        fail("E0915", span, op=SYMBOLS.get(op, op), shown=repr(t), help=helps.family("", t), where=where)


def lower(op: str, args: tuple[lp.Expr, ...], types: list[Type], result: Type) -> lp.Expr:
    """The same as loops: calls of the functions in fixed_support.py."""
    dtype = result.dtype if isinstance(result, Scalar) else args[0].dtype
    if op in _COMPARE:
        return lp.Call(op, args, BOOL)
    if op in ("select", "min", "max"):
        return lp.Call(op, args, args[-1].dtype)
    if op in ("q", "uq"):
        assert isinstance(result, Fixed)
        return _to_fixed(args[0], types[0], result)
    if op in CONVERSIONS:
        source = types[0]
        assert isinstance(source, Fixed)
        return _from_fixed(args[0], source, DTYPES[CONVERSIONS[op]])
    fraction = (lp.Const(result.fraction, DTYPES["u32"]),) if op in ("mul", "div") and isinstance(result, Fixed) else ()
    return lp.Call(f"madl_q{op}", (*args, *fraction), dtype)


def _to_fixed(arg: lp.Expr, source: Type, result: Fixed) -> lp.Expr:
    if source == result:
        return arg
    given = source.fraction if isinstance(source, Fixed) else 0
    if arg.dtype.is_float:
        return lp.Call(f"madl_qof_{arg.dtype.name}", (arg, lp.Const(float(2**result.fraction), arg.dtype)), result.dtype)
    if arg.dtype.kind == "b":
        arg = lp.Call("select", (arg, lp.Const(1, I64), lp.Const(0, I64)), I64)
    wide = lp.Call("madl_sat", (arg,), I64) if arg.dtype.name == "u64" else lp.Cast(arg, I64)
    return lp.Call("madl_qmove", (wide, lp.Const(given, DTYPES["u32"]), lp.Const(result.fraction, DTYPES["u32"])), result.dtype)


def _from_fixed(arg: lp.Expr, source: Fixed, target: DType) -> lp.Expr:
    if target.kind == "b":
        return lp.Cast(arg, BOOL)
    if target.is_float:
        return lp.Call("mul", (lp.Cast(arg, target), lp.Const(2.0**-source.fraction, target)), target)
    return lp.Call("madl_qcut", (lp.Cast(arg, I64), lp.Const(source.fraction, DTYPES["u32"])), target)
