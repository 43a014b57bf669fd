"""Sobel: the strength and the direction of edges in a batch of pictures."""

import atoll as at
from atoll import f64

b, n, m = at.sizes("b n m")

# with maps


@at.fn
def with_maps(images: f64[b, n + 2, m + 2]):
    def edges(image):
        def gradient(up, mid, low):
            right = map(lambda a, c, d: a + 2.0 * c + d, up[2:], mid[2:], low[2:])
            left = map(lambda a, c, d: a + 2.0 * c + d, up[:-2], mid[:-2], low[:-2])
            top = map(lambda a, c, d: a + 2.0 * c + d, up[:-2], up[1:-1], up[2:])
            bottom = map(lambda a, c, d: a + 2.0 * c + d, low[:-2], low[1:-1], low[2:])
            return map(lambda r, l, t, u: (hypot(r - l, u - t), atan2(u - t, r - l)), right, left, top, bottom)

        return map(lambda up, mid, low: gradient(up, mid, low), image[:-2], image[1:-1], image[2:])

    found = map(lambda image: edges(image), images)
    strength = map(lambda image: map(lambda row: map(lambda p: p[0], row), image), found)
    return strength, map(lambda image: map(lambda row: map(lambda p: p[1], row), image), found)


# without maps


@at.fn
def smooth(a: f64[n + 2]) -> f64[n]:
    return a[:-2] + 2.0 * a[1:-1] + a[2:]


@at.fn
def edges(image: f64[n + 2, m + 2]):
    down = smooth(image.T).T
    across = smooth(image)
    x, y = down[:, 2:] - down[:, :-2], across[2:] - across[:-2]
    return hypot(x, y), atan2(y, x)


@at.fn
def without_maps(images: f64[b, n + 2, m + 2]):
    return edges(images)


def arguments(rng):
    return (rng.random((2, 5, 6)),)
