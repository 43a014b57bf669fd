"""Unsharp masking, a pipeline of three stages: blur across, blur down, and sharpen by what the blur took away.

The schedule is the one an image compiler would take: strips of rows in parallel, the blur across computed just ahead of the rows that read
it, everything else where it is used, tests only at the borders.
"""

from __future__ import annotations

import atoll as at
from atoll import f32
from atoll.schedule import Schedule

n, m = at.sizes("n m")


@at.fn
def unsharp(v: f32[n + 4, m + 4]) -> f32[n, m]:
    """The image comes with a border of two."""
    across = [
        [0.0625 * (v[y, x] + v[y, x + 4]) + 0.25 * (v[y, x + 1] + v[y, x + 3]) + 0.375 * v[y, x + 2] for x in range(m)] for y in range(n + 4)
    ]
    blurred = [
        [
            0.0625 * (across[y, x] + across[y + 4, x]) + 0.25 * (across[y + 1, x] + across[y + 3, x]) + 0.375 * across[y + 2, x]
            for x in range(m)
        ]
        for y in range(n)
    ]
    return [[2.5 * v[y + 2, x + 2] - 1.5 * blurred[y, x] for x in range(m)] for y in range(n)]


def plain() -> Schedule:
    return at.schedule(unsharp)


def fused(vector: int = 16) -> Schedule:
    """Everything at once: most reads, no memory."""
    return plain().inline("blurred").inline("across").vectorize("x", vector).parallel("y")


def strips(rows: int = 32, vector: int = 16) -> Schedule:
    """Strips of rows, each with a window of five rows of the blur across that slides down with it."""
    s = plain().inline("blurred").split("y", rows, tail="guard").stage("across", at="y_o").roll("y_o/across", "y_i")
    return s.vectorize("x", vector).vectorize("across.x", vector).parallel("y_o")


def tiles(rows: int = 32, columns: int = 256, vector: int = 16) -> Schedule:
    """Tiles that fit the cache, each with its own part of the blur across."""
    s = plain().inline("blurred").tile(("y", "x"), (rows, columns)).stage("across", at="x_o")
    return s.vectorize("y_i/x_i", vector).parallel("y_o")


if __name__ == "__main__":
    for make in (plain, fused, strips, tiles):
        s = make()
        print(f"-- {make.__name__}: {s.operators()}, {sorted(s.licences) or 'exact'}")
        print(s)
