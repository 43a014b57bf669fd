"""Particle filter (Rodinia): likelihoods of the particles, new weights, the estimate, and systematic resampling."""

import atoll as at
from atoll import f64

n, d = at.sizes("n d")

# with maps


@at.fn
def with_maps(xs: f64[n, d], ws: f64[n], seen: f64[d], start: f64):
    likelihood = map(lambda x: exp(-0.5 * sum(map(lambda p, q: (p - q) * (p - q), x, seen))), xs)
    raw = map(lambda w, l: w * l, ws, likelihood)
    total = sum(raw)
    weights = map(lambda w: w / total, raw)
    estimate = map(lambda column: sum(map(lambda p, w: p * w, column, weights)), transpose(xs))
    ends = scan(add, 0.0, weights)
    places = map(lambda j: (start + f64(j)) / f64(n), range(n))
    chosen = map(lambda u: minimum(sum(map(lambda e: 1 if e < u else 0, ends)), n - 1), places)
    return estimate, map(lambda k: xs[k], chosen)


# without maps


@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)


@at.fn
def place(u: f64, ends: f64[n]):
    return minimum(sum(ends < u), n - 1)


@at.fn
def without_maps(xs: f64[n, d], ws: f64[n], seen: f64[d], start: f64):
    away = xs - seen
    raw = ws * exp(-0.5 * dot(away, away))
    weights = raw / sum(raw)
    chosen = place((start + f64(iota(n))) / f64(n), scan(add, 0.0, weights))
    return dot(xs.T, weights), xs[chosen]


def arguments(rng):
    w = rng.random(8)
    return rng.standard_normal((8, 2)), w / w.sum(), rng.standard_normal(2), 0.4
