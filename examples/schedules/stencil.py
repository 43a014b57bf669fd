"""A separable stencil with a sliding window: rows of the first pass are computed just ahead of the second and kept while it needs them."""

from __future__ import annotations

import atoll as at
from atoll import f32
from atoll.schedule import Schedule
from atoll.schedule.library import sliding_window

n, m = at.sizes("n m")


@at.fn
def gauss(v: f32[n, m]) -> f32[n, m]:
    """The weights 1 2 1 in both directions; outside the image there are zeros."""
    rows = [[(v[y, x - 1] if x >= 1 else 0.0) + 2 * v[y, x] + (v[y, x + 1] if x + 1 < m else 0.0) for x in range(m)] for y in range(n)]
    return [[(rows[y - 1, x] if y >= 1 else 0.0) + 2 * rows[y, x] + (rows[y + 1, x] if y + 1 < n else 0.0) for x in range(m)] for y in range(n)]


def plain() -> Schedule:
    return at.schedule(gauss)


def window() -> Schedule:
    """One pass over the image with three rows of memory."""
    return plain().apply(sliding_window, "rows", "y")


def strips(height: int = 32, vector: int = 16) -> Schedule:
    """Strips in parallel, a window in each; the borders left and right apart, so that the middle has no test."""
    s = plain().apply(sliding_window, "rows", "y", strip=height)
    s = s.partition("rows.x", [1, m - 1])
    return s.vectorize("rows.x_1", vector).vectorize("x", vector)


if __name__ == "__main__":
    for make in (plain, window, strips):
        s = make()
        print(f"-- {make.__name__}: {s.operators()}, {sorted(s.licences) or 'exact'}")
        print(s)
