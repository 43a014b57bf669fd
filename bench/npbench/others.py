"""Bits, paths, fractals, particles, tables, small matrices, transforms."""

from __future__ import annotations

from typing import Any

import atoll as at
from atoll import c128, f64, i32, i64, u8, u16
from bench.npbench.task import Task, jax, jnp, np, prange, presets, rng, several

n, m, k = at.sizes("n m k")
nk, ne, nq, nw, nd, na, nb, no = at.sizes("nk ne nq nw nd na nb no")


@at.fn
def crc16(data: u8[n]) -> u16:
    crc = u16(0xFFFF)
    for byte in data:
        crc = crc ^ u16(byte)
        for bit in range(8):
            crc = (crc >> 1) ^ u16(0x8408) if (crc & 1) == 1 else crc >> 1
    crc = ~crc
    return (crc << 8) | (crc >> 8)


def crc16_np(xp: Any, data: Any) -> Any:
    crc = 0xFFFF
    for byte in data.tolist():
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
    crc = ~crc & 0xFFFF
    return np.uint16((crc << 8 | crc >> 8) & 0xFFFF)


def crc16_nb(data: Any) -> Any:
    crc = 0xFFFF
    for byte in data:
        crc ^= int(byte)
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
    crc = ~crc & 0xFFFF
    return np.uint16((crc << 8 | crc >> 8) & 0xFFFF)


@at.fn
def floyd_warshall(path: i32[n, n]) -> i32[n, n]:
    for p in range(n):
        path = [[minimum(path[i, j], path[i, p] + path[p, j]) for j in range(n)] for i in range(n)]
    return path


def floyd_np(xp: Any, path: Any) -> Any:
    path = path.copy()
    for p in range(len(path)):
        path = np.minimum(path, path[:, p, None] + path[None, p, :])
    return path


def floyd_nb(path: Any) -> Any:
    path, n = path.copy(), len(path)
    for p in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, p] + path[p, j])
    return path


def floyd_jax(path: Any) -> Any:
    return jax.lax.fori_loop(0, len(path), lambda p, a: jnp.minimum(a, a[:, p, None] + a[None, p, :]), path)


@at.fn
def mandelbrot1(xs: f64[n], ys: f64[m], most: i64, horizon: f64) -> (c128[m, n], i64[m, n]):
    def point(c):
        z, last, t = c128(0.0, 0.0), 0, 0
        while t < most and abs(z) < horizon:
            z = z * z + c
            last = t
            t = t + 1
        return z, 0 if last == most - 1 else last

    return unzip([unzip([point(c128(x, y)) for x in xs]) for y in ys])


def mandelbrot1_np(xp: Any, xs: Any, ys: Any, most: int, horizon: float) -> Any:
    c = xs + 1j * ys[:, None]
    z, last = np.zeros_like(c), np.zeros(c.shape, np.int64)
    for t in range(most):
        inside = abs(z) < horizon
        last[inside] = t
        z[inside] = z[inside] ** 2 + c[inside]
    last[last == most - 1] = 0
    return z, last


def mandelbrot1_nb(xs: Any, ys: Any, most: int, horizon: float) -> Any:
    out, last = np.zeros((len(ys), len(xs)), np.complex128), np.zeros((len(ys), len(xs)), np.int64)
    for i in prange(len(ys)):
        for j in range(len(xs)):
            c, z, t = complex(xs[j], ys[i]), 0j, 0
            while t < most and abs(z) < horizon:
                z = z * z + c
                t += 1
            out[i, j] = z
            last[i, j] = 0 if t == most else t - 1
    return out, last


@at.fn
def mandelbrot2(xs: f64[n], ys: f64[m], most: i64, horizon: f64) -> (c128[m, n], i64[m, n]):
    def point(c):
        z, t = c, 1
        while t < most and abs(z) <= horizon:
            z = z * z + c
            t = t + 1
        away = abs(z) > horizon
        return z if away else c128(0.0, 0.0), t if away else 0

    return unzip([unzip([point(c128(x, y)) for x in xs]) for y in ys])


def mandelbrot2_np(xp: Any, xs: Any, ys: Any, most: int, horizon: float) -> Any:
    c = (xs + 1j * ys[:, None]).ravel()
    z, out, when, left = np.zeros_like(c), np.zeros_like(c), np.zeros(len(c), np.int64), np.arange(len(c))
    for t in range(most):
        z = z * z + c
        away = abs(z) > horizon
        when[left[away]], out[left[away]] = t + 1, z[away]
        z, c, left = z[~away], c[~away], left[~away]
    return out.reshape(len(ys), -1), when.reshape(len(ys), -1)


