"""any and all in blocks: it happens, every size and place gives the answer, and what can fail is left alone."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i8, i64
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops
from tests.agreement import fails, for_all_threads

n, m = at.sizes("n m")
rng = np.random.default_rng(14)
SIZES = [0, 1, 7, 8, 9, 65, 1023, 1024, 1025, 20_000]


@at.fn
def some(x: f64[n], a: f64) -> at.bool_:
    return any(v > a for v in x)


@at.fn
def every(x: f32[n], a: f32) -> at.bool_:
    return all(v <= a for v in x)


@at.fn
def bytes_(x: i8[n], y: i8[n]) -> at.bool_:
    return all(a == b or a < i8(0) for a, b in zip(x, y))


@at.fn
def truths(x: at.bool_[n]) -> at.bool_:
    return any(x)


@at.fn
def by_rows(x: f64[n, m], a: f64) -> at.bool_[n]:
    return [any(v > a for v in row) for row in x]


@at.fn
def divides(x: i64[n], y: i64[n]) -> at.bool_:
    """A round may fail, also one after the answer is known."""
    return any(a // b > 3 for a, b in zip(x, y))


@pytest.mark.parametrize("f", [some, every, bytes_, truths, by_rows])
def test_it_happens(f):
    assert "in blocks of 1024, until it is known" in f.explain("schedule")


def test_what_fails_still_fails():
    x, y = np.array([9, 1, 1]), np.array([1, 1, 0])
    fails(divides, x, y, code="E0702")
    assert divides(x[:2], y[:2])


@pytest.mark.parametrize("size", SIZES)
def test_every_place(size):
    x = rng.random(size)
    assert for_all_threads(some, x, 2.0) is not None and not some(x, 2.0) and every(x.astype("f4"), np.float32(2.0))
    for k in {0, size // 3, size // 2, size - 1}:
        if 0 <= k < size:
            y = x.copy()
            y[k] = 3.0
            assert for_all_threads(some, y, 2.0)
            assert not for_all_threads(every, y.astype("f4"), np.float32(2.0))
            z = np.zeros(size, bool)
            z[k] = True
            assert for_all_threads(truths, z) and not truths(~z & z)
            a, b = np.ones(size, np.int8), np.ones(size, np.int8)
            assert bytes_(a, b)
            b[k] = 5
            assert not for_all_threads(bytes_, a, b)
            a[k] = -1
            assert for_all_threads(bytes_, a, b)


def test_not_a_number_is_nothing():
    x = np.full(3000, np.nan)
    assert not for_all_threads(some, x, 0.0) and not for_all_threads(every, x.astype("f4"), np.float32(0.0))


@pytest.mark.parametrize("length", [0, 5, 1024, 2500])
def test_rows(length):
    x = rng.random((9, length))
    a = 1.0 - 1.0 / (2 * length + 1)
    assert (for_all_threads(by_rows, x, a) == (x > a).any(1)).all()


def test_every_access_is_in_range():
    fn = compiled_loops(some.core)
    for size in (0, 3, 1024, 1030):
        for a in (-1.0, 2.0):
            (found,) = execute(fn, [rng.random(size), a], dict(zip(fn.sizes, (size,), strict=True)), 1000)
            assert found == (size > 0 and a < 0)


def test_pieces_stop_when_one_knows():
    for f in (some, truths, every):
        assert "at_known" in f.show("c")
    assert "at_known" not in divides.show("c") and "at_known" not in by_rows.show("c")
    size = 4_000_000
    for k in (0, size // 2, size - 1):
        z = np.zeros(size, bool)
        z[k] = True
        assert for_all_threads(truths, z)
        assert not for_all_threads(truths, z & ~z)
