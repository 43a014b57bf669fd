"""Records: classes with named, typed fields (@at.record)."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from atoll.types.types import Record, RecordDecl, Type

T = TypeVar("T", bound=type)


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
    made = dataclasses.dataclass(frozen=True, eq=False)(cls)
    made.__atoll_record__ = RecordDecl(made.__name__, tuple(f.name for f in dataclasses.fields(made)), made, made)  # type: ignore[attr-defined]
    return made  # type: ignore[return-value]


def record_of(cls: Any) -> RecordDecl | None:
    """The declaration behind a class made by @at.record, or None."""
    return cls.__dict__.get("__atoll_record__") if isinstance(cls, type) else None


def record_type(cls: Any) -> Record:
    """The type of a record, with its fields' types as written (sizes are global symbols)."""
    from atoll.types.annotations import type_of_object

    decl = record_of(cls)
    assert decl is not None
    items: list[Type] = []
    for f in dataclasses.fields(cls):
        written = f.type
        if isinstance(written, str):
            import sys

            written = eval(written, vars(sys.modules[cls.__module__]))  # noqa: S307  the user's own annotation
        items.append(type_of_object(written))
    return Record(decl, tuple(items))
