"""Programs as strangers write them: pivots by data, rows that change places between two matrices, ranges that are empty or run backwards. Plain Python and differences say what is right."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


@at.fn
def determinant(A: f64[n, n]) -> f64:
    d = 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if p != k:
            A[k], A[p] = A[p], A[k]
            d = -d
        d *= A[k, k]
        for i in range(k + 1, n):
            A[i, k:] -= A[k, k:] * (A[i, k] / A[k, k])
    return d


def test_determinant() -> None:
    for size in (1, 2, 5):
        a = np.random.default_rng(size).random((size, size))
        np.testing.assert_allclose(determinant(a), np.linalg.det(a), rtol=1e-9)
        np.testing.assert_allclose(at.grad(determinant)(a), np.linalg.det(a) * np.linalg.inv(a).T, rtol=1e-7)


@at.fn
def exchanged(A: f64[n, m], p: i64[n]) -> f64:
    B = at.copy(A)
    for i in range(n):
        j = p[i] % n
        A[i], B[j] = B[j], A[i]
        if p[i] > 4:
            A, B = B, A
    return sum(sum(A * A)) + sum(sum(B * 3.0))


def exchanged_in_python(A: Any, p: Any) -> float:
    A, B = A.copy(), A.copy()
    for i in range(len(A)):
        j = p[i] % len(A)
        A[i], B[j] = B[j].copy(), A[i].copy()
        if p[i] > 4:
            A, B = B, A
    return float((A * A).sum() + 3.0 * B.sum())


def differences(f: Any, x: Any, *rest: Any) -> Any:
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        found[place] = (f(x + step, *rest) - f(x - step, *rest)) / 2e-6
    return found


def test_exchanged() -> None:
    rng = np.random.default_rng(3)
    for _ in range(6):
        a, p = rng.random((4, 3)), rng.integers(0, 9, 4)
        np.testing.assert_allclose(exchanged(a, p), exchanged_in_python(a, p), rtol=1e-12)
        np.testing.assert_allclose(at.grad(exchanged)(a, p), differences(exchanged_in_python, a, p), rtol=1e-6, atol=1e-7)


@at.fn
def backwards(x: f64[n], low: i64, high: i64) -> f64:
    s = 0.0
    for i in range(low, high):
        if i >= 0 and i < n:
            s += sum(x[j] * (j - i) for j in range(i, high) if j < n)
    return s + sum(x[j] * x[j] for j in range(high, low, -2) if 0 <= j and j < n)


def backwards_in_python(x: Any, low: int, high: int) -> float:
    s = 0.0
    for i in range(low, high):
        if 0 <= i < len(x):
            s += sum(x[j] * (j - i) for j in range(i, high) if j < len(x))
    return float(s + sum(x[j] * x[j] for j in range(high, low, -2) if 0 <= j < len(x)))


def test_backwards() -> None:
    x = np.random.default_rng(1).random(4)
    for low in (-6, -1, 0, 2, 5):
        for high in (-7, -1, 0, 1, 3, 4, 9):
            np.testing.assert_allclose(backwards(x, low, high), backwards_in_python(x, low, high), rtol=1e-12)
            np.testing.assert_allclose(at.grad(backwards)(x, low, high), differences(backwards_in_python, x, low, high), rtol=1e-6, atol=1e-7)
