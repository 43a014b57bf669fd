"""Mandelbrot: how long each point of a grid stays small."""

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


@at.fn
def escape(cx: f64, cy: f64) -> i64:
    x, y = 0.0, 0.0
    count = 0
    while count < 50 and x * x + y * y < 4.0:
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        count += 1
    return count


# with maps


@at.fn
def with_maps(xs: f64[m], ys: f64[n]):
    return map(lambda y: map(lambda x: escape(x, y), xs), ys)


# without maps


@at.fn
def without_maps(xs: f64[m], ys: f64[n]):
    return escape(xs, rep(ys).T)


def arguments(rng):
    return rng.random(7) * 3 - 2, rng.random(6) * 2 - 1
