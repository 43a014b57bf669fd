"""Logistic regression: the loss and its gradient over a data set."""

import atoll as at
from atoll import f64

n, d = at.sizes("n d")


@at.fn
def squash(x: f64) -> f64:
    return 1.0 / (1.0 + exp(-x))


# with maps


@at.fn
def with_maps(xs: f64[n, d], ys: f64[n], w: f64[d], l2: f64):
    scores = map(lambda x: squash(sum(map(lambda p, q: p * q, x, w))), xs)
    losses = map(lambda p, y: -(y * log(p) + (1.0 - y) * log(1.0 - p)), scores, ys)
    errors = map(lambda p, y: p - y, scores, ys)
    gradient = map(lambda column: sum(map(lambda c, e: c * e, column, errors)), transpose(xs))
    return sum(losses) / f64(n), map(lambda g, p: g / f64(n) + l2 * p, gradient, w)


# without maps


@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)


@at.fn
def without_maps(xs: f64[n, d], ys: f64[n], w: f64[d], l2: f64):
    p = squash(dot(xs, w))
    loss = sum(-(ys * log(p) + (1.0 - ys) * log(1.0 - p))) / f64(n)
    return loss, dot(xs.T, p - ys) / f64(n) + l2 * w


def arguments(rng):
    return rng.standard_normal((9, 4)), (rng.random(9) < 0.5).astype(float), rng.standard_normal(4), 0.1
