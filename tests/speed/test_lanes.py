"""Recurrences of independent rounds in lanes: it happens where it pays, values stay to the last bit, and the rest is left alone."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.loops import ir as lp
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops

n, m = at.sizes("n m")
rng = np.random.default_rng(11)


@at.fn
def rows(a: f64[n, m]) -> f64[n, m]:
    def solve(row):
        p = zeros(m)
        for j in range(1, m):
            p[j] = 1.0 / (2.0 + row[j] * p[j - 1])
        v = at.copy(row)
        for t in range(1, m):
            j = m - 1 - t
            v[j] = p[j] - 0.5 * v[j + 1]
        return v

    return [solve(row) for row in a]


@at.fn
def columns(a: f32[m, n]) -> f32[n]:
    """Neighbouring rounds read neighbouring elements; a variable goes from loop to loop."""

    def run(i):
        s, t = f32(1.0), f32(0.0)
        for j in range(m):
            s = s * f32(0.5) + a[j, i]
        for j in range(m):
            t = t * s + a[j, i]
        return s - t

    return [run(i) for i in range(n)]


@at.fn
def logistic(x: f64[n], rounds: i64) -> f64[n]:
    def run(y):
        for _ in range(rounds):
            y = 3.7 * y * (1.0 - y)
        return y

    return [run(y) for y in x]


@at.fn
def running(a: f64[n, m]) -> f64[n, m]:
    """A step is one addition, and lanes would be rows apart."""

    def run(row):
        s = 0.0
        for j in range(m):
            s = s * 0.5 + row[j]
            row[j] = s
        return row

    return [run(row) for row in a]


@at.fn
def one_after_the_other(a: f64[n, m]) -> f64[m]:
    """Each round starts with what the one before left."""
    p = zeros(m)
    for i in range(n):
        for j in range(1, m):
            p[j] = 1.0 / (2.0 + a[i, j] * p[j - 1])
    return p


def rows_in_numpy(a):
    p, v = np.zeros_like(a), a.copy()
    for j in range(1, a.shape[1]):
        p[:, j] = 1.0 / (2.0 + a[:, j] * p[:, j - 1])
    for j in range(a.shape[1] - 2, -1, -1):
        v[:, j] = p[:, j] - 0.5 * v[:, j + 1]
    return v


def columns_in_numpy(a):
    s, t = np.ones(a.shape[1], np.float32), np.zeros(a.shape[1], np.float32)
    for row in a:
        s = s * np.float32(0.5) + row
    for row in a:
        t = t * s + row
    return s - t


@pytest.mark.parametrize(("f", "lanes"), [(rows, "8"), (columns, "512 or fewer"), (logistic, "8")])
def test_it_happens(f, lanes):
    assert f"{lanes} rounds of i side by side, as each of them waits for itself" in f.explain("schedule")


@pytest.mark.parametrize("f", [running, one_after_the_other])
def test_left_alone(f):
    assert "side by side" not in f.explain("schedule")


@pytest.mark.parametrize(("count", "length"), [(0, 5), (7, 5), (8, 1), (8, 2), (9, 33), (40, 0), (100, 70), (3, 9), (520, 9), (1030, 3)])
def test_values_stay(count, length):
    a = rng.random((count, length))
    assert (rows(a) == rows_in_numpy(a)).all()
    b = rng.random((length, count), dtype=np.float32)
    assert (columns(b) == columns_in_numpy(b)).all()
    x = rng.random(count)
    y = x
    for _ in range(length):
        y = 3.7 * y * (1.0 - y)
    assert (logistic(x, length) == y).all()


def test_threads_and_rows_too_long_for_a_cache():
    a = rng.random((700, 300))
    at.set_threads(1)
    one = rows(a)
    at.set_threads(2)
    assert (rows(a) == one).all()
    long = rng.random((9, 40_000))
    assert (rows(long) == rows_in_numpy(long)).all()


def test_pieces_fill_the_lanes():
    for f, lanes in ((rows, 8), (columns, 16)):
        aligned = [s.align for s in lp.walk(compiled_loops(f.core).body) if isinstance(s, lp.Chunks)]
        assert any(align % lanes == 0 for align in aligned)


def test_every_access_is_in_range():
    a = rng.random((19, 6))
    fn = compiled_loops(rows.core)
    sizes = dict(zip(fn.sizes, (19, 6), strict=True))
    for piece in (1, 9, 1000):
        (found,) = execute(fn, [a], sizes, piece)
        assert (found == rows_in_numpy(a)).all()
