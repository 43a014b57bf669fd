"""Dynamic programming: tables filled in an order that data dependences fix."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f64, i64
from bench.kernel import Kernel, f64s, jax, jnp, prange, rng

n, m = at.sizes("n m")


@at.fn
def floyd_warshall(d: f64[n, n]) -> f64[n, n]:
    for p in range(n):
        d = [[min(d[i, j], d[i, p] + d[p, j]) for j in range(n)] for i in range(n)]
    return d


def floyd_warshall_numpy(d):
    for p in range(d.shape[0]):
        d = np.minimum(d, d[:, p, None] + d[None, p, :])
    return d


def floyd_warshall_jax(d):
    return jax.lax.fori_loop(0, d.shape[0], lambda p, d: jnp.minimum(d, d[:, p, None] + d[None, p, :]), d)


def floyd_warshall_numba(d):
    d = d.copy()
    n = d.shape[0]
    for p in range(n):
        for i in prange(n):
            f = d[i, p]
            for j in range(n):
                d[i, j] = min(d[i, j], f + d[p, j])
    return d


@at.fn
def smith_waterman(a: i64[n], b: i64[m]) -> i64:
    row = zeros(m + 1, dtype=i64)
    best = 0
    for i in range(n):
        left, diagonal = 0, 0
        for j in range(m):
            score = 3 if a[i] == b[j] else -3
            here = max(max(0, diagonal + score), max(row[j + 1] - 2, left - 2))
            diagonal = row[j + 1]
            left = here
            row[j + 1] = here
            best = max(best, here)
    return best


def smith_waterman_numba(a, b):
    row = np.zeros(b.size + 1, np.int64)
    best = 0
    for i in range(a.size):
        left = diagonal = 0
        for j in range(b.size):
            score = 3 if a[i] == b[j] else -3
            here = max(max(0, diagonal + score), max(row[j + 1] - 2, left - 2))
            diagonal = row[j + 1]
            left = here
            row[j + 1] = here
            best = max(best, here)
    return best


@at.fn
def levenshtein(a: i64[n], b: i64[m]) -> i64:
    row = [j for j in range(m + 1)]
    for i in range(n):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(m):
            here = min(min(row[j + 1] + 1, row[j] + 1), diagonal + (0 if a[i] == b[j] else 1))
            diagonal = row[j + 1]
            row[j + 1] = here
    return row[m]


def levenshtein_numba(a, b):
    row = np.arange(b.size + 1)
    for i in range(a.size):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(b.size):
            here = min(min(row[j + 1] + 1, row[j] + 1), diagonal + (0 if a[i] == b[j] else 1))
            diagonal = row[j + 1]
            row[j + 1] = here
    return row[b.size]


@at.fn
def nussinov(s: i64[n]) -> i64:
    t = zeros((n, n), dtype=i64)
    for r in range(1, n):
        i = n - 1 - r
        for j in range(i + 1, n):
            pair = t[i + 1, j - 1] + (1 if s[i] + s[j] == 3 else 0) if i + 1 < j else 0
            best = max(max(t[i, j - 1], t[i + 1, j]), pair)
            t[i, j] = max(best, max((t[i, q] + t[q + 1, j] for q in range(i + 1, j)), default=0))
    return t[0, n - 1]


def nussinov_numba(s):
    n = s.size
    t = np.zeros((n, n), np.int64)
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            best = max(t[i, j - 1], t[i + 1, j])
            if i + 1 < j:
                best = max(best, t[i + 1, j - 1] + (1 if s[i] + s[j] == 3 else 0))
            for q in range(i + 1, j):
                best = max(best, t[i, q] + t[q + 1, j])
            t[i, j] = best
    return t[0, n - 1]


def letters(s):
    return rng().integers(0, 4, s)


KERNELS = [
    Kernel("floyd-warshall", floyd_warshall, lambda s: (f64s(s, s),), 256, numpy=floyd_warshall_numpy, jax=floyd_warshall_jax, numba=floyd_warshall_numba, growth=3, flops=lambda d: 2.0 * d.shape[0] ** 3),
    Kernel("smith-waterman", smith_waterman, lambda s: (letters(s), letters(s)), 1000, numpy=smith_waterman_numba, numba=smith_waterman_numba, serial=True, growth=2, rtol=0, slow_numpy=True),
    Kernel("levenshtein", levenshtein, lambda s: (letters(s), letters(s + 7)), 1000, numpy=levenshtein_numba, numba=levenshtein_numba, serial=True, growth=2, rtol=0, slow_numpy=True),
    Kernel("nussinov", nussinov, lambda s: (letters(s),), 250, numpy=nussinov_numba, numba=nussinov_numba, serial=True, growth=3, rtol=0, slow_numpy=True),
]
