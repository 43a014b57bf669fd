"""Kernels of the bench that fit Halide, by name: `(arguments) -> a call that gives a new array`. Textbook schedules: rows or pieces in parallel,
vectors of 16 floats, stages along strips. Halide counts axes from the last one, so `u[x, y]` is column x of row y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

try:
    import halide as hl
except ImportError:
    hl = None

Call = Callable[[], Any]


def compiled(f: Any, shape: tuple[int, ...]) -> Call:
    """A call that gives a new array, as a call of an Atoll function does."""
    f.compile_jit()

    def call() -> Any:
        out = np.empty(shape, np.float32)
        f.realize(hl.Buffer(out))
        return out

    return call


def _vars(names: str) -> list[Any]:
    return [hl.Var(name) for name in names.split()]


def _pieces(f: Any, x: Any, n: int) -> Call:
    """A loop over one axis, in pieces for the threads."""
    outer, inner = _vars("outer inner")
    f.split(x, outer, inner, min(n, 1 << 15), hl.TailStrategy.ShiftInwards).parallel(outer).vectorize(inner, 16)
    return compiled(f, (n,))


def chain(a: Any, b: Any, c: Any) -> Call:
    (x,), f = _vars("x"), hl.Func("chain")
    p, q, r = (hl.Buffer(v)[x] for v in (a, b, c))
    f[x] = (p * hl.f32(2) + q) * r - p / (q * q + hl.f32(1))
    return _pieces(f, x, a.size)


def saxpy(s: Any, u: Any, v: Any) -> Call:
    (x,), f = _vars("x"), hl.Func("saxpy")
    f[x] = hl.f32(float(s)) * hl.Buffer(u)[x] + hl.Buffer(v)[x]
    return _pieces(f, x, u.size)


def outer_product(u: Any, v: Any) -> Call:
    (x, y), f = _vars("x y"), hl.Func("outer")
    f[x, y] = hl.Buffer(u)[y] * hl.Buffer(v)[x] + hl.f32(1)
    return compiled(f.parallel(y, 16).vectorize(x, 16), (u.size, v.size))


def _step(source: Any, u: Any, k: int) -> Any:
    """One Jacobi step, the border kept."""
    (x, y), f = _vars("x y"), hl.Func(f"step{k}")
    n, m = u.shape
    inside = (x > 0) & (x < m - 1) & (y > 0) & (y < n - 1)
    column, row = hl.clamp(x, 1, m - 2), hl.clamp(y, 1, n - 2)
    near = source[column, row - 1] + source[column, row + 1] + source[column - 1, row] + source[column + 1, row]
    f[x, y] = hl.select(inside, hl.f32(0.25) * near, source[x, y])
    return f.compute_root().parallel(y, 16).vectorize(x, 16)


def jacobi(u: Any, steps: int = 1) -> Call:
    source: Any = hl.Buffer(u)
    for k in range(steps):
        source = _step(source, u, k)
    return compiled(source, u.shape)


def blur(u: Any) -> Call:
    (x, y, yi), image = _vars("x y yi"), hl.Buffer(u)
    h, f = hl.Func("h"), hl.Func("blur")
    h[x, y] = image[x, y] + image[x + 1, y] + image[x + 2, y]
    f[x, y] = (h[x, y] + h[x, y + 1] + h[x, y + 2]) / hl.f32(9)
    f.split(y, y, yi, 32).parallel(y).vectorize(x, 16)
    h.store_at(f, y).compute_at(f, yi).vectorize(x, 16)
    return compiled(f, (u.shape[0] - 2, u.shape[1] - 2))


def conv2d(u: Any, w: Any) -> Call:
    x, y, o, xi, yi = _vars("x y o xi yi")
    d, c, k, l = w.shape
    n, m = u.shape[1] - k + 1, u.shape[2] - l + 1
    r, total, f = hl.RDom([(0, l), (0, k), (0, c)]), hl.Func("total"), hl.Func("conv")
    total[x, y, o] = hl.f32(0)
    total[x, y, o] += hl.Buffer(u)[x + r[0], y + r[1], r[2]] * hl.Buffer(w)[r[0], r[1], r[2], o]
    f[x, y, o] = total[x, y, o]
    f.tile(x, y, xi, yi, 32, 4).vectorize(xi, 16).unroll(xi).unroll(yi).parallel(o)
    total.compute_at(f, x).vectorize(x, 16).unroll(x).unroll(y)
    total.update().reorder(x, y, r[0], r[1], r[2]).vectorize(x, 16).unroll(x).unroll(y)
    return compiled(f, (d, n, m))


def max_pool(u: Any) -> Call:
    (x, y, q), image, f = _vars("x y q"), hl.Buffer(u), hl.Func("pool")
    f[x, y, q] = hl.max(hl.max(image[2 * x, 2 * y, q], image[2 * x + 1, 2 * y, q]), hl.max(image[2 * x, 2 * y + 1, q], image[2 * x + 1, 2 * y + 1, q]))
    return compiled(f.parallel(q).vectorize(x, 16), (u.shape[0], u.shape[1] // 2, u.shape[2] // 2))


def conv1d(u: Any, w: Any) -> Call:
    (x,), f, r = _vars("x"), hl.Func("conv"), hl.RDom([(0, w.size)])
    outer, inner, lane = _vars("outer inner lane")
    total, n = hl.Func("total"), u.size - w.size + 1
    total[x] = hl.f32(0)
    total[x] += hl.Buffer(u)[x + r.x] * hl.Buffer(w)[r.x]
    f[x] = total[x]
    f.split(x, outer, inner, min(n, 4096), hl.TailStrategy.ShiftInwards).parallel(outer).split(inner, inner, lane, 64).vectorize(lane, 16).unroll(lane)
    total.compute_at(f, inner).vectorize(x, 16).unroll(x)
    total.update().reorder(x, r.x).vectorize(x, 16).unroll(x)
    return compiled(f, (n,))


FACTORIES: dict[str, Callable[..., Call]] = {
    "chain 64K f32": chain,
    "chain 1M f32": chain,
    "chain 16M f32": chain,
    "saxpy 16M f32": saxpy,
    "outer product f32": outer_product,
    "jacobi 2-d once 2048 f32": jacobi,
    "jacobi 2-d, 10 steps f32": jacobi,
    "blur 3x3 f32": blur,
    "conv2d 3x3 f32": conv2d,
    "max pool f32": max_pool,
    "conv1d 31 f32": conv1d,
}
