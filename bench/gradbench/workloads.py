"""Inputs for the evals, as their messages carry them: our own numbers, in their shapes and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

Workload = tuple[str, str, Any]  # eval, what it is called, input without its number of runs


def draw(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def gmm(d: int, k: int, n: int) -> Any:
    rng = draw(d * 1000 + k)
    return {
        "d": d, "k": k, "n": n, "m": 0, "gamma": 1.0, "x": rng.normal(size=(n, d)).tolist(), "alpha": rng.normal(size=k).tolist(),
        "mu": rng.random((k, d)).tolist(), "q": (0.3 * rng.normal(size=(k, d))).tolist(), "l": (0.3 * rng.normal(size=(k, d * (d - 1) // 2))).tolist(),
    }


def kmeans(k: int, n: int, d: int) -> Any:
    points = draw(k + n).random((n, d)).tolist()
    return {"points": points, "centroids": points[-k:]}


def lstm(layers: int, characters: int, bits: int = 14) -> Any:
    rng = draw(layers)
    near = lambda *shape: (0.2 * rng.normal(size=shape)).tolist()
    return {
        "main_params": near(2 * layers, 4 * bits), "extra_params": near(3, bits), "state": near(2 * layers, bits),
        "sequence": rng.integers(0, 2, (characters, bits)).astype(float).tolist(),
    }


def ba(n: int, m: int, p: int) -> Any:
    rng = draw(n)
    cam = [*0.1 * rng.normal(size=3), *rng.normal(size=3), 1.0, *0.1 * rng.normal(size=4)]
    return {"n": n, "m": m, "p": p, "cam": [float(v) for v in cam], "x": [0.3, -0.4, 8.0], "w": 0.7, "feat": [0.2, -0.1]}


def ht(vertices: int, points: int, inside: bool, bones: int = 22) -> Any:
    rng = draw(points)
    parents = [-1, *(0 if joint == 0 else 4 * finger + joint for finger in range(5) for joint in range(4)), 0]  # wrist, fingers, forearm: the manual version knows them
    relatives = np.tile(np.eye(4), (bones, 1, 1))
    relatives[:, :3, 3] = 0.3 * rng.normal(size=(bones, 3))
    absolutes = relatives.copy()
    for i, parent in enumerate(parents):
        if parent >= 0:
            absolutes[i] = absolutes[parent] @ relatives[i]
    weights = rng.random((vertices, bones)) ** 4
    triangles = rng.integers(0, vertices, (2 * vertices, 3))
    model = {
        "bone_count": bones, "bone_names": [f"bone{i}" for i in range(bones)], "parents": parents, "base_relatives": relatives.tolist(),
        "inverse_base_absolutes": np.linalg.inv(absolutes).tolist(), "base_positions": np.c_[rng.normal(size=(vertices, 3)), np.ones(vertices)].tolist(),
        "weights": (weights / weights.sum(1, keepdims=True)).tolist(), "triangles": triangles.tolist(), "is_mirrored": False,
    }
    which = rng.integers(0, len(triangles) if inside else vertices, points)
    return {
        "theta": (0.3 * rng.normal(size=26)).tolist(), "us": (rng.random((points, 2)) / 2).tolist() if inside else [],
        "data": {"model": model, "correspondences": which.tolist(), "points": rng.normal(size=(points, 3)).tolist()},
    }


def workloads(large: bool = True) -> Iterator[Workload]:
    """Small ones for tests; the large ones are the middle of GradBench's own lists."""
    yield "hello", "1.5", 1.5
    for n in (2500, 40000, 640000) if large else (7,):
        yield "lse", f"n={n}", {"x": draw(n).random(n).tolist()}
    for n, m in ((64, 128), (1024, 128), (16392, 128)) if large else ((9, 4),):
        yield "llsq", f"n={n},m={m}", {"x": draw(n).random(m).tolist(), "n": n}
    for d, k, n in ((2, 5, 1000), (10, 25, 1000), (64, 50, 1000)) if large else ((3, 2, 5), (1, 2, 3)):
        yield "gmm", f"{d}_{k}_{n}", gmm(d, k, n)
    for k, n, d in ((10, 1000, 8), (100, 10000, 8), (1000, 10000, 16)) if large else ((2, 9, 3),):
        yield "kmeans", f"k={k},n={n},d={d}", kmeans(k, n, d)
    for size in (5, 8, 10) if large else (1, 4):
        yield "det", f"{size}", {"A": draw(size).random(size * size).tolist(), "ell": size}
    for n, s in ((4, 100), (1000, 10), (1000, 100), (100000, 10)) if large else ((4, 5), (1, 3)):
        yield "ode", f"n={n},s={s}", {"x": draw(n).random(n).tolist(), "s": s}
    for layers, characters in ((2, 1024), (4, 4096), (6, 8192)) if large else ((2, 5),):
        yield "lstm", f"l={layers},c={characters}", lstm(layers, characters)
    for n, m, p in ((49, 7776, 31843), (257, 65132, 225911)) if large else ((2, 3, 5),):
        yield "ba", f"n={n},m={m},p={p}", ba(n, m, p)
    for vertices, points, inside in ((544, 100, False), (544, 3200, True), (10597, 12800, True)) if large else ((7, 4, False), (7, 4, True)):
        yield "ht", f"v={vertices},p={points}" + (" inside" if inside else ""), ht(vertices, points, inside)
    yield "saddle", "1,1", {"start": [1.0, 1.0]}
    yield "particle", "0", {"w": 0.0}
