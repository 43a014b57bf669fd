"""Rows of a table side by side, each a step behind: it happens where it may, values stay, and other dependences are left alone."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i32, i64
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops

n, m = at.sizes("n m")
rng = np.random.default_rng(7)
SIZES = [(0, 80), (70, 0), (63, 64), (64, 63), (64, 64), (65, 70), (130, 200), (200, 129)]


@at.fn
def distance(a: i64[n], b: i64[m]) -> i64[m + 1]:
    row = [j for j in range(m + 1)]
    for i in range(n):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(m):
            here = min(min(row[j + 1] + 1, row[j] + 1), diagonal + (0 if a[i] == b[j] else 1))
            diagonal = row[j + 1]
            row[j + 1] = here
    return row


@at.fn
def warping(x: f64[n], y: f64[m]) -> f64[m]:
    row = [inf for j in range(m)]
    for i in range(n):
        left, corner = inf, 0.0 if i == 0 else inf
        for j in range(m):
            here = abs(x[i] - y[j]) + min(min(left, row[j]), corner)
            corner = row[j]
            row[j] = here
            left = here
    return row


@at.fn
def local(a: i32[n], b: i32[m]) -> (i64, i64, i64[n]):
    row = zeros(m, dtype=i64)
    best, cells = 0, 0
    last = zeros(n, dtype=i64)
    for i in range(n):
        left, corner = 0, 0
        for j in range(m):
            here = max(max(0, corner + (3 if a[i] == b[j] else -3)), max(row[j], left) - 2)
            best = max(best, here)
            cells = cells + (here ^ j)
            corner = row[j]
            row[j] = here
            left = here
        last[i] = left * 3
    return best, cells, last


@at.fn
def backwards(a: i64[n], b: i64[m]) -> i64[m + 1]:
    """A cell needs the one above to the right: a row may not start a step after the one above."""
    row = zeros(m + 1, dtype=i64)
    for i in range(n):
        left = a[i]
        for j in range(m):
            left = min(left + b[j], row[j + 1] + 1)
            row[j] = left
    return row


@at.fn
def best_so_far(a: i64[n], b: i64[m]) -> i64[m]:
    """A total that cells read is no total."""
    row = zeros(m, dtype=i64)
    best = 0
    for i in range(n):
        left = 0
        for j in range(m):
            here = max(row[j], left) + (a[i] ^ b[j]) - (best & 3)
            best = max(best, here)
            row[j] = here
            left = here
    return row


@at.fn
def whole_row(a: i64[n], b: i64[m]) -> i64[m]:
    """The end of a row is needed where the next one starts."""
    row = zeros(m, dtype=i64)
    for i in range(n):
        left = a[i] + (row[m - 1] if m > 0 else 0)
        for j in range(m):
            left = max(row[j], left) ^ b[j]
            row[j] = left
    return row


def distance_in_python(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        diagonal, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            diagonal, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, diagonal + (x != y))
    return np.array(row, np.int64)


def warping_in_python(x, y):
    row = [np.inf] * len(y)
    for i, p in enumerate(x):
        left, corner = np.inf, 0.0 if i == 0 else np.inf
        for j, q in enumerate(y):
            left = abs(p - q) + min(left, row[j], corner)
            corner, row[j] = row[j], left
    return np.array(row)


def local_in_python(a, b):
    row, best, cells, last = [0] * len(b), 0, 0, []
    for x in a:
        left = corner = 0
        for j, y in enumerate(b):
            left = max(0, corner + (3 if x == y else -3), row[j] - 2, left - 2)
            best, cells = max(best, left), cells + (left ^ j)
            corner, row[j] = row[j], left
        last.append(3 * left)
    return best, cells, np.array(last, np.int64)


@pytest.mark.parametrize("f", [distance, warping, local])
def test_it_happens(f):
    assert "64 rounds of i at a time, each one step of j behind the one before" in f.explain("schedule")


@pytest.mark.parametrize("f", [backwards, best_so_far, whole_row])
def test_left_alone(f):
    assert "behind the one before" not in f.explain("schedule")


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_values_stay(rows, columns):
    a, b = rng.integers(0, 4, rows), rng.integers(0, 4, columns)
    assert (distance(a, b) == distance_in_python(a, b)).all()
    x, y = rng.random(rows), rng.random(columns)
    assert (warping(x, y) == warping_in_python(x, y)).all()
    best, cells, last = local(a.astype(np.int32), b.astype(np.int32))
    expected = local_in_python(a, b)
    assert (best, cells) == expected[:2] and (last == expected[2]).all()


def test_the_largest_integers_wrap_as_before():
    a, b = rng.integers(0, 2, 100), rng.integers(0, 2, 100)
    f = at.fn(source="""
import atoll as at
from atoll import i64
n = at.sizes("n")
def steep(a: i64[n], b: i64[n], start: i64) -> i64[n]:
    row = [start for j in range(n)]
    for i in range(n):
        left = start
        for j in range(n):
            left = min(min(left + 1, row[j] + 1), start ^ (a[i] + b[j]))
            row[j] = left
    return row
""")
    assert "behind the one before" in f.explain("schedule")
    start = np.iinfo(np.int64).max - 3
    row = np.full(100, start)
    with np.errstate(over="ignore"):
        for i in range(100):
            left = start
            for j in range(100):
                left = min(np.int64(left) + np.int64(1), row[j] + np.int64(1), start ^ (a[i] + b[j]))
                row[j] = left
    assert (f(a, b, int(start)) == row).all()


def test_every_access_is_in_range():
    a, b = rng.integers(0, 4, 70), rng.integers(0, 4, 66)
    fn = compiled_loops(distance.core)
    (found,) = execute(fn, [a, b], {**dict(zip(fn.sizes, (70, 66), strict=True))}, 1000)
    assert (found == distance_in_python(a, b)).all()
