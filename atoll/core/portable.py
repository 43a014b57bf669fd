"""bits="portable": what a program means where its bits must be the same on every kind of processor (docs/bits.md).

    functions    those of REAL and COMPLEX are computed by texts of our own (backends/c/portable_math.py), one for C and for CUDA
    sums         of more than 256 elements are sums of the sums of blocks: left to right within 256 elements, within 256 such blocks, and over what
                 these amount to. Where a block begins is a matter of the index alone, so elements that a condition leaves out do not move the others
    scans        left to right
    NaN          is one value: its sign and payload are nobody's, and `signbit` and `copysign` take it for positive

The interpreter takes the functions from a library that is compiled of the same texts (runtime/portable_functions.py, which core/handed_over.py is given): it is their meaning that is tested elsewhere, against more digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from atoll.core.handed_over import computed
from atoll.core.prims import PRIMS

BLOCK = 256  # elements that are combined one after the other, and blocks of them

REAL = tuple(name for name, p in PRIMS.items() if "f" in p.portable)
COMPLEX = tuple(name for name, p in PRIMS.items() if "c" in p.portable)
OF_TWO = frozenset(name for name in (*REAL, *COMPLEX) if PRIMS[name].arity == 2)


def has_own(op: str, dtype: Any) -> bool:
    """Is a primitive on arguments of this type computed by our own text?"""
    return (dtype.is_complex and op in COMPLEX) or (dtype.is_float and op in REAL)


def in_blocks(combine: np.ufunc, array: Any, neutral: Any) -> Any:
    """What the elements amount to, block by block."""

    def in_order(values: list[Any]) -> Any:
        return array.dtype.type(combine.accumulate(np.asarray([neutral, *values], array.dtype))[-1])

    def blocks(values: list[Any]) -> list[Any]:
        return [in_order(values[k : k + BLOCK]) for k in range(0, len(values), BLOCK)]

    return in_order(blocks(blocks(list(array))))


def meaning(op: str) -> Callable[..., Any]:
    """The value of such a primitive on NumPy scalars."""

    def means(*args: Any) -> Any:
        given = np.asarray(args, args[0].dtype)
        if op == "mul" and given.dtype.kind == "f":  # rounded in one way anyhow
            return args[0] * args[1]
        out = np.zeros(1, given.dtype)
        computed(op, given, out)
        return np.bool_(out[0]) if op == "signbit" else out[0].real if op == "abs" else out[0]

    return means
