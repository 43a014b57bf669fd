"""Indices that are arrays: integer arrays, boolean masks, `None`, `...`, with NumPy's order of axes, in reads and in assignments.

Index arrays meet each other as arguments of a function of numbers do, and their common axes (B) stand in the result where the first of them
stands when they are next to each other, in front otherwise; a number among index arrays counts as one of them. A mask is the indices where it is
true, one array for each of its axes. `None` is a new axis of one element (elaborate/broadcasting.py).

    a[:, p]          [n, m] and p[k]      -> [n, k]
    a[i, :, j]       [n, m, l], i[k] j[k] -> [k, m]
    a[mask]          mask of rank r takes r axes and gives one, whose size only the value knows

An assignment goes through B in order, so that the last of equal indices wins; `a[p] += v` reads all of them first, so each counts once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import binary
from atoll.elaborate.broadcasting import new_axis, stretched, with_ones
from atoll.elaborate.builtins.reshape import flatten, transpose, view
from atoll.elaborate.coerce import coerce, count_axes, make_tuple, map_arrays, project, project_all
from atoll.elaborate.comprehension import build_array
from atoll.elaborate.decay import beside
from atoll.elaborate.elaborator import Elaborator, Mismatch, describe
from atoll.elaborate.entities import Value
from atoll.elaborate.function_calls import call_instance
from atoll.elaborate.lifting import lift
from atoll.errors import Span
from atoll.sizes import Poly, Sym, Temporary, poly
from atoll.surface import syntax as s
from atoll.types.dtypes import BOOL
from atoll.types.types import Array, Index, Scalar, Tuple, array, rank, shape_of, strong


@dataclass(frozen=True, slots=True)
class Axis:
    """One item of an index: a number or an array of numbers, a range, or a new axis."""

    index: Value | None
    range: ir.Range | None
    span: Span
    whole: bool = False  # `:`
    new: bool = False
    stepped: bool = False  # a slice whose step only running decides: an index array that keeps its axis

    @property
    def many(self) -> bool:
        return self.index is not None and rank(self.index.type) > 0


@dataclass(frozen=True, slots=True)
class Item:
    """What stands between brackets: a node (a slice, a new axis, what counts from the end), or what an expression denotes."""

    what: Any
    span: Span


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the axes of a result come from: "B" and the number of an axis of the index arrays, "axis" and an axis of the array, "new"."""

    kind: str
    number: int
    whole: bool = False


def is_mask(value: Any) -> bool:
    if not isinstance(value, Value):
        return False
    sizes, elem = shape_of(value.type)
    return bool(sizes) and isinstance(elem, Scalar) and elem.dtype is BOOL


# -- reading what stands between the brackets


def parse_items(el: Elaborator, value: Value, node: s.Subscript, found: list[Item], expr: Any) -> list[Axis]:
    """The items of an index, one for each axis or new axis; masks as index arrays."""
    from atoll.elaborate.indexing import _counted, _range, is_stepped, stepped_places

    sizes, _ = shape_of(value.type)
    items = list(found)
    taken = sum(_takes(item.what) for item in items)
    dots = [k for k, item in enumerate(items) if isinstance(item.what, s.Ellipsis)]
    if dots:
        everything = [Item(s.Slice(None, None, None, span=node.span), node.span)] * max(0, len(sizes) - taken)
        items[dots[0] : dots[0] + 1] = everything
    if taken > len(sizes):
        el.fail("E0221", node.span, count=taken, rank=count_axes(len(sizes)), found=el.show(value.type))
    axes: list[Axis] = []
    position = 0
    for found_item in items:
        item, span = found_item.what, found_item.span
        if isinstance(item, (s.NewAxis, en.NoneEntity)):
            axes.append(Axis(None, None, span, new=True))
            continue
        if is_mask(item):
            count = rank(item.type)
            axes += [Axis(index, None, span) for index in true_places(el, item, sizes[position : position + count], span)]
            position += count
            continue
        if isinstance(item, s.Slice) and is_stepped(item):
            axes.append(Axis(stepped_places(el, sizes[position], item, expr), None, span, stepped=True))
        elif isinstance(item, s.Slice):
            whole = item.low is None and item.high is None and item.step is None
            axes.append(Axis(None, _range(el, sizes[position], item, node.span, expr), span, whole))
        else:
            index = _counted(el, sizes[position], item, expr) if isinstance(item, (s.Num, s.Unary)) else item
            axes.append(Axis(_checked(el, index, span), None, span))
        position += 1
    return axes


