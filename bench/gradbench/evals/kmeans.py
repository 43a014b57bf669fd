"""k-means: the cost of centroids, and Newton's direction; the Hessian is diagonal, so its product with ones is its diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64
from bench.gradbench.tool import Entry

n, k, d = at.sizes("n k d")


@at.fn
def cost(points: f64[n, d], centroids: f64[k, d]) -> f64:
    return sum(min(sum((a - b) * (a - b) for a, b in zip(p, c)) for c in centroids) for p in points)


@at.fn
def direction(points: f64[n, d], centroids: f64[k, d]) -> f64[k, d]:
    slope = lambda c: vjp(lambda x: cost(points, x), c, 1.0)
    first, second = jvp2(slope, centroids, ones((k, d)))
    return first / second


def arguments(given: Any) -> tuple[Any, ...]:
    return np.array(given["points"], np.float64), np.array(given["centroids"], np.float64)


ENTRIES = {"cost": Entry(cost, arguments, float), "dir": Entry(direction, arguments, np.ndarray.tolist)}
