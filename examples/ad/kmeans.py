"""k-means by Newton's method (Schenck fig. 3.4): the cost of centers, its gradient and the diagonal of its Hessian.

Every center's cost is a sum of squares, so the Hessian is diagonal and H times ones is its diagonal: jvp of vjp, one pass for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64, i64

n, d, k = at.sizes("n d k")


@at.fn
def objective(points: f64[n, d], centers: f64[k, d]) -> f64:
    return sum(min(sum((a - b) * (a - b) for a, b in zip(p, c)) for c in centers) for p in points)


@at.fn
def newton_step(points: f64[n, d], centers: f64[k, d]) -> f64[k, d]:
    gradient_at = lambda c: vjp(lambda x: objective(points, x), c, 1.0)
    g, h = jvp2(gradient_at, centers, ones((k, d)))
    return [[c - a / b if b > 0.0 else c for c, a, b in zip(cs, gs, hs)] for cs, gs, hs in zip(centers, g, h)]


@at.fn
def fit(points: f64[n, d], centers: f64[k, d], steps: i64) -> f64[k, d]:
    for _ in range(steps):
        centers = newton_step(points, centers)
    return centers


gradient = at.value_and_grad(objective, wrt="centers")


def data(points: int, dimension: int, centers: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(points)
    return rng.normal(size=(points, dimension)) + rng.integers(0, 3, (points, 1)) * 4.0, rng.normal(size=(centers, dimension)) + 3.0


def main() -> None:
    points, centers = data(points=60, dimension=2, centers=4)
    value, by_centers = gradient(points, centers)
    check("k-means", objective, (points, centers), (1,), by_centers)
    means = np.array([points[np.argmin(((points[:, None] - centers) ** 2).sum(2), 1) == j].mean(0) for j in range(4)])
    print(f"a Newton step is a step of Lloyd's algorithm: {np.allclose(newton_step(points, centers), means)}")
    print(f"cost {value:.4f}, after ten steps {objective(points, fit(points, centers, 10)):.4f}")


if __name__ == "__main__":
    main()
