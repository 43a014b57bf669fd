"""Loops in order whose rounds are independent are seen to be so, and others are not."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

n = at.sizes("n")
rng = np.random.default_rng(3)


@at.fn
def butterflies(x: f64[2 * n]) -> f64[2 * n]:
    for j in range(n):
        s, d = x[j] + x[j + n], x[j] - x[j + n]
        x[j], x[j + n] = s, d * 0.5
    return x


@at.fn
def pairs(x: f64[2 * n]) -> f64[2 * n]:
    for j in range(n):
        a, b = x[2 * j], x[2 * j + 1]
        x[2 * j], x[2 * j + 1] = a + b, a - b
    return x


@at.fn
def rows(x: f64[n, 20], k: i64) -> f64[n, 20]:
    for i in range(n - 1):
        for q in range(20):
            x[i + 1, q] = x[i, q] * 0.5 + x[i + 1, q]
    return x


@at.fn
def shifted(x: f64[n + 1]) -> f64[n + 1]:
    for j in range(n):
        x[j] = x[j + 1] * 0.5
    return x


@at.fn
def overlapping(x: f64[3 * n]) -> f64[3 * n]:
    for j in range(n):
        x[2 * j] = x[j] + 1.0
    return x


@at.fn
def same_place(x: f64[n], y: f64[n]) -> f64[n]:
    for j in range(n):
        x[0] = y[j] + x[j]
    return x


@at.fn
def chosen(x: f64[n], p: at.idx[n][n]) -> f64[n]:
    for j in range(n):
        x[p[j]] = x[p[j]] * 0.5 + 1.0
    return x


@pytest.mark.parametrize("f", [butterflies, pairs, rows])
def test_seen(f):
    assert "seen to be independent" in f.explain("schedule")


@pytest.mark.parametrize("f", [shifted, overlapping, same_place, chosen])
def test_not_seen(f):
    assert "seen to be independent" not in f.explain("schedule")


@pytest.mark.parametrize("size", [1, 2, 17])
def test_values_stay(size):
    agree(butterflies, rng.random(2 * size))
    agree(pairs, rng.random(2 * size))
    agree(rows, rng.random((size, 20)), 1)
    agree(shifted, rng.random(size + 1))
    agree(overlapping, rng.random(3 * size))
    agree(same_place, rng.random(size), rng.random(size))
    agree(chosen, rng.random(size), rng.integers(0, size, size))
