"""Arrays put together and taken apart: concatenate and stack, split, insert and delete, repeat and tile, pad. Nearly all of it is views, which cost nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.broadcasting import stretched, with_ones
from atoll.elaborate.builtins.reshape import flatten, view
from atoll.elaborate.coerce import array_of, coerce
from atoll.elaborate.entities import Value
from atoll.elaborate.indexing import _read
from atoll.elaborate.numpy_names.call import Call
from atoll.elaborate.numpy_names.shapes import atleast, product, reshaped
from atoll.sizes import Poly, floordiv, poly
from atoll.sizes.poly import exact_quotient
from atoll.types.dtypes import BOOL
from atoll.types.types import array, rank, shape_of, strong

T = TypeVar("T")

# -- putting together


def joined(c: Call, values: list[Value], axis: int) -> Value:
    """One after the other along an axis; the element type is what they make together."""
    values = c.promoted(values)
    if axis == 0:
        return c.builtin("concat", *values) if len(values) > 1 else values[0]
    order = [axis, *(k for k in range(rank(values[0].type)) if k != axis)]
    back = [order.index(k) for k in range(len(order))]
    found = joined(c, [c.moved(v, order) for v in values], 0)
    return c.moved(c.el.bind(found), back)


def _arrays(c: Call, entity: Any, least: int = 0) -> list[Value]:
    values = [c.value(part) for part in c.parts(entity)]
    if not values:
        c.refuse("nothing to put together", "give at least one array")
    for value in values:
        if rank(value.type) < least or rank(value.type) != rank(values[0].type):
            c.wrong(", ".join(c.el.show(v.type) for v in values), "arrays with the same number of axes")
    return values


def _concatenate(c: Call, arrays: Any, axis: Any = 0, *, dtype: Any = None) -> Value:
    if c.none(axis):
        values = [c.flat(c.value(part)) for part in c.parts(arrays)]
        found = joined(c, values, 0)
    else:
        values = _arrays(c, arrays, 1)
        found = joined(c, values, c.axis(axis, rank(values[0].type)))
    wanted = c.dtype(dtype)
    return found if wanted is None else c.convert(found, wanted)


def stacked(c: Call, values: list[Value], axis: int) -> Value:
    values = c.promoted(values)
    return c.moved(c.el.bind(array_of(c.el, values, c.span)), _first_to(axis, rank(values[0].type) + 1))


def _first_to(axis: int, count: int) -> list[int]:
    order = list(range(1, count))
    order.insert(axis, 0)
    return order


def _stack(c: Call, arrays: Any, axis: Any = 0) -> Value:
    values = _arrays(c, arrays)
    return stacked(c, values, c.axis(axis, rank(values[0].type) + 1))


def _stacking(least: int, axis: int) -> Callable[..., Any]:
    """vstack, dstack: axes are made first, then joined."""

    def handler(c: Call, tup: Any) -> Value:
        values = [atleast(least)(c, part) for part in c.parts(tup)]
        _same_rank(c, values)
        return joined(c, values, axis)

    return handler


def _same_rank(c: Call, values: list[Value]) -> None:
    if len({rank(v.type) for v in values}) != 1:
        c.wrong(", ".join(c.el.show(v.type) for v in values), "arrays with the same number of axes")


def _hstack(c: Call, tup: Any) -> Value:
    values = [atleast(1)(c, part) for part in c.parts(tup)]
    _same_rank(c, values)
    return joined(c, values, 0 if rank(values[0].type) == 1 else 1)


def _column_stack(c: Call, tup: Any) -> Value:
    values = [c.array(part) for part in c.parts(tup)]
    values = [c.new_axis(v, 1) if rank(v.type) == 1 else v for v in values]
    _same_rank(c, values)
    return joined(c, values, 1)


def _block(c: Call, arrays: Any) -> Value:
    """Nested displays of arrays: the innermost are joined along the last axis, those around along the one before."""

    def depth(entity: Any) -> int:
        if isinstance(entity, (en.TupleEntity, en.Display)):
            return 1 + max(depth(part) for part in c.parts(entity))
        return 0

    nested = depth(arrays)

    def build(entity: Any, level: int) -> Value:
        if level == 0:
            found = c.value(entity)
            while rank(found.type) < nested:
                found = c.new_axis(found, 0)
            return found
        values = [build(part, level - 1) for part in c.parts(entity)]
        return c.el.bind(joined(c, values, rank(values[0].type) - level))

    return build(arrays, nested)


def _append(c: Call, arr: Any, values: Any, axis: Any = None) -> Value:
    x, y = c.value(arr), c.value(values)
    if c.none(axis):
        return joined(c, [c.flat(x), c.flat(y)], 0)
    _same_rank(c, [x, y])
    return joined(c, [x, y], c.axis(axis, rank(x.type)))


# -- taking apart


def cut(c: Call, value: Value, axis: int, low: Poly, size: Poly) -> Value:
    """value[..., low : low + size, ...]"""
    sizes = c.shape(value)
    c.el.require(low, c.span.text() or c.name, c.span)
    c.el.require(size, c.span.text() or c.name, c.span)
    c.el.require(sizes[axis] - low - size, c.span.text() or c.name, c.span)
    items: list[ir.Item] = [ir.Range(poly(0), 1, n) for n in sizes[:axis]]
    return c.el.bind(_read(value, [*items, ir.Range(low, 1, size)], c.span))


def _split(uneven: bool, fixed: int | None = None) -> Callable[..., Any]:
    def handler(c: Call, ary: Any, indices_or_sections: Any, axis: Any = 0) -> Value:
        x = c.array(ary)
        k = c.axis(axis, rank(x.type)) if fixed is None else fixed if rank(x.type) > fixed else 0
        size = c.shape(x)[k]
        if c.is_many(indices_or_sections):
            ends = [c.size(part) for part in c.parts(indices_or_sections)]
            ends = [size + end if (n := end.const()) is not None and n < 0 else end for end in ends]
            bounds = [poly(0), *ends, size]
            return c.tuple([cut(c, x, k, low, high - low) for low, high in pairwise(bounds)])
        count = c.integer(indices_or_sections, "the number of parts")
        if count < 1:
            c.refuse("fewer than one part", "give a positive number of parts")
        if uneven:
            parts, low = [], poly(0)
            for j in range(count):
                part = floordiv(size + (count - 1 - j), poly(count))
                parts.append(cut(c, x, k, low, part))
                low = low + part
            return c.tuple(parts)
        each = exact_quotient(size, poly(count))
        if each is None:
            each = floordiv(size, poly(count))
            c.same(size, each * count)
        return c.tuple([cut(c, x, k, each * j, each) for j in range(count)])

    return handler


def _unstack(c: Call, x: Any, axis: Any = 0) -> Value:
    value = c.array(x)
    k = c.axis(axis, rank(value.type))
    count = c.shape(value)[k].const()
    if count is None:
        c.refuse("an axis whose size is not a literal", "index the array instead: a[i]")
    moved = c.moved(value, [k, *(j for j in range(rank(value.type)) if j != k)])
    return c.tuple([c.at(moved, j) for j in range(count)])


def _delete(c: Call, arr: Any, obj: Any, axis: Any = None) -> Value:
    x = c.flat(c.array(arr)) if c.none(axis) else c.array(arr)
    k = 0 if c.none(axis) else c.axis(axis, rank(x.type))
    size = c.shape(x)[k]
    if isinstance(obj, Value) and rank(obj.type) and c.dtype_of(obj) is BOOL:
        c.refuse("a mask", "keep the others: x[~mask]")
    if c.is_many(obj):
        each = [c.integer(part, "a place") for part in c.parts(obj)]
        if not each or min(each) < 0:
            c.refuse("places that are counted from the end, or none", "keep the others with a mask: x[mask]")
        for one in sorted(set(each), reverse=True):
            x = c.el.bind(_delete(c, x, one, k))
        return x
    index = c.value(obj)
    known = index.poly.const() if index.poly is not None else None
    place = size + known if known is not None and known < 0 else c.size(index)
    c.el.require(place, c.span.text() or c.name, c.span)
    c.el.require(size - 1 - place, c.span.text() or c.name, c.span)
    return joined(c, [cut(c, x, k, poly(0), place), cut(c, x, k, place + 1, size - place - 1)], k)


def _insert(c: Call, arr: Any, obj: Any, values: Any, axis: Any = None) -> Value:
    x = c.flat(c.array(arr)) if c.none(axis) else c.array(arr)
    k = 0 if c.none(axis) else c.axis(axis, rank(x.type))
    size = c.shape(x)[k]
    index = c.value(obj)
    if rank(index.type):
        c.refuse("several places at once", "insert them one after the other")
    known = index.poly.const() if index.poly is not None else None
    place = size + known if known is not None and known < 0 else c.size(index)
    c.el.require(place, c.span.text() or c.name, c.span)
    c.el.require(size - place, c.span.text() or c.name, c.span)
    new = c.convert(c.value(values), c.dtype_of(x))
    others = [n for j, n in enumerate(c.shape(x)) if j != k]
    if rank(new.type) <= len(others):
        new = c.new_axis(c.el.bind(stretched(c.el, new, others, c.span)), k)
    return joined(c, [cut(c, x, k, poly(0), place), with_ones(new, ()), cut(c, x, k, place, size - place)], k)


# -- repeating


def _repeat(c: Call, a: Any, repeats: Any, axis: Any = None) -> Value:
    x = c.flat(c.value(a)) if c.none(axis) else c.array(a)
    k = 0 if c.none(axis) else c.axis(axis, rank(x.type))
    times = c.value(repeats)
    if rank(times.type) == 0:
        count = c.size(times)
        c.el.require(count, c.span.text() or c.name, c.span)
        return c.rows(x, lambda v: _each_repeated(c, v, count), k)
    moved = c.moved(x, [k, *(j for j in range(rank(x.type)) if j != k)])
    found = c.el.bind(c.whole("places.repeat_each", moved, c.integers(times)))
    return c.moved(found, _first_to(k, rank(x.type)))


def _each_repeated(c: Call, v: Value, count: Poly) -> Value:
    return flatten(c.el, c.el.bind(c.rows(v, lambda e: c.filled([count], e))), c.span)


def _tile(c: Call, A: Any, reps: Any) -> Value:
    def again(times: Poly, v: Value) -> Value:
        return flatten(c.el, c.el.bind(c.filled([times], v)), c.span)

    x, counts = c.value(A), c.sizes(reps)
    while rank(x.type) < len(counts):
        x = c.new_axis(x, 0)
    counts = [poly(1)] * (rank(x.type) - len(counts)) + counts
    for k, count in enumerate(counts):
        if count.const() == 1:
            continue
        c.el.require(count, c.span.text() or c.name, c.span)
        x = c.el.bind(c.rows(x, partial(again, count), k))
    return with_ones(x, ())


def _resize(c: Call, a: Any, new_shape: Any) -> Value:
    """The elements again and again, until the shape is full."""
    x, sizes = c.flat(c.value(a)), c.sizes(new_shape)
    total = product(sizes)
    flat = c.el.bind(c.whole("places.cycle", x, c.count(total)))
    return reshaped(c, flat, sizes)


# -- padding

_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def _pad(c: Call, array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Value:
    x = c.array(array)
    kind = c.text(mode, "mode")
    if kind not in _MODES:
        c.refuse(f'mode="{kind}"', f"choose one of {', '.join(_MODES)}")
    pairs = _widths(c, pad_width, rank(x.type))
    for before, after in pairs:
        for width in (before, after):
            c.el.require(width, c.span.text() or c.name, c.span)
    if kind == "constant":
        sizes, elem = shape_of(x.type)
        if not c.is_many(constant_values):
            filler = c.el.bind(coerce(c.el, c.convert(c.value(constant_values), c.dtype_of(x)), strong(elem), c.span, "the padding value"))
            t = array_type(elem, [n + b + d for n, (b, d) in zip(sizes, pairs, strict=True)])
            return view("pad", tuple(pairs), [x, filler], t, c.span)
        fillers = _pairs(c, constant_values, rank(x.type), lambda v: c.el.bind(c.convert(c.value(v), c.dtype_of(x))))
        for k, ((before, after), (low, high)) in enumerate(zip(pairs, fillers, strict=True)):
            x = c.el.bind(c.rows(x, partial(_with_ends, c, before, after, low, high), k))
        return x
    for k, (before, after) in enumerate(pairs):
        if before.const() == 0 and after.const() == 0:
            continue
        x = c.el.bind(c.rows(x, partial(_padded, c, kind, before, after), k))
    return x


def _padded(c: Call, kind: str, before: Poly, after: Poly, v: Value) -> Value:
    found: Value = c.whole(f"places.pad_{kind}", v, c.count(before), c.count(after))
    return found


def _with_ends(c: Call, before: Poly, after: Poly, low: Value, high: Value, v: Value) -> Value:
    """Rows of one value before an array, of another after it."""
    inner = c.shape(v)[1:]
    ends = [c.el.bind(c.filled([width, *inner], end)) for width, end in ((before, low), (after, high))]
    return c.builtin("concat", ends[0], v, ends[1])


array_type = array


def _widths(c: Call, entity: Any, count: int) -> list[tuple[Poly, Poly]]:
    return _pairs(c, entity, count, lambda width: c.size(width, "a width"))


def _pairs(c: Call, entity: Any, count: int, read: Callable[[Any], T]) -> list[tuple[T, T]]:
    """What is said of the two ends of every axis: one thing, a pair, or a pair for each axis."""
    if not c.is_many(entity):
        found = read(entity)
        return [(found, found)] * count
    parts = c.parts(entity)
    rows = [[read(part) for part in c.parts(row)] for row in parts] if parts and c.is_many(parts[0]) else [[read(part) for part in parts]]
    rows = [row * 2 if len(row) == 1 else row for row in rows]
    if len(rows) == 1:
        rows = rows * count
    if len(rows) != count or any(len(row) != 2 for row in rows):
        c.el.fail("E0259", c.span, count=count)
    return [(row[0], row[1]) for row in rows]


WORDS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("concatenate", "concat"), _concatenate),
    "stack": _stack,
    "vstack": _stacking(2, 0),
    "hstack": _hstack,
    "dstack": _stacking(3, 2),
    "column_stack": _column_stack,
    "block": _block,
    "append": _append,
    "split": _split(False),
    "array_split": _split(True),
    "vsplit": _split(False, 0),
    "hsplit": _split(False, 1),
    "dsplit": _split(False, 2),
    "unstack": _unstack,
    "delete": _delete,
    "insert": _insert,
    "repeat": _repeat,
    "tile": _tile,
    "resize": _resize,
    "pad": _pad,
}

__all__ = ["WORDS", "cut", "joined", "stacked"]
