"""Bundle adjustment: reprojection errors of observations, and the blocks of their sparse Jacobian; only what an observation reads is differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i32, idx
from bench.gradbench.tool import Entry

n, m, p = at.sizes("n m p")


@at.fn
def cross(a: f64[3], b: f64[3]) -> f64[3]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


@at.fn
def turned(rotation: f64[3], x: f64[3]) -> f64[3]:
    square = sum(r * r for r in rotation)
    if square != 0.0:
        angle = sqrt(square)
        axis = rotation / angle
        along = sum(a * b for a, b in zip(axis, x)) * (1.0 - cos(angle))
        return x * cos(angle) + cross(axis, x) * sin(angle) + axis * along
    return x + cross(rotation, x)


@at.fn
def error(camera: f64[11], x: f64[3], weight: f64, feature: f64[2]) -> f64[2]:
    """camera: rotation 3, centre 3, focal length, principal point 2, radial distortion 2."""
    seen = turned(camera[:3], x - camera[3:6])
    u, v = seen[0] / seen[2], seen[1] / seen[2]
    square = u * u + v * v
    bent = (1.0 + camera[9] * square + camera[10] * square * square) * camera[6]
    return [weight * (u * bent + camera[7] - feature[0]), weight * (v * bent + camera[8] - feature[1])]


@at.fn
def objective(cams: f64[n, 11], x: f64[m, 3], w: f64[p], cam_of: idx[n][p], point_of: idx[m][p], feats: f64[p, 2]) -> (f64[p, 2], f64[p]):
    return [error(cams[cam_of[o]], x[point_of[o]], w[o], feats[o]) for o in range(p)], [1.0 - v * v for v in w]


@at.fn
def jacobian(cams: f64[n, 11], x: f64[m, 3], w: f64[p], cam_of: idx[n][p], point_of: idx[m][p], feats: f64[p, 2]):
    """Rows, columns and values of the matrix by rows: 15 entries for each error of an observation, one for that of its weight."""

    def block(o):
        place = (cams[cam_of[o]], x[point_of[o]], w[o])
        blocks = [vjp(lambda a, b, c: error(a, b, c, feats[o]), place, seed) for seed in [[1.0, 0.0], [0.0, 1.0]]]
        return [concat(of_cam, of_point, [of_weight]) for of_cam, of_point, of_weight in blocks]

    def column(o, j):
        return i32(11 * cam_of[o] + j if j < 11 else 11 * n + 3 * point_of[o] + j - 11 if j < 14 else 11 * n + 3 * m + o)

    vals = concat(reshape([block(o) for o in range(p)], (30 * p,)), [-2.0 * v for v in w])
    cols = concat([column(e // 30, e % 15) for e in range(30 * p)], [i32(11 * n + 3 * m + o) for o in range(p)])
    rows = concat([i32(15 * e) for e in range(2 * p)], [i32(30 * p + e) for e in range(p + 1)])
    return rows, cols, vals


def arguments(given: Any) -> tuple[Any, ...]:
    cameras, points, observations = (int(given[name]) for name in "nmp")
    each = np.arange(observations)
    return (
        np.tile(np.array(given["cam"], np.float64), (cameras, 1)),
        np.tile(np.array(given["x"], np.float64), (points, 1)),
        np.full(observations, float(given["w"])),
        each % cameras,
        each % points,
        np.tile(np.array(given["feat"], np.float64), (observations, 1)),
    )


def errors(found: tuple[Any, Any]) -> dict[str, Any]:
    projected, weighted = found
    return {
        "reproj_error": {"elements": projected[0].tolist(), "repeated": len(projected)},
        "w_err": {"element": float(weighted[0]), "repeated": len(weighted)},
    }


def sparse(found: tuple[Any, Any, Any]) -> dict[str, Any]:
    """All blocks are alike: the first, and the last value."""
    return {name: [*part[:30].tolist(), part[-1].item()] for name, part in zip(("rows", "cols", "vals"), found, strict=True)}


ENTRIES = {"objective": Entry(objective, arguments, errors), "jacobian": Entry(jacobian, arguments, sparse)}
