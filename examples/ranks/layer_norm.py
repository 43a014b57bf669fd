"""Layer normalisation of a batch of sequences: every vector to mean 0 and variance 1, then scaled and shifted."""

import atoll as at
from atoll import f64, sqrt

b, n, d = at.sizes("b n d")

# with maps


@at.fn
def with_maps(x: f64[b, n, d], scale: f64[d], shift: f64[d]):
    def norm(v):
        mean = sum(v) / f64(d)
        centred = map(lambda p: p - mean, v)
        var = sum(map(lambda p: p * p, centred)) / f64(d)
        return map(lambda p, s, t: p / sqrt(var + 1e-5) * s + t, centred, scale, shift)

    return map(lambda rows: map(lambda v: norm(v), rows), x)


# without maps


@at.fn
def without_maps(x: f64[b, n, d], scale: f64[d], shift: f64[d]):
    def norm(v: f64[d]):
        mean = sum(v) / f64(d)
        centred = v - mean
        var = sum(centred * centred) / f64(d)
        return centred / sqrt(var + 1e-5) * scale + shift

    return norm(x)


def arguments(rng):
    return rng.standard_normal((2, 3, 4)), rng.random(4), rng.random(4)
