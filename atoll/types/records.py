"""Records: classes with named, typed fields (@at.record). Joined by `|` they are the cases of a union (types/unions.py)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from atoll.errors import Error, fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import asking_frame, plain
from atoll.types.types import Array, Fn, Record, RecordDecl, Type, Union

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
        from atoll.types.objects import type_of_object
        from atoll.types.unions import subscript

        return subscript(type_of_object(cls), items)


class Around:
    """The names visible where a class was declared, looked up late: a field may name a union that is made further down."""

    def __init__(self, frame: Any) -> None:
        self.globals: dict[str, Any] = frame.f_globals
        self.frame = frame if frame.f_locals is not frame.f_globals else None

    def names(self) -> dict[str, Any]:
        return {**self.globals, **(self.frame.f_locals if self.frame is not None else {})}


_WRITTEN = 1 << 9  # Py_TPFLAGS_HEAPTYPE: not one of Python's own, as int and type are


def _made(cls: Any, frame: Any) -> Any:
    if not isinstance(cls, type):
        fail("E0610", name="at.record", text=f"takes a class, not {kind_of(cls)}", help="use it as a decorator: @at.record above a class")
    if not cls.__flags__ & _WRITTEN:
        fail("E0610", name="at.record", text=f"takes a class that is written in Python, not {cls.__name__}", help="use it as a decorator: @at.record above a class")
    made: Any = dataclasses.dataclass(frozen=True, eq=False)(_renewed(cls))
    if "__eq__" not in cls.__dict__:
        made.__eq__, made.__hash__ = _equal, _hash
    made.__atoll_record__ = RecordDecl(made.__name__, tuple(f.name for f in dataclasses.fields(made)), made, made)
    made.__atoll_around__ = Around(frame)
    return made


if TYPE_CHECKING:  # to pyright a decorator that makes dataclasses is one only where nothing else decorates it

    @dataclass_transform(frozen_default=True, eq_default=True)
    def record(cls: T) -> T: ...

else:

    @dataclass_transform(frozen_default=True, eq_default=True)
    @plain
    def record(cls):
        """Make a class a record: a frozen dataclass whose fields are annotated with Atoll types.

        >>> import atoll as at
        >>> @at.record
        ... class Point:
        ...     x: at.f32
        ...     y: at.f32
        >>> Point(1.0, 2.0)
        Point(x=1.0, y=2.0)
        """
        return _made(cls, asking_frame())


def _equal(self: Any, other: Any) -> Any:
    """Equal field by field, arrays by shape and elements. A list of records is as deep as it is long, so nothing recurses."""
    if type(self) is not type(other):
        return NotImplemented
    import numpy as np

    todo = [(self, other)]
    while todo:
        a, b = todo.pop()
        if a is b:
            continue
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            if not np.array_equal(a, b):
                return False
        elif record_of(type(a)) is not None and getattr(type(a), "__eq__", None) is _equal:
            if type(a) is not type(b):
                return False
            todo += [(getattr(a, f), getattr(b, f)) for f in a.__atoll_record__.fields]
        elif isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            todo += zip(a, b, strict=True)
        elif not bool(a == b):
            return False
    return True


def _hash(self: Any) -> int:
    """Equal records have equal hashes: of arrays the shape counts, of records their names and fields."""
    import numpy as np

    found: list[Any] = []
    todo = [self]
    while todo:
        x = todo.pop()
        if isinstance(x, np.ndarray):
            found.append(x.shape)
        elif record_of(type(x)) is not None and getattr(type(x), "__hash__", None) is _hash:
            found.append(type(x).__name__)
            todo += [getattr(x, f) for f in x.__atoll_record__.fields]
        elif isinstance(x, tuple):
            todo += x
        else:
            found.append(hash(x))
    return hash(tuple(found))


def _renewed(cls: T) -> T:
    """The class with RecordMeta as its metaclass, which a class that exists cannot be given."""
    if type(cls) is not type:
        return cls
    names = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    return RecordMeta(cls.__name__, cls.__bases__, names)  # type: ignore[return-value]


def record_of(cls: Any) -> RecordDecl | None:
    """The declaration behind a class made by @at.record, or None."""
    return cls.__dict__.get("__atoll_record__") if isinstance(cls, type) else None


def default_fields(cls: Any) -> dict[str, Any]:
    """The fields that may be left out, with what they hold then."""
    found = {f.name: f.default for f in dataclasses.fields(cls) if f.default is not dataclasses.MISSING}
    made = {f.name: f.default_factory() for f in dataclasses.fields(cls) if f.default_factory is not dataclasses.MISSING}
    return {**found, **made}


_reading: set[Any] = set()


def field_types(cls: Any) -> tuple[Type, ...]:
    """The types of a record's fields as written (sizes are global symbols, unions not yet looked into)."""
    known = cls.__dict__.get("__atoll_fields__")
    if known is not None:
        return known  # type: ignore[no-any-return]
    decl = record_of(cls)
    assert decl is not None
    _reading.add(cls)
    try:
        items = tuple(_field_type(decl, f) for f in dataclasses.fields(cls))
    finally:
        _reading.discard(cls)
    if any(_holds(item, cls) for item in items):
        fail("E1101", name=decl.name)
    cls.__atoll_fields__ = items
    return items


def _holds(t: Type, cls: Any) -> bool:
    """Every value of this type holds a record of this class. What a function would give does not count: it is made when it is called."""
    if isinstance(t, Union):
        return bool(t.decl.members == (cls,))
    inner = (t.elem,) if isinstance(t, Array) else getattr(t, "items", ())
    return any(_holds(part, cls) for part in inner)


def _mentions(t: Type, cls: Any) -> bool:
    if isinstance(t, Union):
        return t.decl.members == (cls,) or any(_mentions(part, cls) for part in t.types or ())
    inner = (t.elem,) if isinstance(t, Array) else (*t.params, t.result) if isinstance(t, Fn) else getattr(t, "items", ())
    return any(_mentions(part, cls) for part in inner)


def _field_type(decl: RecordDecl, f: Any) -> Type:
    from atoll.types.objects import type_of_object

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
    """The type of a record. One with a size of its own in a field (at.some) is a union of one case, because the size is data; and so is one
    that a function in a field gives or takes (a stream), because its type cannot be written out."""
    from atoll.types.unions import hides_sizes, union

    decl = record_of(cls)
    assert decl is not None
    if cls in _reading:
        return union(cls)  # type: ignore[no-any-return]
    items = field_types(cls)
    return union(cls) if any(map(hides_sizes, items)) or any(_mentions(item, cls) for item in items) else Record(decl, items)
