"""Macroscopic cross sections, after XSBench: random lookups of an energy in a material, and the derivative by every tabulated value.

A lookup searches the union of all energy grids by bisection, then interpolates five cross sections of every nuclide of the material
between neighbouring rows of its own grid: control flow, ragged sums and two levels of indirect reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64, i64, idx

q, u, g, m, z = at.sizes("q u g m z")  # lookups, nuclides, rows of a grid, materials, entries of the table of materials


@at.fn
def below(grid: f64[m], e: f64) -> i64:
    """The last row but one whose energy is not above e."""
    low, high = 0, m - 1
    while high - low > 1:
        middle = (low + high) // 2
        if grid[middle] > e:
            high = middle
        else:
            low = middle
    return low


@at.fn
def objective(
    energies: f64[q], materials: idx[m][q], starts: i64[m + 1], nuclides: idx[u][z], densities: f64[z], union: f64[u * g],
    rows: i64[u * g, u], grid: f64[u, g], sections: f64[u, g, 5],
) -> f64:
    def lookup(e, material):
        place = below(union, e)
        total = zeros(5)
        for k in range(starts[material], starts[material + 1]):
            nuclide = nuclides[k]
            row = min(rows[place, nuclide], g - 2)
            f = (grid[nuclide, row + 1] - e) / (grid[nuclide, row + 1] - grid[nuclide, row])
            total += densities[k] * (sections[nuclide, row + 1] - f * (sections[nuclide, row + 1] - sections[nuclide, row]))
        return max(total)

    return sum(lookup(e, material) for e, material in zip(energies, materials)) / q


gradient = at.value_and_grad(objective, wrt=("densities", "grid", "sections"))


def data(lookups: int, nuclides: int, rows: int, materials: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(lookups)
    grid = np.sort(rng.random((nuclides, rows)), 1)
    union = np.sort(grid.reshape(-1))
    below_each = np.stack([np.clip(np.searchsorted(own, union, "right") - 1, 0, rows - 2) for own in grid], 1)
    lengths = rng.integers(1, nuclides + 1, materials)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    members = np.concatenate([rng.choice(nuclides, length, replace=False) for length in lengths])
    return (
        rng.uniform(union[1], union[-2], lookups), rng.integers(0, materials, lookups), starts, members, rng.random(len(members)), union,
        below_each, grid, rng.random((nuclides, rows, 5)),
    )


def main() -> None:
    args = data(lookups=20, nuclides=4, rows=6, materials=3)
    value, gradients = gradient(*args)
    print(f"mean of the largest cross section {value:.6f}")
    check("xsbench", objective, args, (4, 7, 8), gradients)


if __name__ == "__main__":
    main()
