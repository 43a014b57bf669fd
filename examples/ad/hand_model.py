"""The kinematic model of a hand, after ADBench: 26 parameters pose a skeleton of 22 bones, the bones move the vertices of a skin.

Bones are placed in a loop, each relative to its parent; a vertex follows several bones, weighted. Used by the two examples of hand tracking.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import bool_, f64, i64

v = at.sizes("v")
BONES, HOMOGENEOUS = 22, 4


@at.record
class Hand:
    parents: i64[BONES]  # -1 where there is none
    relatives: f64[BONES, HOMOGENEOUS, HOMOGENEOUS]  # of a bone in the frame of its parent, at rest
    inverses: f64[BONES, HOMOGENEOUS, HOMOGENEOUS]  # from the skin at rest to the frame of a bone
    vertices: f64[v, HOMOGENEOUS]  # of the skin at rest
    weights: f64[v, BONES]
    mirrored: bool_


@at.fn
def angles(theta: f64[26]) -> f64[22, 3]:
    """Euler angles per bone: a finger has two angles at its root and one at each of two more joints."""
    found = zeros((22, 3))
    for finger in range(5):
        first, bone = 6 + 4 * finger, 2 + 4 * finger
        found[bone, 0] = theta[first]
        found[bone, 1] = theta[first + 1]
        found[bone + 1, 0] = theta[first + 2]
        found[bone + 2, 0] = theta[first + 3]
    return found


@at.fn
def euler(a: f64[3]) -> f64[4, 4]:
    sx, sy, sz = sin(a[0]), sin(a[1]), sin(a[2])
    cx, cy, cz = cos(a[0]), cos(a[1]), cos(a[2])
    return [
        [cy * cz, -cx * sz + sx * sy * cz, sx * sz + cx * sy * cz, 0.0],
        [cy * sz, cx * cz + sx * sy * sz, -sx * cz + cx * sy * sz, 0.0],
        [-sy, sx * cy, cx * cy, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]


@at.fn
def turn(a: f64[3]) -> f64[3, 3]:
    """The rotation by |a| about a."""
    square = sum(x * x for x in a)
    if square < 1e-12:
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    angle = sqrt(square)
    x, y, z = a[0] / angle, a[1] / angle, a[2] / angle
    s, c = sin(angle), cos(angle)
    return [
        [x * x + (1.0 - x * x) * c, x * y * (1.0 - c) - z * s, x * z * (1.0 - c) + y * s],
        [x * y * (1.0 - c) + z * s, y * y + (1.0 - y * y) * c, y * z * (1.0 - c) - x * s],
        [x * z * (1.0 - c) - y * s, y * z * (1.0 - c) + x * s, z * z + (1.0 - z * z) * c],
    ]


@at.fn
def posed(theta: f64[26], hand: Hand) -> f64[v, 3]:
    """Where the vertices of the skin are: theta is a rotation, a translation, then four angles per finger."""
    bent = angles(theta)
    placed = zeros((22, 4, 4))
    for i in range(22):
        own = hand.relatives[i] @ euler(bent[i])
        placed[i] = own if hand.parents[i] < 0 else placed[hand.parents[i]] @ own
    moves = [placed[i] @ hand.inverses[i] for i in range(22)]
    rotation = turn(theta[:3])
    side = -1.0 if hand.mirrored else 1.0

    def vertex(rest, weights):
        x = [sum(w * sum(move[r, q] * rest[q] for q in range(4)) for w, move in zip(weights, moves)) for r in range(3)]
        y = [side * x[0], x[1], x[2]]
        return [sum(rotation[r, q] * y[q] for q in range(3)) + theta[3 + r] for r in range(3)]

    return [vertex(rest, weights) for rest, weights in zip(hand.vertices, hand.weights)]


def random_hand(vertices: int) -> Any:
    rng = np.random.default_rng(vertices)
    parents = np.array([-1, 0] + [1 if joint == 0 else 1 + 4 * finger + joint for finger in range(5) for joint in range(4)])
    relatives = np.tile(np.eye(4), (22, 1, 1))
    relatives[:, :3, 3] = 0.3 * rng.normal(size=(22, 3))
    absolutes = relatives.copy()
    for i, parent in enumerate(parents):
        if parent >= 0:
            absolutes[i] = absolutes[parent] @ relatives[i]
    weights = rng.random((vertices, 22)) ** 4
    rest = np.concatenate([rng.normal(size=(vertices, 3)), np.ones((vertices, 1))], 1)
    return Hand(parents, relatives, np.linalg.inv(absolutes), rest, weights / weights.sum(1, keepdims=True), np.bool_(True))
