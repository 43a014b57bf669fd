"""The scalar primitives as a table: one row says what a primitive takes, gives, means and whether it can fail.

    takes   the kinds of dtype the arguments may have, all alike: b(ool) i u f c
    gives   "same", "bool", "part" (the real type of a complex), "complex", "u" or "f" (an unsigned integer, a float of the same width)
    means   the value, on NumPy scalars of the argument type

Conversions are not primitives (core `cast`), nor are `and`/`or` of conditions (core `if`, they are lazy).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.core import special
from atoll.sizes.machine import rounds
from atoll.types.dtypes import BF16, BOOL, DTYPES, F16, DType

Meaning = Callable[..., Any]


class DivisionByZero(Exception):
    """Raised by a primitive's meaning; the interpreter turns it into the user's error."""


class NegativeShift(Exception):
    """Raised by a primitive's meaning."""


class NegativePower(Exception):
    """Raised by a primitive's meaning."""


@dataclass(frozen=True, slots=True)
class PrimInfo:
    name: str
    arity: int
    takes: str
    gives: str
    means: Meaning
    cost: int = 1
    can_fail: bool = False
    commutes: bool = False  # in value and derivative; min and max follow their first argument on a tie

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


def _floordiv(a: Any, b: Any) -> Any:
    if isinstance(a, np.integer):
        if b == 0:
            raise DivisionByZero
        return _wrap(int(a) // int(b), a.dtype)
    return np.floor_divide(a, b)


def _mod(a: Any, b: Any) -> Any:
    if isinstance(a, np.integer):
        if b == 0:
            raise DivisionByZero
        return _wrap(int(a) % int(b), a.dtype)
    return np.mod(a, b)


def _wrap(value: int, dtype: Any) -> Any:
    bits = dtype.itemsize * 8
    value &= (1 << bits) - 1
    if dtype.kind == "i" and value >> (bits - 1):
        value -= 1 << bits
    return dtype.type(value)


def _shift_left(a: Any, b: Any) -> Any:
    if b < 0:
        raise NegativeShift
    return _wrap(int(a) << int(b), a.dtype) if b < a.dtype.itemsize * 8 else a.dtype.type(0)


def _shift_right(a: Any, b: Any) -> Any:
    if b < 0:
        raise NegativeShift
    return _wrap(int(a) >> min(int(b), a.dtype.itemsize * 8 - 1 if a < 0 else a.dtype.itemsize * 8), a.dtype)


def _like(f: Callable[[float], float]) -> Meaning:
    """A function of Python floats, rounded to the argument's type."""

    def means(x: Any) -> Any:
        return x.dtype.type(f(float(x)))

    return means


def _lgamma(x: float) -> float:
    if math.isinf(x):
        return math.inf
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf if not math.isnan(x) else x


def _tgamma(x: float) -> float:
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 else math.nan


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, np.integer):
        if b < 0:
            raise NegativePower
        return _wrap(pow(int(a), int(b), 1 << (a.dtype.itemsize * 8)), a.dtype)
    return np.power(a, b)


def _sign(x: Any) -> Any:
    if np.iscomplexobj(x):
        return x / abs(x) if x != 0 else x
    return np.sign(x)


def _through(x: Any, storage: DType) -> Any:
    """The nearest number that a storage type holds, as an f32 is rounded to it."""
    with np.errstate(all="ignore"):
        return x.dtype.type(storage.numpy.type(np.float32(x)))


