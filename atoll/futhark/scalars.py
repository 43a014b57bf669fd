"""Scalar operators and the functions of the modules of numbers, as core primitives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from atoll.core import ir
from atoll.futhark.bits import float_bits, integer_bits
from atoll.futhark.build import Build
from atoll.futhark.env import feature
from atoll.futhark.values import Code
from atoll.types.dtypes import DTYPES
from atoll.types.types import BOOL_T, SCALARS, Scalar

E = ir.Expr
_PLAIN = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "**": "pow"}
_COMPARE = {"<": "lt", ">": "gt", "<=": "le", ">=": "ge", "==": "eq", "!=": "ne"}
MONOIDS = {"+": "add", "*": "mul", "min": "minimum", "max": "maximum", "&": "and", "|": "or", "^": "xor", "&&": "and", "||": "or"}


def dtype(e: E) -> Any:
    t = e.type
    assert isinstance(t, Scalar), t
    return t.dtype


def binary(b: Build, op: str, x: E, y: E) -> Code:
    """x op y on numbers of one type."""
    d = dtype(x)
    if op in _PLAIN:
        return b.prim(_PLAIN[op], x, y)
    if op in _COMPARE:
        return b.prim(_COMPARE[op], x, y, bool_=True)
    if op in ("/", "//") and d.is_float:
        return b.prim("div", x, y)
    if op == "/":
        return b.prim("floordiv", x, y)
    if op == "%":
        return b.prim("fmod" if d.is_float else "mod", x, y)
    if op in ("//", "%%"):
        if d.kind == "u":
            return b.prim("floordiv" if op == "//" else "mod", x, y)
        x, y = b.name(x), b.name(y)
        rest = b.name(b.prim("mod", x, y).e)
        zero = ir.Lit(0, type=x.type)
        one = ir.Lit(1, type=x.type)
        differ = b.prim("ne", b.prim("lt", x, zero, bool_=True).e, b.prim("lt", y, zero, bool_=True).e, bool_=True)
        up = b.prim("and", differ.e, b.prim("ne", rest, zero, bool_=True).e)
        if op == "//":
            low = b.prim("floordiv", x, y).e
            return b.prim("select", up.e, b.prim("add", low, one).e, low)
        return b.prim("select", up.e, b.prim("sub", rest, y).e, rest)
    if op == "<<":
        return b.prim("shl", x, y)
    if op == ">>":
        return b.prim("shr", x, y)
    if op == ">>>":
        if d.kind == "u":
            return b.prim("shr", x, y)
        wide = f"u{d.bits}"
        return Code(b.cast(b.prim("shr", b.cast(x, wide), b.cast(y, wide)).e, d.name))
    raise AssertionError(op)


def negated(b: Build, x: E) -> Code:
    if isinstance(x, ir.Lit) and not isinstance(x.value, bool):
        d = dtype(x)
        return Code(ir.Lit(-x.value if d.kind != "u" or x.value == 0 else 2**d.bits - int(x.value.real), type=x.type))
    return b.prim("neg", x)


def convert(b: Build, x: E, to: str) -> E:
    """Futhark's conversions never fail: a float loses its fraction and wraps; what is infinite or not a number is 0, what fits in no word is clamped."""
    d = dtype(x)
    if d.is_float and to[0] in "iu":
        low, high = DTYPES[to].limits()
        x = b.name(x)
        via = "u64" if to == "u64" else "i64"
        zero = ir.Lit(0.0, type=x.type)

        def within(least: float, most: float) -> E:
            above = b.prim("ge", x, ir.Lit(least, type=x.type), bool_=True).e
            return b.prim("and", above, b.prim("lt", x, ir.Lit(most, type=x.type), bool_=True).e).e

        signed = b.cast(b.cast(b.prim("select", within(-(2.0**63), 2.0**63), x, zero).e, "i64"), to)
        if via == "u64":  # the upper half is no i64
            upper = b.cast(b.prim("select", within(2.0**63, 2.0**64), x, zero).e, "u64")
            signed = b.prim("select", within(2.0**63, 2.0**64), upper, signed).e
        endless = b.prim("isinf", x, bool_=True).e
        over = b.prim("ge", x, ir.Lit(2.0**64 if via == "u64" else 2.0**63, type=x.type), bool_=True).e
        under = b.prim("lt", x, ir.Lit(-(2.0**63), type=x.type), bool_=True).e
        clamped = b.prim("select", over, ir.Lit(high, type=SCALARS[to]), b.prim("select", under, ir.Lit(low, type=SCALARS[to]), signed).e).e
        return b.prim("select", endless, ir.Lit(0, type=SCALARS[to]), clamped).e
    if d.kind == "i" and to[0] == "u" and int(to[1:]) > d.bits:  # filled with zeros
        return b.cast(b.cast(x, f"u{d.bits}"), to)
    return b.cast(x, to)


_UNARY = {
    "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "gamma": "tgamma", "lgamma": "lgamma",
    "erf": "erf", "erfc": "erfc", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "ceil": "ceil", "floor": "floor", "trunc": "trunc",
    "round": "round", "abs": "abs", "sgn": "sign",
}  # fmt: skip
_PI = {"sinpi": "sin", "cospi": "cos", "tanpi": "tan"}
_OVER_PI = {"asinpi": "arcsin", "acospi": "arccos", "atanpi": "arctan"}