def items_of(el: Elaborator, node: s.Subscript, expr: Any) -> list[Item]:
    """The items: slices, new axes and what counts from the end as nodes, everything else as what it denotes; tuples taken apart."""
    found: list[Item] = []
    for item in node.items:
        counts = isinstance(item, s.Num) or (isinstance(item, s.Unary) and item.op == "-")
        if isinstance(item, (s.Slice, s.Ellipsis, s.NewAxis)) or counts:
            found.append(Item(item, item.span))
            continue
        entity = expr(el, item)
        if isinstance(entity, en.TupleEntity):
            found += [Item(part, item.span) for part in entity.items]
        elif isinstance(entity, Value) and isinstance(entity.type, Tuple):
            found += [Item(part, item.span) for part in project_all(el, entity)]
        elif isinstance(entity, (Value, en.NoneEntity)):
            found.append(Item(entity, item.span))
        else:
            _checked(el, entity, item.span)
    return found


def _takes(item: Any) -> int:
    """How many axes an item is for."""
    if isinstance(item, (s.NewAxis, s.Ellipsis, en.NoneEntity)):
        return 0
    return rank(item.type) if is_mask(item) else 1


def _checked(el: Elaborator, index: Any, span: Span) -> Value:
    if not isinstance(index, Value):
        help_ = "index with integers; parts that have names are a record: @at.record" if isinstance(index, en.TextValue) else None
        el.fail("E0222", span, found=describe(index), help=help_)
    _, elem = shape_of(index.type)
    if not isinstance(elem, (Scalar, Index)) or not elem.dtype.is_integer or elem.dtype is BOOL:
        one_bit = isinstance(elem, Scalar) and elem.dtype is BOOL
        help_ = "a mask has an element for every element of the axis; element 0 or 1 by a condition is x[i64(c)]" if one_bit else None
        el.fail("E0222", span, found=el.show(index.type), help=help_)
    return index


def true_places(el: Elaborator, mask: Value, sizes: tuple[Poly, ...], span: Span) -> list[Value]:
    """The indices at which a mask is true, one array for each axis, in the order of the elements."""
    shape, _ = shape_of(mask.type)
    for mine, other in zip(shape, sizes, strict=True):
        el.equate(other, mine, Mismatch(span, array(Scalar(BOOL), sizes), mask.type, "the mask", el.facts))
    found = _flat_places(el, el.bind(mask), span)
    if len(shape) == 1:
        return [found]
    places: list[Value] = []
    rest = found
    for size in reversed(shape[1:]):
        length = el.size_value(size, span)
        places.insert(0, el.bind(binary(el, "%", rest, length, span)))
        rest = el.bind(binary(el, "//", rest, length, span))
    return [rest, *places]


def _flat_places(el: Elaborator, mask: Value, span: Span) -> Value:
    """Where a mask is true, as numbers of elements; found once for a mask that has a name here."""
    from atoll.elaborate.builtins.select import filter_by_mask

    sym = mask.expr.sym if isinstance(mask.expr, ir.Var) else None
    for known, block, places in el.places_of_masks:
        if known is sym and any(block is frame for frame in el.frames):
            return places
    flat = flattened(el, mask, rank(mask.type), span)
    assert isinstance(flat.type, Array)
    numbers = el.bind(build_array(el, flat.type.size, "i", lambda index: index, span))
    found = el.bind(filter_by_mask(el, numbers, flat, span))
    if sym is not None:
        el.places_of_masks.append((sym, el.frames[-1], found))
    return found


