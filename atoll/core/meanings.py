"""What the scalar primitives mean where a word of NumPy does not say it, on NumPy scalars (core/prims.py)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from atoll.types.dtypes import DType

Meaning = Callable[..., Any]


class DivisionByZero(Exception):
    """Raised by a primitive's meaning; the interpreter turns it into the user's error."""


class NegativeShift(Exception):
    """Raised by a primitive's meaning."""


class NegativePower(Exception):
    """Raised by a primitive's meaning."""


def floordiv(a: Any, b: Any) -> Any:
    if isinstance(a, np.integer):
        if b == 0:
            raise DivisionByZero
        return wrap(int(a) // int(b), a.dtype)
    return np.floor_divide(a, b)


def mod(a: Any, b: Any) -> Any:
    if isinstance(a, np.integer):
        if b == 0:
            raise DivisionByZero
        return wrap(int(a) % int(b), a.dtype)
    return np.mod(a, b)


def wrap(value: int, dtype: Any) -> Any:
    bits = dtype.itemsize * 8
    value &= (1 << bits) - 1
    if dtype.kind == "i" and value >> (bits - 1):
        value -= 1 << bits
    return dtype.type(value)


def shift_left(a: Any, b: Any) -> Any:
    if b < 0:
        raise NegativeShift
    return wrap(int(a) << int(b), a.dtype) if b < a.dtype.itemsize * 8 else a.dtype.type(0)


def shift_right(a: Any, b: Any) -> Any:
    if b < 0:
        raise NegativeShift
    return wrap(int(a) >> min(int(b), a.dtype.itemsize * 8 - 1 if a < 0 else a.dtype.itemsize * 8), a.dtype)


def like(f: Callable[[float], float]) -> Meaning:
    """A function of Python floats, rounded to the argument's type."""

    def means(x: Any) -> Any:
        return x.dtype.type(f(float(x)))

    return means


def lgamma(x: float) -> float:
    if math.isinf(x):
        return math.inf
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf if not math.isnan(x) else x


def tgamma(x: float) -> float:
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 else math.nan


def power(a: Any, b: Any) -> Any:
    if isinstance(a, np.integer):
        if b < 0:
            raise NegativePower
        return wrap(pow(int(a), int(b), 1 << (a.dtype.itemsize * 8)), a.dtype)
    if not np.iscomplexobj(a) and b == 0.5 and (a == 0 or np.isinf(a)):
        return abs(a)  # as in C; for one number NumPy takes a square root, which is -0.0 and nan where a is negative
    return np.power(a, b)


def sign(x: Any) -> Any:
    if np.iscomplexobj(x):
        return x / abs(x) if x != 0 else x
    return np.sign(x)


def through(x: Any, storage: DType) -> Any:
    """The nearest number that a storage type holds, as an f32 is rounded to it."""
    with np.errstate(all="ignore"):
        return x.dtype.type(storage.numpy.type(np.float32(x)))
