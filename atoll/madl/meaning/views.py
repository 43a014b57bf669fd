"""Operators that rearrange: which element of one side is which of the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from atoll.madl.meaning import sizes as lengths
from atoll.madl.meaning.reading import Reading
from atoll.madl.meaning.wires import Length, Path, Shape, Value, Wrong, array


def structural(m: Reading, name: str, args: list[Value], sizes: list[Length]) -> Value:
    made = Value()
    a = args[0]
    if name == "repeat":
        length = sizes[0] if sizes else Length()
        m.store.same(made.shape, array(length, Shape()))
        m.store.same(made.shape.parts[0], a.shape)
        m.when(lambda: _all_one(m, made, a))
        return made
    elem = Shape()
    n, k, all_ = Length(), sizes[0] if sizes and name != "concat" else Length(), Length()
    flat, rows = array(all_, elem), array(n, array(k, elem))
    match name:
        case "reverse":
            views(m, made, flat, a, flat, lambda i: (length_of(flat) - 1 - i[0],), 1)
        case "transpose":
            views(m, made, array(k, array(n, elem)), a, rows, lambda i: (i[1], i[0]), 2)
        case "concat":
            concat(m, made, args, sizes, elem)
        case "split":
            lengths.calculate(m, "*", n, k, all_)
            views(m, made, rows, a, flat, lambda i: (i[0] * k.number() + i[1],), 2)
        case "flatten":
            lengths.calculate(m, "*", n, k, all_)
            views(m, a, rows, made, flat, lambda i: (i[0] * k.number() + i[1],), 2)
        case "window":
            longer = Length()
            lengths.calculate(m, "+", n, k, longer)
            lengths.calculate(m, "+", all_, Length(1), longer)
            views(m, made, rows, a, flat, lambda i: (i[0] + i[1],), 2)
        case "sample":
            product = Length()
            lengths.calculate(m, "*", n, k, product)
            sampled(m, all_, k, product)
            views(m, made, array(n, elem), a, flat, lambda i: (i[0] * k.number(),), 1)
        case _:
            raise Wrong(f"no operator {name}")
    return made


def sampled(m: Reading, all_: Length, k: Length, product: Length) -> None:
    """all = product - k + 1"""
    more = Length()
    lengths.calculate(m, "+", all_, k, more)
    lengths.calculate(m, "+", product, Length(1), more)


def length_of(shape: Shape) -> int:
    length = shape.root().length
    assert length is not None
    return length.number()


def views(m: Reading, view: Value, view_shape: Shape, whole: Value, whole_shape: Shape, where: Callable[[Path], Path], depth: int) -> None:
    """Every element of the view is one of the whole."""
    m.store.same(view.shape, view_shape)
    m.store.same(whole.shape, whole_shape)

    def connect() -> None:
        counts, shape = [], view_shape
        for _ in range(depth):
            counts.append(length_of(shape))
            shape = shape.root().parts[0]
        if depth == 2 and whole_shape.root().parts[0].root().kind == "array":
            length_of(whole_shape.root().parts[0])
        length_of(whole_shape)
        for index in np.ndindex(*counts):
            m.store.unify(m.store.at(view, index), m.store.at(whole, where(index)))

    m.when(connect)


def concat(m: Reading, made: Value, args: list[Value], sizes: list[Length], elem: Shape) -> None:
    left, right = sizes if sizes else (Length(), Length())
    total = Length()
    for arg, length in zip(args, (left, right), strict=True):
        m.store.same(arg.shape, array(length, elem))
    m.store.same(made.shape, array(total, elem))
    lengths.calculate(m, "+", left, right, total)

    def connect() -> None:
        total.number()
        parts = [part for arg in args for part in m.store.parts(arg)]
        for a, b in zip(m.store.parts(made), parts, strict=True):
            m.store.unify(a, b)

    m.when(connect)


def _all_one(m: Reading, whole: Value, element: Value) -> None:
    for part in m.store.parts(whole):
        m.store.unify(part, element)
