"""Hand tracking: measured points against a posed skin; the Jacobian by one tangent for each parameter of the pose, and two for the places inside triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import bool_, f64, i64, idx
from bench.gradbench.tool import Entry

v, p, t, k = at.sizes("v p t k")  # vertices, points, triangles, bones


@at.record
class Hand:
    parents: i64[k]  # -1 where there is none
    relatives: f64[k, 4, 4]
    inverses: f64[k, 4, 4]
    vertices: f64[v, 4]
    weights: f64[v, k]
    mirrored: bool_


@at.fn
def euler(a: f64[3]) -> f64[4, 4]:
    """Angles about x, z and y, in that order."""
    sx, sy, sz = sin(a[0]), sin(a[2]), sin(a[1])
    cx, cy, cz = cos(a[0]), cos(a[2]), cos(a[1])
    return [
        [cy * cz, -cx * sz + sx * sy * cz, sx * sz + cx * sy * cz, 0.0],
        [cy * sz, cx * cz + sx * sy * sz, -sx * cz + cx * sy * sz, 0.0],
        [-sy, sx * cy, cx * cy, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]


@at.fn
def turn(a: f64[3]) -> f64[3, 3]:
    """The rotation by |a| about a."""
    angle = sqrt(sum(x * x for x in a))
    if angle < 1e-4:
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    x, y, z = a[0] / angle, a[1] / angle, a[2] / angle
    s, c = sin(angle), cos(angle)
    return [
        [x * x + (1.0 - x * x) * c, x * y * (1.0 - c) - z * s, x * z * (1.0 - c) + y * s],
        [x * y * (1.0 - c) + z * s, y * y + (1.0 - y * y) * c, y * z * (1.0 - c) - x * s],
        [x * z * (1.0 - c) - y * s, y * z * (1.0 - c) + x * s, z * z + (1.0 - z * z) * c],
    ]


@at.fn
def posed(theta: f64[26], hand: Hand) -> f64[v, 3]:
    """theta: a rotation, a translation, four angles for each finger: two at its root, one at each of two more joints."""
    bent = zeros((k, 3))
    for finger in range(5):
        first, bone = 6 + 4 * finger, 2 + 4 * finger
        bent[bone, 0] = theta[first]
        bent[bone, 1] = theta[first + 1]
        bent[bone + 1, 0] = theta[first + 2]
        bent[bone + 2, 0] = theta[first + 3]
    placed = zeros((k, 4, 4))
    for i in range(k):
        own = hand.relatives[i] @ euler(bent[i])
        placed[i] = own if hand.parents[i] < 0 else placed[hand.parents[i]] @ own
    moves = [placed[i] @ hand.inverses[i] for i in range(k)]
    rotation = turn(theta[:3])
    side = -1.0 if hand.mirrored else 1.0

    def vertex(rest, weights):
        x = [sum(w * sum(move[r, q] * rest[q] for q in range(4)) for w, move in zip(weights, moves)) for r in range(3)]
        y = [side * x[0], x[1], x[2]]
        return [sum(rotation[r, q] * y[q] for q in range(3)) + theta[3 + r] for r in range(3)]

    return [vertex(rest, weights) for rest, weights in zip(hand.vertices, hand.weights)]


@at.fn
def simple(theta: f64[26], hand: Hand, vertex_of: idx[v][p], points: f64[p, 3]) -> f64[p, 3]:
    skin = posed(theta, hand)
    return [point - skin[j] for point, j in zip(points, vertex_of)]


@at.fn
def complicated(theta: f64[26], inside: f64[p, 2], hand: Hand, triangles: idx[v][t, 3], triangle_of: idx[t][p], points: f64[p, 3]) -> f64[p, 3]:
    skin = posed(theta, hand)

    def one(o):
        corners = triangles[triangle_of[o]]
        u, w = inside[o, 0], inside[o, 1]
        return points[o] - (u * skin[corners[0]] + w * skin[corners[1]] + (1.0 - u - w) * skin[corners[2]])

    return [one(o) for o in range(p)]


@at.fn
def simple_jacobian(theta: f64[26], hand: Hand, vertex_of: idx[v][p], points: f64[p, 3]) -> f64[26, p, 3]:
    unit = lambda j: [1.0 if i == j else 0.0 for i in range(26)]
    return [jvp(lambda x: simple(x, hand, vertex_of, points), theta, unit(j)) for j in range(26)]


@at.fn
def complicated_jacobian(
    theta: f64[26], inside: f64[p, 2], hand: Hand, triangles: idx[v][t, 3], triangle_of: idx[t][p], points: f64[p, 3]
) -> (f64[2, p, 3], f64[26, p, 3]):
    unit = lambda j: [1.0 if i == j else 0.0 for i in range(26)]
    by_pose = [jvp(lambda x: complicated(x, inside, hand, triangles, triangle_of, points), theta, unit(j)) for j in range(26)]
    along = lambda j: [[1.0 if i == j else 0.0 for i in range(2)] for _ in range(p)]  # a place moves its own point only
    by_place = [jvp(lambda u: complicated(theta, u, hand, triangles, triangle_of, points), inside, along(j)) for j in range(2)]
    return by_place, by_pose


def arguments(given: Any) -> tuple[Any, ...]:
    model = given["data"]["model"]
    floats = lambda name: np.array(model[name], np.float64)
    hand = Hand(
        np.array(model["parents"], np.int64), floats("base_relatives"), floats("inverse_base_absolutes"), floats("base_positions"), floats("weights"),
        np.bool_(model["is_mirrored"]),
    )
    theta, points = np.array(given["theta"], np.float64), np.array(given["data"]["points"], np.float64)
    which = np.array(given["data"]["correspondences"], np.int64)
    inside = np.array(given["us"], np.float64).reshape(-1, 2)
    if not len(inside):
        return theta, hand, which, points
    return theta, inside, hand, np.array(model["triangles"], np.int64), which, points


def objective(*args: Any) -> Any:
    return (simple if len(args) == 4 else complicated)(*args)


def jacobian(*args: Any) -> tuple[Any, ...]:
    return (simple_jacobian(*args),) if len(args) == 4 else complicated_jacobian(*args)


def by_rows(parts: tuple[Any, ...]) -> list[list[float]]:
    columns = np.concatenate(parts)
    rows: list[list[float]] = columns.reshape(len(columns), -1).T.tolist()
    return rows


ENTRIES = {"objective": Entry(objective, arguments, lambda e: e.reshape(-1).tolist()), "jacobian": Entry(jacobian, arguments, by_rows)}
