"""How values look in the interpreter and at the Python boundary.

A value of a type is stored as its type says: a scalar is a NumPy scalar, an array of scalars an ndarray with all axes of the nested
array types, a tuple a Python tuple, and an **array of tuples is a tuple of arrays** (structure of arrays). So every value is a
nest of tuples over ndarrays and scalars, and an element or a slice is taken leaf by leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from atoll.sizes import Poly
from atoll.types.types import Array, Index, Record, Scalar, Tuple, Type, shape_of

Value = Any


def leaves(value: Value) -> list[Any]:
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def map_leaves(f: Callable[..., Any], *values: Value) -> Value:
    if isinstance(values[0], tuple):
        return tuple(map_leaves(f, *items) for items in zip(*values, strict=True))
    return f(*values)


def length(value: Value) -> int:
    """The size of the outermost axis."""
    while isinstance(value, tuple):
        value = value[0]
    return int(value.shape[0])


def element(value: Value, index: Any) -> Value:
    """value[index] on every leaf; basic indexing gives views, never copies."""
    return map_leaves(lambda leaf: leaf[index], value)


def dtype_of(t: Type) -> Any:
    assert isinstance(t, (Scalar, Index)), t
    return t.dtype.numpy


def empty(t: Type, size: Callable[[Poly], int]) -> Value:
    """An uninitialised value of this type."""
    sizes, elem = shape_of(t)
    shape = tuple(max(0, size(s)) for s in sizes)
    return _make(elem, shape, size)


def _make(elem: Type, shape: tuple[int, ...], size: Callable[[Poly], int]) -> Value:
    if isinstance(elem, (Tuple, Record)):
        return tuple(_make_leaf(item, shape, size) for item in elem.items)
    return np.zeros(shape, dtype_of(elem))


def _make_leaf(item: Type, shape: tuple[int, ...], size: Callable[[Poly], int]) -> Value:
    sizes, elem = shape_of(item)
    return _make(elem, shape + tuple(max(0, size(s)) for s in sizes), size)


def stack(elem: Type, items: Sequence[Value], size: Callable[[Poly], int]) -> Value:
    """The array of these elements."""
    if not items:
        return empty(Array(elem, Poly({})), size)
    return map_leaves(lambda *parts: np.stack([np.asarray(p) for p in parts]), *items)


def assign(target: Value, index: Any, value: Value) -> None:
    """target[index] = value on every leaf, in place."""

    def put(leaf: Any, new: Any) -> None:
        leaf[index] = new

    map_leaves(put, target, value)


def copy(value: Value) -> Value:
    return map_leaves(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, value)


def equal(a: Value, b: Value) -> bool:
    """Bitwise-equal values, NaN equal to itself."""
    left, right = leaves(a), leaves(b)
    return len(left) == len(right) and all(
        np.asarray(x).dtype == np.asarray(y).dtype
        and np.asarray(x).shape == np.asarray(y).shape
        and np.array_equal(x, y, equal_nan=np.asarray(x).dtype.kind in "fc")
        for x, y in zip(left, right, strict=True)
    )
