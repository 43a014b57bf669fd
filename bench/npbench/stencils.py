"""Stencils over time, and recurrences along an axis."""

from __future__ import annotations

from typing import Any

import atoll as at
from atoll import f64, i64
from bench.npbench.task import Task, jax, np, presets, several

n, m, k = at.sizes("n m k")
ny, nx = at.sizes("ny nx")
steps_ = at.sizes("steps_")


# -- alternating directions


@at.fn
def adi(steps: i64, u: f64[n, n]) -> f64[n, n]:
    mul1, mul2 = 2.0 / steps * n * n, 1.0 / steps * n * n
    a, d = -mul1 / 2.0, -mul2 / 2.0
    b = 1.0 + mul2
    for t in range(steps):
        p, q, v = zeros((n, n)), zeros((n, n)), zeros((n, n))
        for i in range(1, n - 1):
            v[0, i] = 1.0
            q[i, 0] = 1.0
            for j in range(1, n - 1):
                p[i, j] = -a / (a * p[i, j - 1] + b)
                q[i, j] = (-d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - d * u[j, i + 1] - a * q[i, j - 1]) / (a * p[i, j - 1] + b)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = 1.0
            for j in range(1, n - 1):
                p[i, j] = -d / (d * p[i, j - 1] + b)
                q[i, j] = (-a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - a * v[i + 1, j] - d * q[i, j - 1]) / (d * p[i, j - 1] + b)
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]
    return u


def adi_np(xp: Any, steps: int, u: Any) -> Any:
    n, u = len(u), u.copy()
    mul1, mul2 = 2.0 / steps * n * n, 1.0 / steps * n * n
    a, d, b = -mul1 / 2, -mul2 / 2, 1 + mul2
    inner = slice(1, -1)

    def solve(low: float, rhs: Any) -> Any:
        """Tridiagonal systems with ones at both ends, rows of rhs one after the other."""
        p, q, x = np.zeros_like(rhs), np.zeros_like(rhs), np.ones_like(rhs)
        q[0] = 1.0
        for j in range(1, n - 1):
            p[j] = -low / (low * p[j - 1] + b)
            q[j] = (rhs[j] - low * q[j - 1]) / (low * p[j - 1] + b)
        for j in range(n - 2, 0, -1):
            x[j] = p[j] * x[j + 1] + q[j]
        return x

    for _ in range(steps):
        rhs = np.zeros((n, n - 2))
        rhs[inner] = -d * u[inner, :-2] + (1 + 2 * d) * u[inner, 1:-1] - d * u[inner, 2:]
        v = np.zeros((n, n))
        v[:, inner] = solve(a, rhs)
        rhs[inner] = (-a * v[:-2, inner] + (1 + 2 * a) * v[inner, inner] - a * v[2:, inner]).T
        u[inner] = solve(d, rhs).T
    return u


def adi_nb(steps: int, u: Any) -> Any:
    n = len(u)
    u = u.copy()
    mul1, mul2 = 2.0 / steps * n * n, 1.0 / steps * n * n
    a, d, b = -mul1 / 2, -mul2 / 2, 1 + mul2
    p, q, v = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for _ in range(steps):
        for i in range(1, n - 1):
            v[0, i], p[i, 0], q[i, 0] = 1.0, 0.0, 1.0
            for j in range(1, n - 1):
                p[i, j] = -a / (a * p[i, j - 1] + b)
                q[i, j] = (-d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - d * u[j, i + 1] - a * q[i, j - 1]) / (a * p[i, j - 1] + b)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0], p[i, 0], q[i, 0] = 1.0, 0.0, 1.0
            for j in range(1, n - 1):
                p[i, j] = -d / (d * p[i, j - 1] + b)
                q[i, j] = (-a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - a * v[i + 1, j] - d * q[i, j - 1]) / (d * p[i, j - 1] + b)
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]
    return u


# -- flows


