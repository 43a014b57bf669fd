"""Values between Python and a λANF program: records, None, lists, numbers and arrays, as words and arrays beside them (native/entry.h).

A value of union type is an instance of one of its records, None where None is a case, and a Python list for a type that says so
(`std.List`). Long lists of numbers cross as whole columns of words. A record that occurs twice crosses once and stays shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.core import ir as core
from atoll.core import values as v
from atoll.core.interpret_data import Data
from atoll.errors import fail
from atoll.functions import ir
from atoll.functions.kernels import element_rep, leaf_rep, leaf_types
from atoll.functions.measure import Measured, Part, Where
from atoll.types.dtypes import DTYPES
from atoll.types.types import Array, Fn, Index, Record, Scalar, Tuple, Type, Union, array, shape_of
from atoll.types.unions import type_key

_WORD, _TWO, _DATA, _ARRAY = range(4)


class Tables:
    """The unions that cross, numbered; how each leaf of a constructor, parameter or result is exchanged."""

    def __init__(self, fn: core.Function, data: Callable[[Union], ir.DataType]) -> None:
        self.data = data
        self.numbers: dict[object, int] = {}
        self.unions: list[Union] = []
        self.types: list[ir.DataType] = []
        self.fn = fn
        self.params = [(-1, 8) for _ in fn.sizes] + [self.place(leaf, fn) for _, t in fn.params for leaf in leaf_types(t)]
        self.results = [self.place(leaf, fn) for leaf in leaf_types(fn.result)]

    def number(self, t: Union) -> int:
        key = type_key(t)
        if key not in self.numbers:
            self.numbers[key] = len(self.types)
            self.types.append(self.data(t))
            self.unions.append(t)
            for k in range(len(t.decl.members)):
                for item in t.decl.member(t, k).items:
                    for leaf in leaf_types(item):
                        self.place(leaf, self.fn)
        return self.numbers[key]

    def place(self, t: Type, fn: core.Function) -> tuple[int, int]:
        """The number of a leaf's union, and the bytes of an array's element."""
        _, elem = shape_of(t)
        if isinstance(elem, Fn) or (isinstance(elem, Union) and isinstance(t, Array)):
            fail("E1123", fn.span, name=fn.name, found=repr(t))
        if isinstance(t, Union):
            return self.number(t), 8
        rep = element_rep(t)
        return -1, DTYPES[rep].size

    def leaf(self, con: ir.Constructor, k: int) -> tuple[int, int, int]:
        """kind, union, bytes of an element of leaf k."""
        at = next(n for n, d in enumerate(self.types) if d is con.data)
        t = self.unions[at]
        leaf = [x for item in t.decl.member(t, con.tag).items for x in leaf_types(item)][k]
        type_, item = self.place(leaf, self.fn)
        rep = leaf_rep(leaf)
        kind = _DATA if rep == ir.DATA else _ARRAY if rep == ir.ARRAY else _TWO if rep == "c128" else _WORD
        return kind, type_, item


@dataclass(frozen=True, slots=True)
class Outside:
    """What crosses: words, and arrays they refer to."""

    words: np.ndarray[Any, Any]
    arrays: list[np.ndarray[Any, Any]]


def scalar_words(x: Any) -> list[int]:
    """A NumPy scalar as words of 8 bytes."""
    raw = x.tobytes()
    if len(raw) == 16:
        return [int(w) for w in np.frombuffer(raw, np.int64)]
    if x.dtype.kind in "iub":
        return [int(np.uint64(x).view(np.int64)) if x.dtype == np.uint64 else int(x)]
    return [int(np.frombuffer(raw.ljust(8, b"\0"), np.int64)[0])]


class Writer:
    """Values to words. What data look like is for subclasses to say."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.measured = Measured(name)
        self.words: list[Any] = []  # numbers, or whole arrays of them
        self.arrays: list[np.ndarray[Any, Any]] = []
        self.seen: dict[int, int] = {}
        self.keep: list[Any] = []

    def finish(self) -> Outside:
        parts = []
        run: list[int] = []
        for w in self.words:
            if isinstance(w, np.ndarray):
                parts += [np.array(run, np.int64), w]
                run = []
            else:
                run.append(w)
        parts.append(np.array(run, np.int64))
        return Outside(np.concatenate(parts) if len(parts) > 1 else parts[0], self.arrays)

    def put(self, t: Type, value: Any, where: Any) -> None:
        """A value of any type; values of unions by a stack, because they are deep."""
        self.put_leaves(self.spread(t, value, where))

    def put_leaves(self, parts: list[Part]) -> None:
        todo = list(reversed(parts))
        while todo:
            leaf, x, place = todo.pop()
            if isinstance(leaf, Union):
                todo.extend(reversed(_numbers_first(self.one(leaf, x, place))))
            elif isinstance(leaf, Array):
                self.words.append(len(self.arrays))
                self.arrays.append(np.ascontiguousarray(x))
            else:
                self.words += scalar_words(x)

    def one(self, t: Union, x: Any, where: Any) -> list[Part]:
        """The word of a value of union type, and its leaves."""
        k = self.case(t, x, where)
        member = t.decl.member(t, k)
        if not member.items:
            self.words.append(4 * k)
            return []
        number = self.seen.get(id(x))
        if number is not None:
            self.words.append(4 * number + 1)
            return []
        self.seen[id(x)] = len(self.seen)
        self.keep.append(x)
        self.words.append(4 * k + 2)
        found: list[Part] = []
        for name, item, field in zip(member.decl.fields, member.items, self.fields(x, member), strict=True):
            found += self.spread(item, field, Where(name, where))
        self.measured.record(p for p in found if isinstance(p[0], (Array, Index)))
        return found

    def case(self, t: Union, x: Any, where: Any) -> int:
        """Which case a value is."""
        raise NotImplementedError

    def fields(self, x: Any, member: Record) -> list[Any]:
        raise NotImplementedError

    def spread(self, t: Type, value: Any, where: Any) -> list[Part]:
        """The leaves of a value."""
        raise NotImplementedError


