"""A 3 x 3 box blur with a border of zeros, and ATL's schedules of it: fused, with tails, isolated, tiled and staged (Liu et al., figure 6).

Each schedule is derived from the plain two-stage program; nothing is written by hand but the steps.
"""

from __future__ import annotations

import atoll as at
from atoll import f32
from atoll.schedule import Schedule

n, m = at.sizes("n m")


@at.fn
def blur(v: f32[n, m]) -> f32[n, m]:
    bx = [
        [
            (v[y - 1, x - 1] if x >= 1 else 0.0) + v[y - 1, x] + (v[y - 1, x + 1] if x + 1 < m else 0.0) if 1 <= y <= n else 0.0
            for x in range(m)
        ]
        for y in range(n + 2)
    ]
    return [[bx[y, x] + bx[y + 1, x] + bx[y + 2, x] for x in range(m)] for y in range(n)]


@at.fn
def interior(v: f32[n + 2, m + 2]) -> f32[n, m]:
    """The blur where every neighbour exists."""
    bx = [[v[y, x] + v[y, x + 1] + v[y, x + 2] for x in range(m)] for y in range(n + 2)]
    return [[bx[y, x] + bx[y + 1, x] + bx[y + 2, x] for x in range(m)] for y in range(n)]


def two_stage() -> Schedule:
    return at.schedule(blur)


def two_stage_tails() -> Schedule:
    """bx in five pieces: no test inside the big one."""
    return two_stage().partition("bx/y", [1, n + 1]).partition("bx/y_1/x", [1, m - 1])


def fused() -> Schedule:
    return two_stage().inline("bx")


def fused_tails() -> Schedule:
    return fused().partition("y", [1, n - 1]).partition("y_1/x", [1, m - 1])


def isolated() -> Schedule:
    """As with tails, but each piece is a nest of its own."""
    s = fused().partition("y", [1, n - 1]).reorder("y_1/x", "y_1").partition("x", [1, m - 1])
    return s.reorder("x_0/y_1", "x_0").reorder("x_1/y_1", "x_1").reorder("x_2/y_1", "x_2")


def tiled(rows: int = 64, columns: int = 64) -> Schedule:
    """The border apart; the inside in tiles, each with its own part of bx; tails of tiles computed at once from v."""
    s = two_stage().partition("y", [1, n - 1]).reorder("y_1/x", "y_1").partition("x", [1, m - 1])
    s = s.reorder("x_0/y_1", "x_0").reorder("x_1/y_1", "x_1").reorder("x_2/y_1", "x_2")
    s = s.split("y_1#2", rows, tail="guard").partition("y_1_o", [(n - 2) // rows])
    s = s.reorder("y_1_o_0/x_1", "y_1_o_0/y_1_i").split("y_1_o_0/x_1", columns, tail="guard")
    s = s.partition("x_1_o", [(m - 2) // columns]).reorder("x_1_o_0/y_1_i", "x_1_o_0/x_1_i")
    s = s.reorder("y_1_o_1/x_1", "y_1_o_1/y_1_i").split("y_1_o_1/x_1", columns, tail="guard")
    return s.stage("bx", at="x_1_o_0", name="tile", elsewhere="inline")


def fused_inside() -> Schedule:
    return at.schedule(interior).inline("bx")


def tiled_inside(rows: int = 4, columns: int = 4) -> Schedule:
    return at.schedule(interior).tile(("y", "x"), (rows, columns), tail="guard").stage("bx", at="x_o")


if __name__ == "__main__":
    for make in (two_stage, two_stage_tails, fused, fused_tails, isolated, tiled, fused_inside, tiled_inside):
        s = make()
        print(f"-- {make.__name__}: {s.operators()}, {s.licences or 'exact'}")
        print(s)
