"""Resonances, after RSBench: cross sections from the poles of the multipole representation, Doppler broadened, and their derivatives.

A lookup finds the window of its energy in every nuclide of a material and adds the window's poles. A pole near the energy is broadened
with a series, a far one with an asymptotic formula: data-dependent branches inside data-dependent loops. Derivatives are of real
functions, so a complex number is a pair here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64, i64, idx

q, m, u, w, p, z = at.sizes("q m u w p z")  # lookups, materials, nuclides, windows, poles, entries of the table of materials

ORDERS = np.arange(1, 11)
SIGNS = (-1.0) ** ORDERS
WEIGHTS = 2 * np.sqrt(np.pi) / 12 * np.exp(-((ORDERS * np.pi / 12) ** 2))
CENTERS = (ORDERS * np.pi) ** 2


@at.fn
def times(a: (f64, f64), b: (f64, f64)) -> (f64, f64):
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


@at.fn
def over(a: (f64, f64), b: (f64, f64)) -> (f64, f64):
    size = b[0] * b[0] + b[1] * b[1]
    return (a[0] * b[0] + a[1] * b[1]) / size, (a[1] * b[0] - a[0] * b[1]) / size


@at.fn
def faddeeva(x: f64, y: f64) -> (f64, f64):
    """w(x + iy) for y > 0."""
    square = times((x, y), (x, y))
    if x * x + y * y < 36.0:
        turn = (exp(-12.0 * y) * cos(12.0 * x), exp(-12.0 * y) * sin(12.0 * x))
        re, im = 0.0, 0.0
        for n in range(10):
            top = (SIGNS[n] * turn[0] - 1.0, SIGNS[n] * turn[1])
            term = over(top, (CENTERS[n] - 144.0 * square[0], -144.0 * square[1]))
            re, im = re + WEIGHTS[n] * term[0], im + WEIGHTS[n] * term[1]
        series = times((-144.0 / sqrt(pi) * y, 144.0 / sqrt(pi) * x), (re, im))
        first = over((turn[1], 1.0 - turn[0]), (12.0 * x, 12.0 * y))
        return first[0] + series[0], first[1] + series[1]
    near = over((0.5124242247547685, 0.0), (square[0] - 0.27525512860841095, square[1]))
    far = over((0.05176535879298782, 0.0), (square[0] - 2.724744871391589, square[1]))
    return times((-y, x), (near[0] + far[0], near[1] + far[1]))


@at.fn
def phase(k: f64, e: f64, order: i64) -> (f64, f64):
    """The factor of the total cross section for an angular momentum."""
    phi = k * sqrt(e)
    if order == 1:
        phi = phi - atan(phi)
    elif order == 2:
        phi = phi - atan(3.0 * phi / (3.0 - phi * phi))
    elif order == 3:
        phi = phi - atan(phi * (15.0 - phi * phi) / (15.0 - 6.0 * phi * phi))
    return cos(2.0 * phi), -sin(2.0 * phi)


@at.fn
def objective(
    energies: f64[q], materials: idx[m][q], starts: i64[m + 1], nuclides: idx[u][z], densities: f64[z], background: f64[u, w, 3],
    first: i64[u, w + 1], poles: f64[u, p, 2], residues: f64[u, p, 3, 2], orders: i64[u, p], radii: f64[u, 4], doppler: f64,
) -> f64:
    def nuclide_at(e, j):
        window = min(i64(e * w), w - 1)
        total, absorbed, fission = e * background[j, window, 0], e * background[j, window, 1], e * background[j, window, 2]
        for i in range(first[j, window], first[j, window + 1]):
            shape = faddeeva((e - poles[j, i, 0]) * doppler, poles[j, i, 1] * doppler)
            turned = times(shape, phase(radii[j, orders[j, i]], e, orders[j, i]))
            total += residues[j, i, 0, 0] * turned[0] - residues[j, i, 0, 1] * turned[1]
            absorbed += residues[j, i, 1, 0] * shape[0] - residues[j, i, 1, 1] * shape[1]
            fission += residues[j, i, 2, 0] * shape[0] - residues[j, i, 2, 1] * shape[1]
        return [total, absorbed, fission, total - absorbed]

    def lookup(e, material):
        found = zeros(4)
        for k in range(starts[material], starts[material + 1]):
            found += densities[k] * nuclide_at(e, nuclides[k])
        return max(found)

    return sum(lookup(e, material) for e, material in zip(energies, materials)) / q


gradient = at.value_and_grad(objective, wrt=("densities", "background", "poles", "residues", "radii"))


def data(lookups: int, nuclides: int, windows: int, poles: int, materials: int) -> tuple[Any, ...]:
    """poles: how many in each window."""
    rng = np.random.default_rng(lookups)
    lengths = rng.integers(1, nuclides + 1, materials)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    members = np.concatenate([rng.choice(nuclides, length, replace=False) for length in lengths])
    count = windows * poles
    return (
        rng.uniform(0.1, 0.9, lookups), rng.integers(0, materials, lookups), starts, members, rng.random(len(members)),
        rng.random((nuclides, windows, 3)), np.tile(np.arange(windows + 1) * poles, (nuclides, 1)),
        np.stack([rng.random((nuclides, count)), 0.1 + rng.random((nuclides, count))], 2), rng.normal(size=(nuclides, count, 3, 2)),
        rng.integers(0, 4, (nuclides, count)), rng.random((nuclides, 4)), 10.0,
    )


def main() -> None:
    args = data(lookups=12, nuclides=3, windows=2, poles=3, materials=2)
    value, gradients = gradient(*args)
    print(f"mean of the largest cross section {value:.6f}; w(2 + i) = {faddeeva(2.0, 1.0)}, really 0.140240 + 0.222213i")
    check("rsbench", objective, args, (4, 5, 7, 8, 10), gradients)


if __name__ == "__main__":
    main()
