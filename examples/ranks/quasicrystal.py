"""Quasi-crystal: an image from waves in several directions (the Futhark example `crystal`)."""

import atoll as at
from atoll import cos, f64, floor, i64, pi, sin

n, m = at.sizes("n m")
WAVES = 7

# with maps


@at.fn
def with_maps(xs: f64[m], ys: f64[n], scale: f64, phase: f64):
    angles = map(lambda k: f64(k) * pi / f64(WAVES), range(WAVES))

    def point(x, y):
        waves = map(lambda t: (cos(scale * (cos(t) * x + sin(t) * y) + phase) + 1.0) / 2.0, angles)
        total = sum(waves)
        whole = floor(total)
        return total - whole if f64(i64(whole) % 2) == 0.0 else 1.0 - (total - whole)

    return map(lambda y: map(lambda x: point(x, y), xs), ys)


# without maps


@at.fn
def without_maps(xs: f64[m], ys: f64[n], scale: f64, phase: f64):
    angles = f64(iota(WAVES)) * pi / f64(WAVES)

    def point(x: f64, y: f64):
        total = sum((cos(scale * (cos(angles) * x + sin(angles) * y) + phase) + 1.0) / 2.0)
        whole = floor(total)
        return total - whole if f64(i64(whole) % 2) == 0.0 else 1.0 - (total - whole)

    return point(xs, rep(ys).T)


def arguments(rng):
    return rng.random(5) * 10, rng.random(4) * 10, 2.0, 0.3