def flattened(el: Elaborator, value: Value, count: int, span: Span) -> Value:
    """The first `count` axes as one."""
    for _ in range(count - 1):
        value = el.bind(flatten(el, value, span))
    return value


# -- reading


def read(el: Elaborator, value: Value, node: s.Subscript, expr: Any) -> Value:
    """value[items] of an array"""
    items = items_of(el, node, expr)
    if only_mask(items):
        return _masked(el, value, el.bind(items[0].what), node)
    axes = parse_items(el, value, node, items, expr)
    if any(axis.many for axis in axes):
        el.session.many_places.add(id(node))
    found = _read_stepped(el, value, axes, node.span) if any(axis.stepped for axis in axes) else read_axes(el, value, axes, node.span)
    if len(items) != len(node.items) or any(is_mask(item.what) or isinstance(item.what, en.NoneEntity) for item in items):
        el.session.word_types[id(node)] = found.type
    return found


def _read_stepped(el: Elaborator, value: Value, axes: list[Axis], span: Span) -> Value:
    """Everything else first, then each slice whose step only running decides along the axis it has kept."""
    if any(axis.many and not axis.stepped for axis in axes):
        el.fail("E0219", span, what="a slice with such a step beside index arrays", help="take the slice first: b = a[::k], then index b")
    sizes, _ = shape_of(value.type)
    plain: list[Axis] = []
    position = 0
    for axis in axes:
        plain.append(replace(axis, index=None, range=ir.Range(poly(0), 1, sizes[position]), whole=True) if axis.stepped else axis)
        position += not axis.new
    found = el.bind(read_axes(el, value, plain, span))
    kept = [axis for axis in axes if axis.new or axis.range is not None or axis.stepped]
    for k, axis in enumerate(kept):
        if axis.stepped:
            shape, _ = shape_of(found.type)
            before = [Axis(None, ir.Range(poly(0), 1, size), span, whole=True) for size in shape[:k]]
            found = el.bind(read_axes(el, found, [*before, axis], span))
    return found


def check_stepped(el: Elaborator, axes: list[Axis], span: Span) -> None:
    """Refuse assignments in which such a slice would not keep its place among the axes."""
    numbers = [k for k, axis in enumerate(axes) if axis.index is not None]
    if sum(axis.many for axis in axes) > 1 or numbers != list(range(numbers[0], numbers[-1] + 1)):
        el.fail("E0219", span, what="an assignment to such slices of several axes", help="assign along one of them at a time, in a loop over the other")


def only_mask(items: list[Item]) -> bool:
    """Whether a mask is all that stands between the brackets."""
    return len(items) == 1 and is_mask(items[0].what)


def _masked(el: Elaborator, value: Value, mask: Value, node: s.Subscript) -> Value:
    from atoll.elaborate.builtins.select import filter_by_mask
    from atoll.elaborate.indexing import element_at

    count = rank(mask.type)
    if count > rank(value.type):
        el.fail("E0221", node.span, count=count, rank=count_axes(rank(value.type)), found=el.show(value.type))
    sizes, _ = shape_of(value.type)
    for size, mine in zip(sizes, shape_of(mask.type)[0], strict=False):
        el.equate(size, mine, Mismatch(node.span, value.type, mask.type, "the mask", el.facts))
    flat = flattened(el, value, count, node.span)
    if isinstance(mask.expr, ir.Var) and not isinstance(mask.expr.sym, Temporary):  # a mask with a name gives one size, however often it is used
        places = _flat_places(el, mask, node.span)
        found = map_arrays(el, [places], lambda i: element_at(el, flat, i[0], node.span), ["i"])
    else:
        found = filter_by_mask(el, flat, flattened(el, mask, count, node.span), node.span)
    el.session.word_types[id(node)] = found.type
    return found


