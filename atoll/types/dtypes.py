"""The scalar types as a table, and which type two of them make together (docs/reference.md section 9).

    same kind            the wider
    integer with float   the float's type
    signed with unsigned the smallest signed type that holds both; u64 with a signed type is refused
    bool                 counts as 0/1: it takes the other's type
    real with complex    the complex type whose parts hold both

f16 and bf16 are storage types: arrays of them come in and go out, and every element is an f32 as soon as it is read (elaborate/storage.py). No operation is
done in them, so they have no place in this table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from atoll.errors.base import fail

if TYPE_CHECKING:
    import numpy as np


@cache
def _numpy_dtype(name: str) -> np.dtype[Any]:
    import numpy as np

    if name == "bfloat16":
        try:
            from ml_dtypes import bfloat16
        except ImportError:
            fail("E0616")
        found: np.dtype[Any] = np.dtype(bfloat16)
        return found
    return np.dtype(name)


def _of_name(name: str) -> DType:
    return DTYPES[name]


@dataclass(frozen=True, slots=True)
class DType:
    """One scalar type. `kind` is b(ool), i, u, f or c, or h for a storage type; `bits` counts a complex number whole."""

    name: str
    kind: str
    bits: int
    c_name: str
    numpy_name: str

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_name, (self.name,)  # there is one of each in a process

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return max(1, self.bits // 8)

    @property
    def numpy(self) -> np.dtype[Any]:
        return _numpy_dtype(self.numpy_name)

    @property
    def spelled(self) -> str:
        """Its name in a program that makes arrays of it."""
        return "ml_dtypes.bfloat16" if self.numpy_name == "bfloat16" else f"np.{self.numpy_name}"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def has_slope(self) -> bool:
        """Numbers that derivatives are taken of: a complex one is a pair of floats."""
        return self.kind in "fc"

    @property
    def is_real(self) -> bool:
        return self.kind in "iuf"

    @property
    def is_storage(self) -> bool:
        return self.kind == "h"

    def limits(self) -> tuple[int, int]:
        """Least and greatest value of an integer type."""
        if self.kind == "u":
            return 0, 2**self.bits - 1
        return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1

    def part(self) -> DType:
        """The type of the real part."""
        return {"c64": F32, "c128": F64}.get(self.name, self)

    def complex_of(self) -> DType:
        return C64 if self.name == "f32" else C128


BOOL = DType("bool", "b", 8, "bool", "bool")
I8 = DType("i8", "i", 8, "int8_t", "int8")
I16 = DType("i16", "i", 16, "int16_t", "int16")
I32 = DType("i32", "i", 32, "int32_t", "int32")
I64 = DType("i64", "i", 64, "int64_t", "int64")
U8 = DType("u8", "u", 8, "uint8_t", "uint8")
U16 = DType("u16", "u", 16, "uint16_t", "uint16")
U32 = DType("u32", "u", 32, "uint32_t", "uint32")
U64 = DType("u64", "u", 64, "uint64_t", "uint64")
F32 = DType("f32", "f", 32, "float", "float32")
F64 = DType("f64", "f", 64, "double", "float64")
C64 = DType("c64", "c", 64, "float complex", "complex64")
C128 = DType("c128", "c", 128, "double complex", "complex128")

F16 = DType("f16", "h", 16, "uint16_t", "float16")
BF16 = DType("bf16", "h", 16, "uint16_t", "bfloat16")

STORAGE = {d.name: d for d in (F16, BF16)}
DTYPES = {d.name: d for d in (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, C64, C128)}


def by_numpy(dtype: np.dtype[Any]) -> DType | None:
    """The scalar type of a NumPy dtype in native byte order, or None when there is none."""
    if dtype.name == "bfloat16":
        return BF16
    return _by_numpy().get(dtype)


@cache
def _by_numpy() -> dict[np.dtype[Any], DType]:
    return {d.numpy: d for d in (*DTYPES.values(), F16)}



def promote(a: DType, b: DType) -> DType | None:
    """The type of `a op b`, or None when the pair is refused (u64 with a signed integer)."""
    if a.is_storage or b.is_storage:
        return promote(F32 if a.is_storage else a, F32 if b.is_storage else b)
    if a is b:
        return a
    if a.kind == "b":
        return b
    if b.kind == "b":
        return a
    if a.kind == b.kind:
        return a if a.bits >= b.bits else b
    if a.is_complex or b.is_complex:
        part_a, part_b = a.part(), b.part()
        part = promote(part_a, part_b) if part_a.is_float and part_b.is_float else (part_a if part_a.is_float else part_b)
        return part.complex_of() if part else None
    if a.is_float or b.is_float:
        return a if a.is_float else b
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if unsigned.bits < signed.bits:
        return signed
    return {8: I16, 16: I32, 32: I64}.get(unsigned.bits)


def fits(value: complex | int | float | bool, dtype: DType) -> bool:
    """True when a Python number may become this type without losing what it says."""
    if isinstance(value, bool) or dtype.kind == "b":
        return isinstance(value, bool)
    if isinstance(value, int):
        if dtype.is_integer:
            low, high = dtype.limits()
            return low <= value <= high
        return abs(value) < 2**1024 if dtype.part() is F64 else abs(value) < 2**128
    if isinstance(value, float):
        if dtype.part() is F32 and math.isfinite(value) and abs(value) > 3.4028235677973366e38:
            return False
        return dtype.is_float or dtype.is_complex
    return dtype.is_complex


def weak_dtype(value: object) -> DType:
    """The type a literal has when it meets nothing."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return I64
    return C128 if isinstance(value, complex) else F64


SCALAR_TYPES: dict[str, str] = {
    "float32": "f32",
    "float64": "f64",
    "double": "f64",
    "single": "f32",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "bool_": "bool",
    "bool": "bool",
    "complex64": "c64",
    "complex128": "c128",
}
"""numpy's scalar types."""
