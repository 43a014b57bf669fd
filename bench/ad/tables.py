"""What the programs of bench/ad need that is data, the same for JAX and PyTorch: constants of the examples, and ragged ranges as padded tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.ad.rows import example

FLUID = example("lbm")  # DX, DY, OPPOSITE, WEIGHT: the nine directions
SERIES = example("rsbench")  # SIGNS, WEIGHTS, CENTERS: terms of Faddeeva's function


def lower_triangle(d: int) -> tuple[Any, Any]:
    """Rows and columns of the entries below the diagonal, packed column by column."""
    rows, columns = np.tril_indices(d, -1)
    order = np.lexsort((rows, columns))
    return rows[order], columns[order]


def ragged(starts: Any) -> tuple[Any, Any]:
    """The ranges starts[i]..starts[i + 1] as rows of one length: places, and which of them there are."""
    lengths = np.diff(starts)
    steps = np.arange(max(int(lengths.max()), 1))
    inside = steps < lengths[..., None]
    return np.where(inside, starts[..., :-1, None] + steps, 0), inside


def owners(starts: Any) -> Any:
    """To which range each entry belongs."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def moves(height: int, width: int) -> list[tuple[int, int, Any, Any]]:
    """Per direction of the fluid: how far it goes, from where it comes from inside, and what the lid adds where it does not."""
    y, x = np.arange(height)[:, None], np.arange(width)[None]
    found = []
    for dx, dy, weight in zip(FLUID.DX, FLUID.DY, FLUID.WEIGHT, strict=True):
        from_y, from_x = y - dy, x - dx
        inside = (from_y >= 0) & (from_y < height) & (from_x >= 0) & (from_x < width)
        found.append((int(dy), int(dx), inside, np.where(from_y >= height, 6.0 * weight * dx, 0.0) * np.ones((1, width))))
    return found