def read_axes(el: Elaborator, value: Value, axes: list[Axis], span: Span) -> Value:
    """The element, the slice or what the index arrays choose."""
    from atoll.elaborate.indexing import _as_i64, _read

    real = [axis for axis in axes if not axis.new]
    indices = [axis.index for axis in real if axis.index is not None]

    def apply(given: list[Any]) -> Value:
        array_, *numbers = given
        rest = iter(numbers)
        items: list[ir.Item] = [axis.range if axis.range is not None else _as_i64(el, next(rest), axis.span).expr for axis in real]
        return _read(array_, items, span)

    if not real:
        raw = value
    else:
        raw = lift(el, [value, *indices], [None, *[0] * len(indices)], apply, span, "indexing")
    placed = placement(axes, rank(value.type))
    met = max((rank(index.type) for index in indices), default=0)
    before = [("B", k) for k in range(met)]
    position = 0
    for axis in real:
        if axis.range is not None:
            before.append(("axis", position))
        position += 1
    before += [("axis", k) for k in range(position, rank(value.type))]
    order = [before.index((p.kind, p.number)) for p in placed if p.kind != "new"]
    result = transposed(el, raw, order, span)
    ones = {k for k, p in enumerate(p for p in placed if p.kind != "new") if p.kind == "axis" and p.whole and p.number in value.ones}
    if met and len(indices) > 0:
        ones |= {order.index(k) for k in raw.ones if k in order}
    result = with_ones(result, ones) if ones else result
    for k, p in enumerate(placed):
        if p.kind == "new":
            result = new_axis(el, result, k, span)
    return result


def placement(axes: list[Axis], count: int) -> list[Placed]:
    """The axes of the result in NumPy's order."""
    several = any(axis.many for axis in axes)
    met = max((rank(axis.index.type) for axis in axes if axis.index is not None), default=0)
    block = [Placed("B", k) for k in range(met)]
    chosen = [k for k, axis in enumerate(axes) if axis.index is not None] if several else []
    together = bool(chosen) and chosen[-1] - chosen[0] == len(chosen) - 1
    placed: list[Placed] = [] if together else list(block)
    position = 0
    for k, axis in enumerate(axes):
        if together and k == chosen[0]:
            placed += block
        if axis.new:
            placed.append(Placed("new", -1))
            continue
        if axis.range is not None:
            placed.append(Placed("axis", position, axis.whole))
        position += 1
    return placed + [Placed("axis", k, True) for k in range(position, count)]


def transposed(el: Elaborator, value: Value, order: list[int], span: Span) -> Value:
    if order == list(range(len(order))):
        return value

    return transpose(el, el.bind(value), tuple(order), span, "indexing")


# -- assigning


def assign_mask(el: Elaborator, base: Value, mask: Value, value: Value, span: Span) -> Value:
    """base[mask] = value: one value for all, a row for all rows, or as many as are true."""
    from atoll.elaborate.indexing import _meet_weak, repeat_into

    count = rank(mask.type)
    sizes, _ = shape_of(base.type)
    shape, _ = shape_of(mask.type)
    if count > len(sizes):
        el.fail("E0221", span, count=count, rank=count_axes(len(sizes)), found=el.show(base.type))
    for mine, other in zip(shape, sizes, strict=False):
        el.equate(other, mine, Mismatch(span, base.type, mask.type, "the mask", el.facts))
    base = el.bind(beside(el, _meet_weak(el, base, value.type, span), value))
    elem = base.type
    for _ in range(count):
        assert isinstance(elem, Array)
        elem = elem.elem
    value = el.bind(value)
    if rank(value.type) <= rank(elem):
        new = el.bind(coerce(el, repeat_into(value, elem, span), strong(elem), span, "the assigned value"))

        def choose(xs: list[Value], depth: int) -> Value:
            if depth:
                return map_arrays(el, xs, lambda ys: choose(ys, depth - 1), ["x", "m"])
            return Value(ir.If(xs[1].expr, new.expr, xs[0].expr, type=xs[0].expr.type, span=span), xs[0].type)

        return choose([base, el.bind(mask)], count)
    import importlib

    flat, where = flattened(el, base, count, span), flattened(el, el.bind(mask), count, span)
    assert isinstance(value.type, Array)
    new = el.bind(coerce(el, value, array(strong(elem), [value.type.size]), span, "the assigned value"))
    put = importlib.import_module("atoll.std.numpy.places").put_masked
    return split_again(el, el.bind(call_instance(el, put, [flat, where, new], span, "the assignment")), sizes[:count], span)


