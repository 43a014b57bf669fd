"""State that is made anew element by element where it is."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


@at.fn
def damped(x: f64[n], k: i64) -> f64[n]:
    for _ in range(k):
        x = x * 0.5 + 1.0
    return x


@at.fn
def jacobi(a: f64[n, n], b: f64[n, n], k: i64):
    for _ in range(k):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a, b


@at.fn
def momentum(x: f64[n], g: f64[n], k: i64):
    v = 0.0 * x
    for _ in range(k):
        x = x - 0.1 * v
        v = 0.9 * v + g
    return x, v


@at.fn
def below_the_largest(x: f64[n, m], k: i64) -> f64[n, m]:
    for _ in range(k):
        x = [[0.5 * v - max(row) for v in row] for row in x]
    return x


@at.fn
def halved(x: f64[n], limit: f64) -> f64[n]:
    while sum(x) > limit:
        x = 0.5 * x
    return x


@at.fn
def neighbours(x: f64[n], k: i64) -> f64[n]:
    for _ in range(k):
        x = [0.5 * x[(i + 1) % n] for i in range(n)]
    return x


@at.fn
def both(x: f64[n], y: f64[n], k: i64):
    for _ in range(k):
        x, y = x + y, x - y
    return x, y


@at.fn
def scaled(x: f64[n], k: i64) -> f64[n]:
    for _ in range(k):
        x = x / (1.0 + sum(x))
    return x


IN_PLACE = [damped, jacobi, momentum, below_the_largest, halved, scaled]


@pytest.mark.parametrize("f", IN_PLACE, ids=[f.__name__ for f in IN_PLACE])
def test_one_array_is_enough(f: at.Function) -> None:
    assert "next value" not in str(f.memory())


@pytest.mark.parametrize("f", [neighbours, both], ids=["neighbours", "both"])
def test_old_elements_that_are_needed_later_are_kept(f: at.Function) -> None:
    assert "next value" in str(f.memory())


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 16, 17, 100])
@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_values(size: int, k: int) -> None:
    rng = np.random.default_rng(size)
    x, y = rng.random(size), rng.random(size)
    expected, p, q, v, s, far = x.copy(), x, y, 0 * x, x, x
    moved = x
    for _ in range(k):
        expected, far, s = 0.5 * expected + 1, 0.5 * np.roll(far, -1), s / (1 + s.sum())
        p, q = p + q, p - q
        moved, v = moved - 0.1 * v, 0.9 * v + y
    np.testing.assert_array_equal(damped(x, k), expected)
    np.testing.assert_array_equal(both(x, y, k), (p, q))
    np.testing.assert_array_equal(momentum(x, y, k), (moved, v))
    np.testing.assert_allclose(scaled(x, k), s, rtol=1e-13)
    if size:
        np.testing.assert_array_equal(neighbours(x, k), far)
    halves = x
    while halves.sum() > 0.3:
        halves = 0.5 * halves
    np.testing.assert_array_equal(halved(x, 0.3), halves)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9, 33])
def test_matrices(size: int) -> None:
    rng = np.random.default_rng(size)
    a, b, c = rng.random((size, size)), rng.random((size, size)), rng.random((size, 5))
    p, q, low = a.copy(), b.copy(), c
    for _ in range(3):
        for to, of in ((q, p), (p, q)):
            to[1:-1, 1:-1] = 0.2 * (of[1:-1, 1:-1] + of[1:-1, :-2] + of[1:-1, 2:] + of[2:, 1:-1] + of[:-2, 1:-1])
        low = 0.5 * low - low.max(axis=1, keepdims=True)
    if size > 1:
        found = jacobi(a, b, 3)
        np.testing.assert_allclose(found[0], p, rtol=1e-14)
        np.testing.assert_allclose(found[1], q, rtol=1e-14)
    np.testing.assert_array_equal(below_the_largest(c, 3), low)
