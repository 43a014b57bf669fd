"""SRAD (Rodinia): speckle-reducing anisotropic diffusion, one round over the inside of an image."""

import atoll as at
from atoll import f64

n, m = at.sizes("n m")

# with maps


@at.fn
def with_maps(image: f64[n + 2, m + 2], rate: f64):
    size = f64((n + 2) * (m + 2))
    total = sum(map(lambda row: sum(row), image))
    squares = sum(map(lambda row: sum(map(lambda v: v * v, row)), image))
    mean = total / size
    q0 = (squares / size - mean * mean) / (mean * mean)

    def change(c, u, d, l, r):
        dn, ds, dw, de = u - c, d - c, l - c, r - c
        g2 = (dn * dn + ds * ds + dw * dw + de * de) / (c * c)
        lap = (dn + ds + dw + de) / c
        q = (0.5 * g2 - lap * lap / 16.0) / ((1.0 + 0.25 * lap) * (1.0 + 0.25 * lap))
        k = clip(1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0))), 0.0, 1.0)
        return c + 0.25 * rate * k * (dn + ds + dw + de)

    return map(
        lambda up, mid, low: map(lambda c, u, d, l, r: change(c, u, d, l, r), mid[1:-1], up[1:-1], low[1:-1], mid[:-2], mid[2:]),
        image[:-2],
        image[1:-1],
        image[2:],
    )


# without maps


@at.fn
def without_maps(image: f64[n + 2, m + 2], rate: f64):
    size = f64((n + 2) * (m + 2))
    mean = sum(sum(image)) / size
    q0 = (sum(sum(image * image)) / size - mean * mean) / (mean * mean)

    def change(c, u, d, l, r):
        dn, ds, dw, de = u - c, d - c, l - c, r - c
        g2 = (dn * dn + ds * ds + dw * dw + de * de) / (c * c)
        lap = (dn + ds + dw + de) / c
        q = (0.5 * g2 - lap * lap / 16.0) / ((1.0 + 0.25 * lap) * (1.0 + 0.25 * lap))
        k = clip(1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0))), 0.0, 1.0)
        return c + 0.25 * rate * k * (dn + ds + dw + de)

    inside = image[1:-1]
    return change(inside[:, 1:-1], image[:-2, 1:-1], image[2:, 1:-1], inside[:, :-2], inside[:, 2:])


def arguments(rng):
    return 1.0 + rng.random((6, 7)), 0.5
