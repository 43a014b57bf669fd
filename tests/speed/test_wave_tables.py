"""Whole tables of floats filled in order: 8 or 16 rows side by side, each a column behind the row above (loops/recipes/wave.py); values stay bit for bit."""

from dataclasses import replace

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.loops.choices import USUAL
from atoll.loops.execute import execute
from atoll.lower.make import compiled_loops
from atoll.runtime.program import Program

n, m = at.sizes("n m")
rng = np.random.default_rng(11)
SIDES = [0, 1, 7, 8, 16, 17, 63, 64, 65]
SIZES = [(a, b) for a in SIDES for b in SIDES] + [(128, 200), (200, 129)]


@at.fn
def warping(x: f64[n], y: f64[m]) -> f64[n + 1, m + 1]:
    D = [[inf for j in range(m + 1)] for i in range(n + 1)]
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            D[i, j] = abs(x[i - 1] - y[j - 1]) + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D


@at.fn
def single(x: f32[n], y: f32[m]) -> f32:
    """The border of each row is set with the row; only the last element is wanted."""
    D = zeros((n + 1, m + 1), dtype=f32)
    for j in range(m + 1):
        D[0, j] = f32(j)
    for i in range(n):
        D[i + 1, 0] = D[i, 0] + x[i] * x[i]
        for j in range(m):
            D[i + 1, j + 1] = min(D[i, j + 1] + 1.0, D[i + 1, j] + 1.5, D[i, j] + abs(x[i] - y[j]))
    return D[n, m]


@at.fn
def priced(cost: f64[n, m]) -> f64[n, m]:
    """A table of costs is read beside the one that is filled, two columns and two rows back."""
    T = cost
    for i in range(2, n):
        for j in range(2, m):
            T[i, j] = cost[i, j] + min(T[i, j - 2], T[i - 1, j - 1], T[i - 2, j])
    return T


@at.fn
def gaps(x: f64[n], y: f64[m]) -> (f64[n + 1, m + 1], f64[n + 1, m + 1], f64[n + 1, m + 1]):
    """Three tables that read each other."""
    H = zeros((n + 1, m + 1), dtype=f64)
    E = zeros((n + 1, m + 1), dtype=f64)
    F = zeros((n + 1, m + 1), dtype=f64)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            E[i, j] = max(E[i, j - 1] - 0.25, H[i, j - 1] - 1.0)
            F[i, j] = max(F[i - 1, j] - 0.25, H[i - 1, j] - 1.0)
            H[i, j] = max(0.0, H[i - 1, j - 1] + x[i - 1] * y[j - 1], E[i, j], F[i, j])
    return H, E, F


@at.fn
def relaxed(u: f64[n, m], sweeps: i64) -> f64[n, m]:
    """In place: new values above and to the left, old ones below and to the right."""
    for t in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


@at.fn
def seam(cost: f64[n, m]) -> f64[n, m]:
    """A cell needs the one above to the right, which comes a step too late."""
    T = cost
    for i in range(1, n):
        for j in range(1, m - 1):
            T[i, j] = T[i, j - 1] * 0.5 + min(T[i - 1, j - 1], T[i - 1, j], T[i - 1, j + 1])
    return T


@at.fn
def below(u: f64[n, m]) -> f64[n, m]:
    """The old value below to the left is gone when its row has begun."""
    for i in range(n - 1):
        for j in range(1, m):
            u[i, j] = u[i, j - 1] * 0.5 + u[i + 1, j - 1]
    return u


@at.fn
def row_ends(x: f64[n], y: f64[m]) -> f64[n + 1, m + 1]:
    """The end of a row is needed where the next one starts."""
    T = zeros((n + 1, m + 1), dtype=f64)
    for i in range(n):
        T[i + 1, 0] = T[i, m]
        for j in range(m):
            T[i + 1, j + 1] = x[i] * y[j] + max(T[i + 1, j], T[i, j + 1])
    return T


@at.fn
def other_rows(x: f64[n], y: f64[m]) -> f64[n + 1, m + 1]:
    """The border of a row is changed by a later row, after it was read."""
    T = zeros((n + 1, m + 1), dtype=f64)
    for i in range(n):
        T[0, 0] = T[0, 0] + x[i]
        for j in range(m):
            T[i + 1, j + 1] = x[i] * y[j] + max(T[i + 1, j], T[i, j])
    return T


@at.fn
def letters(a: i64[n], b: i64[m]) -> i64[n + 1, m + 1]:
    """Integers wait so little for each other that cells go one by one."""
    T = [[i + j if i == 0 or j == 0 else 0 for j in range(m + 1)] for i in range(n + 1)]
    for i in range(n):
        for j in range(m):
            T[i + 1, j + 1] = min(T[i, j + 1] + 1, T[i + 1, j] + 1, T[i, j] + (0 if a[i] == b[j] else 1))
    return T


def data(f, rows, columns):
    if f in (priced, seam, below):
        return (rng.random((rows, columns)),)
    if f is relaxed:
        return rng.random((rows, columns)), 3
    if f is letters:
        return rng.integers(0, 3, rows), rng.integers(0, 3, columns)
    kind = np.float32 if f is single else np.float64
    return rng.random(rows).astype(kind), rng.random(columns).astype(kind)


WAVES = [warping, single, priced, gaps, relaxed]
ALONE = [seam, below, row_ends, other_rows, letters]


@pytest.mark.parametrize("f", WAVES, ids=lambda f: f.name)
def test_it_happens(f):
    rows = 16 if f in (warping, single, relaxed) else 8
    assert f"{rows} rounds of i at a time, each one step of j behind the one before" in f.explain("schedule")


@pytest.mark.parametrize("f", ALONE, ids=lambda f: f.name)
def test_left_alone(f):
    assert "behind the one before" not in f.explain("schedule")


@pytest.mark.parametrize("f", [*WAVES, *ALONE], ids=lambda f: f.name)
def test_values_stay(f):
    """The same bits as cell by cell, which the interpreter agrees with."""
    plain = Program(f.core, f._arguments, "3", replace(USUAL, wave=False)).call
    for rows, columns in SIZES:
        if (f in (relaxed, below, seam, priced) and min(rows, columns) < 2) or (f is below and rows < 1):
            continue
        args = data(f, rows, columns)
        found, expected = f(*args), plain(*args)
        assert all(np.array_equal(a, b) for a, b in zip(found if isinstance(found, tuple) else (found,), expected if isinstance(expected, tuple) else (expected,), strict=True)), (rows, columns)
    args = data(f, 9, 7)
    np.testing.assert_allclose(plain(*args), f.interpret(*args))


@pytest.mark.parametrize("f", WAVES, ids=lambda f: f.name)
def test_every_access_is_in_range(f):
    args = data(f, 66, 70)
    fn = compiled_loops(f.core)
    given = [np.asarray(x) if isinstance(x, np.ndarray) else x for x in args]
    found = execute(fn, given, dict(zip(fn.sizes, (66, 70), strict=True)), 1000)
    expected = f(*args)
    for a, b in zip(found, expected if isinstance(expected, tuple) else (expected,), strict=True):
        np.testing.assert_array_equal(a, b)


def test_nan_and_infinity_stay():
    x, y = rng.random(70), rng.random(80)
    x[3], x[40], y[7], y[66] = np.nan, np.inf, -np.inf, np.nan
    plain = Program(warping.core, warping._arguments, "3", replace(USUAL, wave=False)).call
    np.testing.assert_array_equal(warping(x, y), plain(x, y))
