"""Operators on arrays: reading, writing, parts that share memory, dimensions. Everything bigger is a kernel (kernels.py).

An array is a leaf: one block of numbers (or of data) in row-major order that knows its own dimensions. `set` takes its array: the block is
overwritten when nobody else has it, copied otherwise; the value is the same. Indices are in range: a check stands before.

    get.t(a, i...)         one element                     row.r(a, i)            a[i] of an array with r more axes, the same memory
    set.t(a, i..., v)      a copy with one element new     set_row(a, i, v)       a copy with one row new
    dim.k(a)               the size of axis k              slice(a, low, n)       a[low : low + n], the same memory
    new.t.r(n...)          zeros                           in_range(i, n)         0 <= i < n
"""

from __future__ import annotations

from typing import Any

import numpy as np

from atoll.functions.ir import ARRAY, BOOL_REP, DATA, INT, Rep
from atoll.functions.operators import Operator
from atoll.types.dtypes import DTYPES

_made: dict[tuple[object, ...], Operator] = {}
_FIRST = frozenset({0})


def _numpy(rep: Rep) -> Any:
    return DTYPES[rep].numpy if rep in DTYPES else np.dtype(object)


def get(elem: Rep, rank: int) -> Operator:
    """a[i, ...]"""
    key = ("get", elem, rank)
    if key not in _made:
        means = lambda a, *index: a[tuple(int(i) for i in index)]  # noqa: E731
        _made[key] = Operator(f"get.{elem}", (ARRAY, *(INT,) * rank), (elem,), means, info=key)
    return _made[key]


def put(elem: Rep, rank: int) -> Operator:
    """A copy of a with a[i, ...] = v."""
    key = ("set", elem, rank)
    if key not in _made:

        def means(a: Any, *rest: Any) -> Any:
            copy = a.copy()
            copy[tuple(int(i) for i in rest[:-1])] = rest[-1]
            return copy

        takes = frozenset({0, rank + 1}) if elem == DATA else _FIRST
        _made[key] = Operator(f"set.{elem}", (ARRAY, *(INT,) * rank, elem), (ARRAY,), means, takes=takes, info=key)
    return _made[key]


def row(rank: int) -> Operator:
    """a[i], an array of `rank` axes."""
    key = ("row", rank)
    if key not in _made:
        _made[key] = Operator("row", (ARRAY, INT), (ARRAY,), lambda a, i: a[int(i)], info=key)
    return _made[key]


def set_row() -> Operator:
    """A copy of a with a[i] = v, v an array."""
    key = ("set_row",)
    if key not in _made:

        def means(a: Any, i: Any, v: Any) -> Any:
            copy = a.copy()
            copy[int(i)] = v
            return copy

        _made[key] = Operator("set_row", (ARRAY, INT, ARRAY), (ARRAY,), means, takes=_FIRST, info=key)
    return _made[key]


def cut() -> Operator:
    """a[low : low + n]"""
    key = ("slice",)
    if key not in _made:
        means = lambda a, low, n: a[int(low) : int(low) + max(0, int(n))]  # noqa: E731
        _made[key] = Operator("slice", (ARRAY, INT, INT), (ARRAY,), means, info=key)
    return _made[key]


def dim(axis: int) -> Operator:
    """The size of an axis."""
    key = ("dim", axis)
    if key not in _made:
        _made[key] = Operator(f"dim.{axis}", (ARRAY,), (INT,), lambda a: np.int64(a.shape[axis]), info=key)
    return _made[key]


def new(elem: Rep, rank: int) -> Operator:
    """Zeros; of data, places nobody looks at before they are set."""
    key = ("new", elem, rank)
    if key not in _made:

        def means(*dims: Any) -> Any:
            shape = tuple(max(0, int(n)) for n in dims)
            return np.zeros(shape, _numpy(elem)) if elem in DTYPES else np.empty(shape, object)

        _made[key] = Operator(f"new.{elem}", (INT,) * rank, (ARRAY,), means, info=key)
    return _made[key]


def in_range() -> Operator:
    """0 <= i < n"""
    key = ("in_range",)
    if key not in _made:
        _made[key] = Operator("in_range", (INT, INT), (BOOL_REP,), lambda i, n: np.bool_(0 <= i < n), info=key)
    return _made[key]
