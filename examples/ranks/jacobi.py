"""Jacobi iteration for Poisson's equation on a square with fixed edges."""

import atoll as at
from atoll import f64

n, m = at.sizes("n m")

# with maps


@at.fn
def with_maps(u: f64[n + 2, m + 2], f: f64[n, m]):
    for step in range(5):
        inside = map(
            lambda up, mid, low, fs: map(
                lambda a, b, c, d, g: 0.25 * (a + b + c + d - g), up[1:-1], low[1:-1], mid[:-2], mid[2:], fs
            ),
            u[:-2],
            u[1:-1],
            u[2:],
            f,
        )
        u[1:-1, 1:-1] = inside
    return u


# without maps


@at.fn
def without_maps(u: f64[n + 2, m + 2], f: f64[n, m]):
    for step in range(5):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - f)
    return u


def arguments(rng):
    return rng.random((6, 7)), rng.random((4, 5))
