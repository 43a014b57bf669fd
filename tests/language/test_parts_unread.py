"""Operators on tuples of which only some parts are read afterwards."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

n, m = at.sizes("n m")


@at.fn
def segmented(x: f64[n], start: at.bool_[n]) -> f64[n]:
    def op(a, b):
        value, begun = a
        more, begins = b
        return (more if begins else value + more, begun or begins)

    sums, flags = unzip(scan(op, (0.0, False), zip(x, start)))
    return sums


@at.fn
def largest_at(x: f64[n]) -> i64:
    def better(a, b):
        return a if a[0] >= b[0] else b

    value, place = reduce(better, (-inf, -1), [(v, i64(i)) for i, v in enumerate(x)])
    return place


@at.fn
def rows(x: f64[n, m]) -> f64[n]:
    def op(a, b):
        return (a[0] + b[0], a[1] * b[1], [u + v for u, v in zip(a[2], b[2])])

    a, b, c = unzip(scan(op, (0.0, 1.0, [0.0, 0.0]), [(r[0], r[1], [r[0], r[1]]) for r in x], exclusive=True))
    return b


@at.fn
def by_key(keys: i64[n], x: f64[n]) -> f64[3]:
    def op(a, b):
        return (a[0] + b[0], a[1] + b[1])

    totals, counts = unzip(hist(op, (0.0, 0), 3, keys, [(v, 1) for v in x]))
    return totals


@pytest.mark.parametrize("size", [0, 1, 6])
def test_scan(size):
    x, start = np.arange(size) + 1.0, np.arange(size) % 3 == 0
    expected = np.array([x[i - i % 3 : i + 1].sum() for i in range(size)])
    agree(segmented, x, start, expected=expected)


def test_reduce():
    agree(largest_at, np.array([1.0, 5.0, 2.0, 5.0]), expected=np.int64(1))


def test_exclusive_scan_of_arrays():
    x = np.arange(6.0).reshape(3, 2) + 1
    agree(rows, x, expected=np.array([1.0, 2.0, 8.0]))


def test_histogram():
    agree(by_key, np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), expected=np.array([4.0, 0.0, 2.0]))
