"""Values of MADL types at concrete sizes, as cells: one entry per scalar, under its path of indices and components.

From Python an array of scalars is a NumPy array, a tuple a tuple, a record a tuple whose parts have names, and an array of tuples a tuple of
arrays, as everywhere in Atoll.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from atoll.errors.misuse import kind_of
from atoll.madl.pieces import leaves_of
from atoll.madl.represented import Enum, Fixed, outward
from atoll.madl.typing import Generic, prune
from atoll.sizes import Poly
from atoll.types.dtypes import I32, DType
from atoll.types.types import Array, Index, Record, Scalar, Tuple, Type

Key = tuple[Any, ...]
Sizes = Callable[[Poly], int]


def component(k: int) -> str:
    return f".{k}"


def keys(t: Type, size: Sizes) -> Iterator[Key]:
    """The paths of all scalars of a type, in row-major order."""
    t = prune(t)
    if isinstance(t, Array):
        inner = list(keys(t.elem, size))
        for i in range(size(t.size)):
            for key in inner:
                yield (i, *key)
    elif isinstance(t, (Tuple, Record)):
        for k, item in enumerate(t.items):
            for key in keys(item, size):
                yield (component(k), *key)
    else:
        yield ()


def dtype_of(t: Type, types: Mapping[Generic, Type] | None = None) -> DType:
    """The dtype of a scalar type; an index is an int, a type variable what it stands for."""
    t = prune(t)
    if isinstance(t, Generic):
        t = prune((types or {}).get(t, Scalar(I32)))
    if isinstance(t, Scalar):
        return t.dtype
    assert isinstance(t, Index), t
    return I32


def split(t: Type, value: Any, size: Sizes, types: Mapping[Generic, Type] | None = None) -> dict[Key, Any]:
    """A Python value as cells."""
    leaves = leaves_of(t)
    found: dict[Key, Any] = {}
    for leaf, part in zip(leaves, _parts(value, [x.components for x in leaves]), strict=True):
        array = np.asarray(part, dtype_of(leaf.type, types).numpy)
        for index in np.ndindex(*(size(n) for n in leaf.extents)):
            found[_key(t, index, leaf.components)] = array[index]
    return found


def _parts(value: Any, paths: list[tuple[int, ...]]) -> list[Any]:
    found = []
    for path in paths:
        part = value
        for k in path:
            part = part[k]
        found.append(part)
    return found


def _key(t: Type, index: tuple[int, ...], components: tuple[int, ...]) -> Key:
    """Indices and components in the order of the type."""
    t = prune(t)
    if isinstance(t, Array):
        return (index[0], *_key(t.elem, index[1:], components))
    if isinstance(t, (Tuple, Record)):
        k = components[0]
        return (component(k), *_key(t.items[k], index, components[1:]))
    return ()


def join(t: Type, cells: Mapping[Key, Any], size: Sizes, types: Mapping[Generic, Type] | None = None) -> Any:
    """Cells as a Python value: NumPy arrays and scalars, nested as the type is."""
    leaves = leaves_of(t)
    parts = {}
    for leaf in leaves:
        shape = tuple(size(n) for n in leaf.extents)
        array = np.zeros(shape, dtype_of(leaf.type, types).numpy)
        for index in np.ndindex(*shape):
            array[index] = cells[_key(t, index, leaf.components)]
        parts[leaf.components] = array if shape else array[()]
    return nest(t, parts, ())


def nest(t: Type, parts: Mapping[tuple[int, ...], Any], path: tuple[int, ...]) -> Any:
    """Leaves by their components, as nested tuples; a record is one whose parts have names."""
    t = element(t)
    if isinstance(t, Record):
        return _named(t.decl.name, t.decl.fields)(*(nest(item, parts, (*path, k)) for k, item in enumerate(t.items)))
    if isinstance(t, Tuple):
        return tuple(nest(item, parts, (*path, k)) for k, item in enumerate(t.items))
    return parts[path]


def is_represented(t: Type) -> bool:
    """Whether a type has leaves that Python sees in other words (represented.py)."""
    return any(isinstance(leaf.type, (Enum, Fixed)) for leaf in leaves_of(t))


def shown(t: Type, value: Any) -> Any:
    """A value with its leaves as Python sees them."""
    t = element(t)
    if isinstance(t, (Tuple, Record)):
        parts = [shown(item, part) for item, part in zip(t.items, value, strict=True)]
        return _named(t.decl.name, t.decl.fields)(*parts) if isinstance(t, Record) else tuple(parts)
    return outward(t, value) if isinstance(t, Scalar) else value


@functools.cache
def _named(name: str, fields: tuple[str, ...]) -> type[Any]:
    return collections.namedtuple(name, fields, rename=True)


def element(t: Type) -> Type:
    """What an array, of however many dimensions, is made of."""
    t = prune(t)
    while isinstance(t, Array):
        t = prune(t.elem)
    return t


def part_of(arg: Any, t: Type, components: tuple[int, ...]) -> Any:
    """A leaf of what a caller gives for a tuple or record: a tuple, a mapping or an object with its fields, complex numbers for { re, im }.

    Raises ValueError with what is expected.
    """
    for k in components:
        t = element(t)
        assert isinstance(t, (Tuple, Record))
        fields = t.decl.fields if isinstance(t, Record) else ()
        if isinstance(arg, (tuple, list)):
            if len(arg) != len(t.items):
                raise ValueError(f"{len(t.items)} parts{_list(fields)}, not {len(arg)}")
            arg = arg[k]
        elif isinstance(arg, np.ndarray) and arg.dtype.kind == "c" and fields in (("re", "im"), ("real", "imag")):
            arg = (arg.real, arg.imag)[k]
        elif isinstance(arg, (complex, np.complexfloating)) and fields in (("re", "im"), ("real", "imag")):
            arg = (arg.real, arg.imag)[k]
        elif isinstance(arg, Mapping) and fields and fields[k] in arg:
            arg = arg[fields[k]]
        elif isinstance(arg, np.ndarray) and fields and fields[k] in (arg.dtype.names or ()):
            arg = arg[fields[k]]
        elif fields and not isinstance(arg, np.ndarray) and hasattr(arg, fields[k]):
            arg = getattr(arg, fields[k])
        else:
            raise ValueError(f"a tuple of {len(t.items)} parts{_list(fields)}, not {kind_of(arg)}")
        t = t.items[k]
    return arg


def _list(fields: tuple[str, ...]) -> str:
    return f" ({', '.join(fields)})" if fields else ""
