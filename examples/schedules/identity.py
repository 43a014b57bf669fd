"""Copies of a matrix, taken apart and put together again: transposes, concatenations and tiles that must give back the input."""

from __future__ import annotations

import atoll as at
from atoll import f32
from atoll.schedule import Schedule

n, m = at.sizes("n m")


@at.fn
def copy(v: f32[n, m]) -> f32[n, m]:
    return [[v[i, j] for j in range(m)] for i in range(n)]


def transposed() -> Schedule:
    """Column by column."""
    return at.schedule(copy).reorder("j", "i")


def halves() -> Schedule:
    """The first row, and the others."""
    return at.schedule(copy).partition("i", [1])


def side_by_side() -> Schedule:
    """The first column beside the others, each a nest of its own."""
    return at.schedule(copy).partition("j", [1]).fission("i")


def turned_halves() -> Schedule:
    """Columns in two pieces, each turned back."""
    return at.schedule(copy).reorder("j", "i").partition("j", [2]).reorder("j_0/i", "j_0").reorder("j_1/i", "j_1")


def quarters() -> Schedule:
    return at.schedule(copy).partition("i", [1]).partition("i_0/j", [2]).partition("i_1/j", [1])


def tiles(size: int = 64) -> Schedule:
    """Tiles, each transposed, the tails joined to them."""
    s = at.schedule(copy).split("i", size).reorder("i_i/j", "i_i").split("i_o/j", size).reorder("j_o/i_i", "j_i")
    return s.reorder("i_t/j", "i_t")


if __name__ == "__main__":
    for make in (transposed, halves, side_by_side, turned_halves, quarters, tiles):
        s = make()
        print(f"-- {make.__name__}: {s.operators()}, {sorted(s.licences) or 'exact'}")
        print(s)
