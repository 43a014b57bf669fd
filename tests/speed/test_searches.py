"""Iterations that each end when they like run side by side; every one of them does what it did, and nothing is read or computed that could fail."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from tests.agreement import agree, for_all_threads

n, m = at.sizes("n m")
rng = np.random.default_rng(8)
SUMS = """
import atoll as at
n = at.sizes("n")
def strict(x: at.f64[n]) -> at.f64:
    def one(v):
        k = 0.1
        while v < 100.0:
            v, k = v * 1.5 + 1.0, k * 1.1
        return k
    return sum(one(v) for v in x)
"""
SAID = "until the last of them ends"


@at.fn
def escape(re: f64[m], im: f64[n], limit: i64) -> i64[n, m]:
    def steps(cr, ci):
        x, y, count = 0.0, 0.0, 0
        while x * x + y * y <= 4.0 and count < limit:
            x, y, count = x * x - y * y + cr, 2.0 * x * y + ci, count + 1
        return count

    return [[steps(a, b) for a in re] for b in im]


@at.fn
def root(x: f32[n]) -> (f32[n], i64[n]):
    """Newton's method until it stands still."""

    def one(v):
        y, last, rounds = v, v + f32(1.0), 0
        while y != last and rounds < 60:
            y, last, rounds = f32(0.5) * (y + v / y), y, rounds + 1
        return y, rounds

    return unzip([one(v) for v in x])


@at.fn
def fixed_point(x: f64[n], rate: f64) -> f64[n]:
    def one(v):
        y = v
        while abs(cos(y) - y) > 1e-10:
            y = y + rate * (cos(y) - y)
        return y

    return [one(v) for v in x]


@at.fn
def after_and_before(x: f64[n], limit: i64) -> f64[n]:
    """Changes on both sides of the test, and values from before the loop that it does not change."""

    def one(i):
        scale = 1.0 + x[i]
        total, k = 0.0, 0
        while k < limit and total < 10.0:
            total = total + scale * x[i]
            k = k + 1
        return total * scale + f64(k)

    return [one(i) for i in range(n)]


@at.fn
def hailstone(x: i64[n]) -> i64[n]:
    def one(v):
        count = 0
        while v > 1:
            v, count = (v // 2 if v % 2 == 0 else 3 * v + 1), count + 1
        return count

    return [one(v) for v in x]


@at.fn
def walks(x: f64[n], far: i64) -> f64[n]:
    """Each step reads where the last one led."""

    def one(i):
        k, total = i, 0.0
        while k < n and total < 3.0:
            total, k = total + x[k], k + far
        return total

    return [one(i) for i in range(n)]


@at.fn
def quotients(x: i64[n], d: i64) -> i64[n]:
    """A step that could not be computed once more: it divides by what ends the loop."""

    def one(v):
        left, total = d, 0
        while left > 0:
            total, left = total + v // left, left - 1
        return total

    return [one(v) for v in x]


@at.fn
def summed(x: f64[n]) -> f64:
    def one(v):
        k = 0
        while v < 100.0:
            v, k = v * 1.5 + 1.0, k + 1
        return f64(k)

    return sum(one(v) for v in x)


@at.fn
def farthest(x: f64[n]) -> (f64, i64):
    """Two sums of one loop, not of numbers only."""

    def one(v):
        k = 0
        while v < 50.0 and k < 40:
            v, k = v * 1.25 + 0.5, k + 1
        return v, k

    ends, counts = unzip([one(v) for v in x])
    return max(ends, default=0.0), sum(counts)


SIZES = [0, 1, 15, 16, 17, 33, 100]


def test_it_happens():
    for f in (escape, root, fixed_point, after_and_before, summed, farthest):
        assert SAID in f.explain("schedule")
    for f in (walks, quotients):
        assert SAID not in f.explain("schedule")


@pytest.mark.parametrize("size", SIZES)
def test_values_stay(size):
    x = rng.random(size) * 3.0
    agree(escape, np.linspace(-2.0, 0.5, size), np.linspace(-1.2, 1.2, 3), 30)
    agree(fixed_point, x, 0.7)
    agree(hailstone, rng.integers(1, 50, size))
    agree(quotients, rng.integers(-50, 50, size), 4)
    agree(summed, x * 100)
    agree(farthest, x)
    for limit in (0, 1, 7, -3):
        agree(after_and_before, x, limit)
    for far in (1, 5):
        agree(walks, x, far)
    roots, rounds = root(x.astype(np.float32))
    expected = root.interpret(x.astype(np.float32))
    assert np.array_equal(roots, expected[0]) and np.array_equal(rounds, expected[1])


def test_what_is_no_number_ends_at_once():
    x = np.full(40, 0.3)
    x[[0, 7, 16, 39]] = np.nan
    x[3] = np.inf
    agree(after_and_before, x, 5)
    y = np.linspace(-2.0, 0.5, 40)
    y[[1, 20]] = np.nan
    agree(escape, y, np.array([0.1, np.nan]), 25)


def test_threads():
    for_all_threads(escape, np.linspace(-2.0, 0.5, 203), np.linspace(-1.2, 1.2, 70), 60)
    for_all_threads(summed, rng.random(20_011) * 90)


def test_sums_are_added_in_their_order():
    strict = at.fn(reassociate=False, source=SUMS)
    x = rng.random(1003) * 90
    assert SAID in strict.explain("schedule")
    assert strict(x) == strict.interpret(x)


def test_it_can_be_switched_off(tmp_path):
    from atoll.ainf.from_core import translate
    from atoll.loops.choices import Choices
    from atoll.loops.optimise import optimise
    from atoll.lower.function import lower

    fn = lower(translate(escape.core))
    assert not any(SAID in said for said in optimise(fn, choices=Choices(lanes=False)))
