"""Shapes: reshape, axes moved and made, arrays turned, and questions about them. Nearly all of it is views, which cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from atoll.elaborate.arithmetic import binary, negate
from atoll.elaborate.broadcasting import stretched, with_ones
from atoll.elaborate.builtins.reshape import view
from atoll.elaborate.entities import Value
from atoll.elaborate.lifting import lift
from atoll.elaborate.numpy_names.call import Call
from atoll.sizes import Poly, floordiv, poly
from atoll.sizes.poly import exact_quotient
from atoll.types.types import Array, rank


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

    rest = binary(c.el, "//", c.count(total), c.count(known), c.span)
    return c.el.as_poly(c.el.bind(rest), c.span)


def _shape_of_call(c: Call, shape: tuple[Any, ...]) -> list[Poly]:
    if len(shape) == 1:
        return c.sizes(shape[0])
    return [c.size(part) for part in shape]


def _in_order(c: Call, value: Value, sizes: list[Poly], order: Any) -> Value:
    """order="F" is C order with all axes turned round, before and after."""
    kind = c.text(order, "order")
    if kind not in ("C", "F"):
        c.refuse(f'order="{kind}"', 'leave it out for C order, or write order="F"')
    if kind == "C":
        return reshaped(c, value, sizes)
    turned = c.moved(value, list(reversed(range(rank(value.type)))))
    found = c.el.bind(reshaped(c, turned, sizes[::-1]))
    return c.moved(found, list(reversed(range(len(sizes)))))


def _reshape(c: Call, a: Any, shape: Any, order: Any = "C") -> Value:
    return _in_order(c, c.value(a), c.sizes(shape), order)


def _reshape_method(c: Call, a: Any, *shape: Any, order: Any = "C") -> Value:
    return _in_order(c, c.value(a), _shape_of_call(c, shape), order)


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
        for size in sizes:
            if size.const() is None:
                c.not_one(size, "name the axes: axis=0")
    else:
        axes = c.axes(axis, len(sizes))
        for k in axes:
            c.same(sizes[k], poly(1))
    for k in sorted(axes, reverse=True):
        x = c.el.bind(c.drop_axis(x, k))
    return x


def atleast(least: int) -> Callable[..., Any]:
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


def _view(c: Call, a: Any, dtype: Any = None) -> Value:
    if not c.none(dtype):
        c.refuse("the same bytes as another dtype", "view the array where the function is called, f(x.view(np.uint8)), or convert the numbers: .astype(...)")
    return c.value(a)


def _item(c: Call, a: Any, *args: Any) -> Value:
    x = c.value(a)
    if not args:
        for size in c.shape(x):
            c.same(size, poly(1))
        while rank(x.type):
            x = c.el.bind(c.at(x, 0))
        return x
    if len(args) == 1 and rank(x.type):
        return c.builtin("gather", c.flat(x), args[0])
    if len(args) != rank(x.type):
        c.refuse("another number of indices than axes", "index it: a[i, j]")
    for index in args:
        x = c.el.bind(c.builtin("gather", x, c.integers(index)))
    return x


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
    **dict.fromkeys(("matrix_transpose", "linalg.matrix_transpose"), _matrix_transpose),
    "swapaxes": _swapaxes,
    "moveaxis": _moveaxis,
    "rollaxis": _rollaxis,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "atleast_1d": atleast(1),
    "atleast_2d": atleast(2),
    "atleast_3d": atleast(3),
    "broadcast_to": _broadcast_to,
    "broadcast_arrays": _broadcast_arrays,
    "flip": _flip,
    "flipud": _flip_one(0),
    "fliplr": _flip_one(1),
    "rot90": _rot90,
    "roll": _roll,
    "shape": _shape,
    "size": _size,
    "ndim": _ndim,
    "copy": _copy,
    ".tolist": _itself,
    ".view": _view,
    ".item": _item,
    "astype": _astype,
    "trim_zeros": _trim_zeros,
}

__all__ = ["WORDS", "atleast", "product", "reshaped"]
