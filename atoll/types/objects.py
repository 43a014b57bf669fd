"""Python objects that denote types: classes of records, int and float, numpy's scalar types, and the makers `at.Tuple`, `at.Fn`, `at.own`, `at.idx`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard, get_args, get_origin

from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import plain
from atoll.sizes import poly
from atoll.types.dtypes import SCALAR_TYPES
from atoll.types.records import record_of, record_type
from atoll.types.types import SCALARS, Fn, Index, Own, Tuple, Type

if TYPE_CHECKING:
    from atoll.function import Function


class AtollFunction:
    """What every function made by `@at.fn` is: for those below atoll/function.py, who meet it among Python's objects."""


def is_function(value: object) -> TypeGuard[Function]:
    return isinstance(value, AtollFunction)


class TupleMaker:
    """at.Tuple[t, u]"""

    @plain
    def __getitem__(self, items: Any) -> Tuple:
        return Tuple(tuple(_part("at.Tuple", item) for item in (items if isinstance(items, tuple) else (items,))))


class FnMaker:
    """at.Fn[[t, u], r]"""

    @plain
    def __getitem__(self, items: Any) -> Fn:
        if not isinstance(items, tuple) or len(items) != 2 or not isinstance(items[0], (list, tuple)):
            fail("E0610", name="at.Fn", text="takes the types of the parameters in a list, and the type of the result", help="write at.Fn[[f64, f64], f64]")
        return Fn(tuple(_part("at.Fn", p) for p in items[0]), _part("at.Fn", items[1]))


class OwnMaker:
    """at.own[t]"""

    @plain
    def __getitem__(self, item: Any) -> Own:
        return Own(_part("at.own", item))


class IndexMaker:
    """at.idx[n]"""

    @plain
    def __getitem__(self, size: Any) -> Type:
        return Index(poly(size))


def _part(name: str, value: Any) -> Type:
    try:
        return type_of_object(value)
    except LookupError:
        fail("E0610", name=name, text=f"takes types between its brackets, not {kind_of(value)}", help=f"write {name}[at.f64] or another type")


def type_of_object(value: Any) -> Type:
    """The type a Python object denotes; raises LookupError where it denotes none."""
    if isinstance(value, Type):
        return value
    if isinstance(value, tuple):
        return Tuple(tuple(map(type_of_object, value)))
    if get_origin(value) is tuple:  # tuple[t, u] as type checkers read it, typing.Tuple[t, u]
        return Tuple(tuple(map(type_of_object, get_args(value))))
    if isinstance(value, type):
        if record_of(value) is not None:
            return record_type(value)
        plain = {int: "i64", float: "f64", bool: "bool", complex: "c128"}.get(value)
        if plain is not None:
            return SCALARS[plain]
        if value.__module__ == "numpy" and value.__name__ in SCALAR_TYPES:
            return SCALARS[SCALAR_TYPES[value.__name__]]
    raise LookupError
