"""Sums over rounds that are recurrences: rounds run in lanes, what they add is added in their order."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops
from tests.agreement import for_all_threads

n, m = at.sizes("n m")
rng = np.random.default_rng(12)
SIZES = [0, 1, 7, 8, 9, 65, 1000]


@at.fn
def asian(z: f64[n, m], start: f64) -> f64:
    def payoff(row):
        s, total = start, 0.0
        for v in row:
            s = s * exp(0.01 * v)
            total = total + s
        return maximum(total / m - start, 0.0)

    return sum(payoff(row) for row in z)


@at.fn
def narrow(z: f32[n, m]) -> f32:
    def run(row):
        s = f32(1.0)
        for v in row:
            s = f32(1.0) / (s + v)
        return s

    return sum(run(row) for row in z)


@at.fn(reassociate=False)
def in_order(x: f64[n], rounds: i64) -> f64:
    def run(y):
        for _ in range(rounds):
            y = 3.7 * y * (1.0 - y)
        return y

    return sum(run(y) for y in x)


@at.fn
def whole(x: i64[n], rounds: i64) -> i64:
    def run(y):
        for _ in range(rounds):
            y = y * 5 + 1
        return y

    return sum(run(y) for y in x)


@at.fn
def largest(x: f64[n], rounds: i64) -> f64:
    def run(y):
        for _ in range(rounds):
            y = 3.7 * y * (1.0 - y)
        return y

    return max(run(y) for y in x)


@at.fn
def with_an_array(a: f64[n, m]) -> f64:
    """Every round has an array of its own."""

    def last(row):
        p = zeros(m)
        for j in range(1, m):
            p[j] = 1.0 / (2.0 + row[j] * p[j - 1])
        return sum(p)

    return sum(last(row) for row in a)


@at.fn
def plain(a: f64[n, m]) -> f64:
    """A step is one addition, and lanes would be rows apart."""

    def run(row):
        s = 0.0
        for v in row:
            s = s * 0.5 + v
        return s

    return sum(run(row) for row in a)


@at.fn
def data_decides(x: f64[n], rounds: i64[n]) -> f64:
    """Rounds of different lengths."""

    def run(y, count):
        for _ in range(count):
            y = 1.0 / (y + 1.0)
        return y

    return sum(run(y, count) for y, count in zip(x, rounds))


@pytest.mark.parametrize(("f", "lanes"), [(asian, 8), (narrow, 16), (in_order, 8), (whole, 8), (largest, 8)])
def test_it_happens(f, lanes):
    assert f"{lanes} rounds of i side by side, as each of them waits for itself" in f.explain("schedule")


@pytest.mark.parametrize("f", [plain, data_decides])
def test_left_alone(f):
    assert "side by side" not in f.explain("schedule")


def logistic(x, rounds):
    for _ in range(rounds):
        x = 3.7 * x * (1.0 - x)
    return x


@pytest.mark.parametrize("count", SIZES)
def test_values(count):
    z = rng.standard_normal((count, 13))
    paths = 100.0 * np.exp(np.cumsum(0.01 * z, 1))
    assert np.isclose(for_all_threads(asian, z, 100.0), np.maximum(paths.sum(1) / 13 - 100.0, 0).sum(), rtol=1e-12)
    a = rng.random((count, 13), dtype=np.float32)
    s = np.ones(count, np.float32)
    for j in range(13):
        s = np.float32(1) / (s + a[:, j])
    assert np.isclose(for_all_threads(narrow, a), s.sum(dtype=np.float64), rtol=1e-5)
    x = rng.random(count)
    total = 0.0
    for y in logistic(x, 21):
        total += y
    assert for_all_threads(in_order, x, 21) == total
    k = rng.integers(-9, 9, count)
    y = k
    for _ in range(5):
        y = y * 5 + 1
    assert for_all_threads(whole, k, 5) == y.sum()
    if count:
        assert for_all_threads(largest, x, 21) == logistic(x, 21).max()
    b = rng.random((count, 6))
    assert np.isclose(for_all_threads(with_an_array, b), with_an_array.interpret(b))


def test_not_a_number_and_zero_rounds():
    x = rng.random(30)
    x[[3, 29]] = np.nan
    assert np.isnan(for_all_threads(in_order, x, 9)) and np.isnan(for_all_threads(largest, x, 9))
    assert for_all_threads(in_order, x[4:20], 0) == np.cumsum(x[4:20])[-1]


@pytest.mark.parametrize("count", [0, 3, 8, 21])
def test_every_access_is_in_range(count):
    z = rng.standard_normal((count, 4))
    fn = compiled_loops(asian.core)
    for piece in (1, 9, 1000):
        (found,) = execute(fn, [z, 100.0], dict(zip(fn.sizes, (count, 4), strict=True)), piece)
        assert np.isclose(found, asian.interpret(z, 100.0))


def test_in_order_means_in_order():
    """Pieces of a long sum would be added to each other, not from left to right."""

    @at.fn(reassociate=False)
    def total(x: f64[n]) -> f64:
        return sum(v * 2.0 for v in x)

    x = rng.random(300_000)
    assert for_all_threads(total, x) == np.cumsum(x * 2.0)[-1]
