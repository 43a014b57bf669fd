"""Arguments and results, as Python sees them: an array of tuples is a tuple of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from atoll.madl.meaning.reading import Reading, Task
from atoll.madl.meaning.wires import Length, Path, Shape, Value, array
from atoll.types.dtypes import DTYPES
from atoll.types.types import Scalar


def argument(m: Reading, arg: Any) -> Value:
    made = Value()

    def source(path: Path) -> Any:
        shape, part, index = made.shape, arg, []
        for k in path:
            if shape.kind == "tuple":
                part = part[k]
                shape = shape.parts[k].root()
            else:
                index.append(k)
                shape = shape.parts[0].root()
        return shape.scalar(True).dtype.numpy.type(np.asarray(part)[tuple(index)])

    made.source = source
    return made


def lengths(m: Reading, value: Value, arg: Any) -> Task:
    """The shape of an argument, where its declaration does not say."""
    yield
    leaf, shape = arg, value.shape
    while isinstance(leaf, tuple):
        leaf = leaf[0]
    for n in np.shape(leaf):
        while shape.kind == "tuple":
            shape = shape.parts[0].root()
        length = Length(n)
        inner = Shape()
        m.store.same(shape, array(length, inner))
        shape = inner.root()
    if not isinstance(arg, tuple) and shape.root().kind != "tuple":
        m.store.same(shape, Shape("scalar"))
        if shape.root().type is None:
            m.store.same(shape, Shape("scalar", type_=Scalar(DTYPES[dtype_name(np.asarray(leaf).dtype)])))


def python(m: Reading, value: Value) -> Any:
    def leaf(shape: Shape, counts: tuple[int, ...], way: tuple[int | None, ...]) -> Any:
        """The part of the value along a way of components, with None for every index."""
        shape = shape.root()
        if shape.kind == "array":
            assert shape.length is not None
            return leaf(shape.parts[0], (*counts, shape.length.number()), (*way, None))
        if shape.kind == "tuple":
            return tuple(leaf(part, counts, (*way, k)) for k, part in enumerate(shape.parts))
        if shape.kind is None and 0 in counts:
            return np.zeros(counts)
        made = np.zeros(counts, shape.scalar(True).dtype.numpy)
        for index in np.ndindex(*counts):
            numbers = iter(index)
            made[index] = m.store.scalar(m.store.at(value, tuple(k if k is not None else next(numbers) for k in way)))
        return made if counts else made[()]

    return leaf(value.shape, (), ())


def dtype_name(dtype: Any) -> str:
    return {"b": "bool", "i": "i", "u": "u", "f": "f"}[dtype.kind] + ("" if dtype.kind == "b" else str(dtype.itemsize * 8))


