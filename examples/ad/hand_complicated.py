"""Hand tracking, complicated: measured points against points inside triangles of the skin, given by two coordinates each.

A point's coordinates move that point only, so their part of the Jacobian is a block diagonal and two seeds find all of it, however many
points there are; the pose needs one seed per parameter as before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check
from hand_model import Hand, posed, random_hand

import atoll as at
from atoll import f64, idx

v, p, t = at.sizes("v p t")


@at.fn
def residuals(theta: f64[26], inside: f64[p, 2], hand: Hand, triangles: idx[v][t, 3], triangle_of: idx[t][p], points: f64[p, 3]) -> f64[p, 3]:
    skin = posed(theta, hand)

    def one(o):
        corners = triangles[triangle_of[o]]
        u, w = inside[o, 0], inside[o, 1]
        return points[o] - (u * skin[corners[0]] + w * skin[corners[1]] + (1.0 - u - w) * skin[corners[2]])

    return [one(o) for o in range(p)]


@at.fn
def along(
    theta: f64[26], inside: f64[p, 2], hand: Hand, triangles: idx[v][t, 3], triangle_of: idx[t][p], points: f64[p, 3],
    d_theta: f64[26], d_inside: f64[p, 2],
) -> f64[p, 3]:
    """How the residuals change in one direction."""
    return jvp(lambda x, u: residuals(x, u, hand, triangles, triangle_of, points), (theta, inside), (d_theta, d_inside))


def jacobian(theta: Any, inside: Any, *rest: Any) -> tuple[Any, Any]:
    """By each parameter of the pose, then by each of the two coordinates of the point's own."""
    by_pose = [along(theta, inside, *rest, d_theta=seed, d_inside=np.zeros_like(inside)) for seed in np.eye(26)]
    by_inside = [along(theta, inside, *rest, d_theta=np.zeros(26), d_inside=np.tile(seed, (len(inside), 1))) for seed in np.eye(2)]
    return np.array(by_pose), np.array(by_inside)


@at.fn
def objective(theta: f64[26], inside: f64[p, 2], hand: Hand, triangles: idx[v][t, 3], triangle_of: idx[t][p], points: f64[p, 3]) -> f64:
    return sum(e * e for row in residuals(theta, inside, hand, triangles, triangle_of, points) for e in row)


gradient = at.value_and_grad(objective, wrt=("theta", "inside"))


def data(vertices: int, points: int, triangles: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(points)
    return (
        0.3 * rng.normal(size=26), rng.random((points, 2)) / 2, random_hand(vertices), rng.integers(0, vertices, (triangles, 3)),
        rng.integers(0, triangles, points), rng.normal(size=(points, 3)),
    )


def main() -> None:
    args = data(vertices=9, points=5, triangles=4)
    value, gradients = gradient(*args)
    print(f"energy {value:.6f}")
    check("complicated hand, reverse mode", objective, args, (0, 1), gradients)
    by_pose, by_inside = jacobian(*args)
    errors = residuals(*args)
    seeds = 2 * np.einsum("pr,jpr->j", errors, by_pose), 2 * np.einsum("pr,epr->pe", errors, by_inside)
    check("complicated hand, forward seeds", objective, args, (0, 1), seeds)


if __name__ == "__main__":
    main()
