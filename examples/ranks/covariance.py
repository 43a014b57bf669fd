"""Covariance and correlation of the columns of a table (PolyBench)."""

import atoll as at
from atoll import f64

n, d = at.sizes("n d")

# with maps


@at.fn
def with_maps(data: f64[n, d]):
    columns = transpose(data)
    means = map(lambda c: sum(c) / f64(n), columns)
    centred = map(lambda c, m: map(lambda v: v - m, c), columns, means)
    cov = map(lambda a: map(lambda b: sum(map(lambda p, q: p * q, a, b)) / f64(n - 1), centred), centred)
    spread = map(lambda c: sqrt(sum(map(lambda p: p * p, c)) / f64(n - 1)), centred)
    return cov, map(lambda row, s: map(lambda v, t: v / (s * t), row, spread), cov, spread)


# without maps


@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)


@at.fn
def products(u: f64[n], vs: f64[d, n]) -> f64[d]:
    return dot(u, vs)


@at.fn
def without_maps(data: f64[n, d]):
    centred = (data - sum(data, axis=0) / f64(n)).T
    cov = products(centred, centred) / f64(n - 1)
    spread = sqrt(dot(centred, centred) / f64(n - 1))
    return cov, cov / spread / rep(spread).T


def arguments(rng):
    return (rng.standard_normal((8, 3)),)
