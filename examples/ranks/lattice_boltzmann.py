"""Lattice Boltzmann (Parboil's lbm): density, velocity and collision towards equilibrium on a grid with nine directions."""

import atoll as at
from atoll import f64

n, m = at.sizes("n m")

# with maps


@at.fn
def with_maps(f: f64[n, m, 9], cx: f64[9], cy: f64[9], w: f64[9], omega: f64):
    def collide(cell):
        rho = sum(cell)
        ux = sum(map(lambda g, c: g * c, cell, cx)) / rho
        uy = sum(map(lambda g, c: g * c, cell, cy)) / rho
        square = 1.5 * (ux * ux + uy * uy)

        def relax(g, x, y, weight):
            cu = 3.0 * (x * ux + y * uy)
            return g + omega * (weight * rho * (1.0 + cu + 0.5 * cu * cu - square) - g)

        return map(lambda g, x, y, weight: relax(g, x, y, weight), cell, cx, cy, w)

    return map(lambda row: map(lambda cell: collide(cell), row), f)


# without maps


@at.fn
def without_maps(f: f64[n, m, 9], cx: f64[9], cy: f64[9], w: f64[9], omega: f64):
    def collide(cell: f64[9]):
        rho = sum(cell)
        ux = sum(cell * cx) / rho
        uy = sum(cell * cy) / rho
        square = 1.5 * (ux * ux + uy * uy)

        def relax(g, x, y, weight):
            cu = 3.0 * (x * ux + y * uy)
            return g + omega * (weight * rho * (1.0 + cu + 0.5 * cu * cu - square) - g)

        return relax(cell, cx, cy, w)

    return collide(f)


def arguments(rng):
    import numpy as np

    cx = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1.0])
    cy = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1.0])
    w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    return 0.5 + rng.random((3, 4, 9)), cx, cy, w, 1.2
