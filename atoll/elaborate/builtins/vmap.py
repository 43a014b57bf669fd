"""vmap in bodies: `vmap(f, in_axes=0, out_axes=0)` is a function (`entities.Derived`), so it nests with itself and with derivatives.

Applied to arguments it is an array over the mapped axis, `[f(x[i], y) for i in range(n)]`. `in_axes` says for every argument which axis that
is, None for an argument that is the same for all; parts of tuples and records are mapped alike. `out_axes` says where the axis goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate.builtins.reshape import transpose
from atoll.elaborate.calls import Args, apply
from atoll.elaborate.coerce import make_tuple, project_all
from atoll.elaborate.comprehension import build_array
from atoll.elaborate.elaborator import Elaborator, Mismatch
from atoll.elaborate.entities import Value
from atoll.elaborate.indexing import element_at, field_of
from atoll.elaborate.lifting import _tuple_of_arrays
from atoll.errors import Span
from atoll.types.types import Array, Record, Tuple, rank, shape_of


def _vmap(args: Args) -> en.Derived:
    from atoll.elaborate.builtins.derive import known_function

    f, in_axes, out_axes = args.take("f", optional=("in_axes", "out_axes"))
    return en.Derived("vmap", known_function(args, f), (_axes(args, in_axes, "in_axes"), _axes(args, out_axes, "out_axes")))


def _axes(args: Args, axes: Any, what: str) -> Any:
    """An axis written out, None, or a tuple of them."""
    if axes is None:
        return 0
    if isinstance(axes, en.NoneEntity):
        return None
    if isinstance(axes, en.TupleEntity):
        return tuple(_axes(args, item, what) for item in axes.items)
    if isinstance(axes, Value):
        if isinstance(axes.type, Tuple):
            return tuple(_axes(args, part, what) for part in project_all(args.el, axes))
        number = axes.poly.const() if axes.poly is not None else None
        if number is not None:
            return number
    args.el.fail("E1030", args.span, what=what)


def apply_vmap(el: Elaborator, d: en.Derived, args: Sequence[Any], keywords: dict[str, Any], span: Span) -> Any:
    """vmap(f)(x, ...)"""
    in_axes, out_axes = d.wrt
    given: list[Any] = [*args, *keywords.values()]
    if isinstance(in_axes, tuple):
        if len(in_axes) != len(args):
            el.fail("E1031", span, what=f"in_axes has {len(in_axes)} axes for {len(args)} arguments", help="give one axis, or None, for each argument")
        axes = [*in_axes, *[0] * len(keywords)]
    else:
        axes = [in_axes] * len(given)
    mapped: list[tuple[int, Any]] = []
    for k, axis in enumerate(axes):
        if axis is not None:
            given[k] = _to_front(el, Args(el, "vmap", span, (), {}).value(given[k]), axis, span)
            mapped.append((k, given[k]))
    sizes = [leaf for _, x in mapped for leaf in _leaves(el, x)]
    if not sizes:
        el.fail("E1031", span, what="no argument is mapped over", help="in_axes must name an axis of at least one argument")
    first = sizes[0].type
    assert isinstance(first, Array)
    for other in sizes[1:]:
        assert isinstance(other.type, Array)
        el.equate(first.size, other.type.size, Mismatch(span, first, other.type, "vmap", el.facts))
    count = len(args)

    def element(i: Value) -> Any:
        xs = list(given)
        for k, x in mapped:
            xs[k] = _element(el, x, i, span)
        made = apply(el, d.fn, xs[:count], span, dict(zip(keywords, xs[count:], strict=True)))
        return Args(el, "vmap", span, (), {}).value(made)

    result = el.bind(build_array(el, first.size, "b", element, span))

    return _placed(el, _tuple_of_arrays(el, result, 1, span), out_axes, span)


def _to_front(el: Elaborator, x: Value, axis: int, span: Span) -> Value:
    """The argument with the mapped axis outermost."""
    if isinstance(x.type, (Tuple, Record)):
        return make_tuple([_to_front(el, part, axis, span) for part in project_all(el, x)], x.type, span)
    axes = rank(x.type)
    place = axis + axes if axis < 0 else axis
    if not 0 <= place < axes:
        what = f"there is no axis {axis} in an argument of type {el.show(x.type)}"
        el.fail("E1031", span, what=what, help=f"it has {axes} {'axis' if axes == 1 else 'axes'}; write None in in_axes for an argument that is the same for all")
    x = el.bind(x)
    return x if place == 0 else el.bind(transpose(el, x, (place, *(k for k in range(axes) if k != place)), span, "vmap"))


def _leaves(el: Elaborator, x: Value) -> list[Value]:
    return [leaf for part in project_all(el, x) for leaf in _leaves(el, part)] if isinstance(x.type, (Tuple, Record)) else [x]


def _element(el: Elaborator, x: Value, i: Value, span: Span) -> Value:
    if isinstance(x.type, (Tuple, Record)):
        return make_tuple([_element(el, part, i, span) for part in project_all(el, x)], x.type, span)
    return element_at(el, x, i, span)


def _placed(el: Elaborator, value: Value, out_axes: Any, span: Span) -> Value:
    """The result with the new axis, which is outermost, moved to where it is wanted."""
    if isinstance(out_axes, tuple):
        if not isinstance(value.type, Tuple) or len(value.type.items) != len(out_axes):
            what = f"out_axes has {len(out_axes)} axes, but the result is {el.show(value.type)}"
            el.fail("E1031", span, what=what, help="give one axis for each part of a tuple that is returned")
        pairs = zip(project_all(el, value), out_axes, strict=True)
        return make_tuple([_placed(el, part, axis, span) for part, axis in pairs], value.type, span)
    if out_axes is None:
        el.fail("E1031", span, what="out_axes is None, but every result has the new axis", help="write where the axis goes, for example out_axes=0")
    if out_axes == 0:
        return value
    if isinstance(value.type, Tuple):
        return make_tuple([_placed(el, part, out_axes, span) for part in project_all(el, value)], value.type, span)
    sizes, elem = shape_of(value.type)
    if isinstance(elem, Record):
        parts = [field_of(el, value, k, span) for k in range(len(elem.items))]
        return make_tuple([_placed(el, part, out_axes, span) for part in parts], elem, span)
    place = out_axes + len(sizes) if out_axes < 0 else out_axes
    if not 0 <= place < len(sizes):
        el.fail("E1031", span, what=f"there is no axis {out_axes} in a result of type {el.show(value.type)}", help=f"it has {len(sizes)} axes")
    order = [*range(1, place + 1), 0, *range(place + 1, len(sizes))]
    return transpose(el, el.bind(value), tuple(order), span, "vmap")


HANDLERS = {"vmap": _vmap}