def constant(name: str, t: str) -> Any:
    """A constant of a module, or None."""
    import numpy as np

    if t == "f16":
        found = {"highest": math.inf, "lowest": -math.inf, "inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e, "epsilon": 2.0**-10}.get(name)
        return None if found is None else rounded(found)
    d = DTYPES.get(t)
    if d is None:
        return None
    if d.is_float:
        info = np.finfo(d.numpy)
        return {"highest": math.inf, "lowest": -math.inf, "inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e, "epsilon": float(info.eps)}.get(name)
    low, high = d.limits() if d.is_integer else (0, 0)
    return {"highest": high, "lowest": low}.get(name)


def rounded(x: float) -> float:
    import numpy as np

    with np.errstate(all="ignore"):
        return float(np.float16(x))


def rounded_code(b: Build, v: Code) -> Code:
    return b.prim("rounded_f16", v.e)


def arity(name: str) -> int:
    """How many arguments a function of a scalar module takes; 0 for a constant."""
    if name in ("highest", "lowest", "inf", "nan", "pi", "e", "epsilon", "num_bits"):
        return 0
    if name in ("mad", "fma", "lerp", "set_bit", "mad_hi"):
        return 3
    two = {*_PLAIN, *_COMPARE, "/", "%", "//", "%%", "<<", ">>", ">>>", "max", "min", "atan2", "atan2pi", "hypot", "from_fraction", "get_bit", "mul_hi", "nextafter", "ldexp", "copysign", "replicate"}
    return 2 if name in two else 1


def call(b: Build, module: str, name: str, args: list[E]) -> Code:
    """module.name on numbers."""
    if module == "f16":
        if not args and constant(name, "f16") is not None:
            return b.lit(constant(name, "f16"), "f32")
        if name == "num_bits":
            return b.lit(16, "i32")
        if name in ("to_bits", "from_bits", "get_bit", "set_bit", "nextafter"):
            return float_bits(b, module, name, args)
        made = call(b, "f32", "f32" if name == "f16" else name, args)
        return rounded_code(b, made) if made.e.type == SCALARS["f32"] else made
    if name in SCALARS and name not in ("c64", "c128"):
        return Code(convert(b, args[0], module))
    if len(args) == 2 and (name in _PLAIN or name in _COMPARE or name in ("/", "%", "//", "%%", "<<", ">>", ">>>")):
        return binary(b, name, *args)
    t = SCALARS[module]
    d = t.dtype

    def real(x: float) -> E:
        return ir.Lit(x, type=t)

    if name == "num_bits":
        return b.lit(d.bits, "i32")
    if not args:
        return Code(ir.Lit(constant(name, module), type=t))
    x = args[0]
    if name in ("max", "min"):
        if not d.is_float:
            return b.prim(name, *args)
        x, y = b.name(args[0]), b.name(args[1])  # what is not a number loses
        other = b.prim("select", b.prim("isnan", y, bool_=True).e, x, b.prim(name, x, y).e).e
        return b.prim("select", b.prim("isnan", x, bool_=True).e, y, other)
    if name == "neg":
        return negated(b, x)
    if name == "to_i64":
        return Code(convert(b, x, "i64"))
    if name == "to_f64":
        return Code(convert(b, x, "f64"))
    if name in ("abs", "sgn") and d.kind == "u":
        return Code(x) if name == "abs" else Code(b.cast(b.prim("ne", x, ir.Lit(0, type=t), bool_=True).e, module))
    if name in _UNARY:
        return b.prim(_UNARY[name], x)
    if name == "not":
        return b.prim("not", x)
    if name == "recip":
        return b.prim("div", real(1.0), x)
    if name == "rsqrt":
        return b.prim("div", real(1.0), b.prim("sqrt", x).e)
    if name in _PI:
        return b.prim(_PI[name], b.prim("mul", x, real(math.pi)).e)
    if name in _OVER_PI:
        return b.prim("div", b.prim(_OVER_PI[name], x).e, real(math.pi))
    if name in ("atan2", "hypot", "copysign"):
        return b.prim({"atan2": "arctan2"}.get(name, name), *args)
    if name == "atan2pi":
        return b.prim("div", b.prim("arctan2", *args).e, real(math.pi))
    if name in ("isinf", "isnan"):
        return b.prim(name, x, bool_=True)
    if name == "from_fraction":
        return b.prim("div", convert(b, args[0], module), convert(b, args[1], module))
    if name == "lerp":
        low, high, at = (b.name(a) for a in args)
        inside = b.prim("max", real(0.0), b.prim("min", real(1.0), at).e).e
        return b.prim("add", low, b.prim("mul", b.prim("sub", high, low).e, inside).e)
    if name in ("mad", "fma"):
        return b.prim("fma", *args) if name == "fma" else b.prim("add", b.prim("mul", args[0], args[1]).e, args[2])
    if name == "ldexp":
        return b.prim("mul", x, b.prim("exp2", convert(b, args[1], module)).e)
    if name in ("to_bits", "from_bits", "get_bit", "set_bit", "nextafter") and d.is_float:
        return float_bits(b, module, name, args)
    if d.is_integer:
        found = integer_bits(b, module, name, args)
        if found is not None:
            return found
    feature(b.span, f"the function {module}.{name}")


Emitter = Callable[..., Code]
__all__ = ["BOOL_T", "MONOIDS", "arity", "binary", "call", "constant", "convert", "negated"]
