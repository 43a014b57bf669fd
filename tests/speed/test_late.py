"""What a round waits for comes last: it happens, values stay, floats are left alone."""

import numpy as np

import atoll as at
from atoll import f64, i64, u8
from atoll.loops.show import show
from atoll.lower.make import compiled_loops
from tests.agreement import agree

n = at.sizes("n")
rng = np.random.default_rng(5)


@at.fn
def cheapest(a: i64[n], b: i64[n]) -> i64[n]:
    y = a
    best = 100
    for j in range(n):
        best = min(min(best + 1, a[j]), b[j])
        y[j] = best
    return y


@at.fn
def nested(a: i64[n], b: u8[n]) -> i64:
    best = 0
    for j in range(n):
        best = max(max(a[j], i64(b[j])), max(best - 2, a[j] - 7))
    return best


@at.fn
def floats(a: f64[n], b: f64[n]) -> f64:
    best = 0.0
    for j in range(n):
        best = min(min(best + 1.0, a[j]), b[j])
    return best


@at.fn
def not_waiting(a: i64[n]) -> i64:
    before, most = 0, 0
    for j in range(n):
        most = max(most, max(before, a[j] - 3))
        before = a[j]
    return most


def test_it_happens():
    for f in (cheapest, nested, not_waiting):
        assert "waits for comes last" in f.explain("schedule")
    assert "{best + 1})" in show(compiled_loops(cheapest.core))
    assert "waits for comes last" not in floats.explain("schedule")


def test_values_stay():
    for size in (0, 1, 2, 33):
        a, b = rng.integers(-9, 9, size), rng.integers(0, 9, size)
        agree(cheapest, a, b)
        agree(nested, a, b.astype("u1"))
        agree(floats, a.astype(float), b.astype(float))
        agree(not_waiting, a)
    edge = np.array([2**63 - 1, -(2**63), 0])
    agree(cheapest, edge, edge[::-1].copy())
    agree(floats, np.array([np.nan, 1.0]), np.array([0.0, -0.0]))
