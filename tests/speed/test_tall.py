"""Sums along the first axis in parts of the rows: it happens, the values are right, and they do not depend on threads."""

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from tests.agreement import agree, for_all_threads

n, m = at.sizes("n m")
rng = np.random.default_rng(11)
SAID = "parts of the rows"


@at.fn
def vecmat(x: f64[n], A: f64[n, m]) -> f64[m]:
    return x @ A


@at.fn
def column_sums(A: f32[n, m]) -> f32[m]:
    return sum(A, axis=0)


@at.fn
def logistic(X: f64[n, m], y: f64[n], w: f64[m]) -> f64[m]:
    p = [1.0 / (1.0 + exp(-sum(a * b for a, b in zip(row, w)))) for row in X]
    return (p - y) @ X / n


@at.fn
def largest(A: f64[n, m]) -> f64[m]:
    return [max((A[i, j] for i in range(n)), default=0.0) for j in range(m)]


@at.fn
def counts(A: i64[n, m]) -> i64[m]:
    return [sum(1 for i in range(n) if A[i, j] > 3) for j in range(m)]


@at.fn(reassociate=False)
def in_order(x: f64[n], A: f64[n, m]) -> f64[m]:
    return x @ A


def full(*shape):
    return rng.standard_normal(shape)


CASES = {
    "vecmat": (vecmat, lambda a, b: (full(a), full(a, b)), lambda x, A: x @ A),
    "column sums": (column_sums, lambda a, b: (full(a, b).astype("f4"),), lambda A: A.sum(0)),
    "logistic": (logistic, lambda a, b: (full(a, b), rng.random(a), full(b)), lambda X, y, w: (1 / (1 + np.exp(-(X @ w))) - y) @ X / max(len(X), 1)),
    "largest": (largest, lambda a, b: (full(a, b),), lambda A: A.max(0) if len(A) else np.zeros(A.shape[1])),
    "counts": (counts, lambda a, b: (rng.integers(0, 9, (a, b)),), lambda A: (A > 3).sum(0)),
}


@pytest.mark.parametrize("name", ["vecmat", "column sums", "logistic"])
def test_it_happens(name):
    assert SAID in CASES[name][0].explain("schedule")


@pytest.mark.parametrize("name", CASES)
def test_small_values(name):
    f, data, expected = CASES[name]
    for shape in ((1, 0), (1, 1), (5, 3), (9, 20)):
        args = data(*shape)
        agree(f, *args, expected=expected(*args))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("shape", [(511, 7), (512, 1), (1003, 33), (700, 4097), (5000, 8)])
def test_values_and_threads(name, shape):
    f, data, expected = CASES[name]
    args = data(*shape)
    found = for_all_threads(f, *args)
    wide = expected(*(a.astype(np.float64) if a.dtype.kind == "f" else a for a in args))
    np.testing.assert_allclose(found, wide, rtol=1e-4 if found.dtype == np.float32 else 1e-10, atol=1e-3 if found.dtype == np.float32 else 1e-11)


def test_order_is_kept_where_it_was_asked_for():
    assert SAID not in in_order.explain("schedule")
    x, A = full(700), full(700, 3)
    expected = np.zeros(3)
    for i in range(700):
        expected = expected + x[i] * A[i]
    assert np.array_equal(in_order(x, A), expected)


def test_memory_is_what_is_said():
    reasons = [u.reason for u in vecmat.memory() if u.kind == "temporary"]
    assert reasons == ["sums of parts of the rows"]
    assert sum(u.reason.startswith("sums read") for u in logistic.memory()) <= 1
