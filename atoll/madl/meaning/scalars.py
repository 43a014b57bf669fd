"""Scalar operations: types by equations, values by the table of scalars.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from atoll.madl import fixed
from atoll.madl.meaning.wires import I32_TYPE, Length, Shape, Store, Value, Wrong
from atoll.madl.represented import Fixed, fixed_type
from atoll.madl.scalars import CONVERSIONS, SCALAR_OPS, SHORT, apply, clamp, convert, wrap
from atoll.madl.typing import BOOL, NAMES
from atoll.types.dtypes import DTYPES
from atoll.types.types import Type


class Scalars:
    def __init__(self, store: Store) -> None:
        self.store = store

    def literal(self, value: Any, t: Type | None = None) -> Value:
        if isinstance(value, bool):
            t = BOOL
        shape = Shape("scalar", type_=t, family="real" if isinstance(value, float) else "number" if t is None else "any")
        return Value(shape, lambda _: self._constant(value, shape))

    def _constant(self, value: Any, shape: Shape) -> Any:
        t = shape.scalar(self.store.default)
        if isinstance(t, Fixed):
            return t.dtype.numpy.type(fixed.represent(value, t))
        with np.errstate(all="ignore"):
            return t.dtype.numpy.type(value)

    def number(self, length: Length, t: Type | None = None) -> Value:
        """A size as a number."""
        shape = Shape("scalar", type_=t, family="number" if t is None else "any")
        return Value(shape, lambda _: self._constant(length.number(), shape))

    def function(self, name: str, args: list[Value], sizes: list[Length]) -> Value:
        if name in SHORT:
            return self._written_out(SHORT[name], args)
        return self.operate(name, args, sizes)

    def _written_out(self, meaning: Any, args: list[Value]) -> Value:
        if isinstance(meaning, int):
            return args[meaning]
        op, *parts = meaning
        return self.operate(op, [self._written_out(part, args) for part in parts])

    def operate(self, op: str, args: list[Value], sizes: list[Length] | None = None) -> Value:
        row = SCALAR_OPS[op]
        made = Value(Shape("scalar"))
        for arg in args:
            self.store.same(arg.shape, Shape("scalar"))
        alike = args[1:] if op == "select" else args
        if op == "select":
            self.store.same(args[0].shape, Shape("scalar", type_=BOOL))
        for arg in alike[1:]:
            self.store.same(arg.shape, alike[0].shape)
        self.store.narrow(alike[0].shape, row.family)
        self.store.same(made.shape, self._gives(op, alike[0].shape, sizes or []))
        made.source = lambda _: self._apply(op, args, made, sizes or [])
        return made

    def _gives(self, op: str, shape: Shape, sizes: list[Length]) -> Shape:
        row = SCALAR_OPS[op]
        if row.gives == "same":
            return shape
        if row.gives == "bool":
            return Shape("scalar", type_=BOOL)
        if row.gives == "idx":
            return Shape("scalar", type_=I32_TYPE)
        if row.gives == "fixed":
            found = fixed_type(op == "q", sizes[0].number(), sizes[1].number())
            if found is None:
                raise Wrong("no fixed-point type")
            return Shape("scalar", type_=found)
        return Shape("scalar", type_=NAMES[CONVERSIONS[op]])

    def _apply(self, op: str, args: list[Value], made: Value, sizes: list[Length]) -> Any:
        default = self.store.default
        types: list[Type] = [a.shape.scalar(default) for a in args]
        result = made.shape.scalar(default)
        given = [self.store.scalar(a) for a in args]
        if fixed.is_fixed(*types, result):
            return fixed.apply(op, given, types, result)
        if op in CONVERSIONS:
            return convert(given[0], DTYPES[CONVERSIONS[op]])
        if SCALAR_OPS[op].gives == "idx":
            number = (clamp if op == "clamp" else wrap)(int(given[0]), sizes[0].number())
            return DTYPES["i32"].numpy.type(number)
        return apply(op, given)
