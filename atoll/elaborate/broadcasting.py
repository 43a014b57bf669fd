"""Axes of one element that the text made: `x[:, None]`, `keepdims=True`, `reshape(n, 1)`.

No size of a type is ever stretched (docs/reference.md section 5): an array declared f64[1] meets one of size n with an error. An axis that a body
makes by `None` and the like is different: whoever wrote it said that it is there to meet another. Such axes are marked (`Value.ones`), and an
elementwise application reads their one element for every element of the axis they meet, which is exactly NumPy's meaning; two of them make
one of them. The mark belongs to a value in an expression or under a name. It does not go through calls, loops and branches, where the axis is an
ordinary one of size 1, and is refused if it meets another size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from atoll.core import ir
from atoll.elaborate.coerce import map_arrays
from atoll.elaborate.elaborator import Elaborator, Mismatch
from atoll.elaborate.entities import Value
from atoll.errors import Span
from atoll.sizes import Poly, poly
from atoll.types.types import Array, rank


def has_ones(args: Iterable[Any]) -> bool:
    return any(isinstance(a, Value) and a.ones for a in args)


def with_ones(value: Value, ones: Iterable[int]) -> Value:
    return replace(value, ones=frozenset(ones))


def new_axis(el: Elaborator, value: Value, position: int, span: Span) -> Value:
    """The value with an axis of one element at this place, which meets axes of any size."""
    ones = frozenset(k + (k >= position) for k in value.ones) | {position}

    def inner(v: Value, depth: int) -> Value:
        if depth:
            return map_arrays(el, [v], lambda xs: inner(xs[0], depth - 1), ["x"])
        expr = ir.View("repeat", (poly(1),), (v.expr,), type=Array(v.expr.type, poly(1)), span=span)
        return Value(expr, Array(v.type, poly(1)))

    return with_ones(inner(el.bind(value), position), ones)


def first_element(el: Elaborator, value: Value, span: Span) -> Value:
    """The one element of an axis of one."""
    assert isinstance(value.type, Array) and isinstance(value.expr.type, Array)
    zero = el.size_value(poly(0), span)
    expr = ir.At(value.expr, zero.expr, type=value.expr.type.elem, span=span)
    return Value(expr, value.type.elem, ones=frozenset(k - 1 for k in value.ones if k))


def drop_axis(el: Elaborator, value: Value, position: int, span: Span) -> Value:
    """The value without an axis of one element."""
    if position == 0:
        return first_element(el, el.bind(value), span)
    ones = frozenset(k - (k > position) for k in value.ones if k != position)
    dropped = map_arrays(el, [el.bind(value)], lambda xs: drop_axis(el, xs[0], position - 1, span), ["x"])
    return with_ones(dropped, ones)


def broadcast(
    el: Elaborator, args: Sequence[Any], ranks: Sequence[int | None], apply: Callable[[list[Any]], Value], span: Span, what: str
) -> Value:
    """apply(args) for each element, trailing axes together; axes of one meet any size. Arguments of rank None are passed as they are."""
    lifted = [k for k, r in enumerate(ranks) if r is not None]

    def nest(given: list[Any]) -> Value:
        depth = max(rank(given[k].type) for k in lifted)
        if depth == 0:
            return apply(given)
        varying = [k for k in lifted if rank(given[k].type) == depth]
        given = list(given)
        for k in varying:
            given[k] = el.bind(given[k])
        wide = [k for k in varying if 0 not in given[k].ones]
        for k in varying:
            if k not in wide:
                given[k] = first_element(el, given[k], span)
        if not wide:
            found = el.bind(nest(given))
            expr = ir.View("repeat", (poly(1),), (found.expr,), type=Array(found.expr.type, poly(1)), span=span)
            return Value(expr, Array(found.type, poly(1)), ones=frozenset({0, *(k + 1 for k in found.ones)}))
        first = given[wide[0]]
        for k in wide[1:]:
            el.equate(first.type.size, given[k].type.size, Mismatch(span, first.type, given[k].type, what, el.facts))
        ones: list[frozenset[int]] = []

        def body(elements: list[Value]) -> Value:
            inner = list(given)
            for k, element in zip(wide, elements, strict=True):
                inner[k] = with_ones(element, (axis - 1 for axis in given[k].ones if axis))
            found = nest(inner)
            ones.append(frozenset(axis + 1 for axis in found.ones))
            return found

        return with_ones(map_arrays(el, [given[k] for k in wide], body, ["x"] * len(wide)), ones[-1])

    return nest(list(args))


def stretched(el: Elaborator, value: Value, sizes: Sequence[Poly], span: Span) -> Value:
    """The value with these axes: repeated along the leading ones it does not have, and along its axes of one."""
    if rank(value.type) > len(sizes) or not sizes:
        return value
    size, *rest = sizes
    if rank(value.type) < len(sizes) or 0 in value.ones:
        inner = value if rank(value.type) < len(sizes) else first_element(el, el.bind(value), span)
        inner = el.bind(stretched(el, inner, rest, span))
        expr = ir.View("repeat", (size,), (inner.expr,), type=Array(inner.expr.type, size), span=span)
        return Value(expr, Array(inner.type, size))
    if not value.ones:
        return value
    ones = [k - 1 for k in value.ones]
    return map_arrays(el, [el.bind(value)], lambda xs: stretched(el, with_ones(xs[0], ones), rest, span), ["x"])
