"""Bundle adjustment, as in ADBench: reprojection errors of observed points and their sparse Jacobian.

An observation reads one camera, one point and one weight, so each of its two errors has 11 + 3 + 1 derivatives that are not zero. Two
seed vectors per observation give them all: the Jacobian is a map of vjp over the observations, dense nowhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64, idx

n, m, p = at.sizes("n m p")  # cameras, points, observations


@at.fn
def cross(a: f64[3], b: f64[3]) -> f64[3]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


@at.fn
def rotate_by(rotation: f64[3], x: f64[3]) -> f64[3]:
    """Rodrigues' formula; for no rotation at all its first-order expansion."""
    square = sum(r * r for r in rotation)
    if square != 0.0:
        angle = sqrt(square)
        axis = rotation / angle
        along = sum(a * b for a, b in zip(axis, x)) * (1.0 - cos(angle))
        return x * cos(angle) + cross(axis, x) * sin(angle) + axis * along
    return x + cross(rotation, x)


@at.fn
def project(camera: f64[11], x: f64[3]) -> f64[2]:
    """camera: rotation 3, centre 3, focal length, principal point 2, radial distortion 2."""
    seen = rotate_by(camera[:3], x - camera[3:6])
    u, v = seen[0] / seen[2], seen[1] / seen[2]
    square = u * u + v * v
    bent = (1.0 + camera[9] * square + camera[10] * square * square) * camera[6]
    return [u * bent + camera[7], v * bent + camera[8]]


@at.fn
def error(camera: f64[11], x: f64[3], weight: f64, feature: f64[2]) -> f64[2]:
    return weight * (project(camera, x) - feature)


@at.fn
def errors(
    cameras: f64[n, 11], points: f64[m, 3], weights: f64[p], camera_of: idx[n][p], point_of: idx[m][p], features: f64[p, 2]
) -> (f64[p, 2], f64[p]):
    return (
        [error(cameras[camera_of[o]], points[point_of[o]], weights[o], features[o]) for o in range(p)],
        [1.0 - w * w for w in weights],
    )


@at.fn
def jacobian(
    cameras: f64[n, 11], points: f64[m, 3], weights: f64[p], camera_of: idx[n][p], point_of: idx[m][p], features: f64[p, 2]
) -> (f64[p, 2, 11], f64[p, 2, 3], f64[p, 2], f64[p]):
    """Per observation: its two errors by camera, by point and by weight; then the error of the weight by the weight."""
    seeds = [[1.0, 0.0], [0.0, 1.0]]

    def rows(o):
        at_point = (cameras[camera_of[o]], points[point_of[o]], weights[o])
        return unzip([vjp(lambda c, x, w: error(c, x, w, features[o]), at_point, seed) for seed in seeds])

    by_camera, by_point, by_weight = unzip([rows(o) for o in range(p)])
    return by_camera, by_point, by_weight, [-2.0 * w for w in weights]


@at.fn
def objective(
    cameras: f64[n, 11], points: f64[m, 3], weights: f64[p], camera_of: idx[n][p], point_of: idx[m][p], features: f64[p, 2]
) -> f64:
    projected, weighted = errors(cameras, points, weights, camera_of, point_of, features)
    return sum(e * e for row in projected for e in row) + sum(w * w for w in weighted)


gradient = at.value_and_grad(objective, wrt=("cameras", "points", "weights"))


def data(cameras: int, points: int, observations: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(observations)
    camera = np.concatenate([0.1 * rng.normal(size=(cameras, 3)), rng.normal(size=(cameras, 3)), np.ones((cameras, 1)), 0.1 * rng.normal(size=(cameras, 4))], 1)
    where = rng.normal(size=(points, 3)) + [0.0, 0.0, 8.0]
    return (
        camera, where, rng.random(observations), rng.integers(0, cameras, observations), rng.integers(0, points, observations),
        rng.normal(size=(observations, 2)),
    )


def assemble(args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """The gradient of the objective, J'r twice, made from the sparse Jacobian with NumPy."""
    cameras, points, weights, camera_of, point_of, _ = args
    projected, weighted = errors(*args)
    by_camera, by_point, by_weight, by_weight_only = jacobian(*args)
    of_cameras, of_points = np.zeros_like(cameras), np.zeros_like(points)
    np.add.at(of_cameras, camera_of, 2 * np.einsum("oe,oec->oc", projected, by_camera))
    np.add.at(of_points, point_of, 2 * np.einsum("oe,oec->oc", projected, by_point))
    return of_cameras, of_points, 2 * np.einsum("oe,oe->o", projected, by_weight) + 2 * weighted * by_weight_only


def main() -> None:
    args = data(cameras=3, points=7, observations=12)
    value, gradients = gradient(*args)
    print(f"sum of squared errors {value:.6f}; {12 * 2 * 15 + 12} entries of the Jacobian instead of {(12 * 2 + 12) * (3 * 11 + 7 * 3 + 12)}")
    check("bundle adjustment, reverse mode", objective, args, (0, 1, 2), gradients)
    check("bundle adjustment, sparse Jacobian", objective, args, (0, 1, 2), assemble(args))


if __name__ == "__main__":
    main()
