"""LocVolCalib (Finpar): one step of the local-volatility solver, explicit in x, a tridiagonal system per row."""

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def tridiagonal(a: f64[n], b: f64[n], c: f64[n], y: f64[n]) -> f64[n]:
    """Thomas' algorithm."""
    u = b
    v = y
    for i in range(1, n):
        w = a[i] / u[i - 1]
        u[i] = b[i] - w * c[i - 1]
        v[i] = v[i] - w * v[i - 1]
    r = at.copy(v)
    r[n - 1] = v[n - 1] / u[n - 1]
    for j in range(1, n):
        i = n - 1 - j
        r[i] = (v[i] - c[i] * r[i + 1]) / u[i]
    return r


# with maps


@at.fn
def with_maps(result: f64[n + 2, m], x: f64[n + 2], y: f64[m], t: f64, dt: f64, nu: f64):
    variance = map(lambda p: map(lambda q: exp(2.0 * (-0.5 * log(1.0 + p * p) + q - 0.5 * nu * nu * t)), y), x[1:-1])
    second = map(lambda u, v, w: map(lambda p, q, r: p - 2.0 * q + r, u, v, w), result[:-2], result[1:-1], result[2:])
    explicit = map(lambda u, s, v: map(lambda p, q, r: p / dt + 0.25 * q * r, u, s, v), result[1:-1], second, variance)
    lower = map(lambda v: map(lambda q: -0.25 * q, v), variance)
    middle = map(lambda v: map(lambda q: 1.0 / dt + 0.5 * q, v), variance)
    return map(lambda l, c, e: tridiagonal(l, c, l, e), lower, middle, explicit)


# without maps


@at.fn
def without_maps(result: f64[n + 2, m], x: f64[n + 2], y: f64[m], t: f64, dt: f64, nu: f64):
    inner = result[1:-1]
    z = x[1:-1]
    variance = exp(2.0 * (-0.5 * log(1.0 + rep(z * z).T) + y - 0.5 * nu * nu * t))
    explicit = inner / dt + 0.25 * (result[:-2] - 2.0 * inner + result[2:]) * variance
    off = -0.25 * variance
    return tridiagonal(off, 1.0 / dt + 0.5 * variance, off, explicit)


def arguments(rng):
    return rng.random((6, 5)) + 1.0, rng.standard_normal(6) * 0.1, rng.standard_normal(5) * 0.1, 0.5, 0.1, 0.6
