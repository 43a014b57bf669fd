"""K-means (Rodinia): one round of assigning points to the nearest centre and moving the centres."""

import atoll as at
from atoll import f64

n, d, k = at.sizes("n d k")

# with maps


@at.fn
def with_maps(points: f64[n, d], centres: f64[k, d]):
    def distance(p, c):
        return sum(map(lambda u, v: (u - v) * (u - v), p, c))

    nearest = map(lambda p: argmin(map(lambda c: distance(p, c), centres)), points)
    counts = hist(add, 0.0, k, nearest, map(lambda p: 1.0, points))
    sums = hist(add, 0.0, k, nearest, points)
    moved = map(lambda s, c: map(lambda v: v / maximum(c, 1.0), s), sums, counts)
    return moved, nearest


# without maps


@at.fn
def distance(p: f64[d], c: f64[d]) -> f64:
    return sum((p - c) * (p - c))


@at.fn
def closest(p: f64[d], centres: f64[k, d]):
    return argmin(distance(p, centres))


@at.fn
def mean(total: f64[d], count: f64) -> f64[d]:
    return total / maximum(count, 1.0)


@at.fn
def without_maps(points: f64[n, d], centres: f64[k, d]):
    nearest = closest(points, centres)
    counts = hist(add, 0.0, k, nearest, repeat(1.0, n))
    return mean(hist(add, 0.0, k, nearest, points), counts), nearest


def arguments(rng):
    return rng.standard_normal((20, 3)), rng.standard_normal((4, 3))
