"""The scalar primitives as a table: one row says what a primitive takes, gives and means, how it is printed, what it costs and how it is derived. Stages look up their column.

    takes     the kinds of dtype the arguments may have, all alike: b(ool) i u f c
    gives     "same", "bool", "part" (the real type of a complex), "complex", "u" or "f" (an unsigned integer, a float of the same width)
    means     the value, on NumPy scalars of the argument type
    cost      about how many additions; quick: a cycle or so of a vector, worth computing twice
    sign      between two arguments, in what is printed; c, c_complex: the function of C's library (else backends/c/ops.py has a case, which a test looks for)
    vector    there is a vector version of it (backends/c/vector_math.py); portable: for these kinds there is a text of our own (bits="portable")
    slope     its partial derivatives (core/partials.py); holomorphic: they hold of complex numbers as they are, or are others
    ahead     of what takes complex numbers apart or makes them: the tangent of the result, of the arguments, the result and their tangents (None: 0)
    back      and the adjoint of each argument, of the arguments, the result and its adjoint
    steep     its value or slope may be infinite, or not a number, at finite arguments
    refused   why it has no derivative, in words

Conversions are not primitives (core `cast`), nor are `and`/`or` of conditions (core `if`, they are lazy).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.core import meanings, partials, special
from atoll.sizes.machine import rounds
from atoll.types.dtypes import BF16, BOOL, DTYPES, F16, DType


@dataclass(frozen=True, slots=True)
class Prim:
    name: str
    arity: int
    takes: str
    gives: str
    means: meanings.Meaning
    cost: int = 1
    can_fail: bool = False
    commutes: bool = False  # in value and derivative; min and max follow their first argument on a tie
    quick: bool = False
    steep: bool = False
    sign: str = ""
    c: str = ""
    c_complex: str = ""
    vector: bool = False
    portable: str = ""
    slope: partials.Rule | None = None
    holomorphic: bool | partials.Rule = False
    ahead: Callable[..., Any] | None = None
    back: partials.Rule | None = None
    refused: str = ""

    def accepts(self, dtype: DType) -> bool:
        """Whether arguments may be of this dtype."""
        return dtype.kind in self.takes and (self.gives != "f" or dtype.bits >= 32)

    def result(self, dtype: DType) -> DType:
        """The dtype of the result for arguments of this dtype."""
        if self.gives == "bool":
            return BOOL
        if self.gives == "part":
            return dtype.part()
        if self.gives == "complex":
            return dtype.complex_of()
        if self.gives in ("u", "f"):  # the same bits
            return DTYPES[f"{self.gives}{dtype.bits}"]
        return dtype

    def fails_on(self, dtype: DType) -> bool:
        """True when some arguments of this dtype make the primitive fail."""
        return self.can_fail and dtype.is_integer


# fmt: off
_ROWS: list[Prim] = [
    Prim(
        "add", 2, "iufc", "same", lambda a, b: a + b, commutes=True, quick=True, sign="+",
        slope=lambda c, a, b, y: (c.const(1.0), c.const(1.0)), holomorphic=True,
    ),
    Prim(
        "sub", 2, "iufc", "same", lambda a, b: a - b, quick=True, sign="-",
        slope=lambda c, a, b, y: (c.const(1.0), c.const(-1.0)), holomorphic=True,
    ),
    Prim(
        "mul", 2, "iufc", "same", lambda a, b: a * b, commutes=True, quick=True, sign="*", portable="c",
        slope=lambda c, a, b, y: (b, a), holomorphic=True,
    ),
    Prim(
        "div", 2, "fc", "same", lambda a, b: np.divide(a, b), cost=4, steep=True, sign="/", portable="c",
        slope=partials.quotient, holomorphic=True,
    ),
    Prim("floordiv", 2, "iuf", "same", meanings.floordiv, cost=8, can_fail=True, sign="//", slope=partials.flat),
    Prim(
        "mod", 2, "iuf", "same", meanings.mod, cost=8, can_fail=True, steep=True, sign="%",
        slope=lambda c, a, b, y: (c.const(1.0), c.op("neg", c.op("floor", partials.div(c, a, b)))),
    ),
    Prim(
        "neg", 1, "iufc", "same", lambda a: np.negative(a), quick=True,
        slope=lambda c, a, y: (c.const(-1.0),), holomorphic=True,
    ),
    Prim(
        "abs", 1, "iufc", "part", lambda a: np.abs(a), quick=True, c="fabs", portable="c",
        slope=lambda c, a, y: (c.op("sign", a),), ahead=partials.abs_ahead, back=partials.abs_back,
    ),
    Prim("sign", 1, "iuf", "same", meanings.sign, cost=2, slope=partials.flat),
    Prim(
        "min", 2, "biuf", "same", lambda a, b: np.minimum(a, b), quick=True,
        slope=lambda c, a, b, y: (c.choose("le", a, b, c.const(1.0), c.const(0.0)), c.choose("le", a, b, c.const(0.0), c.const(1.0))),
    ),
    Prim(
        "max", 2, "biuf", "same", lambda a, b: np.maximum(a, b), quick=True,
        slope=lambda c, a, b, y: (c.choose("ge", a, b, c.const(1.0), c.const(0.0)), c.choose("ge", a, b, c.const(0.0), c.const(1.0))),
    ),
    Prim(
        "fma", 3, "f", "same", lambda a, b, c: a.dtype.type(special.fma(a, b, c)), c="fma",
        slope=lambda c, a, b, d, y: (b, a, c.const(1.0)), holomorphic=True,
    ),
    Prim("lt", 2, "biuf", "bool", lambda a, b: a < b, quick=True, sign="<"),
    Prim("le", 2, "biuf", "bool", lambda a, b: a <= b, quick=True, sign="<="),
    Prim("gt", 2, "biuf", "bool", lambda a, b: a > b, quick=True, sign=">"),
    Prim("ge", 2, "biuf", "bool", lambda a, b: a >= b, quick=True, sign=">="),
    Prim("eq", 2, "biufc", "bool", lambda a, b: a == b, commutes=True, quick=True, sign="=="),
    Prim("ne", 2, "biufc", "bool", lambda a, b: a != b, commutes=True, quick=True, sign="!="),
    Prim("and", 2, "biu", "same", lambda a, b: a & b, commutes=True, quick=True, sign="&"),
    Prim("or", 2, "biu", "same", lambda a, b: a | b, commutes=True, quick=True, sign="|"),
    Prim("xor", 2, "biu", "same", lambda a, b: a ^ b, commutes=True, quick=True, sign="^"),
    Prim("not", 1, "biu", "same", lambda a: np.invert(a), quick=True),
    Prim("shl", 2, "iu", "same", meanings.shift_left, can_fail=True, sign="<<"),
    Prim("shr", 2, "iu", "same", meanings.shift_right, can_fail=True, sign=">>"),
    Prim("rounds", 3, "i", "same", lambda low, high, step: np.int64(rounds(int(low), int(high), int(step))), cost=8),
    Prim("select", 3, "biufc", "same", lambda c, a, b: a if c else b, quick=True),
    Prim("floor", 1, "f", "same", lambda a: np.floor(a), c="floor", slope=partials.flat),
    Prim("ceil", 1, "f", "same", lambda a: np.ceil(a), c="ceil", slope=partials.flat),
    Prim("round", 1, "f", "same", lambda a: np.rint(a), c="rint", slope=partials.flat),
    Prim(
        "rounded_f16", 1, "f", "same", lambda a: meanings.through(a, F16), cost=4,
        slope=lambda c, a, y: (c.const(1.0),),
    ),
    Prim(
        "rounded_bf16", 1, "f", "same", lambda a: meanings.through(a, BF16), cost=4,
        slope=lambda c, a, y: (c.const(1.0),),
    ),
    Prim("trunc", 1, "f", "same", lambda a: np.trunc(a), c="trunc", slope=partials.flat),
    Prim("isnan", 1, "fc", "bool", lambda a: np.isnan(a)),
    Prim("isinf", 1, "fc", "bool", lambda a: np.isinf(a)),
    Prim("isfinite", 1, "fc", "bool", lambda a: np.isfinite(a)),
    Prim("signbit", 1, "f", "bool", lambda a: np.signbit(a), portable="f"),
    Prim("to_bits", 1, "f", "u", lambda a: np.asarray(a).view(f"u{np.asarray(a).itemsize}")[()]),
    Prim("from_bits", 1, "u", "f", lambda a: np.asarray(a).view(f"f{np.asarray(a).itemsize}")[()]),
    Prim(
        "copysign", 2, "f", "same", lambda a, b: np.copysign(a, b), c="copysign", portable="f",
        slope=lambda c, a, b, y: (partials.mul(c, c.op("sign", a), c.op("copysign", c.const(1.0), b)), None),
    ),
    Prim(
        "sqrt", 1, "fc", "same", lambda a: np.sqrt(a), cost=6, steep=True, c="sqrt", c_complex="csqrt", portable="c",
        slope=lambda c, a, y: (partials.div(c, c.const(0.5), y),), holomorphic=True,
    ),
    Prim(
        "exp", 1, "fc", "same", lambda a: np.exp(a), cost=15, steep=True, c="exp", c_complex="cexp", vector=True, portable="fc",
        slope=lambda c, a, y: (y,), holomorphic=True,
    ),
    Prim(
        "exp2", 1, "f", "same", lambda a: np.exp2(a), cost=15, steep=True, c="exp2", vector=True, portable="f",
        slope=lambda c, a, y: (partials.mul(c, c.const(math.log(2)), y),),
    ),
    Prim(
        "expm1", 1, "f", "same", lambda a: np.expm1(a), cost=15, steep=True, c="expm1", vector=True, portable="f",
        slope=lambda c, a, y: (c.op("add", y, c.const(1.0)),),
    ),
    Prim(
        "log", 1, "fc", "same", lambda a: np.log(a), cost=15, steep=True, c="log", c_complex="clog", vector=True, portable="fc",
        slope=lambda c, a, y: (partials.div(c, c.const(1.0), a),), holomorphic=True,
    ),
    Prim(
        "log2", 1, "f", "same", lambda a: np.log2(a), cost=15, steep=True, c="log2", vector=True, portable="f",
        slope=lambda c, a, y: (partials.div(c, c.const(1 / math.log(2)), a),),
    ),
    Prim(
        "log10", 1, "f", "same", lambda a: np.log10(a), cost=15, steep=True, c="log10", vector=True, portable="f",
        slope=lambda c, a, y: (partials.div(c, c.const(1 / math.log(10)), a),),
    ),
    Prim(
        "log1p", 1, "f", "same", lambda a: np.log1p(a), cost=15, steep=True, c="log1p", vector=True, portable="f",
        slope=lambda c, a, y: (partials.div(c, c.const(1.0), c.op("add", a, c.const(1.0))),),
    ),
    Prim(
        "sin", 1, "fc", "same", lambda a: np.sin(a), cost=15, c="sin", c_complex="csin", vector=True, portable="fc",
        slope=lambda c, a, y: (c.op("cos", a),), holomorphic=True,
    ),
    Prim(
        "cos", 1, "fc", "same", lambda a: np.cos(a), cost=15, c="cos", c_complex="ccos", vector=True, portable="fc",
        slope=lambda c, a, y: (c.op("neg", c.op("sin", a)),), holomorphic=True,
    ),
    Prim(
        "tan", 1, "f", "same", lambda a: np.tan(a), cost=20, steep=True, c="tan", vector=True, portable="f",
        slope=lambda c, a, y: (c.op("add", c.const(1.0), partials.mul(c, y, y)),),
    ),
    Prim(
        "arcsin", 1, "f", "same", lambda a: np.arcsin(a), cost=20, steep=True, c="asin", vector=True, portable="f",
        slope=lambda c, a, y: (partials.inverse_sqrt(c, partials.one_minus(c, partials.mul(c, a, a))),),
    ),
    Prim(
        "arccos", 1, "f", "same", lambda a: np.arccos(a), cost=20, steep=True, c="acos", vector=True, portable="f",
        slope=lambda c, a, y: (c.op("neg", partials.inverse_sqrt(c, partials.one_minus(c, partials.mul(c, a, a)))),),
    ),
    Prim(
        "arctan", 1, "f", "same", lambda a: np.arctan(a), cost=20, c="atan", vector=True, portable="f",
        slope=lambda c, a, y: (partials.div(c, c.const(1.0), c.op("add", c.const(1.0), partials.mul(c, a, a))),),
    ),
    Prim(
        "sinh", 1, "f", "same", lambda a: np.sinh(a), cost=20, steep=True, c="sinh", vector=True, portable="f",
        slope=lambda c, a, y: (c.op("cosh", a),),
    ),
    Prim(
        "cosh", 1, "f", "same", lambda a: np.cosh(a), cost=20, steep=True, c="cosh", vector=True, portable="f",
        slope=lambda c, a, y: (c.op("sinh", a),),
    ),
    Prim(
        "tanh", 1, "f", "same", lambda a: np.tanh(a), cost=20, c="tanh", vector=True, portable="f",
        slope=lambda c, a, y: (partials.one_minus(c, partials.mul(c, y, y)),),
    ),
    Prim(
        "arcsinh", 1, "f", "same", lambda a: np.arcsinh(a), cost=20, c="asinh", vector=True, portable="f",
        slope=lambda c, a, y: (partials.inverse_sqrt(c, c.op("add", partials.mul(c, a, a), c.const(1.0))),),
    ),
    Prim(
        "arccosh", 1, "f", "same", lambda a: np.arccosh(a), cost=20, steep=True, c="acosh", vector=True, portable="f",
        slope=lambda c, a, y: (partials.inverse_sqrt(c, c.op("sub", partials.mul(c, a, a), c.const(1.0))),),
    ),
    Prim(
        "arctanh", 1, "f", "same", lambda a: np.arctanh(a), cost=20, steep=True, c="atanh", vector=True, portable="f",
        slope=lambda c, a, y: (partials.div(c, c.const(1.0), partials.one_minus(c, partials.mul(c, a, a))),),
    ),
    Prim(
        "fmod", 2, "f", "same", lambda a, b: np.fmod(a, b), cost=15, steep=True, c="fmod",
        slope=lambda c, a, b, y: (c.const(1.0), c.op("neg", c.op("trunc", partials.div(c, a, b)))),
    ),
    Prim(
        "erf", 1, "f", "same", meanings.like(math.erf), cost=25, c="erf", vector=True, portable="f",
        slope=lambda c, a, y: (partials.mul(c, c.const(partials.TWO_OVER_SQRT_PI), c.op("exp", c.op("neg", partials.mul(c, a, a)))),),
    ),
    Prim(
        "erfc", 1, "f", "same", meanings.like(math.erfc), cost=25, c="erfc", vector=True, portable="f",
        slope=lambda c, a, y: (partials.mul(c, c.const(-partials.TWO_OVER_SQRT_PI), c.op("exp", c.op("neg", partials.mul(c, a, a)))),),
    ),
    Prim(
        "cbrt", 1, "f", "same", lambda a: np.cbrt(a), cost=15, steep=True, c="cbrt", vector=True, portable="f",
        slope=lambda c, a, y: (partials.div(c, c.const(1 / 3), partials.mul(c, y, y)),),
    ),
    Prim(
        "pow", 2, "iufc", "same", meanings.power, cost=30, can_fail=True, steep=True, sign="**", c="pow", c_complex="cpow", vector=True, portable="fc",
        slope=partials.pow, holomorphic=partials.complex_pow,
    ),
    Prim(
        "arctan2", 2, "f", "same", lambda a, b: np.arctan2(a, b), cost=25, steep=True, c="atan2", vector=True, portable="f",
        slope=partials.arctan2,
    ),
    Prim(
        "hypot", 2, "f", "same", lambda a, b: np.hypot(a, b), cost=15, steep=True, c="hypot", vector=True, portable="f",
        slope=partials.hypot,
    ),
    Prim(
        "lgamma", 1, "f", "same", meanings.like(meanings.lgamma), cost=40, steep=True, c="lgamma", portable="f",
        slope=lambda c, a, y: (c.op("digamma", a),),
    ),
    Prim(
        "tgamma", 1, "f", "same", meanings.like(meanings.tgamma), cost=40, steep=True, c="tgamma", portable="f",
        slope=lambda c, a, y: (partials.mul(c, y, c.op("digamma", a)),),
    ),
    Prim(
        "sampled", 1, "f", "same", lambda x: x,
        refused="a number drawn by rejection, seen as a function of its parameters,",
    ),
    Prim(
        "digamma", 1, "f", "same", meanings.like(special.digamma), cost=40, steep=True, portable="f",
        slope=lambda c, a, y: (c.op("trigamma", a),),
    ),
    Prim(
        "trigamma", 1, "f", "same", meanings.like(special.trigamma), cost=40, portable="f",
        refused="trigamma, the derivative of digamma,",
    ),
    Prim(
        "real", 1, "c", "part", lambda a: a.real,
        ahead=lambda c, a, y, da: c.of("real", da), back=lambda c, a, y, bar: (c.of("complex", bar, c.nothing),),
    ),
    Prim(
        "imag", 1, "c", "part", lambda a: a.imag,
        ahead=lambda c, a, y, da: c.of("imag", da), back=lambda c, a, y, bar: (c.of("complex", c.nothing, c.of("neg", bar)),),
    ),
    Prim(
        "conj", 1, "c", "same", lambda a: np.conj(a),
        ahead=lambda c, a, y, da: c.of("conj", da), back=lambda c, a, y, bar: (c.of("conj", bar),),
    ),
    Prim(
        "complex", 2, "f", "complex", lambda a, b: np.result_type(a, np.complex64).type(complex(a, b)),
        ahead=lambda c, a, b, y, da, db: c.of("complex", c.nothing if da is None else da, c.nothing if db is None else db),
        back=lambda c, a, b, y, bar: (c.of("real", bar), c.of("neg", c.of("imag", bar))),
    ),
]
# fmt: on

PRIMS = {row.name: row for row in _ROWS}
ARITHMETIC = {name: p.sign for name, p in PRIMS.items() if p.sign and "f" in p.takes and not p.can_fail}
"""The signs of arithmetic and comparisons, as in C."""

MONOIDS: dict[str, tuple[str, Callable[[DType], Any]]] = {
    "add": ("add", lambda d: 0),
    "mul": ("mul", lambda d: 1),
    "minimum": ("min", lambda d: math.inf if d.is_float else True if d is BOOL else d.limits()[1]),
    "maximum": ("max", lambda d: -math.inf if d.is_float else False if d is BOOL else d.limits()[0]),
    "and": ("and", lambda d: True if d is BOOL else -1 if d.kind == "i" else d.limits()[1]),
    "or": ("or", lambda d: False if d is BOOL else 0),
    "xor": ("xor", lambda d: False if d is BOOL else 0),
}
"""Known associative, commutative operators: the primitive, and its neutral element for a dtype."""
