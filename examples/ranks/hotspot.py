"""Hotspot (Rodinia): one step of the temperature of a chip, heated by power, cooled by its neighbours and the air."""

import atoll as at
from atoll import f64

n, m = at.sizes("n m")

# with maps


@at.fn
def with_maps(t: f64[n + 2, m + 2], power: f64[n, m], rx: f64, ry: f64, rz: f64, step: f64):
    return map(
        lambda up, mid, low, ps: map(
            lambda c, p, u, d, l, r: c + step * (p + (d + u - 2.0 * c) * ry + (l + r - 2.0 * c) * rx + (80.0 - c) * rz),
            mid[1:-1],
            ps,
            up[1:-1],
            low[1:-1],
            mid[:-2],
            mid[2:],
        ),
        t[:-2],
        t[1:-1],
        t[2:],
        power,
    )


# without maps


@at.fn
def without_maps(t: f64[n + 2, m + 2], power: f64[n, m], rx: f64, ry: f64, rz: f64, step: f64):
    c = t[1:-1, 1:-1]
    vertical = t[:-2, 1:-1] + t[2:, 1:-1] - 2.0 * c
    sideways = t[1:-1, :-2] + t[1:-1, 2:] - 2.0 * c
    return c + step * (power + vertical * ry + sideways * rx + (80.0 - c) * rz)


def arguments(rng):
    return 80 + rng.random((7, 6)), rng.random((5, 4)), 0.1, 0.2, 0.05, 0.5