def _numbers_first(parts: list[Part]) -> list[Part]:
    """native/entry.h reads the numbers and arrays of a cell before its values."""
    return [p for p in parts if not isinstance(p[0], Union)] + [p for p in parts if isinstance(p[0], Union)]


class PythonWriter(Writer):
    """From what a user passes: instances of records, None, lists where a library type takes them."""

    def one(self, t: Union, x: Any, where: Any) -> list[Part]:
        convert = conversion(t)
        if convert is not None:
            if convert.write(self, t, x, where):
                return []
            x = convert.expand(x)
            self.keep.append(x)
        return super().one(t, x, where)

    def case(self, t: Union, x: Any, where: Any) -> int:
        k = next((k for k, m in enumerate(t.decl.members) if (x is None if m is None else isinstance(x, m))), None)
        if k is None:
            fail("E1116", fn=self.name, name=where, expected=repr(t), found=_kind(x))
        return k

    def fields(self, x: Any, member: Record) -> list[Any]:
        return [getattr(x, name) for name in member.decl.fields]

    def spread(self, t: Type, value: Any, where: Any) -> list[Part]:
        from atoll.runtime.arguments import convert

        sizes, elem = shape_of(t)
        if isinstance(t, Union):
            return [(t, value, where)]
        if isinstance(elem, (Tuple, Record)):
            if isinstance(elem, Record):
                if elem.decl.cls is None or not isinstance(value, elem.decl.cls):
                    fail("E1116", fn=self.name, name=where, expected=elem.decl.name, found=_kind(value))
                parts: list[tuple[Any, Any]] = [(Where(f, where), getattr(value, f)) for f in elem.decl.fields]
            else:
                if not isinstance(value, tuple) or len(value) != len(elem.items):
                    fail("E1116", fn=self.name, name=where, expected=f"a tuple of {len(elem.items)}", found=_kind(value))
                parts = [(f"{where}[{k}]", x) for k, x in enumerate(value)]
            return [p for item, (name, x) in zip(elem.items, parts, strict=True) for p in self.spread(array(item, sizes), x, name)]
        return [(t, convert(self.name, where, t, value), where)]


class DataWriter(Writer):
    """From the interpreter's values."""

    def case(self, t: Union, x: Any, where: Any) -> int:
        return int(x.member)

    def fields(self, x: Any, member: Record) -> list[Any]:
        return list(x.fields)

    def spread(self, t: Type, value: Any, where: Any) -> list[Part]:
        return [(leaf, x, where) for leaf, x in zip(leaf_types(t), v.leaves(value), strict=True)]


def _kind(x: Any) -> str:
    return "None" if x is None else f"a {type(x).__name__}"


# -- reading

Maker = Callable[[Union, int, list[Any]], Any]


