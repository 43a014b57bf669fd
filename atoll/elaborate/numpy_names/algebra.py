"""Products of arrays, differences, integrals, interpolation, polynomials."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from atoll.elaborate.arithmetic import binary
from atoll.elaborate.builtins.contract import matmul
from atoll.elaborate.calls import apply
from atoll.elaborate.coerce import project_all
from atoll.elaborate.entities import Value
from atoll.elaborate.indexing import element_at
from atoll.elaborate.lifting import lift
from atoll.elaborate.numpy_names.call import Call
from atoll.elaborate.numpy_names.einsum import Operand, contract, einsum
from atoll.elaborate.numpy_names.places import together
from atoll.elaborate.numpy_names.shapes import reshaped
from atoll.elaborate.numpy_names.together import cut, joined
from atoll.sizes import poly
from atoll.types.dtypes import BOOL, DTYPES
from atoll.types.types import rank

F64, I64 = DTYPES["f64"], DTYPES["i64"]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def contracted(c: Call, a: Value, b: Value, axes_a: list[int], axes_b: list[int]) -> Value:
    """The sum over pairs of axes: what is left of a, then what is left of b."""
    left = list(_LETTERS[: rank(a.type)])
    right = list(_LETTERS[rank(a.type) : rank(a.type) + rank(b.type)])
    for i, j in zip(axes_a, axes_b, strict=True):
        right[j] = left[i]
    out = [ch for k, ch in enumerate(left) if k not in axes_a] + [ch for k, ch in enumerate(right) if k not in axes_b]
    return contract(c, [Operand("".join(left), a), Operand("".join(right), b)], "".join(out))


def _product(f: Callable[..., Value]) -> Callable[..., Any]:
    """A product of two arrays in NumPy's common type, small integers too, which wrap around; of bools it tells whether any pair is true."""

    signature = inspect.signature(f)

    @wraps(f)
    def handler(c: Call, *args: Any, **keywords: Any) -> Value:
        _, a, b, *more = (bound := signature.bind(c, *args, **keywords)).args
        args, keywords = tuple(more), bound.kwargs
        x, y = c.promoted([c.value(a), c.value(b)])
        if c.dtype_of(x) is not BOOL:
            return c.as_narrow(f(c, x, y, *args, **keywords), c.dtype_of(x))
        counted = f(c, c.convert(x, I64), c.convert(y, I64), *args, **keywords)
        return c.op("!=", c.el.bind(counted), 0)

    return handler


@_product
def _dot(c: Call, a: Any, b: Any) -> Value:
    x, y = c.value(a), c.value(b)
    if rank(x.type) == 0 or rank(y.type) == 0:
        return binary(c.el, "*", x, y, c.span)
    if rank(x.type) <= 2 and rank(y.type) <= 2:
        return matmul(c.el, x, y, c.span)
    return contracted(c, x, y, [rank(x.type) - 1], [max(rank(y.type) - 2, 0)])


@_product
def _matmul(c: Call, x1: Any, x2: Any) -> Value:
    return matmul(c.el, c.array(x1), c.array(x2), c.span)


@_product
def _matvec(c: Call, x1: Any, x2: Any) -> Value:
    """A matrix and a vector, and stacks of them."""
    x, y = c.array(x1), c.array(x2)
    if rank(x.type) < 2:
        c.wrong(x, "a matrix first")

    return lift(c.el, [x, y], [2, 1], lambda xs: matmul(c.el, xs[0], xs[1], c.span), c.span, c.name)


@_product
def _vecmat(c: Call, x1: Any, x2: Any) -> Value:
    x, y = c.array(x1), c.array(x2)
    if rank(y.type) < 2:
        c.wrong(y, "a matrix second")
    if c.dtype_of(x).is_complex:
        x = c.el.bind(c.builtin("conj", x))
    count = rank(y.type)
    found: Value = _matvec(c, c.moved(y, [*range(count - 2), count - 1, count - 2]), x)
    return found


@_product
def _vdot(c: Call, a: Any, b: Any) -> Value:
    x, y = c.flat(c.value(a)), c.flat(c.value(b))
    if c.dtype_of(x).is_complex:
        x = c.el.bind(c.builtin("conj", x))
    return c.builtin("dot", x, y)


@_product
def _vecdot(c: Call, x1: Any, x2: Any, *, axis: Any = -1) -> Value:
    x, y = c.array(x1), c.array(x2)
    if c.dtype_of(x).is_complex:
        x = c.el.bind(c.builtin("conj", x))
    return c.builtin("dot", c.last(x, [c.axis(axis, rank(x.type))]), c.last(y, [c.axis(axis, rank(y.type))]))


