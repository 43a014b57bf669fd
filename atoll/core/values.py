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


class Dual:
    """A number or array with a tangent, for derivatives in the interpreter. `tag` keeps nested derivatives apart.

    Both parts may be duals of an outer derivative themselves. It behaves like an array where values are moved around.
    """

    __slots__ = ("tag", "primal", "tangent")

    def __init__(self, tag: int, primal: Any, tangent: Any) -> None:
        self.tag, self.primal, self.tangent = tag, primal, tangent

    def __bool__(self) -> bool:
        return bool(self.primal)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.primal.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        return self.primal.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Dual:
        return Dual(self.tag, self.primal[index], self.tangent[index])

    def __int__(self) -> int:
        return int(self.primal)

    __index__ = __int__  # an integer may be an index and have a derivative

    def copy(self) -> Dual:
        return Dual(self.tag, self.primal.copy(), self.tangent.copy())


def primal(x: Any) -> Any:
    """The plain number or array below any derivative."""
    while isinstance(x, Dual):
        x = x.primal
    return x


def zeros_like(x: Any) -> Any:
    if isinstance(x, Dual):
        return Dual(x.tag, zeros_like(x.primal), zeros_like(x.tangent))
    return np.zeros_like(x)[()] if not np.ndim(x) else np.zeros_like(x)


def stack_leaves(parts: tuple[Any, ...]) -> Any:
    """np.stack, also of duals."""
    tags = [p.tag for p in parts if isinstance(p, Dual)]
    if not tags:
        return np.stack([np.asarray(p) for p in parts])
    tag = max(tags)
    split = [(p.primal, p.tangent) if isinstance(p, Dual) and p.tag == tag else (p, zeros_like(p)) for p in parts]
    return Dual(tag, stack_leaves(tuple(a for a, _ in split)), stack_leaves(tuple(t for _, t in split)))


def put_leaf(leaf: Any, index: Any, new: Any) -> Any:
    """leaf with leaf[index] = new; the leaf is changed in place unless it has to become a dual."""
    tag = max((x.tag for x in (leaf, new) if isinstance(x, Dual)), default=None)
    if tag is None:
        leaf[index] = new
        return leaf
    a, da = (leaf.primal, leaf.tangent) if isinstance(leaf, Dual) and leaf.tag == tag else (leaf, zeros_like(leaf))
    b, db = (new.primal, new.tangent) if isinstance(new, Dual) and new.tag == tag else (new, zeros_like(new))
    return Dual(tag, put_leaf(a, index, b), put_leaf(da, index, db))


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
    return int(leaves(value)[0].shape[0])  # a part of empty tuples has no leaf


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
    return np.zeros(shape, dtype_of(elem)) if isinstance(elem, (Scalar, Index)) else np.empty(shape, object)


def _make_leaf(item: Type, shape: tuple[int, ...], size: Callable[[Poly], int]) -> Value:
    sizes, elem = shape_of(item)
    return _make(elem, shape + tuple(max(0, size(s)) for s in sizes), size)


def stack(elem: Type, items: Sequence[Value], size: Callable[[Poly], int]) -> Value:
    """The array of these elements."""
    if not items:
        return empty(Array(elem, Poly({})), size)
    return map_leaves(lambda *parts: stack_leaves(parts), *items)


def assign(target: Value, index: Any, value: Value) -> Value:
    """target with target[index] = value on every leaf; changed in place where that is possible."""
    return map_leaves(lambda leaf, new: put_leaf(leaf, index, new), target, value)


def copy(value: Value) -> Value:
    return map_leaves(lambda leaf: leaf.copy() if isinstance(leaf, (np.ndarray, Dual)) else leaf, value)


def equal(a: Value, b: Value) -> bool:
    """Bitwise-equal values, NaN equal to itself."""
    left, right = leaves(a), leaves(b)
    return len(left) == len(right) and all(
        np.asarray(x).dtype == np.asarray(y).dtype
        and np.asarray(x).shape == np.asarray(y).shape
        and np.array_equal(x, y, equal_nan=np.asarray(x).dtype.kind in "fc")
        for x, y in zip(left, right, strict=True)
    )
