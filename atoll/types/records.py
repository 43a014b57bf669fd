"""Records: classes with named, typed fields (@at.record). Joined by `|` they are the cases of a union (types/unions.py)."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, TypeVar

from atoll.errors import Error, fail
from atoll.types.types import Record, RecordDecl, Type

T = TypeVar("T", bound=type)


class RecordMeta(type):
    """What the class of a record can do as a type: `A | B` joins, `A[n]` is an array, `A[t]` puts t for its type variable."""

    def __or__(cls, other: Any) -> Any:
        from atoll.types.unions import union

        return union(cls, other)

    def __ror__(cls, other: Any) -> Any:
        from atoll.types.unions import union

        return union(other, cls)

    def __getitem__(cls, items: Any) -> Any:
        from atoll.types.annotations import type_of_object
        from atoll.types.unions import subscript

        return subscript(type_of_object(cls), items)


class Around:
    """The names visible where a class was declared, looked up late: a field may name a union that is made further down."""

    def __init__(self, frame: Any) -> None:
        self.globals: dict[str, Any] = frame.f_globals
        self.frame = frame if frame.f_locals is not frame.f_globals else None

    def names(self) -> dict[str, Any]:
        return {**self.globals, **(self.frame.f_locals if self.frame is not None else {})}


def record(cls: T) -> T:
    """Make a class a record: a frozen dataclass whose fields are annotated with Atoll types.

    >>> import atoll as at
    >>> @at.record
    ... class Point:
    ...     x: at.f32
    ...     y: at.f32
    >>> Point(1.0, 2.0)
    Point(x=1.0, y=2.0)
    """
    made: Any = dataclasses.dataclass(frozen=True, eq=False)(_renewed(cls))
    made.__atoll_record__ = RecordDecl(made.__name__, tuple(f.name for f in dataclasses.fields(made)), made, made)
    made.__atoll_around__ = Around(sys._getframe(1))
    return made  # type: ignore[no-any-return]


def _renewed(cls: T) -> T:
    """The class with RecordMeta as its metaclass, which a class that exists cannot be given."""
    if type(cls) is not type:
        return cls
    names = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    return RecordMeta(cls.__name__, cls.__bases__, names)  # type: ignore[return-value]


def record_of(cls: Any) -> RecordDecl | None:
    """The declaration behind a class made by @at.record, or None."""
    return cls.__dict__.get("__atoll_record__") if isinstance(cls, type) else None


_reading: set[Any] = set()


def field_types(cls: Any) -> tuple[Type, ...]:
    """The types of a record's fields as written (sizes are global symbols, unions not yet looked into)."""
    known = cls.__dict__.get("__atoll_fields__")
    if known is not None:
        return known  # type: ignore[no-any-return]
    decl = record_of(cls)
    assert decl is not None
    if cls in _reading:
        fail("E1101", name=decl.name)
    _reading.add(cls)
    try:
        items = tuple(_field_type(decl, f) for f in dataclasses.fields(cls))
    finally:
        _reading.discard(cls)
    cls.__atoll_fields__ = items
    return items


def _field_type(decl: RecordDecl, f: Any) -> Type:
    from atoll.types.annotations import type_of_object

    written = f.type
    try:
        if isinstance(written, str):
            written = eval(written, decl.cls.__atoll_around__.names())  # type: ignore[union-attr]  # noqa: S307  the user's own annotation
        return type_of_object(written)
    except Error:
        raise
    except Exception:  # noqa: BLE001  whatever is wrong with the annotation, the answer is the same
        fail("E1102", record=decl.name, name=f.name, text=f.type)


def record_type(cls: Any) -> Type:
    """The type of a record. One with a size of its own in a field (at.some) is a union of one case, because the size is data."""
    from atoll.types.unions import hides_sizes, union

    decl = record_of(cls)
    assert decl is not None
    items = field_types(cls)
    return union(cls) if any(map(hides_sizes, items)) else Record(decl, items)
