"""The same programs in Halide, with textbook schedules for this kind of machine: vectors of 16 floats, rows in parallel."""

from __future__ import annotations

from typing import Any

import halide as hl

from bench.in_halide import Call, compiled


def blur(image: Any, kind: str) -> Call:
    x, y, xi, yi = (hl.Var(name) for name in ("x", "y", "xi", "yi"))
    source = hl.BoundaryConditions.constant_exterior(hl.Buffer(image), hl.f32(0))
    bx, by = hl.Func("bx"), hl.Func("by")
    bx[x, y] = source[x - 1, y] + source[x, y] + source[x + 1, y]
    by[x, y] = bx[x, y - 1] + bx[x, y] + bx[x, y + 1]
    match kind:
        case "fused":
            by.parallel(y).vectorize(x, 16)
        case "two":
            bx.compute_root().parallel(y).vectorize(x, 16)
            by.parallel(y).vectorize(x, 16)
        case "tiled" | "tiled64":
            width, height = (256, 32) if kind == "tiled" else (64, 64)
            by.tile(x, y, xi, yi, width, height).parallel(y).vectorize(xi, 16)
            bx.compute_at(by, x).vectorize(x, 16)
        case "sliding":
            by.split(y, y, yi, 32).parallel(y).vectorize(x, 16)
            bx.store_at(by, y).compute_at(by, yi).vectorize(x, 16)
    return compiled(by, image.shape)


def matmul(a: Any, b: Any) -> Call:
    """Halide's tutorial schedule, with a tile that divides the size and whole rows of it as vectors, the best of five tried here."""
    n = len(a)
    x, y, xi, yi = (hl.Var(name) for name in ("x", "y", "xi", "yi"))
    left, right = hl.Buffer(a), hl.Buffer(b)
    k = hl.RDom([(0, n)])
    product, out = hl.Func("product"), hl.Func("out")
    product[x, y] = hl.f32(0)
    product[x, y] += left[k, y] * right[x, k]
    out[x, y] = product[x, y]
    width = next(w for w in (48, 40, 32, 16, 8) if n % w == 0)
    height = next(h for h in (8, 4, 2, 1) if n % h == 0)
    out.bound(x, 0, n).bound(y, 0, n).tile(x, y, xi, yi, width, height).vectorize(xi, width).unroll(yi).parallel(y)
    product.compute_at(out, x).vectorize(x, width).unroll(y)
    product.update().reorder(x, y, k).vectorize(x, width).unroll(x).unroll(y)
    return compiled(out, (n, n))


def unsharp(image: Any) -> Call:
    """The blur across slides along strips of rows; everything else is computed where it is used."""
    n, m = image.shape[0] - 4, image.shape[1] - 4
    x, y, yi = (hl.Var(name) for name in ("x", "y", "yi"))
    v = hl.Buffer(image)
    across, blurred, sharp = hl.Func("across"), hl.Func("blurred"), hl.Func("sharp")
    c = [hl.f32(w) for w in (0.0625, 0.25, 0.375, 2.5, 1.5)]
    across[x, y] = c[0] * (v[x, y] + v[x + 4, y]) + c[1] * (v[x + 1, y] + v[x + 3, y]) + c[2] * v[x + 2, y]
    blurred[x, y] = c[0] * (across[x, y] + across[x, y + 4]) + c[1] * (across[x, y + 1] + across[x, y + 3]) + c[2] * across[x, y + 2]
    sharp[x, y] = c[3] * v[x + 2, y + 2] - c[4] * blurred[x, y]
    sharp.split(y, y, yi, 32).parallel(y).vectorize(x, 16)
    across.store_at(sharp, y).compute_at(sharp, yi).vectorize(x, 16)
    return compiled(sharp, (n, m))
