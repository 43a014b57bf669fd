"""Integers that are the same in every round are read before the loop, and what they decide is decided there."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.agreement import agree, for_all_threads

n, m = at.sizes("n m")


@at.fn
def knapsack(weights: i64[n], values: f64[n], best: f64[m]) -> f64[m]:
    for i in range(n):
        w = weights[i]
        best = [max(best[c], best[c - w] + values[i]) if c >= w else best[c] for c in range(m)]
    return best


@at.fn
def shifted(by: i64[n], x: f64[m]) -> f64[n, m]:
    return [[x[j - k] if j >= k and j - k < m else -1.0 for j in range(m)] for k in by]


@at.fn
def first_reads(by: i64[n], x: f64[m]) -> f64[m]:
    return [x[j] + by[0] if by[0] > j else 0.0 for j in range(m)]


def test_it_happens():
    assert "read before" in knapsack.explain("schedule")


@pytest.mark.parametrize("size", [0, 1, 7, 40, 20000])
def test_values(size):
    rng = np.random.default_rng(size)
    weights, values = rng.integers(0, 12, 5), rng.random(5)
    start = rng.random(size)
    expected = start.copy()
    for w, v in zip(weights, values, strict=True):
        shifted_ = np.concatenate([np.full(min(w, size), -np.inf), expected[: size - min(w, size)]])
        expected = np.maximum(expected, shifted_ + v)
    assert np.allclose(for_all_threads(knapsack, weights, values, start), expected)
    by = np.array([0, 3, -2, 1 << 40, -(1 << 62), np.iinfo(np.int64).max])
    if size < 100:
        agree(knapsack, weights, values, start)
        agree(shifted, by, start)
        agree(first_reads, by[1:2], start)
    assert knapsack(weights[:0], values[:0], start).tolist() == start.tolist()


def test_what_fails_still_does():
    with pytest.raises(at.RunError, match="index 11 is out of range"):
        knapsack(np.array([-3]), np.ones(1), np.zeros(11))
    with pytest.raises(at.RunError):
        first_reads(np.zeros(0, "i8"), np.zeros(3))
    assert first_reads(np.zeros(0, "i8"), np.zeros(0)).shape == (0,)