_ROWS: list[PrimInfo] = [
    PrimInfo("add", 2, "iufc", "same", lambda a, b: a + b, commutes=True),
    PrimInfo("sub", 2, "iufc", "same", lambda a, b: a - b),
    PrimInfo("mul", 2, "iufc", "same", lambda a, b: a * b, commutes=True),
    PrimInfo("div", 2, "fc", "same", lambda a, b: np.divide(a, b), cost=4),
    PrimInfo("floordiv", 2, "iuf", "same", _floordiv, cost=8, can_fail=True),
    PrimInfo("mod", 2, "iuf", "same", _mod, cost=8, can_fail=True),
    PrimInfo("neg", 1, "iufc", "same", lambda a: np.negative(a)),
    PrimInfo("abs", 1, "iufc", "part", lambda a: np.abs(a)),
    PrimInfo("sign", 1, "iuf", "same", _sign, cost=2),
    PrimInfo("min", 2, "biuf", "same", lambda a, b: np.minimum(a, b)),
    PrimInfo("max", 2, "biuf", "same", lambda a, b: np.maximum(a, b)),
    PrimInfo("pow", 2, "iufc", "same", _power, cost=30, can_fail=True),
    PrimInfo("fma", 3, "f", "same", lambda a, b, c: a.dtype.type(special.fma(a, b, c))),
    PrimInfo("lt", 2, "biuf", "bool", lambda a, b: a < b),
    PrimInfo("le", 2, "biuf", "bool", lambda a, b: a <= b),
    PrimInfo("gt", 2, "biuf", "bool", lambda a, b: a > b),
    PrimInfo("ge", 2, "biuf", "bool", lambda a, b: a >= b),
    PrimInfo("eq", 2, "biufc", "bool", lambda a, b: a == b, commutes=True),
    PrimInfo("ne", 2, "biufc", "bool", lambda a, b: a != b, commutes=True),
    PrimInfo("and", 2, "biu", "same", lambda a, b: a & b, commutes=True),
    PrimInfo("or", 2, "biu", "same", lambda a, b: a | b, commutes=True),
    PrimInfo("xor", 2, "biu", "same", lambda a, b: a ^ b, commutes=True),
    PrimInfo("not", 1, "biu", "same", lambda a: np.invert(a)),
    PrimInfo("shl", 2, "iu", "same", _shift_left, can_fail=True),
    PrimInfo("shr", 2, "iu", "same", _shift_right, can_fail=True),
    PrimInfo("rounds", 3, "i", "same", lambda low, high, step: np.int64(rounds(int(low), int(high), int(step))), cost=8),
    PrimInfo("select", 3, "biufc", "same", lambda c, a, b: a if c else b),
    PrimInfo("floor", 1, "f", "same", lambda a: np.floor(a)),
    PrimInfo("ceil", 1, "f", "same", lambda a: np.ceil(a)),
    PrimInfo("round", 1, "f", "same", lambda a: np.rint(a)),
    PrimInfo("rounded_f16", 1, "f", "same", lambda a: _through(a, F16), cost=4),
    PrimInfo("rounded_bf16", 1, "f", "same", lambda a: _through(a, BF16), cost=4),
    PrimInfo("trunc", 1, "f", "same", lambda a: np.trunc(a)),
    PrimInfo("isnan", 1, "fc", "bool", lambda a: np.isnan(a)),
    PrimInfo("isinf", 1, "fc", "bool", lambda a: np.isinf(a)),
    PrimInfo("isfinite", 1, "fc", "bool", lambda a: np.isfinite(a)),
    PrimInfo("signbit", 1, "f", "bool", lambda a: np.signbit(a)),
    PrimInfo("to_bits", 1, "f", "u", lambda a: np.asarray(a).view(f"u{np.asarray(a).itemsize}")[()]),
    PrimInfo("from_bits", 1, "u", "f", lambda a: np.asarray(a).view(f"f{np.asarray(a).itemsize}")[()]),
    PrimInfo("copysign", 2, "f", "same", lambda a, b: np.copysign(a, b)),
    PrimInfo("sqrt", 1, "fc", "same", lambda a: np.sqrt(a), cost=6),
    PrimInfo("cbrt", 1, "f", "same", lambda a: np.cbrt(a), cost=15),
    PrimInfo("exp", 1, "fc", "same", lambda a: np.exp(a), cost=15),
    PrimInfo("exp2", 1, "f", "same", lambda a: np.exp2(a), cost=15),
    PrimInfo("expm1", 1, "f", "same", lambda a: np.expm1(a), cost=15),
    PrimInfo("log", 1, "fc", "same", lambda a: np.log(a), cost=15),
    PrimInfo("log2", 1, "f", "same", lambda a: np.log2(a), cost=15),
    PrimInfo("log10", 1, "f", "same", lambda a: np.log10(a), cost=15),
    PrimInfo("log1p", 1, "f", "same", lambda a: np.log1p(a), cost=15),
    PrimInfo("sin", 1, "fc", "same", lambda a: np.sin(a), cost=15),
    PrimInfo("cos", 1, "fc", "same", lambda a: np.cos(a), cost=15),
    PrimInfo("tan", 1, "f", "same", lambda a: np.tan(a), cost=20),
    PrimInfo("arcsin", 1, "f", "same", lambda a: np.arcsin(a), cost=20),
    PrimInfo("arccos", 1, "f", "same", lambda a: np.arccos(a), cost=20),
    PrimInfo("arctan", 1, "f", "same", lambda a: np.arctan(a), cost=20),
    PrimInfo("arctan2", 2, "f", "same", lambda a, b: np.arctan2(a, b), cost=25),
    PrimInfo("sinh", 1, "f", "same", lambda a: np.sinh(a), cost=20),
    PrimInfo("cosh", 1, "f", "same", lambda a: np.cosh(a), cost=20),
    PrimInfo("tanh", 1, "f", "same", lambda a: np.tanh(a), cost=20),
    PrimInfo("arcsinh", 1, "f", "same", lambda a: np.arcsinh(a), cost=20),
    PrimInfo("arccosh", 1, "f", "same", lambda a: np.arccosh(a), cost=20),
    PrimInfo("arctanh", 1, "f", "same", lambda a: np.arctanh(a), cost=20),
    PrimInfo("hypot", 2, "f", "same", lambda a, b: np.hypot(a, b), cost=15),
    PrimInfo("fmod", 2, "f", "same", lambda a, b: np.fmod(a, b), cost=15),
    PrimInfo("erf", 1, "f", "same", _like(math.erf), cost=25),
    PrimInfo("erfc", 1, "f", "same", _like(math.erfc), cost=25),
    PrimInfo("lgamma", 1, "f", "same", _like(_lgamma), cost=40),
    PrimInfo("tgamma", 1, "f", "same", _like(_tgamma), cost=40),
    PrimInfo("sampled", 1, "f", "same", lambda x: x),
    PrimInfo("digamma", 1, "f", "same", _like(special.digamma), cost=40),
    PrimInfo("trigamma", 1, "f", "same", _like(special.trigamma), cost=40),
    PrimInfo("real", 1, "c", "part", lambda a: a.real),
    PrimInfo("imag", 1, "c", "part", lambda a: a.imag),
    PrimInfo("conj", 1, "c", "same", lambda a: np.conj(a)),
    PrimInfo("complex", 2, "f", "complex", lambda a, b: np.result_type(a, np.complex64).type(complex(a, b))),
]

PRIMS = {row.name: row for row in _ROWS}

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
