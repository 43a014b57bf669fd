"""Sums, products and extrema, of vectors and along the axes of matrices."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f32, f64, i64
from bench.kernel import Kernel, f32s, f64s, prange, torch, touched

n, m = at.sizes("n m")


@at.fn
def total(x: f64[n]) -> f64:
    return sum(x)


@at.fn
def total32(x: f32[n]) -> f32:
    return sum(x)


def total_numba(x):
    s = 0.0
    for i in prange(x.size):
        s += x[i]
    return s


@at.fn
def dot(x: f64[n], y: f64[n]) -> f64:
    return sum(a * b for a, b in zip(x, y))


def dot_numba(x, y):
    s = 0.0
    for i in prange(x.size):
        s += x[i] * y[i]
    return s


@at.fn
def largest(x: f32[n]) -> f32:
    return max(x)


def largest_numba(x):
    s = -np.inf
    for i in prange(x.size):
        s = max(s, x[i])
    return s


@at.fn
def where_largest(x: f32[n]) -> i64:
    return argmax(x)


@at.fn
def variance(x: f64[n]) -> f64:
    mean = sum(x) / n
    return sum((v - mean) * (v - mean) for v in x) / n


def variance_numba(x):
    s = 0.0
    for i in prange(x.size):
        s += x[i]
    mean = s / x.size
    t = 0.0
    for i in prange(x.size):
        t += (x[i] - mean) ** 2
    return t / x.size


@at.fn
def rows(A: f64[n, m]) -> f64[n]:
    return sum(A)


def rows_numba(A):
    o = np.empty(A.shape[0])
    for i in prange(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j]
        o[i] = s
    return o


@at.fn
def columns(A: f64[n, m]) -> f64[m]:
    return sum(A, axis=0)


def columns_numba(A):
    o = np.zeros(A.shape[1])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            o[j] += A[i, j]
    return o


KERNELS = [
    Kernel("sum 64K f64", total, lambda s: (f64s(s),), 1 << 16, shared=lambda xp, x: xp.sum(x), numba=total_numba, torch=lambda x: torch.sum(x), bytes=touched),
    Kernel("sum 8M f64", total, lambda s: (f64s(s),), 1 << 23, shared=lambda xp, x: xp.sum(x), numba=total_numba, torch=lambda x: torch.sum(x), bytes=touched, streams=True),
    Kernel("sum 1M f32", total32, lambda s: (f32s(s),), 1 << 20, shared=lambda xp, x: xp.sum(x), numba=total_numba, torch=lambda x: torch.sum(x), rtol=1e-5, bytes=touched),
    Kernel("dot 64K f64", dot, lambda s: (f64s(s), f64s(s)), 1 << 16, shared=lambda xp, x, y: xp.dot(x, y), numba=dot_numba, torch=lambda x, y: torch.dot(x, y), bytes=touched),
    Kernel("dot 4M f64", dot, lambda s: (f64s(s), f64s(s)), 1 << 22, shared=lambda xp, x, y: xp.dot(x, y), numba=dot_numba, torch=lambda x, y: torch.dot(x, y), bytes=touched, streams=True),
    Kernel("max 1M f32", largest, lambda s: (f32s(s),), 1 << 20, shared=lambda xp, x: xp.max(x), numba=largest_numba, torch=lambda x: torch.max(x), bytes=touched),
    Kernel("argmax 1M f32", where_largest, lambda s: (f32s(s),), 1 << 20, shared=lambda xp, x: xp.argmax(x), torch=lambda x: torch.argmax(x), rtol=0, bytes=touched),
    Kernel("variance 1M f64", variance, lambda s: (f64s(s),), 1 << 20, shared=lambda xp, x: xp.var(x), numba=variance_numba, torch=lambda x: torch.var(x, correction=0), bytes=touched),
    Kernel("row sums f64", rows, lambda s: (f64s(s, s),), 2048, shared=lambda xp, A: xp.sum(A, 1), numba=rows_numba, torch=lambda A: torch.sum(A, 1), bytes=touched, growth=2, streams=True),
    Kernel("column sums f64", columns, lambda s: (f64s(s, s),), 2048, shared=lambda xp, A: xp.sum(A, 0), numba=columns_numba, torch=lambda A: torch.sum(A, 0), bytes=touched, growth=2, streams=True),
]
