"""A schedule whose every step was accepted has loops that are checked, certified and right: tiles of tiles, of pads, of fused loops.

Their conditions are linear with many facts beside, most of which mislead; what elimination does not find linear programming does (sizes/combination.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f32
from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.schedule.holding import holds

n, m, k = at.sizes("n m k")


@at.fn
def double(u: f32[n]) -> f32[n]:
    return [u[i] * 2.0 for i in range(n)]


@at.fn
def product(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:
    return [[sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]


@at.fn
def blur(v: f32[n, m]) -> f32[n, m]:
    bx = [[(v[y, x - 1] if x >= 1 else 0.0) + v[y, x] + (v[y, x + 1] if x + 1 < m else 0.0) for x in range(m)] for y in range(n)]
    return [[(bx[y - 1, x] if y >= 1 else 0.0) + bx[y, x] + (bx[y + 1, x] if y + 1 < n else 0.0) for x in range(m)] for y in range(n)]


@at.fn
def twice(x: f32[n, m]) -> f32[n, m]:
    return [[x[i, j] * 2.0 for j in range(m)] for i in range(n)]


SCHEDULES: dict[str, Any] = {
    "a pad in two parts, of which one in two": lambda: at.schedule(double).pad("i", 8).partition("i", ["n // 2"]).partition("i_0", [1]),
    "tiles in parts, the second of which has none": lambda: at.schedule(double).split("i", 4).partition("i_o", ["n // 2"]),
    "tiles of tiles with guards": lambda: at.schedule(double).split("i", 3, tail="guard").split("i_o", 4, tail="guard"),
    "fused, then split": lambda: at.schedule(product).fuse("i", "j").split("i_j", 8),
    "fused, then split with a guard": lambda: at.schedule(product).fuse("i", "j").split("i_j", 8, tail="guard"),
    "a pad in tiles of tiles": lambda: at.schedule(blur).pad("y/x", 2).tile(("y", "x"), (3, 4), tail="guard").tile(("y", "x"), (2, 2), tail="cut"),
    "a rest in parts, of which one has none": lambda: at.schedule(twice).split("j", 3).partition("j_t", ["n // 2"]).partition("j_o", ["n // 2"]),
    "the rest of a rest": lambda: at.schedule(twice).split("j", 3).split("j_t", 2).partition("j_t_t", ["n // 2"]).partition("j_o", ["n // 2"]),
    "pieces fused": lambda: at.schedule(product).partition("j", [2]).reorder("j_0", "i").partition("j_0", ["n // 2"]).fuse("j_0_1", "j_0_1/i"),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_compiles(name: str) -> None:
    s = SCHEDULES[name]()
    rng = np.random.default_rng(1)
    shapes = {"double": [(25,)], "product": [(5, 3), (3, 7)], "blur": [(7, 9)], "twice": [(4, 7)]}[s.function.name]
    holds(s, tuple(rng.integers(-4, 5, shape).astype(np.float32) for shape in shapes))


@pytest.mark.parametrize("size", [2**46, 2**63 + 1, 2**64 - 1, 2**64])
def test_numbers_that_machines_lose_are_refused(size: int) -> None:
    """2**64 - 1 would be -1 in C, 2**64 a division by 0."""
    with pytest.raises(at.ScheduleError, match=r"numbers of loops stay below 2\*\*46"):
        at.schedule(double).split("i", size)


def test_nor_by_several_steps() -> None:
    s = at.schedule(double).split("i", 2**30, tail="guard")
    with pytest.raises(at.ScheduleError, match="E0507"):
        s.split("i_o", 2**30, tail="guard")


def test_the_checker_refuses_them_too() -> None:
    data = at.schedule(double).split("i", 2**20, tail="cut").certificate().data
    prove(data)
    large = {**data, "P": [[[c * 2**30 if abs(c) == 2**20 else c, *rest] for c, *rest in row] for row in data["P"]]}
    with pytest.raises(Rejected):
        prove(large)
