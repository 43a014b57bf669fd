"""Hand tracking, simple: measured points against given vertices of the skin; the dense Jacobian by the 26 parameters of the pose.

"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check
from hand_model import Hand, posed, random_hand

import atoll as at
from atoll import f64, idx

v, p = at.sizes("v p")


@at.fn
def residuals(theta: f64[26], hand: Hand, vertex_of: idx[v][p], points: f64[p, 3]) -> f64[p, 3]:
    skin = posed(theta, hand)
    return [point - skin[j] for point, j in zip(points, vertex_of)]


@at.fn
def objective(theta: f64[26], hand: Hand, vertex_of: idx[v][p], points: f64[p, 3]) -> f64:
    return sum(e * e for row in residuals(theta, hand, vertex_of, points) for e in row)


jacobian = at.jacrev(residuals)
gradient = at.value_and_grad(objective)


def data(vertices: int, points: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(points)
    return 0.3 * rng.normal(size=26), random_hand(vertices), rng.integers(0, vertices, points), rng.normal(size=(points, 3))


def main() -> None:
    args = data(vertices=9, points=5)
    value, by_pose = gradient(*args)
    print(f"energy {value:.6f}")
    check("simple hand, reverse mode", objective, args, (0,), by_pose)
    check("simple hand, Jacobian", objective, args, (0,), 2 * np.einsum("pr,prj->j", residuals(*args), jacobian(*args)))


if __name__ == "__main__":
    main()
