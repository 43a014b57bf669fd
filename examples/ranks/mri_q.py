"""MRI-Q (Parboil): the real and imaginary parts of Q at every voxel, a sum over all k-space samples."""

import atoll as at
from atoll import f64, pi

n, m = at.sizes("n m")

# with maps


@at.fn
def with_maps(x: f64[n], y: f64[n], z: f64[n], kx: f64[m], ky: f64[m], kz: f64[m], re: f64[m], im: f64[m]):
    magnitude = map(lambda r, i: r * r + i * i, re, im)
    angles = map(lambda a, b, c: map(lambda u, v, w: 2.0 * pi * (u * a + v * b + w * c), kx, ky, kz), x, y, z)
    qr = map(lambda row: sum(map(lambda p, t: p * cos(t), magnitude, row)), angles)
    qi = map(lambda row: sum(map(lambda p, t: p * sin(t), magnitude, row)), angles)
    return qr, qi


# without maps


@at.fn
def without_maps(x: f64[n], y: f64[n], z: f64[n], kx: f64[m], ky: f64[m], kz: f64[m], re: f64[m], im: f64[m]):
    angles = 2.0 * pi * (kx * rep(x).T + ky * rep(y).T + kz * rep(z).T)
    magnitude = re * re + im * im
    return sum(magnitude * cos(angles)), sum(magnitude * sin(angles))


def arguments(rng):
    return tuple(rng.standard_normal(k) for k in (6, 6, 6, 5, 5, 5, 5, 5))
