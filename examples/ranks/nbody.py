"""N-body: accelerations of all bodies by all bodies, softened, and one leap-frog step."""

import atoll as at
from atoll import f64

n = at.sizes("n")
SOFT = 0.01


@at.fn
def pull(x: f64[3], y: f64[3], m: f64) -> f64[3]:
    """What a body of mass m at y does to one at x."""
    r = y - x
    d = sum(r * r) + SOFT
    return r * (m / (d * sqrt(d)))


# with maps


@at.fn
def acceleration_maps(xs: f64[n, 3], ms: f64[n]) -> f64[n, 3]:
    return map(lambda x: sum(pull(x, y, m) for y, m in zip(xs, ms)), xs)


@at.fn
def with_maps(xs: f64[n, 3], vs: f64[n, 3], ms: f64[n], dt: f64):
    acc = acceleration_maps(xs, ms)
    half = map(lambda v, a: map(lambda p, q: p + 0.5 * dt * q, v, a), vs, acc)
    moved = map(lambda x, v: map(lambda p, q: p + dt * q, x, v), xs, half)
    late = acceleration_maps(moved, ms)
    return moved, map(lambda v, a: map(lambda p, q: p + 0.5 * dt * q, v, a), half, late)


# without maps


@at.fn
def felt(x: f64[3], xs: f64[n, 3], ms: f64[n]) -> f64[3]:
    return sum(pull(x, xs, ms), axis=0)


@at.fn
def without_maps(xs: f64[n, 3], vs: f64[n, 3], ms: f64[n], dt: f64):
    half = vs + 0.5 * dt * felt(xs, xs, ms)
    moved = xs + dt * half
    return moved, half + 0.5 * dt * felt(moved, moved, ms)


def arguments(rng):
    k = 7
    return rng.standard_normal((k, 3)), rng.standard_normal((k, 3)), rng.random(k) + 0.5, 0.01
