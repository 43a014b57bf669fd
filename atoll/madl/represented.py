"""Scalar types that have a representation: what they are in the program is not what they are in memory.

    Enum      a value with a name, kept as its number in one byte; compared, chosen by `match`, no arithmetic
    Fixed     a number with a fixed point, kept as an integer; it saturates (fixed.py)

They are scalars whose dtype is that of the memory, so places, copies and C need to know nothing about them. What from Python is a name is a number in an
operator, what is 0.5 there may be 16384 here: `inward` and `outward` go between the two.
"""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.madl.scalars import allowed
from atoll.types.dtypes import DTYPES
from atoll.types.types import Scalar

MOST = 256  # members of an enumeration
FIXED_HELP = "q<<i, f>> has i + f = 8, 16 or 32 bits, at least one of them before the point: q<<1, 15>>"


@dataclass(frozen=True, slots=True)
class Enum(Scalar):
    name: str = ""
    members: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Fixed(Scalar):
    """`fraction` of its bits are behind the point."""

    fraction: int = 0

    def __repr__(self) -> str:
        return f"{'u' if self.dtype.kind == 'u' else ''}q<<{self.dtype.bits - self.fraction},{self.fraction}>>"


def fixed_type(signed: bool, whole: int, fraction: int) -> Fixed | None:
    """q<<whole, fraction>>, where there is such a type."""
    bits = whole + fraction
    return Fixed(DTYPES[f"{'i' if signed else 'u'}{bits}"], fraction=fraction) if bits in (8, 16, 32) and whole >= 1 and fraction >= 0 else None


def belongs(family: str, t: Scalar) -> bool:
    """True when a scalar type belongs to a family: enumerations are scalars and nothing else, fixed-point numbers are numbers that a 0.5 may be, but no floats."""
    if isinstance(t, Fixed):
        return family in ("any", "scalar", "number", "real")
    return family in ("any", "scalar") if isinstance(t, Enum) else allowed(family, t.dtype)


@functools.cache
def python_enum(t: Enum) -> type[enum.IntEnum]:
    """What members are from Python: whole numbers with names."""
    made = enum.IntEnum(t.name, {member: k for k, member in enumerate(t.members)})  # type: ignore[misc]
    assert isinstance(made, type)
    return made


def inward(t: Scalar, value: Any) -> Any:
    """A value from Python as its representation; raises ValueError with what is expected."""
    if isinstance(t, Fixed):
        return _bits(t, value)
    if not isinstance(t, Enum):
        return value
    array = np.asarray(value)
    if array.dtype.kind == "U":
        unknown = [str(v) for v in array.reshape(-1) if str(v) not in t.members]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not among {', '.join(t.members)}")
        array = np.asarray([t.members.index(str(v)) for v in array.reshape(-1)], np.int64).reshape(array.shape)
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"it is one of {', '.join(t.members)}")
    if array.size and (array.min() < 0 or array.max() >= len(t.members)):
        raise ValueError(f"{t.name} has the numbers 0 to {len(t.members) - 1}")
    return array.astype(t.dtype.numpy)


def _bits(t: Fixed, value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise ValueError("numbers are expected")
    scaled = array.astype(np.float64) * 2.0**t.fraction
    nearest = np.floor(scaled)
    nearest += (scaled - nearest) >= 0.5
    low, high = t.dtype.limits()
    if array.size and not np.all((nearest >= low) & (nearest <= high)):
        raise ValueError(f"it is from {low / 2.0**t.fraction} to {high / 2.0**t.fraction}")
    return nearest.astype(t.dtype.numpy)


def outward(t: Scalar, value: Any) -> Any:
    """A representation as a value for Python: a member where it is one value, numbers where it is an array."""
    if isinstance(t, Fixed):
        return np.asarray(value).astype(np.float64)[()] / 2.0**t.fraction
    return python_enum(t)(int(value)) if isinstance(t, Enum) and np.ndim(value) == 0 and int(value) < len(t.members) else value
