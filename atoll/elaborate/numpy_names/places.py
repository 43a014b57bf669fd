"""Places of elements: nonzero, take, searchsorted, sorting, sets. Where values decide a size, it is existential, as that of `filter`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.arithmetic import binary
from atoll.elaborate.arithmetic import invert as negated
from atoll.elaborate.broadcasting import stretched, with_ones
from atoll.elaborate.builtins.select import filter_by_mask
from atoll.elaborate.coerce import array_of, common, project, project_all
from atoll.elaborate.entities import Value
from atoll.elaborate.index_arrays import Axis, read_axes, true_places
from atoll.elaborate.lifting import lift
from atoll.elaborate.numpy_names.call import Call
from atoll.elaborate.numpy_names.shapes import product, reshaped
from atoll.elaborate.numpy_names.together import stacked
from atoll.sizes import poly
from atoll.types.dtypes import BOOL, DTYPES
from atoll.types.types import Tuple, rank, shape_of

F64, I64 = DTYPES["f64"], DTYPES["i64"]


def _indices_of(c: Call, mask: Value) -> list[Value]:
    if rank(mask.type) == 0:
        c.wrong(mask, "an array")
    return [c.plain(p) for p in true_places(c.el, mask, shape_of(mask.type)[0], c.span)]


def places(c: Call, mask: Value) -> Value:
    """A tuple of index arrays, one for each axis."""
    return c.tuple(_indices_of(c, mask))


def _nonzero(c: Call, a: Any) -> Value:
    return places(c, c.truth(a))


def _flatnonzero(c: Call, a: Any) -> Value:
    return _indices_of(c, c.flat(c.truth(a)))[0]


def _argwhere(c: Call, a: Any) -> Value:
    found = _indices_of(c, c.truth(a))
    return stacked(c, found, 1)


def _compress(c: Call, condition: Any, a: Any, axis: Any = None) -> Value:
    x = c.flat(c.array(a)) if c.none(axis) else c.array(a)
    k = 0 if c.none(axis) else c.axis(axis, rank(x.type))
    mask = c.truth(condition)
    if rank(mask.type) != 1:
        c.wrong(mask, "a condition with one axis")
    return _taken(c, x, _indices_of(c, mask)[0], k)


def _compress_method(c: Call, a: Any, condition: Any, axis: Any = None) -> Value:
    """x.compress(condition): the array comes first."""
    return _compress(c, condition, a, axis)


def _extract(c: Call, condition: Any, arr: Any) -> Value:
    mask, x = c.flat(c.truth(condition)), c.flat(c.array(arr))

    return filter_by_mask(c.el, x, mask, c.span)


# -- taking


def _taken(c: Call, x: Value, indices: Value, axis: int) -> Value:
    whole = [Axis(None, ir.Range(poly(0), 1, n), c.span, whole=True) for n in c.shape(x)[:axis]]
    return read_axes(c.el, x, [*whole, Axis(indices, None, c.span)], c.span)


def _take(c: Call, a: Any, indices: Any, axis: Any = None, *, mode: Any = "raise") -> Value:
    x = c.flat(c.array(a)) if c.none(axis) else c.array(a)
    k = 0 if c.none(axis) else c.axis(axis, rank(x.type))
    i = c.integers(indices)
    kind = c.text(mode, "mode")
    size = c.count(c.shape(x)[k])
    if kind == "wrap":
        i = c.el.bind(binary(c.el, "%", i, size, c.span))
    elif kind == "clip":
        i = c.el.bind(c.builtin("clip", i, c.value(0), binary(c.el, "-", size, c.value(1), c.span)))
    elif kind != "raise":
        c.refuse(f'mode="{kind}"', 'write mode="raise", mode="wrap" or mode="clip"')
    elif i.poly is not None and (known := i.poly.const()) is not None and known < 0:
        i = c.count(c.shape(x)[k] + known)
    return _taken(c, x, i, k)


def _take_along_axis(c: Call, arr: Any, indices: Any, axis: Any = -1) -> Value:
    x, i = c.array(arr), c.integers(indices)
    if c.none(axis):
        return c.builtin("gather", c.flat(x), i)
    if rank(x.type) != rank(i.type):
        c.wrong(f"{c.el.show(x.type)} and {c.el.show(i.type)}", "indices with as many axes as the array")
    k = c.axis(axis, rank(x.type))

    found = lift(c.el, [c.last(x, [k]), c.last(i, [k])], [1, 1], lambda v: c.builtin("gather", v[0], v[1]), c.span, c.name)
    return c.back(c.el.bind(found), k)


def _put_along_axis(c: Call, arr: Any, indices: Any, values: Any, axis: Any) -> Value:
    x, i = c.array(arr), c.integers(indices)
    k = c.axis(axis, rank(x.type))

    v = c.convert(c.value(values), c.dtype_of(x))
    v = c.el.bind(stretched(c.el, v, c.shape(i), c.span))
    parts = [c.last(p, [k]) for p in (x, i, v)]
    found = lift(c.el, parts, [1, 1, 1], lambda p: c.whole("places.put", p[0], c.plain(p[1]), p[2]), c.span, c.name)
    return c.back(c.el.bind(found), k)


def _put(c: Call, a: Any, ind: Any, v: Any) -> Value:
    x, i = c.array(a), c.flat(c.integers(ind))
    value = c.convert(c.value(v), c.dtype_of(x))
    values = c.el.bind(c.filled([c.shape(i)[0]], value)) if rank(value.type) == 0 else c.flat(value)
    values = c.el.bind(c.whole("places.cycle", values, c.count(c.shape(i)[0])))
    found = c.el.bind(c.whole("places.put", c.flat(x), c.plain(i), values))
    return reshaped(c, found, c.shape(x))


def _putmask(c: Call, a: Any, mask: Any, values: Any) -> Value:
    """Values in the places of their own, again and again where there are fewer."""
    x, m = c.array(a), c.truth(mask)
    value = c.convert(c.value(values), c.dtype_of(x))
    if rank(value.type):
        flat = c.el.bind(c.whole("places.cycle", c.flat(value), c.count(product(c.shape(x)))))
        value = reshaped(c, flat, c.shape(x))
    return c.builtin("where", m, value, x)


def _copyto(c: Call, dst: Any, src: Any, *, where: Any = None) -> Value:
    x = c.array(dst)
    value = c.el.bind(stretched(c.el, c.convert(c.value(src), c.dtype_of(x)), c.shape(x), c.span))
    return value if c.none(where) else c.builtin("where", c.truth(where), value, x)


def _choose(c: Call, a: Any, choices: Any) -> Value:
    i, options = c.integers(a, bools=True), [c.value(part) for part in c.parts(choices)]

    def one(xs: list[Value]) -> Value:
        return c.builtin("gather", c.el.bind(array_of(c.el, xs[1:], c.span)), xs[0])

    return lift(c.el, [i, *options], [0] * (1 + len(options)), one, c.span, c.name)


def _unravel_index(c: Call, indices: Any, shape: Any) -> Value:
    rest, sizes = c.integers(indices), c.sizes(shape)
    rest = c.el.bind(c.library("places.within", c.plain(rest), c.count(product(sizes))))
    found: list[Value] = []
    for size in reversed(sizes[1:]):
        found.insert(0, c.plain(c.op("%", rest, c.count(size))))
        rest = c.op("//", rest, c.count(size))
    return c.tuple([rest, *found])


def ravel_multi_index(c: Call, multi_index: Any, dims: Any, mode: Any = "raise") -> Value:
    parts, sizes = [c.integers(p) for p in c.parts(multi_index)], c.sizes(dims)
    if len(parts) != len(sizes):
        c.refuse("a different number of indices and sizes", "give one index for each axis")
    kind = c.text(mode, "mode")
    if kind not in ("raise", "wrap", "clip"):
        c.refuse(f'mode="{kind}"', 'write mode="raise", mode="wrap" or mode="clip"')
    word = {"raise": "places.within", "wrap": "places.wrapped", "clip": "places.clipped"}[kind]
    parts = [c.el.bind(c.library(word, c.plain(part), c.count(size))) for part, size in zip(parts, sizes, strict=True)]
    result = parts[0]
    for part, size in zip(parts[1:], sizes[1:], strict=True):
        result = c.op("+", c.op("*", result, c.count(size)), part)
    return c.plain(result)


def _ix(c: Call, *args: Any) -> Value:
    found = []
    for k, arg in enumerate(args):
        v = c.vector(arg)
        v = with_ones(_indices_of(c, v)[0] if c.dtype_of(v) is BOOL else c.integers(v), ())
        for _ in range(k):
            v = c.new_axis(v, 0)
        for _ in range(len(args) - 1 - k):
            v = c.new_axis(v, rank(v.type))
        found.append(c.el.bind(v))
    return en.TupleEntity(tuple(found))  # type: ignore[return-value]  # each keeps its axes of one


# -- order


_KINDS = ("quicksort", "mergesort", "heapsort", "stable")


def _check_kind(c: Call, kind: Any, stable: Any) -> None:
    """Every kind is a stable one: it may be said, and says nothing more."""
    if not c.none(kind):
        if (name := c.text(kind, "kind")) not in _KINDS:
            c.refuse(f'kind="{name}"', 'every sort is stable: leave kind= out, or write kind="stable"')
        if not c.none(stable):
            c.refuse("kind= and stable= together", "every sort is stable: leave both out")


def _sort(c: Call, a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Value:
    _check_kind(c, kind, stable)
    return c.along(c.array(a), axis, lambda v: c.builtin("sort", v), flat=True)


def _argsort(c: Call, a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Value:
    _check_kind(c, kind, stable)
    return c.plain(c.along(c.array(a), axis, lambda v: c.plain(c.builtin("argsort", v)), flat=True))


def _partition(c: Call, a: Any, kth: Any, axis: Any = -1) -> Value:
    """Sorted altogether, which is a partition at every place."""
    return _sort(c, a, axis)


def _argpartition(c: Call, a: Any, kth: Any, axis: Any = -1) -> Value:
    return _argsort(c, a, axis)


def _lexsort(c: Call, keys: Any) -> Value:
    parts = [c.vector(k) for k in c.parts(keys)]
    order: Value | None = None
    for key in parts:
        if order is None:
            order = c.el.bind(c.builtin("argsort", key))
        else:
            mine = c.el.bind(c.builtin("gather", key, order))
            order = c.el.bind(c.builtin("gather", order, c.el.bind(c.builtin("argsort", mine))))
    assert order is not None
    return c.plain(order)


def _searchsorted(c: Call, a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Value:
    x = c.vector(a)
    if not c.none(sorter):
        x = c.el.bind(c.builtin("gather", x, c.integers(sorter)))
    kind = c.text(side, "side")
    if kind not in ("left", "right"):
        c.refuse(f'side="{kind}"', 'write side="left" or side="right"')
    return search(c, x, c.value(v), kind)


def search(c: Call, x: Value, v: Value, side: str) -> Value:
    return lift(c.el, [v], [0], lambda one: c.library(f"search.{side}", x, one[0]), c.span, c.name)


def _digitize(c: Call, x: Any, bins: Any, right: Any = False) -> Value:
    edges, values = c.vector(bins), c.value(x)
    kind = c.number(c.flag(right, "right"), BOOL)
    return lift(c.el, [values], [0], lambda one: c.library("search.digitize", edges, one[0], kind), c.span, c.name)


# -- sets


def _unique(
    c: Call, ar: Any, return_index: Any = False, return_inverse: Any = False, return_counts: Any = False, axis: Any = None, equal_nan: Any = True
) -> Value:
    if not c.none(axis):
        c.refuse("axis=", "make one number of each row first, or compare the rows in loops")
    if not c.flag(equal_nan, "equal_nan"):
        c.refuse("equal_nan=False", "leave it out: NaNs are one value")
    x = c.value(ar)
    flat = c.flat(x)
    if not any(c.flag(f, "the flag") for f in (return_index, return_inverse, return_counts)):
        found: Value = c.whole("sets.unique", flat)
        return found

    values, first, inverse, counts = project_all(c.el, c.el.bind(c.whole("sets.unique_all", flat)))
    parts = [values]
    if c.flag(return_index, "return_index"):
        parts.append(first)
    if c.flag(return_inverse, "return_inverse"):
        parts.append(reshaped(c, inverse, c.shape(x)) if rank(x.type) > 1 else inverse)
    if c.flag(return_counts, "return_counts"):
        parts.append(counts)
    return c.tuple(parts)


def _unique_values(c: Call, x: Any) -> Value:
    found: Value = c.whole("sets.unique", c.flat(c.value(x)))
    return found


def _unique_with(*flags: str) -> Callable[..., Any]:
    """np.unique_counts, np.unique_inverse, np.unique_all."""

    def handler(c: Call, x: Any) -> Value:
        return _unique(c, x, **dict.fromkeys(flags, True))

    return handler


def _set(name: str) -> Callable[..., Any]:
    def handler(c: Call, ar1: Any, ar2: Any, assume_unique: Any = False) -> Value:
        first = c.strong(c.value(ar1))
        x, y = together(c, c.flat(first), c.flat(c.value(ar2)))
        if c.flag(assume_unique, "assume_unique"):
            c.refuse("assume_unique=True", "leave it out: the result is the same for arrays without equal elements")
        found: Value = c.whole(f"sets.{name}", x, y)
        return c.convert(c.el.bind(found), c.dtype_of(first)) if name == "difference" else found

    return handler


def together(c: Call, x: Value, y: Value) -> tuple[Value, Value]:
    """Both in one element type."""
    t = common(shape_of(x.type)[1], shape_of(y.type)[1])
    if t is None:
        c.wrong(f"{c.el.show(x.type)} and {c.el.show(y.type)}", "elements of one type")
    return c.convert(c.plain(x), t.dtype), c.convert(c.plain(y), t.dtype)


def _isin(c: Call, element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False) -> Value:
    x = c.value(element)
    flat, others = together(c, c.flat(x), c.flat(c.value(test_elements)))
    c.flag(assume_unique, "assume_unique")
    found = c.el.bind(c.whole("sets.is_in", flat, others))
    if c.flag(invert, "invert"):
        found = c.el.bind(negated(c.el, found, c.span))
    if rank(x.type) == 0:
        return c.at(found, 0)
    return reshaped(c, found, c.shape(x)) if rank(x.type) > 1 else found


# -- counting


def _bincount(c: Call, x: Any, weights: Any = None, minlength: Any = 0) -> Value:
    i = c.plain(c.integers(c.vector(x), bools=True))
    if c.none(weights):
        found: Value = c.whole("search.bincount", i, c.value(minlength))
        return found
    weighted: Value = c.whole("search.weighted_bincount", i, c.convert(c.vector(weights), F64), c.value(minlength))
    return weighted


def _histogram(c: Call, a: Any, bins: Any = 10, range: Any = None, density: Any = False, weights: Any = None) -> Value:
    x = c.floats(c.flat(c.value(a)))
    amounts = c.filled(c.shape(x), c.number(1, I64)) if c.none(weights) else c.flat(c.value(weights))
    if isinstance(bins, en.TextValue):
        c.refuse(f'bins="{c.text(bins, "bins")}"', "give the number of bins, bins=10, or their edges")
    if c.is_many(bins):
        edges = c.vector(bins)
        counts = c.el.bind(c.whole("search.count_between", x, c.floats(edges), c.el.bind(amounts)))
    else:
        size = c.size(bins)
        if (known := size.const()) is not None and known < 1:
            c.refuse(f"bins={known}", "give at least one bin: bins=10")
        c.el.require(size - 1, c.span.text() or c.name, c.span)
        if c.none(range):
            low, high = (c.el.bind(c.library(f"search.{end}", x)) for end in ("lowest", "highest"))
        else:
            given = [c.el.bind(c.convert(c.value(end), c.dtype_of(x))) for end in c.parts(range)]
            low, high = (c.el.bind(c.library(f"search.{end}", *given)) for end in ("from_range", "to_range"))
        edges = c.build(size + 1, lambda i: c.library("search.edge", low, high, c.plain(i), c.count(size)))
        counts = c.el.bind(c.whole("search.count_evenly", x, edges, c.el.bind(amounts)))
    if c.flag(density, "density"):
        counts = c.el.bind(c.whole("search.density", counts, c.wide(edges)))
    return c.tuple([counts, edges])


def _histogram2d(c: Call, x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = False, weights: Any = None) -> Value:
    """Counts of pairs: places along either axis by its own edges."""
    points = [c.convert(c.vector(v), F64) for v in (x, y)]
    c.same(c.shape(points[0])[0], c.shape(points[1])[0])
    if c.flag(density, "density"):
        c.refuse("density=True", "divide the counts by their sum and by the areas of the bins")
    each = c.parts(bins) if isinstance(bins, (en.TupleEntity, en.Display)) or (isinstance(bins, Value) and isinstance(bins.type, Tuple)) else [bins, bins]
    if len(each) != 2:
        c.refuse("bins= of another number of axes", "give one number of bins or one for each of the two")
    ranges = [None, None] if c.none(range) else c.parts(range)
    edges, places = [], []
    for v, count, reach in zip(points, each, ranges, strict=True):
        found = c.el.bind(c.floats(c.vector(count)) if c.is_many(count) else _histogram_bin_edges(c, v, count, reach))
        edges.append(found)
        even = "evenly" if not c.is_many(count) else "between"
        places.append(c.el.bind(c.whole(f"search.places_{even}", v, found)))
    amounts = c.filled(c.shape(points[0]), c.number(1, F64)) if c.none(weights) else c.convert(c.vector(weights), F64)
    rows, columns = (c.shape(e)[0] - 1 for e in edges)
    counts = c.el.bind(c.whole("search.count_pairs", *places, c.el.bind(amounts), c.count(rows), c.count(columns)))
    return c.tuple([counts, *edges])


def _histogram_bin_edges(c: Call, a: Any, bins: Any = 10, range: Any = None) -> Value:
    return project(c.el.bind(_histogram(c, a, bins, range)), 1)


WORDS: dict[str, Callable[..., Any]] = {
    "nonzero": _nonzero,
    "flatnonzero": _flatnonzero,
    "argwhere": _argwhere,
    "compress": _compress,
    ".compress": _compress_method,
    "extract": _extract,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "put_along_axis": _put_along_axis,
    "put": _put,
    "putmask": _putmask,
    "copyto": _copyto,
    "choose": _choose,
    "unravel_index": _unravel_index,
    "ravel_multi_index": ravel_multi_index,
    "ix_": _ix,
    "sort": _sort,
    "argsort": _argsort,
    "partition": _partition,
    "argpartition": _argpartition,
    "lexsort": _lexsort,
    "searchsorted": _searchsorted,
    "digitize": _digitize,
    "unique": _unique,
    "unique_values": _unique_values,
    "unique_counts": _unique_with("return_counts"),
    "unique_inverse": _unique_with("return_inverse"),
    "unique_all": _unique_with("return_index", "return_inverse", "return_counts"),
    "union1d": _set("union"),
    "intersect1d": _set("intersection"),
    "setdiff1d": _set("difference"),
    "setxor1d": _set("exclusive"),
    "isin": _isin,
    "bincount": _bincount,
    "histogram": _histogram,
    "histogram_bin_edges": _histogram_bin_edges,
    "histogram2d": _histogram2d,
}
STATEMENTS = frozenset({"put_along_axis", "put", "putmask", "copyto"})

__all__ = ["STATEMENTS", "WORDS", "places", "search", "together"]
