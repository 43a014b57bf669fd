"""Sums of several rows at a time: it happens, every bit stays, and rounds that depend on each other are left alone."""

import dataclasses

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64
from atoll.loops.choices import USUAL
from atoll.runtime.program import Program
from tests.agreement import agree

n, m = at.sizes("n m")
rng = np.random.default_rng(5)


@at.fn
def matvec(A: f64[n, m], x: f64[m]) -> f64[n]:
    return A @ x + 1.0


@at.fn
def strided(A: f32[n, 2 * m], x: f32[m]) -> f32[n]:
    return [exp(-sum(A[n - 1 - i, 2 * r + 1] * x[m - 1 - r] for r in range(m))) for i in range(n)]


@at.fn
def nearest(A: f64[n, m], x: f64[m]) -> f64[n]:
    return [max((abs(A[i, r] - x[r]) for r in range(m)), default=0.0) for i in range(n)]


@at.fn
def cholesky(A: f64[n, n]) -> f64[n, n]:
    L = zeros((n, n))
    for j in range(n):
        d = sqrt(A[j, j] - sum(L[j, p] * L[j, p] for p in range(j)))
        L[j, j] = d
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - sum(L[i, p] * L[j, p] for p in range(j))) / d
    return L


@at.fn
def recurrence(A: f64[n, n]) -> f64[n]:
    x = ones(n)
    for i in range(n):
        x[i] = sum(A[i, j] * x[j] for j in range(n))
    return x


@at.fn(reassociate=False)
def in_order(A: f64[n, m], x: f64[m]) -> f64[n]:
    return A @ x


SAID = "sums of 4 rounds"


def full(*shape):
    return rng.standard_normal(shape)


def positive(size):
    a = full(size, size)
    return a @ a.T + size * np.eye(size)


CASES = {
    "matvec": (matvec, lambda a, b: (full(a, b), full(b)), lambda A, x: A @ x + 1.0),
    "strided": (strided, lambda a, b: (full(a, 2 * b).astype("f4") / 9, full(b).astype("f4")), lambda A, x: np.exp(-(A[::-1, 1::2] @ x[::-1]))),
    "nearest": (nearest, lambda a, b: (full(a, b), full(b)), lambda A, x: np.abs(A - x).max(1, initial=0)),
    "cholesky": (cholesky, lambda a, b: (positive(a),), lambda A: np.linalg.cholesky(A) if len(A) else A),
    "in order": (in_order, lambda a, b: (full(a, b), full(b)), lambda A, x: A @ x),
}


@pytest.mark.parametrize("name", CASES)
def test_it_happens(name):
    assert SAID in CASES[name][0].explain("schedule")


@pytest.mark.parametrize("name", CASES)
def test_small_values(name):
    f, data, expected = CASES[name]
    for shape in ((0, 3), (1, 1), (3, 0), (4, 5), (9, 18)):
        args = data(*shape)
        agree(f, *args, expected=expected(*args))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("shape", [(61, 37), (7, 5000), (300, 1100)])
def test_every_bit_stays(name, shape):
    f, data, expected = CASES[name]
    args = data(*shape)
    plain = Program(f.core, f._arguments, choices=dataclasses.replace(USUAL, rows=False)).call(*args)
    try:
        for threads in (1, 3):
            at.set_threads(threads)
            assert np.array_equal(f(*args), plain)
    finally:
        at.set_threads(2)
    np.testing.assert_allclose(plain, expected(*args), rtol=1e-9 if plain.dtype == np.float64 else 1e-3, atol=1e-12 if plain.dtype == np.float64 else 1e-4)


def test_rounds_that_depend_on_each_other_are_left_alone():
    assert SAID not in recurrence.explain("schedule")
    A = full(13, 13)
    x = np.ones(13)
    for i in range(13):
        x[i] = A[i] @ x
    agree(recurrence, A, expected=x)
