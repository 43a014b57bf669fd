"""Long arrays sorted by digits (atoll/backends/cuda/radix.py): whatever their numbers are like, in the order of a stable sort. On the emulated device everywhere, on a GPU too where there is one."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from tests.cuda.test_runtime import TARGETS

n = at.sizes("n")
COUNT = 20001  # five tiles of keys alone, ten of keys with places


@at.fn
def floats(x: f32[n], y: f64[n]):
    return sort(x), argsort(y), argsort(x)


@at.fn
def whole(x: i64[n], y: at.u8[n]):
    return sort(x), argsort(y)


def _numbers(kind, count):
    rng = np.random.default_rng(count)
    return {
        "any": lambda: rng.normal(size=count) * 10.0 ** rng.integers(-200, 200, count),
        "near": lambda: rng.random(count),  # two first digits in all
        "one": lambda: np.full(count, -2.5),
        "few": lambda: rng.choice([np.nan, -np.nan, -0.0, 0.0, np.inf, -np.inf, 1.0], count),
        "sorted": lambda: np.arange(count) - count / 2,
    }[kind]()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["any", "near", "one", "few", "sorted"])
def test_order(kind, target):
    y = _numbers(kind, COUNT)
    with np.errstate(over="ignore", invalid="ignore"):
        x = y.astype(np.float32)
        w = np.nan_to_num(y * 1e3, posinf=2.0**62, neginf=-(2.0**62)).clip(-(2.0**62), 2.0**62).astype(np.int64)
    u = (w % 7).astype(np.uint8)
    sorted_x, places, places_x = floats.on(target)(x, y)
    assert np.array_equal(places, np.argsort(y, kind="stable")) and np.array_equal(places_x, np.argsort(x, kind="stable"))
    assert np.array_equal(sorted_x, np.sort(x, kind="stable"), equal_nan=True)
    sorted_w, places_u = whole.on(target)(w, u)
    assert np.array_equal(sorted_w, np.sort(w)) and np.array_equal(places_u, np.argsort(u, kind="stable"))
