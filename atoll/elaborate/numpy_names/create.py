"""Making arrays: zeros, arange, linspace, eye, diag, meshgrid and their relatives. Without dtype= the types are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atoll.core import ir
from atoll.elaborate.arithmetic import binary
from atoll.elaborate.broadcasting import stretched, with_ones
from atoll.elaborate.calls import apply
from atoll.elaborate.coerce import project_all
from atoll.elaborate.comprehension import count_of
from atoll.elaborate.entities import Value
from atoll.elaborate.indexing import element_at
from atoll.elaborate.lifting import lift
from atoll.elaborate.numpy_names.call import Call
from atoll.elaborate.numpy_names.together import stacked
from atoll.sizes import Poly, poly
from atoll.types.dtypes import BOOL, DTYPES, DType
from atoll.types.types import rank

F64, I64 = DTYPES["f64"], DTYPES["i64"]


def _constant(number: float) -> Callable[..., Any]:
    def handler(c: Call, shape: Any, dtype: Any = None) -> Value:
        return filled(c, c.sizes(shape), c.number(number, c.dtype(dtype) or F64))

    return handler


def filled(c: Call, sizes: list[Poly], value: Value) -> Value:
    return with_ones(c.filled(sizes, value), (k for k, size in enumerate(sizes) if size.const() == 1))


def _strong(c: Call, value: Value, dtype: DType | None = None) -> Value:
    """The value with a type of its own."""
    return c.convert(value, dtype) if dtype is not None else c.strong(value)


def _full(c: Call, shape: Any, fill_value: Any, dtype: Any = None) -> Value:
    value = c.el.bind(_strong(c, c.value(fill_value), c.dtype(dtype)))

    sizes = c.sizes(shape)
    return stretched(c.el, value, sizes, c.span) if rank(value.type) else filled(c, sizes, value)


def _like(number: float | None) -> Callable[..., Any]:
    def handler(c: Call, a: Any, dtype: Any = None, *, shape: Any = None) -> Value:
        x = c.value(a)
        sizes = c.shape(x) if c.none(shape) else c.sizes(shape)
        return c.filled(sizes, c.number(number or 0, c.dtype(dtype) or c.dtype_of(x)))

    return handler


def _full_like(c: Call, a: Any, fill_value: Any, dtype: Any = None) -> Value:
    x = c.value(a)
    return c.filled(c.shape(x), c.el.bind(c.convert(c.value(fill_value), c.dtype(dtype) or c.dtype_of(x))))


def _array(c: Call, object: Any, dtype: Any = None, ndmin: Any = 0) -> Value:
    value = _strong(c, c.value(object), c.dtype(dtype))
    for _ in range(c.integer(ndmin, "ndmin") - rank(value.type)):
        value = c.new_axis(value, 0)
    return value


def _asarray(c: Call, a: Any, dtype: Any = None) -> Value:
    return _strong(c, c.value(a), c.dtype(dtype))


def _arange(c: Call, start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Value:
    if c.none(stop):
        start, stop = 0, start
    low, high, by = c.value(start), c.value(stop), c.value(1 if c.none(step) else step)
    wanted = c.dtype(dtype)
    if all(c.dtype_of(v).is_integer for v in (low, high, by)):
        return _integers(c, low, high, by, wanted)
    values = [c.convert(v, F64) if c.is_weak(v) or not c.dtype_of(v).is_float else v for v in (low, high, by)]
    numbers = [v.expr.value if isinstance(v.expr, ir.Lit) else None for v in values]
    if None not in numbers:
        import math

        a, b, d = (float(n.real) for n in numbers if n is not None)
        size = poly(max(0, math.ceil((b - a) / d)) if d else 0)
    else:
        size = c.el.as_poly(c.el.bind(c.library("create.how_many", *values)), c.span)
    result = c.build(size, lambda i: c.library("create.float_step", values[0], values[2], c.plain(i)))
    return result if wanted is None else c.convert(result, wanted)


def _integers(c: Call, low: Value, high: Value, by: Value, wanted: DType | None) -> Value:
    stride = by.poly.const() if by.poly is not None else None
    a, b = c.size(low), c.size(high)
    if stride is not None and stride != 0:
        size = count_of(c.el, a, b, stride, c.span)
        number = size.const()
        size = poly(max(number, 0)) if number is not None else size
    else:
        size = c.el.as_poly(c.el.bind(c.library("create.how_many_integers", low, high, by)), c.span)

    def element(i: Value) -> Value:
        if not a.terms and stride == 1:
            return i
        return binary(c.el, "+", c.count(a), binary(c.el, "*", i, by, c.span), c.span)

    result = c.build(size, element)
    return result if wanted is None else c.convert(result, wanted)


def _linspace(c: Call, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None, axis: Any = 0) -> Value:
    low, high = c.floats(c.value(start)), c.floats(c.value(stop))
    size = c.size(num)
    count = c.count(size)
    closed = c.flag(endpoint, "endpoint")
    if c.integer(axis, "axis") != 0:
        c.refuse("axis= other than 0", "np.moveaxis moves the axis afterwards")
    where = "create.closed_step" if closed else "create.open_step"
    result = c.build(size, lambda i: c.library(where, low, high, c.plain(i), count))
    wanted = c.dtype(dtype)
    if wanted is not None:
        result = c.convert(result, wanted)
    if c.flag(retstep, "retstep"):
        return c.tuple([result, c.library("create.step", low, high, binary(c.el, "-", count, c.value(int(closed)), c.span))])
    return result


def _logspace(c: Call, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None) -> Value:
    powers = _linspace(c, start, stop, num, endpoint)
    result = binary(c.el, "**", c.floats(c.value(base)), powers, c.span)
    wanted = c.dtype(dtype)
    return result if wanted is None else c.convert(result, wanted)


def _geomspace(c: Call, start: Any, stop: Any, num: Any = 50, endpoint: Any = True) -> Value:
    low, high = c.floats(c.value(start)), c.floats(c.value(stop))
    size = c.size(num)
    count = c.count(size)
    closed = c.number(c.flag(endpoint, "endpoint"), BOOL)
    return c.build(size, lambda i: c.library("create.geometric", low, high, c.plain(i), count, closed))


def _eye(c: Call, N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Value:
    dt = c.dtype(dtype) or F64
    rows, shift = c.size(N), c.value(k)
    columns = rows if c.none(M) else c.size(M)
    one, zero = c.number(1, dt), c.number(0, dt)

    def row(i: Value) -> Value:
        diagonal = c.op("+", i, shift)
        return c.build(columns, lambda j: c.builtin("where", c.op("==", j, diagonal), one, zero))

    return c.build(rows, row)


def _identity(c: Call, n: Any, dtype: Any = None) -> Value:
    return _eye(c, n, None, 0, dtype)


def _tri(c: Call, N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Value:
    dt = c.dtype(dtype) or F64
    rows, shift = c.size(N), c.value(k)
    columns = rows if c.none(M) else c.size(M)
    one, zero = c.number(1, dt), c.number(0, dt)

    def row(i: Value) -> Value:
        diagonal = c.op("+", i, shift)
        return c.build(columns, lambda j: c.builtin("where", c.op("<=", j, diagonal), one, zero))

    return c.build(rows, row)


def _triangle(lower: bool) -> Callable[..., Any]:
    def handler(c: Call, m: Any, k: Any = 0) -> Value:
        x = c.array(m)
        if rank(x.type) < 2:
            c.wrong(x, "two axes or more")
        truths = c.dtype_of(x) is BOOL
        found: Value = c.library("create.lower" if lower else "create.upper", c.convert(x, DTYPES["i64"]) if truths else x, c.value(k))
        return c.op("!=", c.el.bind(found), 0) if truths else found

    return handler


def diagonal(c: Call, x: Value, offset: Any) -> Value:
    """The diagonal of the last two axes."""
    shift = c.value(offset)
    known = shift.poly.const() if shift.poly is not None else None
    if known is None:
        c.refuse("an offset that is not a literal", "write the diagonal itself: [a[i, i + k] for i in range(n)]")
    n, m = c.shape(x)[-2:]
    down, right = max(-known, 0), max(known, 0)
    size = _shorter(c, n - down, m - right)

    def one(v: Value) -> Value:
        def element(i: Value) -> Value:
            assert i.poly is not None
            row = element_at(c.el, v, c.count(i.poly + down), c.span)
            return element_at(c.el, row, c.count(i.poly + right), c.span)

        return c.build(size, element)

    return lift(c.el, [x], [2], lambda xs: one(c.el.bind(xs[0])), c.span, c.name)


def _shorter(c: Call, n: Poly, m: Poly) -> Poly:
    """The smaller of two sizes: known, or found when the program runs."""
    if c.el.facts.proves(m - n):
        size = n
    elif c.el.facts.proves(n - m):
        size = m
    else:
        size = c.el.as_poly(c.el.bind(c.library("create.smaller", c.count(n), c.count(m))), c.span)
        c.el.assume(n - size, m - size, size)
        return size
    if (known := size.const()) is not None and known < 0:
        return poly(0)
    c.el.require(size, c.span.text() or c.name, c.span)
    return size


def _diag(c: Call, v: Any, k: Any = 0) -> Value:
    x = c.array(v)
    if rank(x.type) == 1:
        return _diagflat(c, x, k)
    if rank(x.type) > 2:
        c.wrong(x, "one or two axes")
    return diagonal(c, x, k)


def _diagflat(c: Call, v: Any, k: Any = 0) -> Value:
    x = c.flat(c.value(v))
    if c.dtype_of(x) is BOOL:
        return c.op("!=", _diagflat(c, c.convert(x, I64), k), 0)
    shift = c.integer(k, "k")
    size = c.shape(x)[0] + abs(shift)
    found: Value = c.library("create.on_diagonal", x, shift, c.count(size))
    return found


def _diagonal(c: Call, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Value:
    x = c.array(a)
    count = rank(x.type)
    if count < 2:
        c.wrong(x, "two axes or more")
    return diagonal(c, c.last(x, [c.axis(axis1, count), c.axis(axis2, count)]), offset)


def _trace(c: Call, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None) -> Value:
    found = c.el.bind(_diagonal(c, a, offset, axis1, axis2))
    wanted = c.dtype(dtype)
    found = found if wanted is None else c.convert(found, wanted)
    return c.builtin("sum", found)


def _fill_diagonal(c: Call, a: Any, val: Any) -> Value:
    x = c.array(a)
    if rank(x.type) != 2:
        c.wrong(x, "two axes")
    given = c.convert(c.value(val), c.dtype_of(x))
    if rank(given.type) > 1:
        given = c.flat(given)
    found: Value = c.library("create.with_diagonal_of" if rank(given.type) else "create.with_diagonal", x, given)
    return found


def _vander(c: Call, x: Any, N: Any = None, increasing: Any = False) -> Value:
    v = c.wide(c.vector(x))
    if c.dtype_of(v) is BOOL or c.dtype_of(v).is_integer:
        v = c.convert(v, DTYPES["f64"] if c.dtype_of(v).name == "u64" else I64)
    count = c.shape(v)[0] if N is None or c.none(N) else c.size(N)
    c.el.require(count, c.span.text() or c.name, c.span)
    where = "create.powers_up" if c.flag(increasing, "increasing") else "create.powers_down"
    found: Value = c.library(where, v, c.count(count))
    return found


def _meshgrid(c: Call, *xi: Any, indexing: Any = "xy", sparse: Any = False) -> Value:
    if c.flag(sparse, "sparse"):
        c.refuse("sparse=True", "write x[:, None] and y[None, :]")
    kind = c.text(indexing, "indexing")
    if kind not in ("xy", "ij"):
        c.refuse(f'indexing="{kind}"', 'write indexing="xy" or indexing="ij"')
    vectors = [c.flat(c.value(x)) for x in xi]
    sizes = [c.shape(v)[0] for v in vectors]
    places = list(range(len(vectors)))
    if kind == "xy" and len(places) > 1:
        places[0], places[1] = 1, 0
    order = [places.index(k) for k in range(len(places))]
    out = [sizes[k] for k in order]

    grids = []
    for v, place in zip(vectors, places, strict=True):
        v = with_ones(v, ())
        for _ in range(place):
            v = c.new_axis(v, 0)
        for _ in range(len(vectors) - 1 - place):
            v = c.new_axis(v, rank(v.type))
        grids.append(c.el.bind(stretched(c.el, v, out, c.span)))
    return c.tuple(grids)


def _indices(c: Call, dimensions: Any, dtype: Any = None, sparse: Any = False) -> Value:
    if c.flag(sparse, "sparse"):
        c.refuse("sparse=True", "write np.arange(n)[:, None] and np.arange(m)[None, :]")
    sizes = c.sizes(dimensions)
    ranges = [_asarray(c, c.plain(c.build(size, lambda i: i)), dtype) for size in sizes]
    grid = _meshgrid(c, *ranges, indexing="ij")

    return stacked(c, project_all(c.el, grid), 0)


def _fromfunction(c: Call, function: Any, shape: Any, dtype: Any = None) -> Any:
    sizes = c.sizes(shape)
    kind = c.dtype(dtype) or F64
    ranges = [c.convert(c.plain(c.build(size, lambda i: i)), kind) for size in sizes]
    grids = project_all(c.el, _meshgrid(c, *ranges, indexing="ij"))
    return apply(c.el, function, grids, c.span)


def _triangle_indices(lower: bool) -> Callable[..., Any]:
    def handler(c: Call, n: Any, k: Any = 0, m: Any = None) -> Value:
        rows = c.size(n)
        columns = rows if c.none(m) else c.size(m)
        found: Value = c.library("create.lower_places" if lower else "create.upper_places", c.count(rows), c.count(columns), c.value(k))
        return found

    return handler


def _triangle_indices_from(lower: bool) -> Callable[..., Any]:
    def handler(c: Call, arr: Any, k: Any = 0) -> Value:
        x = c.array(arr)
        if rank(x.type) != 2:
            c.wrong(x, "two axes")
        found: Value = _triangle_indices(lower)(c, c.count(c.shape(x)[0]), k, c.count(c.shape(x)[1]))
        return found

    return handler


def _diag_indices_from(c: Call, arr: Any) -> Value:
    x = c.array(arr)
    if rank(x.type) < 2:
        c.wrong(x, "two axes or more")
    for size in c.shape(x)[1:]:
        c.same(c.shape(x)[0], size)
    return _diag_indices(c, c.count(c.shape(x)[0]), rank(x.type))


def _diag_indices(c: Call, n: Any, ndim: Any = 2) -> Value:
    places = c.build(c.size(n), lambda i: i)
    return c.tuple([places] * c.integer(ndim, "ndim"))


def _window(name: str) -> Callable[..., Any]:
    def handler(c: Call, M: Any) -> Value:
        size = c.size(M)
        return c.build(size, lambda i: c.library(f"create.{name}", c.plain(i), c.count(size)))

    return handler


WORDS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("zeros", "empty"), _constant(0)),
    "ones": _constant(1),
    "full": _full,
    **dict.fromkeys(("zeros_like", "empty_like"), _like(0)),
    "ones_like": _like(1),
    "full_like": _full_like,
    "array": _array,
    **dict.fromkeys(("asarray", "ascontiguousarray", "asanyarray", "asfortranarray"), _asarray),
    "arange": _arange,
    "linspace": _linspace,
    "logspace": _logspace,
    "geomspace": _geomspace,
    "eye": _eye,
    "identity": _identity,
    "tri": _tri,
    "tril": _triangle(True),
    "triu": _triangle(False),
    "diag": _diag,
    "diagflat": _diagflat,
    "diagonal": _diagonal,
    "trace": _trace,
    "fill_diagonal": _fill_diagonal,
    "vander": _vander,
    "meshgrid": _meshgrid,
    "indices": _indices,
    "fromfunction": _fromfunction,
    "tril_indices": _triangle_indices(True),
    "tril_indices_from": _triangle_indices_from(True),
    "triu_indices_from": _triangle_indices_from(False),
    "diag_indices_from": _diag_indices_from,
    "triu_indices": _triangle_indices(False),
    "diag_indices": _diag_indices,
    **{name: _window(name) for name in ("hanning", "hamming", "bartlett", "blackman")},
}
STATEMENTS = frozenset({"fill_diagonal"})
