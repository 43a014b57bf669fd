"""Lattice-Boltzmann: a fluid in a box with a moving lid (D2Q9, one relaxation time), and how its final speed depends on where it starts.

A sequential loop of parallel steps. Its tape would hold every state of the fluid; `checkpoint=2` strip-mines the loop twice, so about
3 * steps**(1/3) states are kept and every step is computed up to three times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64, i64

h, w = at.sizes("h w")

DX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
DY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
WEIGHT = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)


@at.fn
def step(f: f64[h, w, 9], lid: f64, rate: f64) -> f64[h, w, 9]:
    """Relax towards equilibrium in every cell, then move along the nine directions; walls send back what meets them."""
    rho = [[sum(f[y, x]) for x in range(w)] for y in range(h)]
    ux = [[sum(f[y, x, q] * DX[q] for q in range(9)) / rho[y, x] for x in range(w)] for y in range(h)]
    uy = [[sum(f[y, x, q] * DY[q] for q in range(9)) / rho[y, x] for x in range(w)] for y in range(h)]

    def relaxed(y, x, q):
        along = DX[q] * ux[y, x] + DY[q] * uy[y, x]
        square = ux[y, x] * ux[y, x] + uy[y, x] * uy[y, x]
        balance = WEIGHT[q] * rho[y, x] * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square)
        return f[y, x, q] + rate * (balance - f[y, x, q])

    after = [[[relaxed(y, x, q) for q in range(9)] for x in range(w)] for y in range(h)]

    def moved(y, x, q):
        from_y, from_x = y - DY[q], x - DX[q]
        if 0 <= from_y and from_y < h and 0 <= from_x and from_x < w:
            return after[from_y, from_x, q]
        back = after[y, x, OPPOSITE[q]]
        return back + 6.0 * WEIGHT[q] * DX[q] * lid if from_y >= h else back

    return [[[moved(y, x, q) for q in range(9)] for x in range(w)] for y in range(h)]


@at.fn
def objective(f: f64[h, w, 9], lid: f64, rate: f64, steps: i64) -> f64:
    """The mean squared momentum after some steps."""
    for t in at.loop(steps, checkpoint=2):
        f = step(f, lid, rate)
    px = [[sum(f[y, x, q] * DX[q] for q in range(9)) for x in range(w)] for y in range(h)]
    py = [[sum(f[y, x, q] * DY[q] for q in range(9)) for x in range(w)] for y in range(h)]
    return sum(px[y, x] * px[y, x] + py[y, x] * py[y, x] for y in range(h) for x in range(w)) / (h * w)


gradient = at.value_and_grad(objective, wrt=("f", "lid", "rate"))


def data(height: int, width: int, steps: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(height)
    return WEIGHT * (1.0 + 0.05 * rng.normal(size=(height, width, 9))), 0.1, 0.8, steps


def main() -> None:
    args = data(height=3, width=4, steps=7)
    value, gradients = gradient(*args)
    print(f"mean squared momentum {value:.3e}; by the lid's speed {gradients[1]:.3e}, by the rate {gradients[2]:.3e}")
    check("lattice-Boltzmann", objective, args, (0, 1, 2), gradients)


if __name__ == "__main__":
    main()
