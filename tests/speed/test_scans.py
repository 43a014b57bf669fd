"""Scans in runs: they happen, the values are right and the same for every number of threads."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i32, i64
from atoll.loops.profit import SCAN_CHUNK as CHUNK
from tests.agreement import agree

n, m = at.sizes("n m")
rng = np.random.default_rng(11)


@at.fn
def prefix(x: f64[n]) -> f64[n]:
    return scan(add, 0.0, x)


@at.fn
def before(x: i32[n]) -> i32[n]:
    return scan(add, 0, x, exclusive=True)


@at.fn
def highest(x: f32[n]) -> f32[n]:
    return scan(maximum, -inf, x)


@at.fn
def squares(x: f64[n]) -> f64[n]:
    total = scan(add, 0.0, x * x)
    return [t / (1.0 + v) for t, v in zip(total, x)]


@at.fn
def shifted(x: i64[n]) -> i64[n]:
    return scan(minimum, 5, [v - 3 for v in x])


@at.fn(reassociate=False)
def in_order(x: f64[n]) -> f64[n]:
    return scan(add, 0.0, x)


CASES = {
    "prefix": (prefix, lambda s: rng.random(s), lambda x: np.cumsum(x)),
    "before": (before, lambda s: rng.integers(-99, 99, s).astype("i4"), lambda x: np.cumsum(x, dtype="i4") - x),
    "highest": (highest, lambda s: rng.random(s, "f4"), lambda x: np.maximum.accumulate(x)),
    "squares": (squares, lambda s: rng.random(s), lambda x: np.cumsum(x * x) / (1 + x)),
    "shifted": (shifted, lambda s: rng.integers(-99, 99, s), lambda x: np.minimum(5, np.minimum.accumulate(x - 3))),
}


@pytest.mark.parametrize("name", CASES)
def test_scans(name):
    f, data, expected = CASES[name]
    assert "_totals" in f.show("c")
    agree(f, data(7))
    for size in (2 * CHUNK - 1, 2 * CHUNK, 3 * CHUNK + 5, 70 * CHUNK + 1000):
        x = data(size)
        results = []
        try:
            for threads in (1, 2, 3):
                at.set_threads(threads)
                results.append(f(x))
        finally:
            at.set_threads(2)
        assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])
        np.testing.assert_allclose(results[0], expected(x), rtol=1e-12)


def test_nan_goes_on():
    x = rng.random(4 * CHUNK, "f4")
    x[5000] = np.nan
    got = highest(x)
    assert np.array_equal(got, np.maximum.accumulate(x), equal_nan=True)


def test_exact_scans_stay_in_order():
    assert "_totals" not in in_order.show("c")
    x = rng.random(5 * CHUNK)
    assert np.array_equal(in_order(x), np.cumsum(x))


@at.fn
def lowest(x: f64[n]) -> f64[n]:
    return scan(minimum, inf, x)


@pytest.mark.parametrize("f, like, dtype", [(highest, np.maximum, "f4"), (lowest, np.minimum, "f8")])
def test_running_extrema_with_nan(f, like, dtype):
    """Where no NaN came before, a plain comparison is enough; from the first one on everything is NaN."""
    chunk = 4 * 1040
    for size in (1, 2 * chunk - 1, 2 * chunk, 3 * chunk + 17, 66 * chunk + 5):
        x = rng.random(size).astype(dtype)
        assert np.array_equal(f(x), like.accumulate(x))
        for first in {0, min(size - 1, chunk - 1), min(size - 1, chunk), size - 1, size // 2}:
            y = x.copy()
            y[first] = np.nan
            results = []
            try:
                for threads in (1, 2, 3):
                    at.set_threads(threads)
                    results.append(f(y))
            finally:
                at.set_threads(2)
            assert np.array_equal(results[0], like.accumulate(y), equal_nan=True)
            assert all(r.tobytes() == results[0].tobytes() for r in results)
    agree(f, np.array([3.0, np.inf, 1.0, np.nan, 5.0], dtype))


def test_sums_are_scanned_in_vectors():
    f = at.fn(source="""
import atoll as at
n = at.sizes("n")
def running(x: at.f64[n]) -> (at.f64[n], at.f64[n]):
    s = scan(add, 0.5, [v * v for v in x])
    return s, [s[i] - x[i] for i in range(n)]
""")
    assert "reduction(inscan, + :" in f.show("c")
    for size in (0, 1, 4095, 4096, 5000, 300_000):
        x = np.random.default_rng(size).random(size)
        total, rest = f(x)
        np.testing.assert_allclose(total, 0.5 + np.cumsum(x * x), rtol=1e-12)
        assert (rest == total - x).all()
        at.set_threads(1)
        assert (f(x)[0] == total).all()
        at.set_threads(2)
