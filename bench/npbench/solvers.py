"""Factorisations and solves."""

from __future__ import annotations

from typing import Any

import atoll as at
from atoll import c128, f64
from bench.npbench.task import Task, np, presets, rng, several

n, m, k = at.sizes("n m k")


@at.fn
def cholesky(a: f64[n, n]) -> f64[n, n]:
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - sum(a[i, p] * a[j, p] for p in range(j))) / a[j, j]
        a[i, i] = sqrt(a[i, i] - sum(a[i, p] * a[i, p] for p in range(i)))
    return a


def cholesky_np(xp: Any, a: Any) -> Any:
    """The lower triangle is the factor, above it stays what was there."""
    return np.tril(np.linalg.cholesky(a)) + np.triu(a, 1)


def cholesky_loops_np(xp: Any, a: Any) -> Any:
    a = a.copy()
    for i in range(len(a)):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
    return a


def cholesky_nb(a: Any) -> Any:
    a, n = a.copy(), len(a)
    for i in range(n):
        for j in range(i):
            s = a[i, j]
            for p in range(j):
                s -= a[i, p] * a[j, p]
            a[i, j] = s / a[j, j]
        s = a[i, i]
        for p in range(i):
            s -= a[i, p] * a[i, p]
        a[i, i] = np.sqrt(s)
    return a


@at.fn
def cholesky2(a: f64[n, n]) -> f64[n, n]:
    f = cholesky(a)
    return [[f[i, j] if j <= i else a[i, j] for j in range(n)] for i in range(n)]


def positive(n: int) -> tuple[Any, ...]:
    a = rng().random((n, n))
    return (a @ a.T / n + np.eye(n),)


@at.fn
def contour_integral(ham: c128[3, n, n], points: c128[k], y: c128[n, m]) -> (c128[n, m], c128[n, m]):
    p0, p1 = zeros((n, m), dtype=c128), zeros((n, m), dtype=c128)
    for t in range(k):
        z = points[t]
        tz = [[z * ham[0, i, j] + ham[1, i, j] + ham[2, i, j] / z for j in range(n)] for i in range(n)]
        x = np.linalg.solve(tz, y)
        sign = -1.0 if abs(z) < 1.0 else 1.0
        p0 = p0 + sign * x
        p1 = p1 + sign * z * x
    return p0, p1


def contour_np(xp: Any, ham: Any, points: Any, y: Any) -> Any:
    p0 = p1 = 0
    for z in points:
        x = xp.linalg.solve(z * ham[0] + ham[1] + ham[2] / z, y)
        x = xp.where(abs(z) < 1, -x, x)
        p0, p1 = p0 + x, p1 + z * x
    return p0, p1


def contour_data(nr: int, nm: int, slab: int, count: int) -> tuple[Any, ...]:
    assert slab == 2
    r = rng()
    ham = r.random((3, nr, nr)) + 1j * r.random((3, nr, nr))
    ham[1] += nr * np.eye(nr)  # solutions that can be compared to many digits
    return ham, r.random(count) + 1j * r.random(count), r.random((nr, nm)) + 1j * r.random((nr, nm))


@at.fn
def durbin(r: f64[n]) -> f64[n]:
    y = zeros(n)
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for t in range(1, n):
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[t] + sum(r[t - 1 - i] * y[i] for i in range(t))) / beta
        y[:t] = [y[i] + alpha * y[t - 1 - i] for i in range(t)]
        y[t] = alpha
    return y


def durbin_np(xp: Any, r: Any) -> Any:
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for t in range(1, len(r)):
        beta *= 1 - alpha * alpha
        alpha = -(r[t] + r[:t][::-1] @ y[:t]) / beta
        y[:t] += alpha * y[:t][::-1]
        y[t] = alpha
    return y


def durbin_nb(r: Any) -> Any:
    n = len(r)
    y, z = np.empty(n), np.empty(n)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for t in range(1, n):
        beta *= 1 - alpha * alpha
        s = r[t]
        for i in range(t):
            s += r[t - 1 - i] * y[i]
        alpha = -s / beta
        for i in range(t):
            z[i] = y[i] + alpha * y[t - 1 - i]
        y[:t] = z[:t]
        y[t] = alpha
    return y


@at.fn
def gramschmidt(a: f64[m, n]) -> (f64[m, n], f64[n, n]):
    q, r = zeros((m, n)), zeros((n, n))
    for t in range(n):
        r[t, t] = sqrt(sum(a[i, t] * a[i, t] for i in range(m)))
        for i in range(m):
            q[i, t] = a[i, t] / r[t, t]
        for j in range(t + 1, n):
            r[t, j] = sum(q[i, t] * a[i, j] for i in range(m))
            for i in range(m):
                a[i, j] = a[i, j] - q[i, t] * r[t, j]
    return q, r


def gramschmidt_np(xp: Any, a: Any) -> Any:
    a = a.copy()
    q, r = np.zeros_like(a), np.zeros((a.shape[1], a.shape[1]))
    for t in range(a.shape[1]):
        r[t, t] = np.sqrt(a[:, t] @ a[:, t])
        q[:, t] = a[:, t] / r[t, t]
        r[t, t + 1 :] = q[:, t] @ a[:, t + 1 :]
        a[:, t + 1 :] -= np.outer(q[:, t], r[t, t + 1 :])
    return q, r


