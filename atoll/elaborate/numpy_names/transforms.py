"""np.fft: transforms of any length along an axis, of real signals, in several dimensions. Computed in c128; of f32 and c64 the result is c64."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from atoll.elaborate.arithmetic import binary, unary_math
from atoll.elaborate.entities import Value
from atoll.elaborate.numpy_names.call import Call
from atoll.elaborate.numpy_names.shapes import product, reshaped
from atoll.elaborate.numpy_names.together import cut
from atoll.sizes import Poly
from atoll.types.dtypes import DTYPES
from atoll.types.types import rank

C64, C128, F32, F64 = (DTYPES[t] for t in ("c64", "c128", "f32", "f64"))
_NORMS = ("backward", "ortho", "forward")


def _scaled(c: Call, v: Value, size: Poly, norm: Any, inverse: bool) -> Value:
    kind = "backward" if c.none(norm) else c.text(norm, "norm")
    if kind not in _NORMS:
        c.refuse(f'norm="{kind}"', f"choose one of {', '.join(_NORMS)}")
    count = c.convert(c.count(size), F64)
    if kind == "ortho":
        return c.op("/", v, c.el.bind(unary_math(c.el, "sqrt", count, c.span, c.name)))
    return c.op("/", v, count) if (kind == "forward") != inverse else v


def _narrow(c: Call, x: Value) -> bool:
    return c.dtype_of(x).name in ("f32", "c64")


def _fitted(c: Call, x: Value, n: Any) -> Value:
    if c.none(n):
        return x
    size = c.size(n)
    c.el.require(size - 1, c.span.text() or c.name, c.span)
    return x if c.shape(x)[-1] == size else c.el.bind(c.library("fourier.fitted", x, c.count(size)))


def _transform(c: Call, a: Any, n: Any, axis: Any, norm: Any, inverse: bool) -> Value:
    x = c.array(a)
    small = _narrow(c, x)
    c.el.require(c.shape(x)[c.axis(axis, rank(x.type))] - 1, c.span.text() or c.name, c.span)

    k = c.axis(axis, rank(x.type))
    moved = _fitted(c, c.last(c.convert(x, C128), [k]), n)
    found = c.back(_scaled(c, transformed(c, moved, inverse), c.shape(moved)[-1], norm, inverse), k)
    return c.convert(found, C64) if small else found


def transformed(c: Call, x: Value, inverse: bool) -> Value:
    """The transform of the last axis, without a factor."""
    name = "fourier.backward" if inverse else "fourier.forward"
    if rank(x.type) == 1:
        return c.el.bind(c.library(name, x))
    sizes = c.shape(x)
    rows = reshaped(c, x, [product(sizes[:-1]), sizes[-1]]) if len(sizes) > 2 else x
    found = c.el.bind(c.library(f"{name}_rows", rows))
    return reshaped(c, found, sizes) if len(sizes) > 2 else found


def _fft(inverse: bool) -> Callable[..., Any]:
    def handler(c: Call, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Value:
        return _transform(c, a, n, axis, norm, inverse)

    return handler


def _rfft(c: Call, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Value:
    x = c.array(a)
    if c.dtype_of(x).is_complex:
        c.wrong(x, "a real signal")
    whole = c.el.bind(_transform(c, x, n, axis, norm, False))
    k = c.axis(axis, rank(x.type))
    size = c.shape(whole)[k]
    half = cut(c, whole, k, c.size(0), size // 2 + 1)
    found = c.along(c.convert(half, C128), k, lambda v: c.library("fourier.real_ends", v, c.count(size)))
    return c.convert(found, C64) if _narrow(c, x) else found


def _irfft(c: Call, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Value:
    x = c.array(a)
    k = c.axis(axis, rank(x.type))
    size = 2 * (c.shape(x)[k] - 1) if c.none(n) else c.size(n)
    c.el.require(size - 1, c.span.text() or c.name, c.span)

    spectrum = c.el.bind(c.library("fourier.mirrored", c.last(c.convert(x, C128), [k]), c.count(size)))
    whole = _scaled(c, transformed(c, spectrum, True), size, norm, True)
    found = c.back(c.el.bind(unary_math(c.el, "real", whole, c.span, c.name)), k)
    return c.convert(found, F32) if _narrow(c, x) else found


def _several(inverse: bool, count: int | None) -> Callable[..., Any]:
    def handler(c: Call, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Value:
        x = c.array(a)
        if count is not None and rank(x.type) < count:
            c.wrong(x, f"at least {count} axes")
        if c.none(axes):
            which = list(range(rank(x.type))) if count is None else list(range(rank(x.type) - count, rank(x.type)))
        else:
            which = c.axes(axes, rank(x.type))
        sizes: list[Any] = [None] * len(which) if c.none(s) else c.parts(s)
        for k, size in zip(which, sizes, strict=True):
            x = c.el.bind(_transform(c, x, size, k, norm, inverse))
        return x

    return handler


def _rfftn(c: Call, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Value:
    """The last axis as a real signal, then the others."""
    x = c.array(a)
    which = list(range(rank(x.type))) if c.none(axes) else c.axes(axes, rank(x.type))
    sizes: list[Any] = [None] * len(which) if c.none(s) else c.parts(s)
    x = c.el.bind(_rfft(c, x, sizes[-1], which[-1], norm))
    for k, size in zip(which[:-1], sizes[:-1], strict=True):
        x = c.el.bind(_transform(c, x, size, k, norm, False))
    return x


def _irfftn(c: Call, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Value:
    x = c.array(a)
    which = list(range(rank(x.type))) if c.none(axes) else c.axes(axes, rank(x.type))
    sizes: list[Any] = [None] * len(which) if c.none(s) else c.parts(s)
    for k, size in zip(which[:-1], sizes[:-1], strict=True):
        x = c.el.bind(_transform(c, x, size, k, norm, True))
    return _irfft(c, x, sizes[-1], which[-1], norm)


def _hfft(c: Call, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Value:
    """Of half a signal that mirrors itself: the real transform; the norm is the other way round."""
    x = c.array(a)
    return _irfft(c, c.el.bind(c.builtin("conj", c.convert(x, C64 if _narrow(c, x) else C128))), n, axis, _swapped(c, norm))


def _ihfft(c: Call, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Value:
    return c.builtin("conj", c.el.bind(_rfft(c, a, n, axis, _swapped(c, norm))))


def _swapped(c: Call, norm: Any) -> str:
    kind = "backward" if c.none(norm) else c.text(norm, "norm")
    return {"backward": "forward", "forward": "backward"}.get(kind, kind)


def _rfft2(c: Call, a: Any, *, axes: Any = None, norm: Any = None) -> Value:
    x = c.array(a)
    if rank(x.type) < 2:
        c.wrong(x, "at least 2 axes")
    one, two = (rank(x.type) - 2, rank(x.type) - 1) if c.none(axes) else c.axes(axes, rank(x.type))
    return _transform(c, c.el.bind(_rfft(c, x, None, two, norm)), None, one, norm, False)


def _irfft2(c: Call, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Value:
    x = c.array(a)
    if rank(x.type) < 2:
        c.wrong(x, "at least 2 axes")
    one, two = (rank(x.type) - 2, rank(x.type) - 1) if c.none(axes) else c.axes(axes, rank(x.type))
    first, last = (None, None) if c.none(s) else c.parts(s)
    return _irfft(c, c.el.bind(_transform(c, x, first, one, norm, True)), last, two, norm)


def _fftfreq(c: Call, n: Any, d: Any = 1.0) -> Value:
    size, step = c.size(n), c.convert(c.value(d), F64)
    c.el.require(size - 1, c.span.text() or c.name, c.span)
    return c.build(size, lambda i: c.library("fourier.frequency", c.plain(i), c.count(size), step))


def _rfftfreq(c: Call, n: Any, d: Any = 1.0) -> Value:
    size, step = c.size(n), c.convert(c.value(d), F64)
    c.el.require(size - 1, c.span.text() or c.name, c.span)
    whole = binary(c.el, "*", c.convert(c.count(size), F64), step, c.span)
    bound = c.el.bind(whole)
    return c.build(size // 2 + 1, lambda i: binary(c.el, "/", c.plain(i), bound, c.span))


def _turned(c: Call, by: Poly, v: Value) -> Value:
    return c.builtin("rotate", v, c.count(by))


def _shifted(back: bool) -> Callable[..., Any]:
    def handler(c: Call, x: Any, axes: Any = None) -> Value:
        value = c.array(x)
        for k in c.axes(axes, rank(value.type)):
            size = c.shape(value)[k]
            by = size // 2 if back else size - size // 2
            value = c.el.bind(c.rows(value, partial(_turned, c, by), k))
        return value

    return handler


WORDS: dict[str, Callable[..., Any]] = {
    "fft.fft": _fft(False),
    "fft.ifft": _fft(True),
    "fft.rfft": _rfft,
    "fft.irfft": _irfft,
    "fft.fft2": _several(False, 2),
    "fft.ifft2": _several(True, 2),
    "fft.fftn": _several(False, None),
    "fft.ifftn": _several(True, None),
    "fft.rfftn": _rfftn,
    "fft.irfftn": _irfftn,
    "fft.hfft": _hfft,
    "fft.ihfft": _ihfft,
    "fft.rfft2": _rfft2,
    "fft.irfft2": _irfft2,
    "fft.fftfreq": _fftfreq,
    "fft.rfftfreq": _rfftfreq,
    "fft.fftshift": _shifted(False),
    "fft.ifftshift": _shifted(True),
}