@at.fn
def cavity_flow(steps: i64, nit: i64, u: f64[ny, nx], v: f64[ny, nx], p: f64[ny, nx], dt: f64, dx: f64, dy: f64, rho: f64, nu: f64) -> (f64[ny, nx], f64[ny, nx], f64[ny, nx]):
    for t in range(steps):
        ux, uy = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx), (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
        vx, vy = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx), (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
        b = rho * ((ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy)
        for s in range(nit):
            p[1:-1, 1:-1] = ((p[1:-1, 2:] + p[1:-1, :-2]) * dy ** 2 + (p[2:, 1:-1] + p[:-2, 1:-1]) * dx ** 2 - b * dx ** 2 * dy ** 2) / (2 * (dx ** 2 + dy ** 2))
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0.0
        uc, vc = u[1:-1, 1:-1], v[1:-1, 1:-1]
        un = (uc - uc * dt / dx * (uc - u[1:-1, :-2]) - vc * dt / dy * (uc - u[:-2, 1:-1]) - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
              + nu * (dt / dx ** 2 * (u[1:-1, 2:] - 2 * uc + u[1:-1, :-2]) + dt / dy ** 2 * (u[2:, 1:-1] - 2 * uc + u[:-2, 1:-1])))
        vn = (vc - uc * dt / dx * (vc - v[1:-1, :-2]) - vc * dt / dy * (vc - v[:-2, 1:-1]) - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
              + nu * (dt / dx ** 2 * (v[1:-1, 2:] - 2 * vc + v[1:-1, :-2]) + dt / dy ** 2 * (v[2:, 1:-1] - 2 * vc + v[:-2, 1:-1])))
        u, v = zeros((ny, nx)), zeros((ny, nx))
        u[1:-1, 1:-1] = un
        u[-1, :] = 1.0
        v[1:-1, 1:-1] = vn
    return u, v, p


def cavity_np(xp: Any, steps: int, nit: int, u: Any, v: Any, p: Any, dt: float, dx: float, dy: float, rho: float, nu: float) -> Any:
    p = p.copy()

    def sides(f: Any) -> tuple[Any, ...]:
        return f[1:-1, 1:-1], f[1:-1, 2:], f[1:-1, :-2], f[2:, 1:-1], f[:-2, 1:-1]

    for _ in range(steps):
        (uc, ue, uw, un, us), (vc, ve, vw, vn, vs) = sides(u), sides(v)
        ux, uy, vx, vy = (ue - uw) / (2 * dx), (un - us) / (2 * dy), (ve - vw) / (2 * dx), (vn - vs) / (2 * dy)
        b = rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)
        for _ in range(nit):
            _, e, w, no, so = sides(p)
            p[1:-1, 1:-1] = ((e + w) * dy**2 + (no + so) * dx**2 - b * dx**2 * dy**2) / (2 * (dx**2 + dy**2))
            p[:, -1] = p[:, -2]
            p[0] = p[1]
            p[:, 0] = p[:, 1]
            p[-1] = 0
        _, e, w, no, so = sides(p)
        new_u, new_v = np.zeros_like(u), np.zeros_like(v)
        new_u[1:-1, 1:-1] = uc - uc * dt / dx * (uc - uw) - vc * dt / dy * (uc - us) - dt / (2 * rho * dx) * (e - w) + nu * (dt / dx**2 * (ue - 2 * uc + uw) + dt / dy**2 * (un - 2 * uc + us))
        new_v[1:-1, 1:-1] = vc - uc * dt / dx * (vc - vw) - vc * dt / dy * (vc - vs) - dt / (2 * rho * dy) * (no - so) + nu * (dt / dx**2 * (ve - 2 * vc + vw) + dt / dy**2 * (vn - 2 * vc + vs))
        new_u[-1] = 1
        u, v = new_u, new_v
    return u, v, p


def cavity_data(ny: int, nx: int, nt: int, nit: int) -> tuple[Any, ...]:
    u, v, p = (0.1 * x for x in several((ny, nx), (ny, nx), (ny, nx)))
    return nt, nit, u, v, p, 0.1 / ((nx - 1) * (ny - 1)), 2 / (nx - 1), 2 / (ny - 1), 1.0, 0.1


@at.fn
def channel_flow(nit: i64, u: f64[ny, nx], v: f64[ny, nx], p: f64[ny, nx], dt: f64, dx: f64, dy: f64, rho: f64, nu: f64, force: f64) -> (i64, f64[ny, nx], f64[ny, nx], f64[ny, nx]):
    count, change = 0, 1.0
    while change > 0.001:
        def source(j, i):
            e, w = (i + 1) % nx, (i - 1) % nx
            ux, vx = (u[j, e] - u[j, w]) / (2 * dx), (v[j, e] - v[j, w]) / (2 * dx)
            uy, vy = (u[j + 1, i] - u[j - 1, i]) / (2 * dy), (v[j + 1, i] - v[j - 1, i]) / (2 * dy)
            return rho * ((ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy)
        b = [[source(j, i) if 0 < j < ny - 1 else 0.0 for i in range(nx)] for j in range(ny)]
        for s in range(nit):
            new = [[((p[j, (i + 1) % nx] + p[j, (i - 1) % nx]) * dy ** 2 + (p[j + 1, i] + p[j - 1, i]) * dx ** 2 - b[j, i] * dx ** 2 * dy ** 2) / (2 * (dx ** 2 + dy ** 2))
                    if 0 < j < ny - 1 else 0.0 for i in range(nx)] for j in range(ny)]
            new[-1] = new[-2]
            new[0] = new[1]
            p = new

        def moved(f, j, i):
            e, w = (i + 1) % nx, (i - 1) % nx
            return (f[j, i] - u[j, i] * dt / dx * (f[j, i] - f[j, w]) - v[j, i] * dt / dy * (f[j, i] - f[j - 1, i])
                    + nu * (dt / dx ** 2 * (f[j, e] - 2 * f[j, i] + f[j, w]) + dt / dy ** 2 * (f[j + 1, i] - 2 * f[j, i] + f[j - 1, i])))
        un = [[moved(u, j, i) - dt / (2 * rho * dx) * (p[j, (i + 1) % nx] - p[j, (i - 1) % nx]) + force * dt if 0 < j < ny - 1 else 0.0 for i in range(nx)] for j in range(ny)]
        vn = [[moved(v, j, i) - dt / (2 * rho * dy) * (p[j + 1, i] - p[j - 1, i]) if 0 < j < ny - 1 else 0.0 for i in range(nx)] for j in range(ny)]
        after = sum(x for row in un for x in row)
        change = (after - sum(x for row in u for x in row)) / after
        u, v = un, vn
        count += 1
    return count, u, v, p


def channel_np(xp: Any, nit: int, u: Any, v: Any, p: Any, dt: float, dx: float, dy: float, rho: float, nu: float, force: float) -> Any:
    def sides(f: Any) -> tuple[Any, ...]:
        return f[1:-1], np.roll(f, -1, 1)[1:-1], np.roll(f, 1, 1)[1:-1], f[2:], f[:-2]

    count, change = 0, 1.0
    while change > 0.001:
        (uc, ue, uw, un, us), (vc, ve, vw, vn, vs) = sides(u), sides(v)
        ux, uy, vx, vy = (ue - uw) / (2 * dx), (un - us) / (2 * dy), (ve - vw) / (2 * dx), (vn - vs) / (2 * dy)
        b = rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)
        for _ in range(nit):
            _, e, w, no, so = sides(p)
            new = np.empty_like(p)
            new[1:-1] = ((e + w) * dy**2 + (no + so) * dx**2 - b * dx**2 * dy**2) / (2 * (dx**2 + dy**2))
            new[-1], new[0] = new[-2], new[1]
            p = new
        _, e, w, no, so = sides(p)
        new_u, new_v = np.zeros_like(u), np.zeros_like(v)
        new_u[1:-1] = uc - uc * dt / dx * (uc - uw) - vc * dt / dy * (uc - us) - dt / (2 * rho * dx) * (e - w) + nu * (dt / dx**2 * (ue - 2 * uc + uw) + dt / dy**2 * (un - 2 * uc + us)) + force * dt
        new_v[1:-1] = vc - uc * dt / dx * (vc - vw) - vc * dt / dy * (vc - vs) - dt / (2 * rho * dy) * (no - so) + nu * (dt / dx**2 * (ve - 2 * vc + vw) + dt / dy**2 * (vn - 2 * vc + vs))
        change = (new_u.sum() - u.sum()) / new_u.sum()
        u, v, count = new_u, new_v, count + 1
    return count, u, v, p


def channel_data(ny: int, nx: int, nit: int) -> tuple[Any, ...]:
    zero = np.zeros((ny, nx))
    return nit, zero, zero.copy(), np.ones((ny, nx)), 0.1 / ((nx - 1) * (ny - 1)), 2 / (nx - 1), 2 / (ny - 1), 1.0, 0.1, 1.0


# -- recursive filter


@at.fn
def deriche(alpha: f64, image: f64[n, m]) -> f64[n, m]:
    gain = (1.0 - exp(-alpha)) * (1.0 - exp(-alpha)) / (1.0 + alpha * exp(-alpha) - exp(2.0 * alpha))
    a2, a3, a4 = gain * exp(-alpha) * (alpha - 1.0), gain * exp(-alpha) * (alpha + 1.0), -gain * exp(-2.0 * alpha)
    b1, b2 = 2.0 ** (-alpha), -exp(-2.0 * alpha)

    def along(x):
        forth, back = zeros(len(x)), zeros(len(x))
        y1, y2, x1 = 0.0, 0.0, 0.0
        for j in range(len(x)):
            y = gain * x[j] + a2 * x1 + b1 * y1 + b2 * y2
            forth[j] = y
            x1, y1, y2 = x[j], y, y1
        z1, z2, r1, r2 = 0.0, 0.0, 0.0, 0.0
        for j in range(len(x) - 1, -1, -1):
            z = a3 * r1 + a4 * r2 + b1 * z1 + b2 * z2
            back[j] = z
            r1, r2, z1, z2 = x[j], r1, z, z1
        return forth + back

    once = [along(row) for row in image]
    return transpose([along(column) for column in transpose(once)])


def deriche_np(xp: Any, alpha: float, image: Any) -> Any:
    gain = (1 - np.exp(-alpha)) ** 2 / (1 + alpha * np.exp(-alpha) - np.exp(2 * alpha))
    a2, a3, a4 = gain * np.exp(-alpha) * (alpha - 1), gain * np.exp(-alpha) * (alpha + 1), -gain * np.exp(-2 * alpha)
    b1, b2 = 2.0**-alpha, -np.exp(-2 * alpha)

    def along(x: Any) -> Any:
        forth, back = np.zeros_like(x), np.zeros_like(x)
        forth[0] = gain * x[0]
        forth[1] = gain * x[1] + a2 * x[0] + b1 * forth[0]
        for j in range(2, len(x)):
            forth[j] = gain * x[j] + a2 * x[j - 1] + b1 * forth[j - 1] + b2 * forth[j - 2]
        back[-2] = a3 * x[-1]
        for j in range(len(x) - 3, -1, -1):
            back[j] = a3 * x[j + 1] + a4 * x[j + 2] + b1 * back[j + 1] + b2 * back[j + 2]
        return forth + back

    return along(along(image.T).T)


# -- time steps


@at.fn
def fdtd_2d(ex: f64[n, m], ey: f64[n, m], hz: f64[n, m], fict: f64[steps_]) -> (f64[n, m], f64[n, m], f64[n, m]):
    for t in range(steps_):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return ex, ey, hz


def fdtd_np(xp: Any, ex: Any, ey: Any, hz: Any, fict: Any) -> Any:
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for first in fict:
        ey[0] = first
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return ex, ey, hz


def fdtd_jax(ex: Any, ey: Any, hz: Any, fict: Any) -> Any:
    def step(t: Any, state: Any) -> Any:
        ex, ey, hz = state
        ey = ey.at[0].set(fict[t]).at[1:].add(-0.5 * (hz[1:] - hz[:-1]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        return ex, ey, hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))

    return jax.lax.fori_loop(0, len(fict), step, (ex, ey, hz))


@at.fn
def hdiff(field: f64[n + 4, m + 4, k], coeff: f64[n, m, k]) -> f64[n, m, k]:
    def limited(flux, step):
        return 0.0 if flux * step > 0.0 else flux

    lap = [[[4.0 * field[i + 1, j + 1, p] - (field[i + 2, j + 1, p] + field[i, j + 1, p] + field[i + 1, j + 2, p] + field[i + 1, j, p]) for p in range(k)] for j in range(m + 2)] for i in range(n + 2)]
    fx = [[[limited(lap[i + 1, j + 1, p] - lap[i, j + 1, p], field[i + 2, j + 2, p] - field[i + 1, j + 2, p]) for p in range(k)] for j in range(m)] for i in range(n + 1)]
    fy = [[[limited(lap[i + 1, j + 1, p] - lap[i + 1, j, p], field[i + 2, j + 2, p] - field[i + 2, j + 1, p]) for p in range(k)] for j in range(m + 1)] for i in range(n)]
    return [[[field[i + 2, j + 2, p] - coeff[i, j, p] * (fx[i + 1, j, p] - fx[i, j, p] + fy[i, j + 1, p] - fy[i, j, p]) for p in range(k)] for j in range(m)] for i in range(n)]


def hdiff_np(xp: Any, field: Any, coeff: Any) -> Any:
    lap = 4 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    fx = lap[1:, 1:-1] - lap[:-1, 1:-1]
    fx = xp.where(fx * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0, fx)
    fy = lap[1:-1, 1:] - lap[1:-1, :-1]
    fy = xp.where(fy * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0, fy)
    return field[2:-2, 2:-2] - coeff * (fx[1:] - fx[:-1] + fy[:, 1:] - fy[:, :-1])


@at.fn
def heat_3d(steps: i64, a: f64[n, n, n]) -> f64[n, n, n]:
    def once(x):
        c = x[1:-1, 1:-1, 1:-1]
        y = x
        y[1:-1, 1:-1, 1:-1] = (0.125 * (x[2:, 1:-1, 1:-1] - 2.0 * c + x[:-2, 1:-1, 1:-1]) + 0.125 * (x[1:-1, 2:, 1:-1] - 2.0 * c + x[1:-1, :-2, 1:-1])
                               + 0.125 * (x[1:-1, 1:-1, 2:] - 2.0 * c + x[1:-1, 1:-1, :-2]) + c)
        return y

    for t in range(1, steps):
        a = once(once(a))
    return a


def heat_np(xp: Any, steps: int, a: Any) -> Any:
    for _ in range(2 * (steps - 1)):
        c = a[1:-1, 1:-1, 1:-1]
        b = a.copy()
        b[1:-1, 1:-1, 1:-1] = 0.125 * (a[2:, 1:-1, 1:-1] - 2 * c + a[:-2, 1:-1, 1:-1]) + 0.125 * (a[1:-1, 2:, 1:-1] - 2 * c + a[1:-1, :-2, 1:-1]) + 0.125 * (a[1:-1, 1:-1, 2:] - 2 * c + a[1:-1, 1:-1, :-2]) + c
        a = b
    return a


def heat_jax(steps: int, a: Any) -> Any:
    def step(_: Any, a: Any) -> Any:
        c = a[1:-1, 1:-1, 1:-1]
        new = 0.125 * (a[2:, 1:-1, 1:-1] - 2 * c + a[:-2, 1:-1, 1:-1]) + 0.125 * (a[1:-1, 2:, 1:-1] - 2 * c + a[1:-1, :-2, 1:-1]) + 0.125 * (a[1:-1, 1:-1, 2:] - 2 * c + a[1:-1, 1:-1, :-2]) + c
        return a.at[1:-1, 1:-1, 1:-1].set(new)

    return jax.lax.fori_loop(0, 2 * (steps - 1), step, a)


@at.fn
def jacobi_1d(steps: i64, a: f64[n], b: f64[n]) -> (f64[n], f64[n]):
    for t in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return a, b


def jacobi_1d_np(xp: Any, steps: int, a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    for _ in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return a, b


def jacobi_1d_nb(steps: int, a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    for _ in range(1, steps):
        for i in range(1, len(a) - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, len(a) - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])
    return a, b


def jacobi_1d_jax(steps: int, a: Any, b: Any) -> Any:
    def step(_: Any, state: Any) -> Any:
        a, b = state
        b = b.at[1:-1].set(0.33333 * (a[:-2] + a[1:-1] + a[2:]))
        return a.at[1:-1].set(0.33333 * (b[:-2] + b[1:-1] + b[2:])), b

    return jax.lax.fori_loop(1, steps, step, (a, b))


@at.fn
def jacobi_2d(steps: i64, a: f64[n, n], b: f64[n, n]) -> (f64[n, n], f64[n, n]):
    for t in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a, b


def jacobi_2d_np(xp: Any, steps: int, a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a, b


def jacobi_2d_jax(steps: int, a: Any, b: Any) -> Any:
    def mean(x: Any) -> Any:
        return 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])

    def step(_: Any, state: Any) -> Any:
        a, b = state
        b = b.at[1:-1, 1:-1].set(mean(a))
        return a.at[1:-1, 1:-1].set(mean(b)), b

    return jax.lax.fori_loop(1, steps, step, (a, b))


@at.fn
def seidel_2d(steps: i64, a: f64[n, n]) -> f64[n, n]:
    for t in range(steps - 1):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9.0
    return a


def seidel_np(xp: Any, steps: int, a: Any) -> Any:
    a = a.copy()
    for _ in range(steps - 1):
        for i in range(1, len(a) - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            for j in range(1, len(a) - 1):
                a[i, j] = (a[i, j] + a[i, j - 1]) / 9.0
    return a


def seidel_nb(steps: int, a: Any) -> Any:
    a, n = a.copy(), len(a)
    for _ in range(steps - 1):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9.0
    return a


# -- vertical advection


@at.fn
def vadv(stage: f64[n, m, k], u: f64[n, m, k], wcon: f64[n + 1, m, k], pos: f64[n, m, k], tens: f64[n, m, k], dtr: f64) -> f64[n, m, k]:
    def column(i, j):
        c, d, out = zeros(k), zeros(k), zeros(k)
        for p in range(k):
            ga = -0.25 * (wcon[i + 1, j, p] + wcon[i, j, p]) if p > 0 else 0.0
            gc = 0.25 * (wcon[i + 1, j, p + 1] + wcon[i, j, p + 1]) if p < k - 1 else 0.0
            lower, upper = 0.5 * ga, 0.5 * gc
            below = -lower * (u[i, j, p - 1] - u[i, j, p]) if p > 0 else 0.0
            above = -upper * (u[i, j, p + 1] - u[i, j, p]) if p < k - 1 else 0.0
            right = dtr * pos[i, j, p] + tens[i, j, p] + stage[i, j, p] + below + above
            c1, d1 = c[p - 1] if p > 0 else 0.0, d[p - 1] if p > 0 else 0.0
            divided = 1.0 / (dtr - lower - upper - c1 * lower)
            c[p] = upper * divided
            d[p] = (right - d1 * lower) * divided
        x = 0.0
        for p in range(k - 1, -1, -1):
            x = d[p] - c[p] * x
            out[p] = dtr * (x - pos[i, j, p])
        return out

    return [[column(i, j) for j in range(m)] for i in range(n)]


def vadv_np(xp: Any, stage: Any, u: Any, wcon: Any, pos: Any, tens: Any, dtr: float) -> Any:
    depth = stage.shape[2]
    w = 0.125 * (wcon[1:] + wcon[:-1])
    lower, upper = -w.copy(), np.zeros_like(w)
    lower[:, :, 0] = 0
    upper[:, :, :-1] = w[:, :, 1:]
    right = dtr * pos + tens + stage
    right[:, :, 1:] -= lower[:, :, 1:] * (u[:, :, :-1] - u[:, :, 1:])
    right[:, :, :-1] -= upper[:, :, :-1] * (u[:, :, 1:] - u[:, :, :-1])
    c, d, out = np.zeros_like(w), np.zeros_like(w), np.empty_like(w)
    for p in range(depth):
        c1, d1 = (c[:, :, p - 1], d[:, :, p - 1]) if p else (0.0, 0.0)
        divided = 1 / (dtr - lower[:, :, p] - upper[:, :, p] - c1 * lower[:, :, p])
        c[:, :, p], d[:, :, p] = upper[:, :, p] * divided, (right[:, :, p] - d1 * lower[:, :, p]) * divided
    x: Any = 0.0
    for p in range(depth - 1, -1, -1):
        x = d[:, :, p] - c[:, :, p] * x
        out[:, :, p] = dtr * (x - pos[:, :, p])
    return out


TASKS = [
    Task("adi", adi, adi_np, lambda t, n: (t, *several((n, n))), presets((5, 100), (20, 200), (50, 500), (2, 6)), numba=adi_nb, serial=True),
    Task("cavity_flow", cavity_flow, cavity_np, cavity_data, presets((61, 61, 25, 5), (121, 121, 50, 10), (201, 201, 100, 20), (6, 7, 2, 3)), rtol=1e-7),
    Task("channel_flow", channel_flow, channel_np, channel_data, presets((61, 61, 5), (121, 121, 10), (201, 201, 20), (5, 6, 2)), rtol=1e-7),
    Task("deriche", deriche, deriche_np, lambda w, h: (0.25, *several((w, h))), presets((400, 200), (1500, 1000), (6000, 3000), (6, 7))),
    Task("fdtd_2d", fdtd_2d, fdtd_np, lambda t, n, m: (*several((n, m), (n, m), (n, m)), np.arange(t) + 1.0), presets((20, 200, 220), (60, 400, 450), (150, 800, 900), (3, 5, 6)), jax=fdtd_jax),
    Task("hdiff", hdiff, hdiff_np, lambda i, j, k: several((i + 4, j + 4, k), (i, j, k)), presets((64, 64, 60), (128, 128, 160), (384, 384, 160), (3, 4, 5)), shared=True),
    Task("heat_3d", heat_3d, heat_np, lambda t, n: (t, *several((n, n, n))), presets((25, 25), (50, 40), (100, 70), (3, 5)), jax=heat_jax),
    Task("jacobi_1d", jacobi_1d, jacobi_1d_np, lambda t, n: (t, *several((n,), (n,))), presets((800, 3200), (3000, 12000), (8500, 34000), (4, 7)), numba=jacobi_1d_nb, serial=True, jax=jacobi_1d_jax),
    Task("jacobi_2d", jacobi_2d, jacobi_2d_np, lambda t, n: (t, *several((n, n), (n, n))), presets((50, 150), (80, 350), (200, 700), (3, 6)), jax=jacobi_2d_jax),
    Task("seidel_2d", seidel_2d, seidel_np, lambda t, n: (t, *several((n, n))), presets((8, 50), (15, 100), (40, 200), (3, 6)), numba=seidel_nb, serial=True, slow=True),
    Task("vadv", vadv, vadv_np, lambda i, j, k: (*several((i, j, k), (i, j, k), (i + 1, j, k), (i, j, k), (i, j, k)), 3 / 20), presets((60, 60, 40), (112, 112, 80), (180, 180, 160), (3, 4, 5))),
]
