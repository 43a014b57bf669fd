"""Shapes: reshape, axes moved and made, arrays put together and taken apart. Nearly all of it is views, which cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from atoll.core import ir
from atoll.sizes import Poly, floordiv, poly
from atoll.sizes.poly import exact_quotient
from atoll.types import entities as en
from atoll.types.broadcasting import stretched, with_ones
from atoll.types.builtins.reshape import view
from atoll.types.coerce import coerce
from atoll.types.entities import Value
from atoll.types.numpy_names.call import Call
from atoll.types.types import Array, array, rank, shape_of, strong


def product(sizes: Sequence[Poly]) -> Poly:
    result = poly(1)
    for size in sizes:
        result = result * size
    return result


# -- the same elements under other axes


def reshaped(c: Call, value: Value, sizes: list[Poly]) -> Value:
    """The elements in C order under other axes. One size may be -1: what is left."""
    el = c.el
    total = product(c.shape(value))
    open_ = [k for k, size in enumerate(sizes) if size.const() == -1]
    if len(open_) > 1:
        c.refuse("-1 for more than one axis", "write the other sizes out")
    if open_:
        known = product([size for k, size in enumerate(sizes) if k != open_[0]])
        sizes = [_quotient(c, total, known) if k == open_[0] else size for k, size in enumerate(sizes)]
    c.same(total, product(sizes))
    for size in sizes:
        el.require(size, c.span.text() or c.name, c.span)
    if rank(value.type) == 0:
        for _ in sizes:
            value = c.new_axis(value, 0)
        return value
    value = el.bind(c.flat(value))
    if not sizes:
        return c.at(value, 0)
    for k in range(len(sizes) - 1, 0, -1):
        assert isinstance(value.type, Array)
        rest = product(sizes[:k])
        value = el.bind(view("split", (sizes[k], rest), [value], Array(Array(value.type.elem, sizes[k]), rest), c.span))
    if len(sizes) == 1:
        value = _named(c, value, sizes[0])
    ones = [k for k, size in enumerate(sizes) if size.const() == 1]
    return with_ones(value, ones)


def _named(c: Call, value: Value, size: Poly) -> Value:
    """The same array, its size under the name that was written."""
    assert isinstance(value.type, Array)
    if c.shape(value)[0] == size:
        return value
    columns = view("split", (poly(1), size), [value], Array(Array(value.type.elem, poly(1)), size), c.span)
    return c.flat(c.el.bind(columns))


def _quotient(c: Call, total: Poly, known: Poly) -> Poly:
    if known == poly(1):
        return total
    found = exact_quotient(total, known)
    if found is not None:
        return found
    divisor = known.const()
    if divisor is not None and divisor > 0:
        return floordiv(total, poly(divisor))
    if divisor is not None:
        c.refuse("-1 beside a size of 0", "write the size out")
    from atoll.types.arithmetic import binary

    rest = binary(c.el, "//", c.count(total), c.count(known), c.span)
    return c.el.as_poly(c.el.bind(rest), c.span)


def _shape_of_call(c: Call, shape: tuple[Any, ...]) -> list[Poly]:
    if len(shape) == 1:
        return c.sizes(shape[0])
    return [c.size(part) for part in shape]


def _reshape(c: Call, a: Any, shape: Any, order: Any = "C") -> Value:
    if c.text(order, "order") != "C":
        c.refuse('order other than "C"', "transpose first: np.reshape(a.T, shape)")
    return reshaped(c, c.value(a), c.sizes(shape))


def _reshape_method(c: Call, a: Any, *shape: Any, order: Any = "C") -> Value:
    if c.text(order, "order") != "C":
        c.refuse('order other than "C"', "transpose first: a.T.reshape(...)")
    return reshaped(c, c.value(a), _shape_of_call(c, shape))


def _ravel(c: Call, a: Any, order: Any = "C") -> Value:
    kind = c.text(order, "order")
    if kind not in ("C", "F"):
        c.refuse(f'order="{kind}"', 'leave it out for C order, or write order="F"')
    if kind == "F":
        x = c.value(a)
        return c.flat(c.moved(x, list(reversed(range(rank(x.type))))))
    return with_ones(c.flat(c.value(a)), ())


def _transpose(c: Call, a: Any, *axes: Any) -> Value:
    x = c.value(a)
    count = rank(x.type)
    if not axes or c.none(axes[0]):
        return c.moved(x, list(reversed(range(count))))
    order = c.axes(axes[0], count) if len(axes) == 1 else [c.axis(k, count) for k in axes]
    if len(order) != count:
        c.el.fail("E0256", c.span, axes=tuple(order), rank=count)
    return c.moved(x, order)


def _numpy_transpose(c: Call, a: Any, axes: Any = None) -> Value:
    return _transpose(c, a) if c.none(axes) else _transpose(c, a, axes)


def _matrix_transpose(c: Call, x: Any) -> Value:
    value = c.array(x)
    count = rank(value.type)
    if count < 2:
        c.wrong(value, "two axes or more")
    return c.moved(value, [*range(count - 2), count - 1, count - 2])


def _swapaxes(c: Call, a: Any, axis1: Any, axis2: Any) -> Value:
    x = c.array(a)
    one, two = c.axis(axis1, rank(x.type)), c.axis(axis2, rank(x.type))
    order = list(range(rank(x.type)))
    order[one], order[two] = order[two], order[one]
    return c.moved(x, order)


def _moveaxis(c: Call, a: Any, source: Any, destination: Any) -> Value:
    x = c.array(a)
    count = rank(x.type)
    where, to = c.axes(source, count), c.axes(destination, count)
    if len(where) != len(to):
        c.refuse("a different number of axes on both sides", "name as many places as axes")
    order = [k for k in range(count) if k not in where]
    for place, k in sorted(zip(to, where, strict=True)):
        order.insert(place, k)
    return c.moved(x, order)


def _rollaxis(c: Call, a: Any, axis: Any, start: Any = 0) -> Value:
    x = c.array(a)
    count = rank(x.type)
    k, to = c.axis(axis, count), c.integer(start, "start")
    to = to + count if to < 0 else to
    order = [j for j in range(count) if j != k]
    order.insert(to - (k < to), k)
    return c.moved(x, order)


def _expand_dims(c: Call, a: Any, axis: Any) -> Value:
    x = c.value(a)
    parts = c.parts(axis) if c.is_many(axis) else [axis]
    count = rank(x.type) + len(parts)
    for k in sorted(c.axis(part, count) for part in parts):
        x = c.new_axis(x, k)
    return x


def _squeeze(c: Call, a: Any, axis: Any = None) -> Value:
    x = c.value(a)
    sizes = c.shape(x)
    if c.none(axis):
        axes = [k for k, size in enumerate(sizes) if size.const() == 1]
    else:
        axes = c.axes(axis, len(sizes))
        for k in axes:
            c.same(sizes[k], poly(1))
    for k in sorted(axes, reverse=True):
        x = c.el.bind(c.drop_axis(x, k))
    return x


def _atleast(least: int) -> Callable[..., Any]:
    def handler(c: Call, *arys: Any) -> Any:
        def one(entity: Any) -> Value:
            x = c.value(entity)
            if rank(x.type) == 0 and least:
                x = c.new_axis(x, 0)
            if rank(x.type) == 1 and least >= 2:
                x = c.new_axis(x, 0)
            if rank(x.type) == 2 and least == 3:
                x = c.new_axis(x, 2)
            return x

        found = [one(entity) for entity in arys]
        return found[0] if len(found) == 1 else c.tuple(found)

    return handler


def _broadcast_to(c: Call, array: Any, shape: Any) -> Value:
    x, sizes = c.value(array), c.sizes(shape)
    count = rank(x.type)
    if count > len(sizes):
        c.refuse("a shape with fewer axes", "give as many sizes as the array has, or more")
    for k, (mine, wanted) in enumerate(zip(c.shape(x), sizes[len(sizes) - count :], strict=True)):
        if k not in x.ones:
            if mine.const() == 1 and wanted.const() != 1:
                x = with_ones(x, {*x.ones, k})
            else:
                c.same(mine, wanted)
    for size in sizes:
        c.el.require(size, c.span.text() or c.name, c.span)
    return stretched(c.el, x, sizes, c.span)


def _broadcast_arrays(c: Call, *args: Any) -> Value:
    from atoll.types.lifting import lift

    values = [c.value(a) for a in args]
    return lift(c.el, values, [0] * len(values), lambda xs: c.tuple(xs), c.span, c.name)


# -- turning


def reverse(c: Call, value: Value, axis: int) -> Value:
    return c.rows(value, lambda v: c.builtin("reverse", v), axis)


def _flip(c: Call, m: Any, axis: Any = None) -> Value:
    x = c.array(m)
    for k in c.axes(axis, rank(x.type)):
        x = c.el.bind(reverse(c, x, k))
    return x


def _flip_one(axis: int) -> Callable[..., Any]:
    def handler(c: Call, m: Any) -> Value:
        x = c.array(m)
        if rank(x.type) <= axis:
            c.wrong(x, f"at least {axis + 1} axes")
        return reverse(c, x, axis)

    return handler


def _rot90(c: Call, m: Any, k: Any = 1, axes: Any = None) -> Value:
    x = c.array(m)
    count = rank(x.type)
    if count < 2:
        c.wrong(x, "two axes or more")
    one, two = (0, 1) if c.none(axes) else c.axes(axes, count)
    times = c.integer(k, "k") % 4
    order = list(range(count))
    order[one], order[two] = order[two], order[one]
    if times == 1:
        return c.moved(c.el.bind(reverse(c, x, two)), order)
    if times == 2:
        return reverse(c, c.el.bind(reverse(c, x, one)), two)
    return c.el.bind(reverse(c, c.moved(x, order), two)) if times == 3 else x


def _roll(c: Call, a: Any, shift: Any, axis: Any = None) -> Value:
    x = c.array(a)

    def turn(v: Value, by: Any) -> Value:
        from atoll.types.arithmetic import negate

        return c.builtin("rotate", v, c.el.bind(negate(c.el, c.value(by), c.span)))

    if c.none(axis):
        return reshaped(c, c.el.bind(turn(c.flat(x), shift)), c.shape(x)) if rank(x.type) > 1 else turn(x, shift)
    axes = c.axes(axis, rank(x.type))
    shifts = c.parts(shift)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    for k, by in zip(axes, shifts, strict=True):
        x = c.el.bind(c.rows(x, partial(turn, by=by), k))
    return x


# -- putting together


def joined(c: Call, values: list[Value], axis: int) -> Value:
    """One after the other along an axis; the element type is what they make together."""
    values = [c.strong(v) for v in values]
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


def _concatenate(c: Call, arrays: Any, axis: Any = 0, dtype: Any = None) -> Value:
    if c.none(axis):
        values = [c.flat(c.value(part)) for part in c.parts(arrays)]
        found = joined(c, values, 0)
    else:
        values = _arrays(c, arrays, 1)
        found = joined(c, values, c.axis(axis, rank(values[0].type)))
    wanted = c.dtype(dtype)
    return found if wanted is None else c.convert(found, wanted)


def stacked(c: Call, values: list[Value], axis: int) -> Value:
    from atoll.surface import syntax as s
    from atoll.types.expressions import array_of

    values = [c.strong(v) for v in values]
    return c.moved(c.el.bind(array_of(c.el, values, s.NoneValue(span=c.span))), _first_to(axis, rank(values[0].type) + 1))


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
        values = [_atleast(least)(c, part) for part in c.parts(tup)]
        _same_rank(c, values)
        return joined(c, values, axis)

    return handler


def _same_rank(c: Call, values: list[Value]) -> None:
    if len({rank(v.type) for v in values}) != 1:
        c.wrong(", ".join(c.el.show(v.type) for v in values), "arrays with the same number of axes")


def _hstack(c: Call, tup: Any) -> Value:
    values = [_atleast(1)(c, part) for part in c.parts(tup)]
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
    from atoll.types.indexing import _read

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
    index = c.value(obj)
    if rank(index.type):
        c.refuse("several places at once", "keep the others with a mask: x[mask]")
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
    from atoll.types.builtins.reshape import flatten

    return flatten(c.el, c.el.bind(c.rows(v, lambda e: c.filled([count], e))), c.span)


def _tile(c: Call, A: Any, reps: Any) -> Value:
    from atoll.types.builtins.reshape import flatten

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
        filler = c.el.bind(coerce(c.el, c.convert(c.value(constant_values), c.dtype_of(x)), strong(elem), c.span, "the padding value"))
        t = array_type(elem, [n + b + d for n, (b, d) in zip(sizes, pairs, strict=True)])
        return view("pad", tuple(pairs), [x, filler], t, c.span)
    for k, (before, after) in enumerate(pairs):
        if before.const() == 0 and after.const() == 0:
            continue
        x = c.el.bind(c.rows(x, partial(_padded, c, kind, before, after), k))
    return x


def _padded(c: Call, kind: str, before: Poly, after: Poly, v: Value) -> Value:
    found: Value = c.whole(f"places.pad_{kind}", v, c.count(before), c.count(after))
    return found


array_type = array


def _widths(c: Call, entity: Any, count: int) -> list[tuple[Poly, Poly]]:
    """One width, a pair, or a pair for each axis."""

    if not c.is_many(entity):
        width = c.size(entity, "a width")
        return [(width, width)] * count
    parts = c.parts(entity)
    if parts and c.is_many(parts[0]):
        pairs = [[c.size(w, "a width") for w in c.parts(part)] for part in parts]
        pairs = [p * 2 if len(p) == 1 else p for p in pairs]
        if len(pairs) == 1:
            pairs = pairs * count
        if len(pairs) != count or any(len(p) != 2 for p in pairs):
            c.el.fail("E0259", c.span, count=count)
        return [(p[0], p[1]) for p in pairs]
    widths = [c.size(part, "a width") for part in parts]
    if len(widths) == 1:
        widths = widths * 2
    if len(widths) != 2:
        c.el.fail("E0259", c.span, count=count)
    return [(widths[0], widths[1])] * count


# -- asking


def _shape(c: Call, a: Any) -> Value:
    return c.tuple([c.count(n) for n in c.shape(c.value(a))])


def _size(c: Call, a: Any, axis: Any = None) -> Value:
    sizes = c.shape(c.value(a))
    return c.count(product(sizes) if c.none(axis) else sizes[c.axis(axis, len(sizes))])


def _ndim(c: Call, a: Any) -> Value:
    return c.count(poly(rank(c.value(a).type)))


def _copy(c: Call, a: Any) -> Value:
    return c.builtin("copy", c.value(a))


def _itself(c: Call, a: Any) -> Value:
    return c.value(a)


def _item(c: Call, a: Any, *args: Any) -> Value:
    x = c.value(a)
    if not args:
        for size in c.shape(x):
            c.same(size, poly(1))
        while rank(x.type):
            x = c.el.bind(c.at(x, 0))
        return x
    if len(args) != 1 or rank(x.type) == 0:
        c.refuse("item of several indices", "index it: a[i, j]")
    return c.builtin("gather", c.flat(x), args[0])


def _astype(c: Call, x: Any, dtype: Any) -> Value:
    wanted = c.dtype(dtype)
    if wanted is None:
        c.refuse("no type", "say which: x.astype(f32)")
    value = c.value(x)
    if c.dtype_of(value).is_complex and not wanted.is_complex:
        c.refuse("dropping the imaginary part", "take the part you mean: x.real.astype(...)")
    return with_ones(c.convert(value, wanted), value.ones)


def _trim_zeros(c: Call, filt: Any, trim: Any = "fb") -> Value:
    text = c.text(trim, "trim").lower()
    found: Value = c.whole("places.trim_zeros", c.vector(filt), "f" in text, "b" in text)
    return found


WORDS: dict[str, Callable[..., Any]] = {
    "reshape": _reshape,
    ".reshape": _reshape_method,
    **dict.fromkeys(("ravel", ".flatten"), _ravel),
    **dict.fromkeys(("transpose", "permute_dims"), _numpy_transpose),
    ".transpose": _transpose,
    "matrix_transpose": _matrix_transpose,
    "swapaxes": _swapaxes,
    "moveaxis": _moveaxis,
    "rollaxis": _rollaxis,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "atleast_1d": _atleast(1),
    "atleast_2d": _atleast(2),
    "atleast_3d": _atleast(3),
    "broadcast_to": _broadcast_to,
    "broadcast_arrays": _broadcast_arrays,
    "flip": _flip,
    "flipud": _flip_one(0),
    "fliplr": _flip_one(1),
    "rot90": _rot90,
    "roll": _roll,
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
    "shape": _shape,
    "size": _size,
    "ndim": _ndim,
    "copy": _copy,
    **dict.fromkeys((".tolist", ".view"), _itself),
    ".item": _item,
    "astype": _astype,
    "trim_zeros": _trim_zeros,
}

__all__ = ["WORDS", "cut", "joined", "product", "reshaped", "stacked"]
