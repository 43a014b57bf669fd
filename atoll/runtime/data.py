"""Values between Python and a λANF program: records, None, lists, numbers and arrays, as words and arrays beside them (native/entry.h).

A value of union type is an instance of one of its records, None where None is a case, and a Python list for a type that says so
(`std.List`). Long lists of numbers cross as whole columns of words. A record that occurs twice crosses once and stays shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.core import values as v
from atoll.core.interpret_data import Data
from atoll.errors import fail
from atoll.runtime.arguments import _instance, convert
from atoll.runtime.measure import Measured, Part, Where
from atoll.types.types import Array, Index, Record, Scalar, Tuple, Type, Union, array, dtype_of, flatten, shape_of
from atoll.types.unions import type_key


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
        form = t.decl.python
        if form is not None:
            if form.column is not None and self.column(t, form.column, x, where):
                return []
            x = form.expand(x)
            self.keep.append(x)
        return super().one(t, x, where)

    def column(self, t: Union, members: tuple[Any, Any], value: Any, where: Any) -> bool:
        """A Python list of numbers as columns of words, where it is one."""
        dtype = _numbers(t)
        if dtype is None or not isinstance(value, (list, np.ndarray)):
            return False
        nil, cons = (t.decl.members.index(m) for m in members)
        column = _column(self.name, where, value, dtype)
        elem = t.types[0] if t.types else None
        if isinstance(elem, Index):
            self.measured.index(elem.size, column, where)
        words = np.empty((len(column), 2), np.int64)
        words[:, 0] = 4 * cons
        words[:, 1] = column
        self.words += [words.reshape(-1), 4 * nil]
        return True

    def case(self, t: Union, x: Any, where: Any) -> int:
        k = next((k for k, m in enumerate(t.decl.members) if (x is None if m is None else isinstance(x, m))), None)
        if k is None:
            fail("E1116", fn=self.name, name=where, expected=repr(t), found=_kind(x))
        return k

    def fields(self, x: Any, member: Record) -> list[Any]:
        return [getattr(x, name) for name in member.decl.fields]

    def spread(self, t: Type, value: Any, where: Any) -> list[Part]:
        from atoll.runtime.arguments import convert  # which asks this file for values of unions

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
        return [(leaf, x, where) for (_, leaf), x in zip(flatten(t), v.leaves(value), strict=True)]


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
        form = t.decl.python if self.quick else None
        if form is not None and form.column is not None:
            found = self.column(t, form.column)
            if found is not None:
                return found
        return self.union(t)

    def column(self, t: Union, members: tuple[Any, Any]) -> list[Any] | None:
        """Words of a list of numbers that nobody shares: a column."""
        dtype = _numbers(t)
        if dtype is None:
            return None
        nil, cons = (4 * t.decl.members.index(m) for m in members)
        words = self.words[self.at :]
        tags = words[::2]
        end = int(np.argmax(tags != cons))
        if tags[end] != nil:
            return None
        column = words[1 : 2 * end : 2]
        self.at += 2 * end + 1
        if dtype.kind in "iub":
            return list(column.astype(dtype.numpy))
        return list(np.ascontiguousarray(column).view(dtype.numpy)[:: 8 // dtype.numpy.itemsize])

    def leaf(self, t: Type) -> Any:
        if isinstance(t, Array):
            return self.array(self.word(), dtype_of(shape_of(t)[1]).numpy)
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
        found = [leaf for item in items for _, leaf in flatten(item)]
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
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        items = [shown(array(item, sizes), x) for item, x in zip(elem.items, value, strict=True)]
        return _instance(elem, items) if isinstance(elem, Record) and elem.decl.cls is not None else tuple(items)
    if isinstance(t, Union):
        form = t.decl.python
        return form.finish(value) if form is not None else value
    return value


# -- lists of numbers


def _numbers(t: Union) -> Any | None:
    """The dtype of a list of numbers that take one word each."""
    assert t.types is not None
    (elem,) = t.types
    return elem.dtype if isinstance(elem, (Scalar, Index)) and elem.dtype.name != "c128" else None


def _column(fn: str, where: str, value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """The words of a list of numbers."""
    kind = {"i": int, "f": float, "b": bool}.get(dtype.kind)
    whole = dtype.name in ("i64", "f64", "bool")
    if whole and isinstance(value, list) and all(type(x) is kind for x in value):
        try:
            array = np.array(value, dtype.numpy)
            return array.astype(np.int64) if dtype.kind in "ib" else array.view(np.int64)
        except OverflowError:
            pass  # the slow way names the element
    if isinstance(value, np.ndarray) and value.dtype == dtype.numpy and value.ndim == 1:
        return value.astype(np.int64) if dtype.kind in "iub" else _bits(np.ascontiguousarray(value))
    items = [convert(fn, f"{where}[{k}]", Scalar(dtype), x) for k, x in enumerate(value)]
    return np.array([scalar_words(x)[0] for x in items], np.int64)


def _bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype.itemsize == 8:
        return array.view(np.int64)
    wide = np.zeros((len(array), 8 // array.dtype.itemsize), array.dtype)
    wide[:, 0] = array
    return wide.view(np.int64).reshape(-1)


# -- the interpreter's values


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
