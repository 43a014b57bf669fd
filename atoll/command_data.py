"""Data for the command line: arguments written as text for `atoll run`, random ones for `atoll bench`."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from atoll.errors.misuse import Misuse
from atoll.types.dtypes import DType, fits
from atoll.types.types import Array, Index, Record, Scalar, Tuple, Type, shape_of


def _inside(t: Tuple | Record, k: int, sizes: list[Any]) -> Type:
    """The type of item k of an array of tuples, seen as a tuple of arrays."""
    item: Type = t.items[k]
    for size in reversed(sizes):
        item = Array(item, size)
    return item


def _made(t: Tuple | Record, parts: tuple[Any, ...]) -> Any:
    """Records are instances of their class, arrays of records too: an instance that holds arrays."""
    return t.decl.cls(*parts) if isinstance(t, Record) and t.decl.cls is not None else parts


def literal(text: str, t: Type) -> Any:
    """An argument from the command line: a .npy file or a Python literal, as the parameter's type."""
    if text.endswith(".npy"):
        try:
            return np.load(text, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise Misuse(f"{text}: {error}") from None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise Misuse(f"{text!r} is neither a .npy file nor a Python literal") from None

    def convert(value: Any, t: Type) -> Any:
        sizes, elem = shape_of(t)
        if isinstance(elem, (Tuple, Record)):
            parts = tuple(convert(x, _inside(elem, k, list(sizes))) for k, x in enumerate(value))
            if len(parts) != len(elem.items):
                raise ValueError(f"it has {len(parts)} parts")
            return _made(elem, parts)
        if isinstance(elem, (Scalar, Index)) and sizes:
            if value == []:
                return np.zeros((0,) * len(sizes), elem.dtype.numpy)
            _need_fit(value, elem.dtype)
            return np.array(value, elem.dtype.numpy)
        return value

    try:
        return convert(value, t)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise Misuse(f"{text!r} is no {t!r}: {error}") from None


def _need_fit(value: Any, dtype: DType) -> None:
    """Numbers in a list convert as numbers given from Python do: if they fit."""
    if isinstance(value, (list, tuple)):
        for item in value:
            _need_fit(item, dtype)
    elif isinstance(value, (bool, int, float, complex)) and (not fits(value, dtype) or isinstance(value, bool) != (dtype.kind == "b")):
        raise ValueError(f"{value!r} does not fit {dtype.name}")


def random_arguments(f: Any, sizes: dict[str, int]) -> list[Any]:
    """Arguments for a function with these sizes: floats in 0..1, small integers, valid indices."""
    rng = np.random.default_rng(0)

    def number(p: Any) -> int:
        missing = [repr(a) for a in p.leaves() if repr(a) not in sizes]
        if missing:
            raise Misuse(f"give --size {missing[0]}=NUMBER")
        return int(p.evaluate(lambda a: sizes[repr(a)]))

    def value(t: Type) -> Any:
        dims, elem = shape_of(t)
        if isinstance(elem, (Tuple, Record)):
            parts = tuple(value(_inside(elem, k, list(dims))) for k in range(len(elem.items)))
            return _made(elem, parts)
        if not isinstance(elem, (Scalar, Index)):
            raise Misuse(f"there is no random data of type {t!r}")
        shape = [number(p) for p in dims]
        if any(size < 0 for size in shape):
            raise Misuse(f"these sizes make {t!r} negative")
        if elem.dtype.is_float and elem.dtype.size <= 8 and shape:
            data: Any = rng.random(shape, elem.dtype.numpy)
        elif elem.dtype.is_float or elem.dtype.is_complex:
            data = rng.random(shape).astype(elem.dtype.numpy)
        elif elem.dtype.kind == "b":
            data = rng.random(shape) < 0.5
        else:
            high = number(elem.size) if isinstance(elem, Index) else 8
            data = rng.integers(0, max(1, high), shape).astype(elem.dtype.numpy)
        return data if shape else elem.dtype.numpy.type(data)

    params = f.signature.params
    used = {repr(a) for p in params for a in _sizes_of(p.type)} | {p.name for p in params}
    unknown = [name for name in sizes if name not in used]
    if unknown:
        there = used - {p.name for p in params if isinstance(p.type, Array)}
        raise Misuse(f"{f.name} has no size {unknown[0]}; it has {', '.join(sorted(there)) or 'none'}")
    try:
        return [sizes[p.name] if p.name in sizes else value(p.type) for p in params]
    except (MemoryError, ValueError) as error:
        if isinstance(error, Misuse):
            raise
        raise Misuse(f"there is not enough memory for arguments of these sizes ({error})") from None


def _sizes_of(t: Type) -> list[Any]:
    """The names in the sizes of a type."""
    dims, elem = shape_of(t)
    found = [a for p in dims for a in p.leaves()]
    if isinstance(elem, Index):
        found += elem.size.leaves()
    if isinstance(elem, (Tuple, Record)):
        found += [a for item in elem.items for a in _sizes_of(item)]
    return found
