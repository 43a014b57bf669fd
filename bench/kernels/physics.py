"""Particles, random numbers."""

from __future__ import annotations

import math

import numpy as np

import atoll as at
from atoll import f64, i64, u64
from bench.kernel import Kernel, prange, rng

n, m = at.sizes("n m")


@at.fn
def nbody(x: f64[n, 3], mass: f64[n]) -> f64[n, 3]:
    def pull(i):
        def term(j):
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            return dx, dy, dz, mass[j] / (r2 * sqrt(r2))

        ax = sum(term(j)[0] * term(j)[3] for j in range(n))
        ay = sum(term(j)[1] * term(j)[3] for j in range(n))
        az = sum(term(j)[2] * term(j)[3] for j in range(n))
        return [ax, ay, az]

    return [pull(i) for i in range(n)]


def nbody_shared(xp, x, mass):
    d = x[None, :, :] - x[:, None, :]
    r2 = (d * d).sum(2) + 0.01
    return (d * (mass / (r2 * xp.sqrt(r2)))[:, :, None]).sum(1)


def nbody_numba(x, mass):
    n = mass.size
    o = np.empty((n, 3))
    for i in prange(n):
        ax = ay = az = 0.0
        for j in range(n):
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            f = mass[j] / (r2 * math.sqrt(r2))
            ax += dx * f
            ay += dy * f
            az += dz * f
        o[i, 0], o[i, 1], o[i, 2] = ax, ay, az
    return o


@at.fn
def monte_carlo(count: i64) -> f64:
    def uniform(i):
        a = (u64(i) + u64(1)) * u64(0x9E3779B97F4A7C15)
        b = (a ^ (a >> u64(30))) * u64(0xBF58476D1CE4E5B9)
        c = (b ^ (b >> u64(27))) * u64(0x94D049BB133111EB)
        return f64((c ^ (c >> u64(31))) >> u64(11)) * 1.1102230246251565e-16

    inside = sum(1 if uniform(2 * i) ** 2 + uniform(2 * i + 1) ** 2 <= 1.0 else 0 for i in range(count))
    return 4.0 * inside / count


def _uniform(i):
    a = (np.uint64(i) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    b = (a ^ (a >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    c = (b ^ (b >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.float64((c ^ (c >> np.uint64(31))) >> np.uint64(11)) * 1.1102230246251565e-16


def monte_carlo_numpy(count):
    i = np.arange(2 * count, dtype=np.uint64)
    a = (i + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    b = (a ^ (a >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    c = (b ^ (b >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    u = ((c ^ (c >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 1.1102230246251565e-16
    return 4.0 * np.count_nonzero(u[::2] ** 2 + u[1::2] ** 2 <= 1.0) / count


def monte_carlo_numba(count):
    inside = 0
    for i in prange(count):
        u = np.empty(2)
        for q in range(2):
            a = (np.uint64(2 * i + q) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            b = (a ^ (a >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            c = (b ^ (b >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            u[q] = np.float64((c ^ (c >> np.uint64(31))) >> np.uint64(11)) * 1.1102230246251565e-16
        if u[0] * u[0] + u[1] * u[1] <= 1.0:
            inside += 1
    return 4.0 * inside / count


KERNELS = [
    Kernel("n-body", nbody, lambda s: (rng().random((s, 3)), rng().random(s)), 1000, shared=nbody_shared, numba=nbody_numba, growth=2, rtol=1e-7, flops=lambda x, w: 20.0 * w.size**2),
    Kernel("monte carlo pi", monte_carlo, lambda s: (s,), 1 << 20, numpy=monte_carlo_numpy, numba=monte_carlo_numba, rtol=0),
]
