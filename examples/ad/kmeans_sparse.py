"""k-means of sparse points (compressed rows) by Newton's method: |p - c|^2 = |p|^2 - 2 p.c + |c|^2, where p.c reads only what is stored.

Rows have their own lengths, so the sums run over data-dependent ranges and read the centers indirectly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64, i64, idx

n, d, k, z = at.sizes("n d k z")  # points, dimensions, centers, entries


@at.fn
def objective(values: f64[z], columns: idx[d][z], rows: i64[n + 1], centers: f64[k, d]) -> f64:
    squares = [sum(x * x for x in c) for c in centers]

    def distance(i, j):
        dot = 0.0
        for e in range(rows[i], rows[i + 1]):
            dot += values[e] * centers[j, columns[e]]
        return squares[j] - 2.0 * dot

    def cost(i):
        return sum(values[e] * values[e] for e in range(rows[i], rows[i + 1])) + min(distance(i, j) for j in range(k))

    return sum(cost(i) for i in range(n))


@at.fn
def newton_step(values: f64[z], columns: idx[d][z], rows: i64[n + 1], centers: f64[k, d]) -> f64[k, d]:
    gradient_at = lambda c: vjp(lambda x: objective(values, columns, rows, x), c, 1.0)
    g, h = jvp2(gradient_at, centers, ones((k, d)))
    return [[c - a / b if b > 0.0 else c for c, a, b in zip(cs, gs, hs)] for cs, gs, hs in zip(centers, g, h)]


gradient = at.value_and_grad(objective, wrt="centers")


def data(points: int, dimension: int, centers: int, density: float) -> tuple[Any, ...]:
    rng = np.random.default_rng(points)
    dense = rng.normal(size=(points, dimension)) * (rng.random((points, dimension)) < density)
    rows = np.concatenate([[0], np.cumsum((dense != 0).sum(1))])
    return dense[dense != 0], np.nonzero(dense)[1], rows, rng.normal(size=(centers, dimension))


def main() -> None:
    args = data(points=30, dimension=8, centers=3, density=0.4)
    value, by_centers = gradient(*args)
    check("sparse k-means", objective, args, (3,), by_centers)
    centers = args[3]
    for _ in range(10):
        centers = newton_step(*args[:3], centers=centers)
    print(f"cost {value:.4f}, after ten steps {objective(*args[:3], centers=centers):.4f}")


if __name__ == "__main__":
    main()