def mandelbrot2_nb(xs: Any, ys: Any, most: int, horizon: float) -> Any:
    out, when = np.zeros((len(ys), len(xs)), np.complex128), np.zeros((len(ys), len(xs)), np.int64)
    for i in prange(len(ys)):
        for j in range(len(xs)):
            c = complex(xs[j], ys[i])
            z, t = c, 1
            while t < most and abs(z) <= horizon:
                z = z * z + c
                t += 1
            if abs(z) > horizon:
                out[i, j], when[i, j] = z, t
    return out, when


def grid(x0: float, x1: float, y0: float, y1: float) -> Any:
    return lambda xn, yn, most: (np.linspace(x0, x1, xn), np.linspace(y0, y1, yn), most, 2.0)


@at.fn
def accelerations(pos: f64[n, 3], mass: f64[n], softening: f64) -> f64[n, 3]:
    def pull(i, j):
        x, y, z = pos[j, 0] - pos[i, 0], pos[j, 1] - pos[i, 1], pos[j, 2] - pos[i, 2]
        s = x * x + y * y + z * z + softening * softening
        f = mass[j] / (s * sqrt(s)) if s > 0.0 else 0.0
        return f * x, f * y, f * z

    pulls = [[sum(p) for p in unzip([pull(i, j) for j in range(n)])] for i in range(n)]
    return pulls


@at.fn
def energies(pos: f64[n, 3], vel: f64[n, 3], mass: f64[n]) -> (f64, f64):
    def closeness(i, j):
        r = sqrt(sum((pos[j, a] - pos[i, a]) ** 2 for a in range(3)))
        return 1.0 / r if r > 0.0 else 0.0

    kinetic = 0.5 * sum(mass[i] * vel[i, a] ** 2 for i in range(n) for a in range(3))
    return kinetic, -sum(sum(mass[i] * mass[j] * closeness(i, j) for j in range(i + 1, n)) for i in range(n))


@at.fn
def nbody(mass: f64[n], pos: f64[n, 3], vel: f64[n, 3], rounds: i64, dt: f64, softening: f64) -> (f64[rounds + 1], f64[rounds + 1]):
    drift = [sum(mass[i] * vel[i, a] for i in range(n)) / sum(mass) for a in range(3)]
    vel = vel - drift
    acc = accelerations(pos, mass, softening)
    kinetic, potential = zeros(rounds + 1), zeros(rounds + 1)
    kinetic[0], potential[0] = energies(pos, vel, mass)
    for t in range(rounds):
        vel = vel + acc * (dt / 2.0)
        pos = pos + vel * dt
        acc = accelerations(pos, mass, softening)
        vel = vel + acc * (dt / 2.0)
        kinetic[t + 1], potential[t + 1] = energies(pos, vel, mass)
    return kinetic, potential


def nbody_np(xp: Any, mass: Any, pos: Any, vel: Any, rounds: int, dt: float, softening: float) -> Any:
    def pulls(pos: Any) -> Any:
        d = pos[None] - pos[:, None]
        s = (d**2).sum(-1) + softening**2
        with np.errstate(divide="ignore"):
            f = np.where(s > 0, s**-1.5, 0.0) * mass
        return (f[..., None] * d).sum(1)

    def energy(pos: Any, vel: Any) -> Any:
        r = np.sqrt(((pos[None] - pos[:, None]) ** 2).sum(-1))
        with np.errstate(divide="ignore"):
            near = np.where(r > 0, 1 / r, 0.0)
        return 0.5 * (mass[:, None] * vel**2).sum(), -np.triu(np.outer(mass, mass) * near, 1).sum()

    vel = vel - (mass[:, None] * vel).mean(0) / mass.mean()
    acc = pulls(pos)
    out = [energy(pos, vel)]
    for _ in range(rounds):
        vel = vel + acc * dt / 2
        pos = pos + vel * dt
        acc = pulls(pos)
        vel = vel + acc * dt / 2
        out.append(energy(pos, vel))
    return np.array([a for a, _ in out]), np.array([b for _, b in out])