class Reader:
    """Words to values; `make` builds a value of union type from its fields."""

    def __init__(self, words: np.ndarray[Any, Any], array: Callable[[int, Any], Any], make: Maker, quick: bool = False) -> None:
        self.words, self.array, self.make, self.quick = words, array, make, quick
        self.at = 0
        self.shared: list[Any] = []

    def word(self) -> int:
        self.at += 1
        return int(self.words[self.at - 1])

    def value(self, t: Type) -> Any:
        """A value of this type, as a nest of tuples over leaves."""
        sizes, elem = shape_of(t)
        if isinstance(elem, (Tuple, Record)):
            return tuple(self.value(array(item, sizes)) for item in elem.items)
        return self.whole(t) if isinstance(t, Union) else self.leaf(t)

    def whole(self, t: Union) -> Any:
        """A value of union type as it looks from outside."""
        convert = conversion(t) if self.quick else None
        if convert is not None:
            found = convert.quickly(self, t)
            if found is not None:
                return found[0]
        return self.union(t)

    def leaf(self, t: Type) -> Any:
        if isinstance(t, Array):
            return self.array(self.word(), DTYPES[element_rep(t)].numpy)
        assert isinstance(t, (Scalar, Index))
        dtype = t.dtype
        count = 2 if dtype.name == "c128" else 1
        raw = self.words[self.at : self.at + count].tobytes()
        self.at += count
        if dtype.numpy.kind in "iub":
            return np.frombuffer(raw, np.int64)[0].astype(dtype.numpy)
        return np.frombuffer(raw[: dtype.numpy.itemsize], dtype.numpy)[0]

    def union(self, t: Union) -> Any:
        """One value, without recursion."""
        stack: list[_Open] = []
        done, value = self.start(t, stack)
        while stack:
            top = stack[-1]
            if done:
                top.leaves[top.waiting] = value
            following = next(top.todo, None)
            if following is None:
                stack.pop()
                done, value = True, self.close(top)
                continue
            top.waiting, part = following
            done, value = self.start(part, stack)
        return value

    def start(self, t: Union, stack: list[_Open]) -> tuple[bool, Any]:
        word = self.word()
        if word & 1:
            return True, self.shared[word >> 2]
        k = word >> 2
        number = None
        if word & 2:
            number = len(self.shared)
            self.shared.append(None)
        items = t.decl.member(t, k).items
        if not items:
            return True, self.make(t, k, [])
        found = [leaf for item in items for leaf in leaf_types(item)]
        leaves: list[Any] = [None] * len(found)
        for position, leaf in enumerate(found):
            if not isinstance(leaf, Union):
                leaves[position] = self.leaf(leaf)
        values = [(position, leaf) for position, leaf in enumerate(found) if isinstance(leaf, Union)]
        stack.append(_Open(t, k, leaves, iter(values), number))
        return False, None

    def close(self, top: _Open) -> Any:
        leaves = iter(top.leaves)
        fields = [_gather(item, leaves) for item in top.union.decl.member(top.union, top.member).items]
        value = self.make(top.union, top.member, fields)
        if top.number is not None:
            self.shared[top.number] = value
        return value


@dataclass(slots=True)
class _Open:
    """A record being read: its leaves so far, the values still to come, and its number if it is shared."""

    union: Union
    member: int
    leaves: list[Any]
    todo: Iterator[tuple[int, Union]]
    number: int | None
    waiting: int = -1


def _gather(t: Type, leaves: Iterator[Any]) -> Any:
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        return tuple(_gather(array(item, sizes), leaves) for item in elem.items)
    return next(leaves)


def make_python(t: Union, k: int, fields: list[Any]) -> Any:
    """Case k of a union as an instance of its record; what it ends in itself (a list's tail) is still an instance, too."""
    cls = t.decl.members[k]
    if cls is None:
        return None
    items = t.decl.member(t, k).items
    return cls(*(x if type_key(item) == type_key(t) else shown(item, x) for item, x in zip(items, fields, strict=True)))


def shown(t: Type, value: Any) -> Any:
    """A value as Python sees it: library types in their Python form."""
    from atoll.runtime.arguments import _instance

    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        items = [shown(array(item, sizes), x) for item, x in zip(elem.items, value, strict=True)]
        return _instance(elem, items) if isinstance(elem, Record) and elem.decl.cls is not None else tuple(items)
    if isinstance(t, Union):
        convert = conversion(t)
        return convert.finish(value) if convert is not None else value
    return value


def to_data(name: str, where: Any, t: Union, value: Any) -> Data:
    """A Python value as the interpreter's."""
    w = PythonWriter(name)
    w.put(t, value, where)
    out = w.finish()
    return Reader(out.words, lambda k, _: out.arrays[k], lambda _, k, fields: Data(k, tuple(fields))).union(t)  # type: ignore[no-any-return]


def from_data(t: Union, value: Data) -> Any:
    """The interpreter's value as Python's."""
    w = DataWriter("")
    w.put(t, value, "")
    out = w.finish()
    return shown(t, Reader(out.words, lambda k, _: out.arrays[k], make_python).union(t))


@dataclass(frozen=True, slots=True)
class Conversion:
    """How a library type looks to Python (std/). `expand` makes instances of its records from the Python form, `finish` the other way round.
    `write` writes a whole value and says so, `quickly` reads one as a tuple of it, where the words are simple enough for whole columns."""

    expand: Callable[[Any], Any]
    finish: Callable[[Any], Any]
    write: Callable[[Writer, Union, Any, str], bool] = lambda w, t, x, where: False
    quickly: Callable[[Reader, Union], tuple[Any] | None] = lambda r, t: None


CONVERSIONS: dict[Any, Conversion] = {}
"""By union declaration."""


def conversion(t: Union) -> Conversion | None:
    return CONVERSIONS.get(t.decl)
