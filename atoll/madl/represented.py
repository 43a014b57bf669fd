"""Scalar types that have a representation: what they are in the program is not what they are in memory.

    Enum      a value with a name, kept as its number in one byte; compared, chosen by `match`, no arithmetic

They are scalars whose dtype is that of the memory, so places, copies and C need to know nothing about them. What from Python is a name is a number in an
operator: `inward` and `outward` go between the two.
"""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.madl.scalars import allowed
from atoll.types.types import Scalar

MOST = 256  # members of an enumeration


@dataclass(frozen=True, slots=True)
class Enum(Scalar):
    name: str = ""
    members: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return self.name


def belongs(family: str, t: Scalar) -> bool:
    """True when a scalar type belongs to a family: enumerations are scalars and nothing else."""
    return family in ("any", "scalar") if isinstance(t, Enum) else allowed(family, t.dtype)


@functools.cache
def python_enum(t: Enum) -> type[enum.IntEnum]:
    """What members are from Python: whole numbers with names."""
    made = enum.IntEnum(t.name, {member: k for k, member in enumerate(t.members)})  # type: ignore[misc]
    assert isinstance(made, type)
    return made


def inward(t: Scalar, value: Any) -> Any:
    """A value from Python as its representation; raises ValueError with what is expected."""
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


def outward(t: Scalar, value: Any) -> Any:
    """A representation as a value for Python: a member where it is one value, numbers where it is an array."""
    return python_enum(t)(int(value)) if isinstance(t, Enum) and np.ndim(value) == 0 and int(value) < len(t.members) else value
