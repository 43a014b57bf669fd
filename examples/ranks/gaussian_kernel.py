"""Kernel regression: a Gaussian kernel matrix and a weighted mean of the training values."""

import atoll as at
from atoll import f64

n, m, d = at.sizes("n m d")

# with maps


@at.fn
def with_maps(train: f64[n, d], values: f64[n], test: f64[m, d], width: f64):
    kernel = map(lambda t: map(lambda x: exp(-sum(map(lambda p, q: (p - q) ** 2, x, t)) / (2.0 * width * width)), train), test)
    return map(lambda row: sum(map(lambda k, v: k * v, row, values)) / sum(row), kernel)


# without maps


@at.fn
def near(x: f64[d], t: f64[d], width: f64) -> f64:
    return exp(-sum((x - t) ** 2) / (2.0 * width * width))


@at.fn
def predict(t: f64[d], train: f64[n, d], values: f64[n], width: f64) -> f64:
    k = near(train, t, width)
    return sum(k * values) / sum(k)


@at.fn
def without_maps(train: f64[n, d], values: f64[n], test: f64[m, d], width: f64):
    return predict(test, train, values, width)


def arguments(rng):
    return rng.standard_normal((6, 2)), rng.random(6), rng.standard_normal((4, 2)), 0.7