@_product
def _inner(c: Call, a: Any, b: Any) -> Value:
    x, y = c.value(a), c.value(b)
    if rank(x.type) == 0 or rank(y.type) == 0:
        return binary(c.el, "*", x, y, c.span)
    return contracted(c, x, y, [rank(x.type) - 1], [rank(y.type) - 1])


@_product
def _outer(c: Call, a: Any, b: Any) -> Value:
    return c.builtin("outer", c.flat(c.value(a)), c.flat(c.value(b)))


@_product
def _tensordot(c: Call, a: Any, b: Any, axes: Any = 2) -> Value:
    x, y = c.array(a), c.array(b)
    if not c.is_many(axes):
        count = c.integer(axes, "axes")
        if count > min(rank(x.type), rank(y.type)):
            c.refuse("more axes than the arrays have", "give the axes of each: axes=([0], [1])")
        return contracted(c, x, y, list(range(rank(x.type) - count, rank(x.type))), list(range(count)))
    first, second = c.parts(axes)
    one, two = c.axes(first, rank(x.type)), c.axes(second, rank(y.type))
    if len(one) != len(two):
        c.refuse("a different number of axes on both sides", "name as many axes of the one as of the other")
    return contracted(c, x, y, one, two)


@_product
def _kron(c: Call, a: Any, b: Any) -> Value:
    x, y = c.value(a), c.value(b)
    count = max(rank(x.type), rank(y.type))
    if count == 0:
        return binary(c.el, "*", x, y, c.span)
    while rank(x.type) < count:
        x = c.new_axis(x, 0)
    while rank(y.type) < count:
        y = c.new_axis(y, 0)
    left, right = _LETTERS[:count], _LETTERS[count : 2 * count]
    mixed = contract(c, [Operand(left, x), Operand(right, y)], "".join(p + q for p, q in zip(left, right, strict=True)))
    return reshaped(c, mixed, [m * n for m, n in zip(c.shape(x), c.shape(y), strict=True)])


def _cross(c: Call, a: Any, b: Any, *, axis: Any = -1) -> Value:
    x, y = c.promoted([c.array(a), c.array(b)])
    kx, ky = c.axis(axis, rank(x.type)), c.axis(axis, rank(y.type))
    for value, k in ((x, kx), (y, ky)):
        if (n := c.shape(value)[k].const()) is not None and n != 3:
            c.refuse("vectors that do not have 3 components", "write the component: a[0] * b[1] - a[1] * b[0]")
        c.same(c.shape(value)[k], poly(3))
    found = c.el.bind(c.library("linear.cross", c.last(x, [kx]), c.last(y, [ky])))
    return c.back(found, max(kx, ky))


# -- along an axis


