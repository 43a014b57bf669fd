"""Values of a program without memory: shapes, values, and what can be said of both by equations.

A *shape* is a scalar type, an array of a number of elements, or a tuple; whatever is not known yet is an unknown, and `same` makes two shapes one. A *length*
is a number that equations between lengths find. A *value* has a shape and, for each of its scalars, at most one *source*: a function that computes it when it is
asked for. `unify` says that two values are one; then a source of either is that of both, and so are the sources of what they are parts of.

    shape  ::= ? | scalar type | array length shape | tuple shape ..
    value  ::= shape, parts, sources, and what `last` and `init` need to know: which variables of which rounds it is, its first values

Nothing here knows about places, order, or the compiler's types: this is the ground of meaning.py, an oracle that is independent of the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from atoll.madl.represented import Enum, belongs
from atoll.types.dtypes import F64, I32
from atoll.types.types import Index, Scalar, Type

Path = tuple[int, ...]


class Wrong(AssertionError):
    """The program has no meaning: values contradict each other, or nothing says what one is."""


class NotYet(Exception):
    """What was asked for is not known yet."""


class Length:
    """A number of elements, perhaps not known yet."""

    def __init__(self, number: int | None = None) -> None:
        self._link: Length | None = None
        self._number = number

    def root(self) -> Length:
        here = self
        while here._link is not None:
            here = here._link
        return here

    def known(self) -> int | None:
        return self.root()._number

    def number(self) -> int:
        found = self.known()
        if found is None:
            raise NotYet("a size")
        return found


class Shape:
    """kind: None (unknown), scalar, array or tuple."""

    def __init__(self, kind: str | None = None, *, type_: Type | None = None, family: str = "any", length: Length | None = None, parts: list[Shape] | None = None) -> None:
        self._link: Shape | None = None
        self.kind = kind
        self.type = I32_TYPE if isinstance(type_, Index) else type_
        self.family = family
        self.length = length
        self.parts = parts if parts is not None else []

    def root(self) -> Shape:
        here = self
        while here._link is not None:
            here = here._link
        return here

    def scalar(self, default: bool) -> Scalar:
        """The scalar type; where nothing says, a number is an int and one with a point an f64, but only with `default`."""
        here = self.root()
        if here.type is None:
            if not default:
                raise NotYet("a type")
            here.type = F64_TYPE if here.family in ("real", "float") else I32_TYPE
        assert isinstance(here.type, Scalar)
        return here.type


I32_TYPE, F64_TYPE = Scalar(I32), Scalar(F64)
_NARROWER = {"any": 0, "scalar": 1, "number": 2, "integer": 3, "real": 3, "float": 4, "bool": 4}


def array(length: Length, elem: Shape) -> Shape:
    return Shape("array", length=length, parts=[elem])


class Value:
    """`parents` are the values this one is a part of, with the number of the part."""

    def __init__(self, shape: Shape | None = None, source: Callable[[Path], Any] | None = None) -> None:
        self._link: Value | None = None
        self._shape = shape if shape is not None else Shape()
        self.source = source
        self.parts: list[Value] | None = None
        self.parents: list[tuple[Value, int]] = []
        self.names: list[tuple[Any, str]] = []  # (round, variable)
        self.firsts: list[tuple[Any, Value]] = []  # (the scope that starts it, its value then)
        self.places: list[Value] = []  # other values that `init` reaches through this one
        self.element: list[tuple[Any, int]] = []  # of which array under construction, and which
        self.done: Any = None
        self.busy = False

    def root(self) -> Value:
        here = self
        while here._link is not None:
            here = here._link
        return here

    @property
    def shape(self) -> Shape:
        return self.root()._shape.root()


class Store:
    """Equations between lengths, shapes and values; `changes` counts what they have found."""

    def __init__(self) -> None:
        self.changes = 0
        self.default = False  # what nothing says is taken for an int or an f64

    # -- lengths

    def equal(self, a: Length, b: Length) -> None:
        a, b = a.root(), b.root()
        if a is b:
            return
        if a._number is not None and b._number is not None:
            if a._number != b._number:
                raise Wrong(f"a size is {a._number} and {b._number}")
            return
        if a._number is None:
            a, b = b, a
        b._link = a
        self.changes += 1

    def let(self, length: Length, number: int) -> None:
        if number < 0:
            raise Wrong(f"a size is {number}")
        self.equal(length, Length(number))

    # -- shapes

    def same(self, a: Shape, b: Shape) -> None:
        a, b = a.root(), b.root()
        if a is b:
            return
        if a.kind is None:
            a, b = b, a
        if b.kind is None:
            b._link = a
            self.narrow(a, b.family)
            self.changes += 1
            return
        if a.kind != b.kind or len(a.parts) != len(b.parts):
            raise Wrong(f"a value is {a.kind} and {b.kind}")
        if a.kind == "scalar":
            self._same_scalar(a, b)
        else:
            b._link = a
            self.changes += 1
            if a.length is not None and b.length is not None:
                self.equal(a.length, b.length)
            for x, y in zip(a.parts, b.parts, strict=True):
                self.same(x, y)

    def _same_scalar(self, a: Shape, b: Shape) -> None:
        if a.type is None:
            a, b = b, a
        if a.type is not None and b.type is not None and a.type != b.type:
            raise Wrong(f"a scalar is {a.type} and {b.type}")
        b._link = a
        self.narrow(a, b.family)
        self.changes += 1

    def narrow(self, shape: Shape, family: str) -> None:
        """The scalars of a shape belong to a family."""
        shape = shape.root()
        if _NARROWER[family] > _NARROWER[shape.family]:
            shape.family = family
        if isinstance(shape.type, Scalar) and not isinstance(shape.type, Enum) and not belongs(shape.family, shape.type):
            raise Wrong(f"{shape.type} is no {shape.family}")

    # -- values

    def unify(self, a: Value, b: Value) -> None:
        """Two values are one."""
        a, b = a.root(), b.root()
        if a is b:
            return
        self.same(a._shape, b._shape)
        if a.source is not None and b.source is not None:
            raise Wrong("a value is defined twice")
        b._link = a
        self.changes += 1
        a.source = a.source or b.source
        a.parents += b.parents
        a.names += b.names
        a.firsts += b.firsts
        a.places += b.places
        a.element += b.element
        if b.parts is not None:
            if a.parts is None:
                a.parts = b.parts
            else:
                for x, y in zip(a.parts, b.parts, strict=True):
                    self.unify(x, y)

    def parts(self, v: Value) -> list[Value]:
        """The elements of an array of known length, the components of a tuple."""
        v = v.root()
        if v.parts is None:
            shape = v.shape
            if shape.kind == "array":
                assert shape.length is not None
                shapes = [shape.parts[0]] * shape.length.number()
            elif shape.kind == "tuple":
                shapes = shape.parts
            else:
                raise NotYet("a shape")
            v.parts = [Value(s) for s in shapes]
            for k, part in enumerate(v.parts):
                part.parents.append((v, k))
        return v.parts

    def at(self, v: Value, path: Path) -> Value:
        for k in path:
            parts = self.parts(v)
            if not 0 <= k < len(parts):
                raise Wrong(f"index {k} out of {len(parts)}")
            v = parts[k]
        return v.root()

    def around(self, v: Value, places: bool = False) -> Iterator[tuple[Value, Path]]:
        """The value, and every value that it is a part of, with where; with `places`, also those that lie where it lies."""
        waiting: list[tuple[Value, Path]] = [(v.root(), ())]
        seen: set[tuple[int, Path]] = set()
        for here, path in waiting:
            here = here.root()
            if (id(here), path) in seen:
                continue
            seen.add((id(here), path))
            yield here, path
            waiting += [(parent, (k, *path)) for parent, k in here.parents]
            if places:
                waiting += [(other, path) for other in here.places]
                if path and here.parts is not None and path[0] < len(here.parts):
                    waiting.append((here.parts[path[0]], path[1:]))

    def scalar(self, v: Value) -> Any:
        """What a scalar is, as a NumPy scalar."""
        v = v.root()
        if v.done is not None:
            return v.done
        if v.busy:
            raise Wrong("a value needs itself")
        v.busy = True
        try:
            found = next(((here.source, path) for here, path in self.around(v) if here.source is not None), None)
            if found is None:
                raise NotYet("a value")
            source, path = found
            v.done = source(path)
        finally:
            v.busy = False
        return v.done

    def cells(self, v: Value, path: Path = ()) -> Iterator[Path]:
        """The paths of all scalars of a value."""
        shape = v.shape
        if shape.kind == "scalar":
            yield path
            return
        for k, part in enumerate(self.parts(v)):
            yield from self.cells(part, (*path, k))
