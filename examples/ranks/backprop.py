"""Backprop (Rodinia): a network with one hidden layer, forward, its errors, and the new weights."""

import atoll as at
from atoll import f64

n, m, k = at.sizes("n m k")


@at.fn
def squash(x: f64) -> f64:
    return 1.0 / (1.0 + exp(-x))


# with maps


@at.fn
def layer_maps(x: f64[n], w: f64[m, n]) -> f64[m]:
    return map(lambda row: squash(sum(map(lambda p, q: p * q, row, x))), w)


@at.fn
def with_maps(x: f64[n], target: f64[k], w1: f64[m, n], w2: f64[k, m]):
    hidden = layer_maps(x, w1)
    out = layer_maps(hidden, w2)
    wrong = map(lambda o, t: o * (1.0 - o) * (t - o), out, target)
    back = map(lambda h, column: h * (1.0 - h) * sum(map(lambda p, q: p * q, wrong, column)), hidden, transpose(w2))
    new2 = map(lambda row, e: map(lambda w, h: w + 0.3 * e * h, row, hidden), w2, wrong)
    new1 = map(lambda row, e: map(lambda w, v: w + 0.3 * e * v, row, x), w1, back)
    return new1, new2


# without maps


@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)


@at.fn
def without_maps(x: f64[n], target: f64[k], w1: f64[m, n], w2: f64[k, m]):
    hidden = squash(dot(w1, x))
    out = squash(dot(w2, hidden))
    wrong = out * (1.0 - out) * (target - out)
    back = hidden * (1.0 - hidden) * dot(w2.T, wrong)
    return w1 + 0.3 * rep(back).T * x, w2 + 0.3 * rep(wrong).T * hidden


def arguments(rng):
    return rng.random(5), rng.random(3), rng.standard_normal((4, 5)), rng.standard_normal((3, 4))