def split_again(el: Elaborator, value: Value, sizes: tuple[Poly, ...], span: Span) -> Value:
    """One axis as several again."""
    for count in range(len(sizes) - 1, 0, -1):
        assert isinstance(value.type, Array)
        size, rest = sizes[count], poly(1)
        for other in sizes[:count]:
            rest = rest * other
        value = el.bind(view("split", (size, rest), [value], Array(Array(value.type.elem, size), rest), span))
    return value


def assign_many(el: Elaborator, base: Value, axes: list[Axis], value: Value, span: Span) -> Value:
    """base[axes] = value where index arrays are among the axes: in the order of the indices, so the last of equal ones wins."""
    from atoll.elaborate.indexing import _as_i64, _meet_weak, element_at, repeat_into

    base = el.bind(beside(el, _meet_weak(el, base, value.type, span), value))
    indices = [axis.index for axis in axes if axis.index is not None]

    def together(xs: list[Value]) -> Value:
        return make_tuple([_as_i64(el, x, span) for x in xs], None, span)

    places = project_all(el, el.bind(lift(el, indices, [0] * len(indices), together, span, "indexing")))
    shape, _ = shape_of(places[0].type)
    met = len(shape)
    sizes, elem = shape_of(base.type)
    placed = placement(axes, len(sizes))
    extents: dict[int, Poly] = dict(enumerate(sizes))
    extents |= {k: axis.range.size for k, axis in enumerate(axes) if axis.range is not None}
    wanted = array(strong(elem), [shape[p.number] if p.kind == "B" else extents[p.number] for p in placed])
    value = el.bind(stretched(el, value, shape_of(wanted)[0], span) if value.ones else value)
    new = el.bind(coerce(el, repeat_into(value, wanted, span), wanted, span, "the assigned value"))
    block = [k for k, p in enumerate(placed) if p.kind == "B"]
    new = el.bind(transposed(el, new, [*block, *(k for k in range(len(placed)) if k not in block)], span))
    new = flattened(el, new, met, span)
    places = [flattened(el, el.bind(p), met, span) for p in places]
    assert isinstance(new.type, Array)
    rounds = new.type.size
    t = strong(base.type)
    first = coerce(el, base, t, span, "the array")
    state = Sym("state")
    el.level += 1
    index = el.fresh_index("i", rounds)
    assert isinstance(index.expr, ir.Var)
    with el.block(), el.hypotheses(*el.index_facts(index, rounds)):
        rest = iter(places)
        items: list[ir.Item] = [
            axis.range if axis.range is not None else el.bind(element_at(el, next(rest), index, axis.span)).expr for axis in axes
        ]
        part = el.bind(element_at(el, new, index, span))
        held = ir.Var(state, type=t, span=span)
        updated = Value(ir.Update(held, tuple(items), part.expr, type=t, span=span), t)
        body = el.close(make_tuple([updated], None, span).expr)
    el.level -= 1
    loop = ir.For(index.expr.sym, rounds, ((state, first.expr),), body, type=body.type, span=span)
    return project(el.bind(Value(loop, Tuple((t,)))), 0)


def note_each_once(el: Elaborator, target: s.Subscript, span: Span) -> None:
    """`a[p] += v` is easily taken for a sum over equal indices."""
    if id(target) in el.session.many_places:
        el.notes.append((span, f"{span.text()}: equal indices count once, as in NumPy; hist(add, 0, n, is, vs) adds all of them"))


__all__ = ["Axis", "assign_many", "assign_mask", "is_mask", "items_of", "only_mask", "parse_items", "read", "read_axes"]