def _diff(c: Call, a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Value:
    x = c.array(a)
    k = c.axis(axis, rank(x.type))
    for end, first in ((prepend, True), (append, False)):
        if not c.none(end):
            part = c.strong(c.value(end))
            if rank(part.type) == 0:
                part = c.filled([m if j != k else poly(1) for j, m in enumerate(c.shape(x))], c.el.bind(part))
            x = c.el.bind(joined(c, [c.el.bind(part), x] if first else [x, c.el.bind(part)], k))
    times = c.integer(n, "n")
    if times < 0:
        c.refuse(f"n={times}", "say how often: n=1 for the differences themselves")
    for _ in range(times):
        size = c.shape(x)[k] - 1
        later, earlier = cut(c, x, k, poly(1), size), cut(c, x, k, poly(0), size)
        x = c.op("!=", later, earlier) if c.dtype_of(x) is BOOL else c.op("-", later, earlier)
    return x


def _ediff1d(c: Call, ary: Any, to_end: Any = None, to_begin: Any = None) -> Value:
    x = c.flat(c.value(ary))
    found = [c.el.bind(_diff(c, x))]
    if not c.none(to_begin):
        found.insert(0, c.flat(c.convert(c.value(to_begin), c.dtype_of(x))))
    if not c.none(to_end):
        found.append(c.flat(c.convert(c.value(to_end), c.dtype_of(x))))
    return joined(c, found, 0)


def _gradient(c: Call, f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Value:
    x = c.floats(c.array(f))
    order = c.integer(edge_order, "edge_order")
    if order not in (1, 2):
        c.refuse(f"edge_order={order}", "write edge_order=1 or edge_order=2")
    axes = c.axes(axis, rank(x.type))
    spacing: list[Any] = list(varargs) or [1.0]
    if len(spacing) == 1:
        spacing = spacing * len(axes)
    if len(spacing) != len(axes):
        c.refuse("another number of spacings than axes", "give one spacing, or one for each axis")

    def one(k: int, step: Any) -> Value:
        width = c.value(step)
        width = c.convert(width, c.dtype_of(x)) if c.is_weak(width) else c.floats(width)
        kind = "even" if rank(width.type) == 0 else "uneven"
        return c.along(x, k, lambda v: c.library(f"interpolation.gradient_{kind}_{order}", v, width))

    found = [one(k, step) for k, step in zip(axes, spacing, strict=True)]
    return found[0] if len(found) == 1 else c.tuple(found)


def _trapezoid(c: Call, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Value:
    f = c.array(y)
    if c.dtype_of(f) is BOOL:  # NumPy adds bools as bools there
        c.wrong(f, "numbers")
    f = c.floats(f)
    k = c.axis(axis, rank(f.type))
    moved = c.last(f, [k])
    if c.none(x):
        width = c.value(dx)
        found: Value = c.library("interpolation.trapezoid_even", moved, c.convert(width, c.dtype_of(f)) if c.is_weak(width) else width)
        return found
    at = c.floats(c.array(x))
    result: Value = c.library("interpolation.trapezoid", moved, at if rank(at.type) == 1 else c.last(at, [k]))
    return result


def _interp(c: Call, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Value:
    at, places, values = (c.convert(v, F64) for v in (c.value(x), c.vector(xp), c.vector(fp)))
    if not c.none(period):
        c.same(c.shape(places)[0], c.shape(values)[0])
        turn = c.convert(c.value(period), F64)
        found: Value = lift(c.el, [at], [0], lambda v: c.library("interpolation.interp_around", v[0], places, values, turn), c.span, c.name)
        return found
    size = c.shape(values)[0]
    c.same(c.shape(places)[0], size)
    c.el.require(size - 1, c.span.text() or c.name, c.span)
    low = c.at(values, 0) if c.none(left) else c.convert(c.value(left), c.dtype_of(values))

    high = element_at(c.el, values, c.count(size - 1), c.span) if c.none(right) else c.convert(c.value(right), c.dtype_of(values))
    low, high = c.el.bind(low), c.el.bind(high)
    return lift(c.el, [at], [0], lambda v: c.library("interpolation.interp", v[0], places, values, low, high), c.span, c.name)


_CONVOLVE = ("full", "same", "valid")


@_product
def _convolve(c: Call, a: Any, v: Any, mode: Any = "full") -> Value:
    x, y = c.vector(a), c.vector(v)
    kind = c.text(mode, "mode")
    if kind not in _CONVOLVE:
        c.refuse(f'mode="{kind}"', f"choose one of {', '.join(_CONVOLVE)}")
    return convolved(c, x, y, kind)


def convolved(c: Call, x: Value, y: Value, kind: str) -> Value:
    n, m = c.shape(x)[0], c.shape(y)[0]
    c.el.require(n - 1, c.span.text() or c.name, c.span)
    c.el.require(m - 1, c.span.text() or c.name, c.span)
    full = c.el.bind(c.library("interpolation.convolve", x, y))
    if kind == "full":
        return full
    if c.el.facts.proves(n - m):
        long, short = n, m
    elif c.el.facts.proves(m - n):
        long, short = m, n
    else:
        short = c.el.as_poly(c.el.bind(c.library("create.smaller", c.count(n), c.count(m))), c.span)
        c.el.labels[next(iter(short.leaves()))] = f"min({c.el.words(n)}, {c.el.words(m)})"
        c.el.assume(n - short, m - short, short - 1)
        long = n + m - short
    if kind == "valid":
        return cut(c, full, 0, short - 1, long - short + 1)
    return cut(c, full, 0, (short - 1) // 2, long)


@_product
def _correlate(c: Call, a: Any, v: Any, mode: Any = "valid") -> Value:
    x, y = c.vector(a), c.vector(v)
    kind = c.text(mode, "mode")
    if kind not in _CONVOLVE:
        c.refuse(f'mode="{kind}"', f"choose one of {', '.join(_CONVOLVE)}")
    n, m = c.shape(x)[0], c.shape(y)[0]
    first_is_longer = c.el.facts.proves(n - m)
    if kind == "same" and not first_is_longer and not c.el.facts.proves(m - n - 1):
        c.refuse("a second array that may be longer than the first", 'assert len(a) >= len(v) before, or use mode="full"')
    other = c.el.bind(c.builtin("reverse", y))
    if c.dtype_of(other).is_complex:
        other = c.el.bind(c.builtin("conj", other))
    if kind != "same":
        return convolved(c, x, other, kind)
    full = convolved(c, x, other, "full")
    return cut(c, full, 0, (m - 1) // 2, n) if first_is_longer else cut(c, full, 0, n // 2, m)


def _apply_along_axis(c: Call, func1d: Any, axis: Any, arr: Any) -> Value:
    """The function of every row along an axis; the axes of its result stand where the axis was."""
    x = c.array(arr)
    k = c.axis(axis, rank(x.type))
    found = c.el.bind(lift(c.el, [c.last(x, [k])], [1], lambda v: c.value(apply(c.el, func1d, [c.el.bind(v[0])], c.span)), c.span, c.name))
    extra = rank(found.type) - (rank(x.type) - 1)
    order = list(range(rank(x.type) - 1))
    order[k:k] = range(rank(x.type) - 1, rank(x.type) - 1 + extra)
    return c.moved(found, order)


def _unwrap(c: Call, p: Any, discont: Any = None, axis: Any = -1, period: Any = 6.283185307179586) -> Value:
    if not c.none(discont):
        c.refuse("discont=", "leave it out: half a period")
    x = c.floats(c.array(p))
    turn = c.convert(c.value(period), c.dtype_of(x))
    return c.along(x, axis, lambda v: c.library("interpolation.unwrap", v, turn))


# -- polynomials


def _polyval(c: Call, p: Any, x: Any) -> Value:
    coefficients, at = together(c, *c.promoted([c.vector(p), c.value(x)]))
    return lift(c.el, [at], [0], lambda v: c.library("polynomials.value_at", coefficients, v[0]), c.span, c.name)


def _polyfit(c: Call, x: Any, y: Any, deg: Any, *, w: Any = None) -> Value:
    places, values = c.floats(c.vector(x)), c.floats(c.array(y))
    if rank(values.type) != 1:
        c.wrong(values, "values with one axis")
    degree = c.size(deg, "deg")
    size = c.shape(places)[0]
    c.same(size, c.shape(values)[0])
    c.el.require(degree, c.span.text() or c.name, c.span)
    weights = c.filled([size], c.number(1, F64)) if c.none(w) else c.floats(c.vector(w))
    weights, kept = c.el.bind(weights), c.dtype_of(values)
    if not c.none(w):  # NumPy multiplies in place, so what is weighted stays as narrow as it was
        values = c.convert(c.library("polynomials.weighted", values, weights), kept)
    places, values, weights = (c.el.bind(c.convert(v, F64)) for v in (places, values, weights))  # its least squares are in doubles
    found: Value = c.library("polynomials.fit", places, values, weights, c.count(degree))
    return found


def _poly(c: Call, seq_of_zeros: Any) -> Value:
    """The polynomial with these roots."""
    roots = c.vector(seq_of_zeros)
    found: Value = c.library("polynomials.with_roots", c.convert(roots, F64) if not c.dtype_of(roots).is_complex else c.convert(roots, DTYPES["c128"]))
    return found


def _poly_sum(op: str) -> Callable[..., Any]:
    def handler(c: Call, a1: Any, a2: Any) -> Value:
        x, y = c.vector(a1), c.vector(a2)
        found: Value = c.library("polynomials.plus" if op == "+" else "polynomials.minus", x, y)
        return found

    return handler


def _polymul(c: Call, a1: Any, a2: Any) -> Value:
    x, y = c.vector(a1), c.vector(a2)
    for p in (x, y):
        c.leading(p)
    found: Value = _convolve(c, x, y)
    return found


def _polyder(c: Call, p: Any, m: Any = 1) -> Value:
    x = c.wide(c.vector(p))
    for _ in range(c.integer(m, "m")):
        size = c.shape(x)[0]
        c.el.require(size - 1, c.span.text() or c.name, c.span)
        x = c.el.bind(c.library("polynomials.derivative", x))
    return x


def _polyint(c: Call, p: Any, m: Any = 1) -> Value:
    x = c.wide(c.vector(p))
    for _ in range(c.integer(m, "m")):
        x = c.el.bind(c.library("polynomials.integral", x))
    return x


WORDS: dict[str, Callable[..., Any]] = {
    "dot": _dot,
    "matmul": _matmul,
    "matvec": _matvec,
    "vecmat": _vecmat,
    "vdot": _vdot,
    "vecdot": _vecdot,
    "inner": _inner,
    "outer": _outer,
    "tensordot": _tensordot,
    "einsum": einsum,
    "kron": _kron,
    "cross": _cross,
    "diff": _diff,
    "ediff1d": _ediff1d,
    "gradient": _gradient,
    "trapezoid": _trapezoid,
    "interp": _interp,
    "convolve": _convolve,
    "correlate": _correlate,
    "apply_along_axis": _apply_along_axis,
    "unwrap": _unwrap,
    "polyval": _polyval,
    "polyfit": _polyfit,
    "poly": _poly,
    "polyadd": _poly_sum("+"),
    "polysub": _poly_sum("-"),
    "polymul": _polymul,
    "polyder": _polyder,
    "polyint": _polyint,
}

__all__ = ["WORDS", "contracted", "project_all"]