def nbody_nb(mass: Any, pos: Any, vel: Any, rounds: int, dt: float, softening: float) -> Any:
    n = len(mass)
    pos, vel, acc = pos.copy(), vel.copy(), np.zeros((n, 3))
    kinetic, potential = np.zeros(rounds + 1), np.zeros(rounds + 1)
    total = mass.sum()
    for a in range(3):
        vel[:, a] -= (mass * vel[:, a]).sum() / total
    for t in range(rounds + 1):
        if t > 0:
            vel += acc * (dt / 2)
            pos += vel * dt
        low = 0.0
        for i in range(n):
            ax = ay = az = 0.0
            for j in range(n):
                x, y, z = pos[j, 0] - pos[i, 0], pos[j, 1] - pos[i, 1], pos[j, 2] - pos[i, 2]
                r2 = x * x + y * y + z * z
                s = r2 + softening * softening
                f = mass[j] / (s * np.sqrt(s)) if s > 0 else 0.0
                ax += f * x
                ay += f * y
                az += f * z
                if j > i and r2 > 0:
                    low -= mass[i] * mass[j] / np.sqrt(r2)
            acc[i, 0], acc[i, 1], acc[i, 2] = ax, ay, az
        if t > 0:
            vel += acc * (dt / 2)
        s = 0.0
        for i in range(n):
            s += mass[i] * (vel[i, 0] ** 2 + vel[i, 1] ** 2 + vel[i, 2] ** 2)
        kinetic[t], potential[t] = 0.5 * s, low
    return kinetic, potential


def stars(count: int, rounds: int) -> tuple[Any, ...]:
    pos, vel = several((count, 3), (count, 3))
    return np.full(count, 20.0 / count), pos, vel, rounds, {40: 0.05, 250: 0.02, 900: 0.01}.get(rounds, 0.05), 0.1


@at.fn
def nussinov(seq: i32[n]) -> i32[n, n]:
    table = zeros((n, n), dtype=i32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = maximum(table[i, j - 1], table[i + 1, j])
            best = maximum(best, table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 and i < j - 1 else 0))
            for p in range(i + 1, j):
                best = maximum(best, table[i, p] + table[p + 1, j])
            table[i, j] = best
    return table


def nussinov_np(xp: Any, seq: Any) -> Any:
    n = len(seq)
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j], table[i + 1, j - 1] + (seq[i] + seq[j] == 3 and i < j - 1))
            if j > i + 1:
                best = max(best, (table[i, i + 1 : j] + table[i + 2 : j + 1, j]).max())
            table[i, j] = best
    return table


def nussinov_nb(seq: Any) -> Any:
    n = len(seq)
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j])
            best = max(best, table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 and i < j - 1 else 0))
            for p in range(i + 1, j):
                best = max(best, table[i, p] + table[p + 1, j])
            table[i, j] = best
    return table


@at.fn
def scattering(neigh: i64[na, nb], dh: c128[na, nb, nd, no, no], g: c128[nk, ne, na, no, no], d: c128[nq, nw, na, nb, nd, nd]) -> c128[nk, ne, na, no, no]:
    def weights(a, b, i):
        return [[[sum(dh[a, b, j, x, y] * sum(d[q, w, a, b, i, j] for q in range(nq)) for j in range(nd)) for y in range(no)] for x in range(no)] for w in range(nw)]

    right = [[[weights(a, b, i) for i in range(nd)] for b in range(nb)] for a in range(na)]

    def left(p, e, a, b, i):
        return [[sum(g[p, e, neigh[a, b], x, z] * dh[a, b, i, z, y] for z in range(no)) for y in range(no)] for x in range(no)]

    moved = [[[[[left(p, e, a, b, i) for i in range(nd)] for b in range(nb)] for a in range(na)] for e in range(ne)] for p in range(nk)]
    return [[[[[sum(moved[p, e - w, a, b, i, x, z] * right[a, b, i, w, z, y] for w in range(nw) for b in range(nb) for i in range(nd) for z in range(no) if e >= w)
                for y in range(no)] for x in range(no)] for a in range(na)] for e in range(ne)] for p in range(nk)]


def scattering_np(xp: Any, neigh: Any, dh: Any, g: Any, d: Any) -> Any:
    out = np.zeros_like(g)
    for w in range(d.shape[1]):
        right = xp.einsum("abjxy,qabij->abixy", dh, d[:, w])
        left = xp.einsum("keabxz,abizy->keabixy", g[:, : g.shape[1] - w][:, :, neigh], dh)
        out[:, w:] += xp.einsum("keabixz,abizy->keaxy", left, right)
    return out


