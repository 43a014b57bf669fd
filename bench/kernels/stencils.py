"""Grids and their neighbours: several steps in one, two and three dimensions, implicit sweeps, lattice-Boltzmann."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f32, f64, i64
from bench.kernel import Kernel, f32s, f64s, jax, prange, rng, touched

n, m, k = at.sizes("n m k")


@at.fn
def jacobi1(u: f64[n], steps: i64) -> f64[n]:
    for _ in range(steps):
        u[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3.0
    return u


def jacobi1_numpy(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3.0
    return u


def jacobi1_numba(u, steps):
    u, v = u.copy(), u.copy()
    for _ in range(steps):
        for i in prange(1, u.size - 1):
            v[i] = (u[i - 1] + u[i] + u[i + 1]) / 3.0
        u, v = v, u
    return u


@at.fn
def jacobi2(u: f32[n, m], steps: i64) -> f32[n, m]:
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


def jacobi2_numpy(u, steps):
    for _ in range(steps):
        o = u.copy()
        o[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = o
    return u


def jacobi2_jax(u, steps):
    step = lambda _, u: u.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))
    return jax.lax.fori_loop(0, steps, step, u)


def jacobi2_numba(u, steps):
    u, v = u.copy(), u.copy()
    for _ in range(steps):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = np.float32(0.25) * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u, v = v, u
    return u


@at.fn
def jacobi_once(u: f32[n, m]) -> f32[n, m]:
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


def jacobi_once_numba(u):
    v = u.copy()
    for i in prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = np.float32(0.25) * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return v


@at.fn
def blur(u: f32[n, m]) -> f32[n - 2, m - 2]:
    h = [[u[i, j] + u[i, j + 1] + u[i, j + 2] for j in range(m - 2)] for i in range(n)]
    return [[(h[i, j] + h[i + 1, j] + h[i + 2, j]) / 9.0 for j in range(m - 2)] for i in range(n - 2)]


def blur_shared(xp, u):
    h = u[:, :-2] + u[:, 1:-1] + u[:, 2:]
    return (h[:-2] + h[1:-1] + h[2:]) / 9


def blur_numba(u):
    o = np.empty((u.shape[0] - 2, u.shape[1] - 2), np.float32)
    for i in prange(u.shape[0] - 2):
        for j in range(u.shape[1] - 2):
            o[i, j] = (
                u[i, j] + u[i, j + 1] + u[i, j + 2] + u[i + 1, j] + u[i + 1, j + 1] + u[i + 1, j + 2] + u[i + 2, j] + u[i + 2, j + 1] + u[i + 2, j + 2]
            ) / np.float32(9)
    return o


@at.fn
def heat3(u: f32[n, m, k], steps: i64) -> f32[n, m, k]:
    for _ in range(steps):
        u[1:-1, 1:-1, 1:-1] = (
            0.4 * u[1:-1, 1:-1, 1:-1]
            + 0.1 * (u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:])
        )
    return u


def heat3_numpy(u, steps):
    c = (slice(1, -1),) * 3
    for _ in range(steps):
        o = u.copy()
        o[c] = 0.4 * u[c] + 0.1 * (u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:])
        u = o
    return u


def heat3_numba(u, steps):
    u, v = u.copy(), u.copy()
    for _ in range(steps):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                for l in range(1, u.shape[2] - 1):
                    v[i, j, l] = np.float32(0.4) * u[i, j, l] + np.float32(0.1) * (
                        u[i - 1, j, l] + u[i + 1, j, l] + u[i, j - 1, l] + u[i, j + 1, l] + u[i, j, l - 1] + u[i, j, l + 1]
                    )
        u, v = v, u
    return u


@at.fn
def tridiagonal(a: f64[k, n], b: f64[k, n], c: f64[k, n], d: f64[k, n]) -> f64[k, n]:
    def solve(a, b, c, d):
        cp, dp = zeros(n), zeros(n)
        cp[0] = c[0] / b[0]
        dp[0] = d[0] / b[0]
        for i in range(1, n):
            w = 1.0 / (b[i] - a[i] * cp[i - 1])
            cp[i] = c[i] * w
            dp[i] = (d[i] - a[i] * dp[i - 1]) * w
        for j in range(1, n):
            i = n - 1 - j
            dp[i] = dp[i] - cp[i] * dp[i + 1]
        return dp

    return [solve(p, q, r, s) for p, q, r, s in zip(a, b, c, d)]


def tridiagonal_numpy(a, b, c, d):
    n = a.shape[1]
    cp, dp = np.zeros_like(a), np.zeros_like(a)
    cp[:, 0], dp[:, 0] = c[:, 0] / b[:, 0], d[:, 0] / b[:, 0]
    for i in range(1, n):
        w = 1.0 / (b[:, i] - a[:, i] * cp[:, i - 1])
        cp[:, i] = c[:, i] * w
        dp[:, i] = (d[:, i] - a[:, i] * dp[:, i - 1]) * w
    for i in range(n - 2, -1, -1):
        dp[:, i] -= cp[:, i] * dp[:, i + 1]
    return dp


def tridiagonal_numba(a, b, c, d):
    k, n = a.shape
    out = np.empty((k, n))
    for q in prange(k):
        cp, dp = np.empty(n), np.empty(n)
        cp[0], dp[0] = c[q, 0] / b[q, 0], d[q, 0] / b[q, 0]
        for i in range(1, n):
            w = 1.0 / (b[q, i] - a[q, i] * cp[i - 1])
            cp[i] = c[q, i] * w
            dp[i] = (d[q, i] - a[q, i] * dp[i - 1]) * w
        for i in range(n - 2, -1, -1):
            dp[i] -= cp[i] * dp[i + 1]
        out[q] = dp
    return out


def tridiagonal_data(s):
    r = rng()
    return r.random((s, 512)), r.random((s, 512)) + 4, r.random((s, 512)), r.random((s, 512))


@at.fn
def adi(u: f64[n, n], steps: i64) -> f64[n, n]:
    def sweep(row):
        p, q = zeros(n), zeros(n)
        q[0] = row[0]
        for j in range(1, n - 1):
            w = 1.0 / (2.0 + 0.5 * p[j - 1])
            p[j] = -0.5 * w
            q[j] = (row[j] + 0.5 * q[j - 1]) * w
        v = at.copy(row)
        for t in range(1, n - 1):
            j = n - 1 - t
            v[j] = q[j] - p[j] * v[j + 1]
        return v

    for _ in range(steps):
        across = [sweep(row) for row in u]
        u = [sweep(column) for column in across.T].T
    return u


def adi_numpy(u, steps):
    def sweep(u):
        n = u.shape[1]
        p, q, v = np.zeros_like(u), np.zeros_like(u), u.copy()
        q[:, 0] = u[:, 0]
        for j in range(1, n - 1):
            w = 1.0 / (2.0 + 0.5 * p[:, j - 1])
            p[:, j] = -0.5 * w
            q[:, j] = (u[:, j] + 0.5 * q[:, j - 1]) * w
        for j in range(n - 2, 0, -1):
            v[:, j] = q[:, j] - p[:, j] * v[:, j + 1]
        return v

    for _ in range(steps):
        u = sweep(sweep(u).T.copy()).T
    return u


def adi_numba(u, steps):
    n = u.shape[0]
    u = u.copy()
    for _ in range(2 * steps):
        v = np.empty((n, n))
        for i in prange(n):
            p, q = np.zeros(n), np.zeros(n)
            q[0] = u[i, 0]
            for j in range(1, n - 1):
                w = 1.0 / (2.0 + 0.5 * p[j - 1])
                p[j] = -0.5 * w
                q[j] = (u[i, j] + 0.5 * q[j - 1]) * w
            last = u[i, n - 1]
            v[n - 1, i] = last
            v[0, i] = u[i, 0]
            for j in range(n - 2, 0, -1):
                last = q[j] - p[j] * last
                v[j, i] = last
        u = v
    return u


W = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])


@at.fn
def lattice_boltzmann(f: f64[9, n, m], steps: i64) -> f64[9, n, m]:
    for _ in range(steps):
        s = [[[f[q, (i - CX[q]) % n, (j - CY[q]) % m] for j in range(m)] for i in range(n)] for q in range(9)]
        rho = [[sum(s[q, i, j] for q in range(9)) for j in range(m)] for i in range(n)]
        ux = [[sum(s[q, i, j] * CX[q] for q in range(9)) / rho[i, j] for j in range(m)] for i in range(n)]
        uy = [[sum(s[q, i, j] * CY[q] for q in range(9)) / rho[i, j] for j in range(m)] for i in range(n)]

        def equilibrium(q, i, j):
            cu = CX[q] * ux[i, j] + CY[q] * uy[i, j]
            square = ux[i, j] * ux[i, j] + uy[i, j] * uy[i, j]
            return W[q] * rho[i, j] * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * square)

        f = [[[s[q, i, j] - 0.6 * (s[q, i, j] - equilibrium(q, i, j)) for j in range(m)] for i in range(n)] for q in range(9)]
    return f


def lattice_boltzmann_numpy(f, steps):
    for _ in range(steps):
        s = np.stack([np.roll(f[q], (CX[q], CY[q]), (0, 1)) for q in range(9)])
        rho = s.sum(0)
        ux = (s * CX[:, None, None]).sum(0) / rho
        uy = (s * CY[:, None, None]).sum(0) / rho
        cu = CX[:, None, None] * ux + CY[:, None, None] * uy
        f = s - 0.6 * (s - W[:, None, None] * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy)))
    return f


def lattice_boltzmann_numba(f, steps):
    n, m = f.shape[1:]
    for _ in range(steps):
        g = np.empty_like(f)
        for i in prange(n):
            s = np.empty(9)
            for j in range(m):
                rho = ux = uy = 0.0
                for q in range(9):
                    s[q] = f[q, (i - CX[q]) % n, (j - CY[q]) % m]
                    rho += s[q]
                    ux += s[q] * CX[q]
                    uy += s[q] * CY[q]
                ux /= rho
                uy /= rho
                for q in range(9):
                    cu = CX[q] * ux + CY[q] * uy
                    g[q, i, j] = s[q] - 0.6 * (s[q] - W[q] * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy)))
        f = g
    return f


KERNELS = [
    Kernel("jacobi 1-d, 20 steps", jacobi1, lambda s: (f64s(s), 20), 1 << 18, numpy=jacobi1_numpy, numba=jacobi1_numba, bytes=lambda u, t: 2.0 * t * u.nbytes),
    Kernel("jacobi 2-d once 2048 f32", jacobi_once, lambda s: (f32s(s, s),), 2048, numpy=lambda u: jacobi2_numpy(u, 1), jax=lambda u: jacobi2_jax(u, 1), numba=jacobi_once_numba, rtol=1e-5, growth=2, bytes=lambda u: 2.0 * u.nbytes, streams=True),
    Kernel("jacobi 2-d, 10 steps f32", jacobi2, lambda s: (f32s(s, s), 10), 1024, numpy=jacobi2_numpy, jax=jacobi2_jax, numba=jacobi2_numba, rtol=1e-5, growth=2, bytes=lambda u, t: 2.0 * t * u.nbytes),
    Kernel("blur 3x3 f32", blur, lambda s: (f32s(s, s),), 2048, shared=blur_shared, numba=blur_numba, rtol=1e-5, growth=2, bytes=lambda u: 2.0 * u.nbytes, streams=True),
    Kernel("heat 3-d, 4 steps f32", heat3, lambda s: (f32s(s, s, s), 4), 128, numpy=heat3_numpy, numba=heat3_numba, rtol=1e-5, growth=3, bytes=lambda u, t: 2.0 * t * u.nbytes),
    Kernel("tridiagonal solves", tridiagonal, tridiagonal_data, 256, numpy=tridiagonal_numpy, numba=tridiagonal_numba, bytes=lambda *a: 1.25 * touched(*a)),
    Kernel("adi, 4 steps", adi, lambda s: (f64s(s, s), 4), 256, numpy=adi_numpy, numba=adi_numba, growth=2),
    Kernel("lattice-boltzmann, 4 steps", lattice_boltzmann, lambda s: (f64s(9, s, s), 4), 128, numpy=lattice_boltzmann_numpy, numba=lattice_boltzmann_numba, growth=2, bytes=lambda f, t: 2.0 * t * f.nbytes),
]
