"""Addresses that are data: histograms, scans, segments, sparse matrices, sorting, filters."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f32, f64, i64
from bench.kernel import Kernel, f32s, f64s, jax, jnp, prange, rng, torch, touched

n, m, k = at.sizes("n m k")
kept = at.some("kept")


@at.fn
def histogram(keys: i64[n]) -> i64[256]:
    return hist(add, 0, 256, keys, [1 for _ in range(n)])


def histogram_numba(x):
    o = np.zeros(256, np.int64)
    for i in range(x.size):
        o[x[i]] += 1
    return o


@at.fn
def weighted(keys: i64[n], weights: f64[n]) -> f64[4096]:
    return hist(add, 0.0, 4096, keys, weights)


def weighted_numba(keys, weights):
    o = np.zeros(4096)
    for i in range(keys.size):
        o[keys[i]] += weights[i]
    return o


@at.fn
def prefix(x: f64[n]) -> f64[n]:
    return scan(add, 0.0, x)


def prefix_numba(x):
    o = np.empty_like(x)
    s = 0.0
    for i in range(x.size):
        s += x[i]
        o[i] = s
    return o


@at.fn
def running_max(x: f32[n]) -> f32[n]:
    return scan(maximum, -inf, x)


def running_max_numba(x):
    o = np.empty_like(x)
    s = np.float32(-np.inf)
    for i in range(x.size):
        s = max(s, x[i])
        o[i] = s
    return o


@at.fn
def segments(starts: i64[k + 1], x: f64[n]) -> f64[k]:
    return [sum(x[j] for j in range(starts[i], starts[i + 1])) for i in range(k)]


def segments_numba(starts, x):
    o = np.empty(starts.size - 1)
    for i in prange(o.size):
        s = 0.0
        for j in range(starts[i], starts[i + 1]):
            s += x[j]
        o[i] = s
    return o


def segments_data(s):
    r = rng()
    cuts = np.sort(r.integers(0, s, s // 16 - 1))
    return np.concatenate([[0], cuts, [s]]).astype(np.int64), r.random(s)


def segments_numpy(starts, x):
    sums = np.concatenate([[0.0], np.cumsum(x)])
    return sums[starts[1:]] - sums[starts[:-1]]


@at.fn
def spmv(row: i64[n + 1], column: i64[k], value: f64[k], x: f64[m]) -> f64[n]:
    return [sum(value[j] * x[column[j]] for j in range(row[i], row[i + 1])) for i in range(n)]


def spmv_numba(row, column, value, x):
    o = np.empty(row.size - 1)
    for i in prange(o.size):
        s = 0.0
        for j in range(row[i], row[i + 1]):
            s += value[j] * x[column[j]]
        o[i] = s
    return o


def spmv_numpy(row, column, value, x):
    return np.add.reduceat(value * x[column], row[:-1])


def spmv_data(s):
    r = rng()
    counts = r.integers(1, 31, s)
    row = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return row, r.integers(0, s, row[-1]), r.random(row[-1]), r.random(s)


@at.fn
def sorted_(x: f32[n]) -> f32[n]:
    return sort(x)


@at.fn
def order(x: f64[n]) -> i64[n]:
    return argsort(x)


@at.fn
def large(x: f32[n]) -> f32[kept]:
    return filter(lambda v: v > 1.0, x)


def large_numba(x):
    o = np.empty_like(x)
    count = 0
    for i in range(x.size):
        if x[i] > np.float32(1):
            o[count] = x[i]
            count += 1
    return o[:count]


@at.fn
def take(x: f64[n], at_: i64[m]) -> f64[m]:
    return x[at_]


def take_numba(x, at_):
    o = np.empty(at_.size)
    for i in prange(at_.size):
        o[i] = x[at_[i]]
    return o


KERNELS = [
    Kernel("histogram 256 bins 1M", histogram, lambda s: (rng().integers(0, 256, s),), 1 << 20, numpy=lambda x: np.bincount(x, minlength=256), jax=lambda x: jnp.bincount(x, length=256), numba=histogram_numba, serial=True, torch=lambda x: torch.bincount(x, minlength=256), rtol=0, bytes=touched),
    Kernel("weighted histogram 4096 bins", weighted, lambda s: (rng().integers(0, 4096, s), f64s(s)), 1 << 20, numpy=lambda x, w: np.bincount(x, w, 4096), jax=lambda x, w: jnp.bincount(x, w, length=4096), numba=weighted_numba, serial=True, torch=lambda x, w: torch.bincount(x, w, 4096), bytes=touched),
    Kernel("prefix sums 1M f64", prefix, lambda s: (f64s(s),), 1 << 20, shared=lambda xp, x: xp.cumsum(x), numba=prefix_numba, serial=True, torch=lambda x: torch.cumsum(x, 0), bytes=lambda x: 2.0 * x.nbytes),
    Kernel("prefix sums 8M f64", prefix, lambda s: (f64s(s),), 1 << 23, shared=lambda xp, x: xp.cumsum(x), numba=prefix_numba, serial=True, torch=lambda x: torch.cumsum(x, 0), bytes=lambda x: 2.0 * x.nbytes, streams=True),
    Kernel("running maximum 1M f32", running_max, lambda s: (f32s(s),), 1 << 20, numpy=np.maximum.accumulate, jax=lambda x: jax.lax.cummax(x), numba=running_max_numba, serial=True, torch=lambda x: torch.cummax(x, 0)[0], rtol=0, bytes=lambda x: 2.0 * x.nbytes),
    Kernel("segmented sums", segments, segments_data, 1 << 20, numpy=segments_numpy, numba=segments_numba, rtol=1e-7, bytes=touched),
    Kernel("sparse matrix-vector", spmv, spmv_data, 1 << 16, numpy=spmv_numpy, numba=spmv_numba, bytes=touched),
    Kernel("sort 1M f32", sorted_, lambda s: (f32s(s),), 1 << 20, shared=lambda xp, x: xp.sort(x), torch=lambda x: torch.sort(x)[0], rtol=0, growth=1),
    Kernel("argsort 256K f64", order, lambda s: (f64s(s),), 1 << 18, numpy=lambda x: np.argsort(x, stable=True), jax=lambda x: jnp.argsort(x), torch=lambda x: torch.argsort(x, stable=True), rtol=0, growth=1),
    Kernel("filter 1M f32", large, lambda s: (f32s(s),), 1 << 20, numpy=lambda x: x[x > 1], numba=large_numba, serial=True, torch=lambda x: x[x > 1], rtol=0, bytes=lambda x: 1.5 * x.nbytes),
    Kernel("gather 1M f64", take, lambda s: (f64s(s), rng().integers(0, s, s)), 1 << 20, shared=lambda xp, x, i: x[i], numba=take_numba, torch=lambda x, i: x[i], rtol=0, bytes=lambda x, i: 3.0 * x.nbytes),
]
