"""A layer of one-dimensional convolutions: every filter over every signal, biased and rectified."""

import atoll as at
from atoll import f64

b, n, c, k = at.sizes("b n c k")

# with maps


@at.fn
def with_maps(signals: f64[b, n + k - 1], filters: f64[c, k], bias: f64[c]):
    def apply(signal):
        pieces = window(signal, k)
        return map(lambda f, s: map(lambda p: maximum(sum(map(lambda u, v: u * v, p, f)) + s, 0.0), pieces), filters, bias)

    return map(lambda signal: apply(signal), signals)


# without maps


@at.fn
def dot(u: f64[k], v: f64[k]) -> f64:
    return sum(u * v)


@at.fn
def convolve(signal: f64[n + k - 1], f: f64[k], s: f64) -> f64[n]:
    return maximum(dot(window(signal, k), f) + s, 0.0)


@at.fn
def layer(signal: f64[n + k - 1], filters: f64[c, k], bias: f64[c]) -> f64[c, n]:
    return convolve(signal, filters, bias)


@at.fn
def without_maps(signals: f64[b, n + k - 1], filters: f64[c, k], bias: f64[c]):
    return layer(signals, filters, bias)


def arguments(rng):
    return rng.standard_normal((2, 9)), rng.standard_normal((4, 3)), rng.standard_normal(4)