def gramschmidt_nb(a: Any) -> Any:
    a = a.copy()
    m, n = a.shape
    q, r = np.zeros((m, n)), np.zeros((n, n))
    for t in range(n):
        s = 0.0
        for i in range(m):
            s += a[i, t] * a[i, t]
        r[t, t] = np.sqrt(s)
        for i in range(m):
            q[i, t] = a[i, t] / r[t, t]
        for i in range(m):
            for j in range(t + 1, n):
                r[t, j] += q[i, t] * a[i, j]
        for i in range(m):
            for j in range(t + 1, n):
                a[i, j] -= q[i, t] * r[t, j]
    return q, r


@at.fn
def lu(a: f64[n, n]) -> f64[n, n]:
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - sum(a[i, p] * a[p, j] for p in range(j))) / a[j, j]
        for j in range(i, n):
            a[i, j] = a[i, j] - sum(a[i, p] * a[p, j] for p in range(i))
    return a


def lu_np(xp: Any, a: Any) -> Any:
    a = a.copy()
    for t in range(len(a)):
        a[t + 1 :, t] /= a[t, t]
        a[t + 1 :, t + 1 :] -= np.outer(a[t + 1 :, t], a[t, t + 1 :])
    return a


def lu_nb(a: Any) -> Any:
    a, n = a.copy(), len(a)
    for i in range(n):
        for p in range(i):
            a[i, p] /= a[p, p]
            for j in range(p + 1, n):
                a[i, j] -= a[i, p] * a[p, j]
    return a


@at.fn
def ludcmp(a: f64[n, n], b: f64[n]) -> (f64[n], f64[n]):
    f = lu(a)
    y, x = zeros(n), zeros(n)
    for i in range(n):
        y[i] = b[i] - sum(f[i, j] * y[j] for j in range(i))
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - sum(f[i, j] * x[j] for j in range(i + 1, n))) / f[i, i]
    return x, y


def ludcmp_np(xp: Any, a: Any, b: Any) -> Any:
    f, y, x = lu_np(xp, a), np.zeros_like(b), np.zeros_like(b)
    for i in range(len(b)):
        y[i] = b[i] - f[i, :i] @ y[:i]
    for i in range(len(b) - 1, -1, -1):
        x[i] = (y[i] - f[i, i + 1 :] @ x[i + 1 :]) / f[i, i]
    return x, y


def ludcmp_nb(a: Any, b: Any) -> Any:
    f, n = a.copy(), len(a)
    for i in range(n):
        for p in range(i):
            f[i, p] /= f[p, p]
            for j in range(p + 1, n):
                f[i, j] -= f[i, p] * f[p, j]
    y, x = np.zeros(n), np.zeros(n)
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= f[i, j] * y[j]
        y[i] = s
    for i in range(n - 1, -1, -1):
        s = y[i]
        for j in range(i + 1, n):
            s -= f[i, j] * x[j]
        x[i] = s / f[i, i]
    return x, y


@at.fn
def trisolv(a: f64[n, n], b: f64[n]) -> f64[n]:
    x = zeros(n)
    for i in range(n):
        x[i] = (b[i] - sum(a[i, j] * x[j] for j in range(i))) / a[i, i]
    return x


def trisolv_np(xp: Any, a: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


def trisolv_nb(a: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s -= a[i, j] * x[j]
        x[i] = s / a[i, i]
    return x


def dominant(n: int) -> tuple[Any, ...]:
    a, b = several((n, n), (n,))
    return a + n * np.eye(n), b


def toeplitz(n: int) -> tuple[Any, ...]:
    return (0.4 * rng().random(n) / np.arange(1, n + 1) ** 1.5,)


TASKS = [
    Task("cholesky", cholesky, cholesky_loops_np, positive, presets((100,), (300,), (900,), (6,)), numba=cholesky_nb, serial=True, slow=True),
    Task("cholesky2", cholesky2, cholesky_np, positive, presets((1000,), (2200,), (8000,), (6,))),
    Task("contour_integral", contour_integral, contour_np, contour_data, presets((50, 150, 2, 32), (200, 400, 2, 32), (600, 1000, 2, 32), (4, 5, 2, 3)), shared=True),
    Task("durbin", durbin, durbin_np, toeplitz, presets((1000,), (6000,), (20000,), (9,)), numba=durbin_nb, serial=True),
    Task("gramschmidt", gramschmidt, gramschmidt_np, lambda m, n: several((m, n)), presets((70, 60), (220, 180), (600, 500), (7, 5)), numba=gramschmidt_nb, serial=True, rtol=1e-7),
    Task("lu", lu, lu_np, lambda n: dominant(n)[:1], presets((60,), (220,), (700,), (6,)), numba=lu_nb, serial=True),
    Task("ludcmp", ludcmp, ludcmp_np, dominant, presets((60,), (220,), (650,), (6,)), numba=ludcmp_nb, serial=True),
    Task("trisolv", trisolv, trisolv_np, dominant, presets((2000,), (5000,), (14000,), (6,)), numba=trisolv_nb, serial=True),
]
