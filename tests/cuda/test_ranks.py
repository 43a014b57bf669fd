"""Histograms of floats in bins of warps: additions in the order of rounds within a part, parts in their order; nothing else decides the bits."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll.backends.cuda import ranks
from tests.agreement import same
from tests.fuzz.stages import Stages, leaves

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"


def function(name: str, body: str, given: str = "c: i64[n], v: f64[n]") -> at.Function:
    return at.fn(source=HEAD + f"def {name}({given}):\n    return {body}\n")


def in_parts(c: np.ndarray, v: np.ndarray, bins: int, warps: int) -> np.ndarray:
    """The definition, for one-dimensional elements."""
    groups = warps * max(min(len(c) // (warps * bins), ranks.MOST[warps] // warps), 1)
    length = 32 * -(-len(c) // (32 * groups))
    parts = np.zeros((groups, bins))
    for g in range(groups):
        for key, value in zip(c[g * length : (g + 1) * length], v[g * length : (g + 1) * length], strict=True):
            parts[g, key] += value
    return parts


@pytest.mark.parametrize("order", ["0", pytest.param("3", marks=pytest.mark.long)])
def test_the_bits_are_those_of_parts_in_order(order, monkeypatch):
    """One part, and several: then it is the same whatever order warps run in."""
    monkeypatch.setenv("ATOLL_EMULATED_ORDER", order)
    there = function("by_key", "hist(add, 0.0, 700, c, v)").on("cuda-emulated")
    rng = np.random.default_rng(0)
    c, v = rng.integers(0, 700, 650), rng.normal(size=650)
    assert there(c, v).tobytes() == (0.0 + in_parts(c, v, 700, 1)[0]).tobytes()
    c, v = rng.integers(0, 700, 9000), rng.normal(size=9000)
    parts = in_parts(c, v, 700, 1)
    assert len(parts) == 12 and np.allclose(there(c, v), parts.sum(axis=0))
    assert there(c, v).tobytes() == there(c, v).tobytes()


@pytest.mark.parametrize("backwards", [False, True])
def test_no_race(backwards):
    """Keys that are all the same, keys that are all different, rounds that are left out, rows."""
    rng = np.random.default_rng(1)
    rows = function("rows", "hist(add, [0.0 for _ in range(m)], 5, c, a)", "c: i64[n], a: f64[n, m]")
    left_out = function("left_out", 'scatter(zeros(7), c, v, op=maximum, mode="drop")')
    some = function("some", "hist(mul, 1.0, 40, c, v)")
    for f, args in [
        (rows, (rng.integers(0, 5, 50), rng.normal(size=(50, 3)))),
        (left_out, (rng.integers(-3, 9, 70), rng.normal(size=70))),
        (some, (np.full(40, 3), rng.normal(size=40))),
        (some, (rng.permutation(40), rng.normal(size=40))),
    ]:
        same(tuple(Stages(f).run_kernels(args, backwards)), tuple(leaves(f.interpret(*args))), f.name)


def test_more_bins_than_there_is_room_for():
    f = function("many", "hist(add, 0.0, 5000, c, v)")
    assert 5000 > ranks.BYTES // 8
    rng = np.random.default_rng(2)
    c, v = rng.integers(0, 5000, 300), rng.normal(size=300)
    same(f.on("cuda-emulated")(c, v), f.interpret(c, v))