def scattering_jax(neigh: Any, dh: Any, g: Any, d: Any) -> Any:
    out = jnp.zeros_like(g)
    for w in range(d.shape[1]):
        right = jnp.einsum("abjxy,qabij->abixy", dh, d[:, w])
        left = jnp.einsum("keabxz,abizy->keabixy", g[:, : g.shape[1] - w][:, :, neigh], dh)
        out = out.at[:, w:].add(jnp.einsum("keabixz,abizy->keaxy", left, right))
    return out


def scattering_data(nkz: int, ne: int, nqz: int, nw: int, n3d: int, na: int, nb: int, norb: int) -> tuple[Any, ...]:
    r = rng()

    def pair(*shape: int) -> Any:
        return r.random(shape) + 1j * r.random(shape)

    neigh = (np.arange(na)[:, None] - nb // 2 + np.arange(nb)) % na
    return neigh, pair(na, nb, n3d, norb, norb), pair(nkz, ne, na, norb, norb), pair(nqz, nw, na, nb, n3d, n3d)


@at.fn
def stockham_fft(radix: i64, rounds: i64, x: c128[n]) -> c128[n]:
    turn = [c128(cos(2.0 * pi * t / n), -sin(2.0 * pi * t / n)) for t in range(n)]
    third = n // radix
    before = 1
    for t in range(rounds):
        after = third // before

        def element(place):
            q, rest = place // third, place % third
            a, b = rest // after, rest % after
            return sum(turn[(r * (q * third + a * after)) % n] * x[(a * radix + r) * after + b] for r in range(radix))

        x = [element(place) for place in range(n)]
        before = before * radix
    return x


def stockham_np(xp: Any, radix: int, rounds: int, x: Any) -> Any:
    n = len(x)
    dft = xp.exp(-2j * np.pi * np.outer(np.arange(radix), np.arange(radix)) / radix)
    for t in range(rounds):
        before, after = radix**t, n // radix ** (t + 1)
        twiddle = xp.exp(-2j * np.pi * np.outer(np.arange(radix), np.arange(before)) / (before * radix))
        moved = xp.transpose(x.reshape(before, radix, after), (1, 0, 2)) * twiddle[:, :, None]
        x = (dft @ moved.reshape(radix, -1)).reshape(n)
    return x


def signal(radix: int, rounds: int) -> tuple[Any, ...]:
    r = rng()
    n = radix**rounds
    return radix, rounds, r.random(n) + 1j * r.random(n)


def distances(count: int) -> tuple[Any, ...]:
    return (rng().integers(1, 1000, (count, count), dtype=np.int32),)


TASKS = [
    Task("crc16", crc16, crc16_np, lambda n: (rng().integers(0, 256, n, dtype=np.uint8),), presets((1600,), (16000,), (160_000,), (9,)), numba=crc16_nb, serial=True, slow=True),
    Task("floyd_warshall", floyd_warshall, floyd_np, distances, presets((200,), (400,), (850,), (6,)), numba=floyd_nb, serial=True, jax=floyd_jax),
    Task("mandelbrot1", mandelbrot1, mandelbrot1_np, grid(-1.75, 0.25, -1.0, 1.0), presets((125, 125, 60), (250, 250, 150), (833, 833, 200), (6, 5, 9)), numba=mandelbrot1_nb, rtol=1e-3),
    Task("mandelbrot2", mandelbrot2, mandelbrot2_np, grid(-2.0, 0.5, -1.25, 1.25), presets((200, 200, 40), (500, 500, 80), (1000, 1000, 100), (6, 5, 9)), numba=mandelbrot2_nb, rtol=1e-3),
    Task("nbody", nbody, nbody_np, stars, presets((25, 40), (50, 250), (100, 900), (5, 3)), numba=nbody_nb, serial=True, rtol=0.1),  # as NPBench asks, and of mandelbrot: rounding errors grow in every round
    Task("nussinov", nussinov, nussinov_np, lambda n: (rng().integers(0, 4, n, dtype=np.int32),), presets((40,), (90,), (200,), (8,)), numba=nussinov_nb, serial=True, slow=True),
    Task("scattering_self_energies", scattering, scattering_np, scattering_data, presets((2, 4, 2, 2, 2, 6, 2, 3), (3, 5, 3, 2, 2, 10, 3, 4), (3, 10, 3, 3, 3, 12, 4, 4), (2, 3, 2, 2, 2, 4, 2, 3)), jax=scattering_jax),
    Task("stockham_fft", stockham_fft, stockham_np, signal, presets((2, 15), (2, 18), (2, 21), (2, 3)), shared=False),
]
