"""Versions in terms of whole arrays. `xp` is NumPy or jax.numpy; a version that takes none is NumPy's alone."""

from __future__ import annotations

from typing import Any

import numpy as np


def repeated(xp: Any, times: int, step: Any, start: Any) -> Any:
    """step(step(… start)), as a loop in Python or in JAX."""
    if xp is np:
        for _ in range(times):
            start = step(start)
        return start
    from jax import lax

    return lax.fori_loop(0, times, lambda _, x: step(x), start)


def around(xp: Any, a: Any) -> tuple[Any, Any, Any, Any]:
    """The neighbours north, south, west, east; at an edge the element itself."""
    p = xp.pad(a, 1, mode="edge")
    return p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]


def hotspot(xp: Any, iterations: int, temp: Any, power: Any) -> Any:
    f = np.float32
    rows, cols = temp.shape
    high, wide = f(0.016) / f(rows), f(0.016) / f(cols)
    cap = f(0.5) * f(1.75e6) * f(0.0005) * wide * high
    rx, ry = wide / (f(2) * f(100) * f(0.0005) * high), high / (f(2) * f(100) * f(0.0005) * wide)
    rz = f(0.0005) / (f(100) * high * wide)
    step = f(0.001) / (f(3e6) / (f(0.5) * f(0.0005) * f(1.75e6)))

    def advance(t: Any) -> Any:
        n, s, w, e = around(xp, t)
        return t + (step / cap) * (power + (e + w - 2 * t) / rx + (s + n - 2 * t) / ry + (f(80) - t) / rz)

    return repeated(xp, iterations, advance, temp)


def srad(xp: Any, image: Any) -> Any:
    def advance(u: Any) -> Any:
        mean = u.mean()
        q0 = ((u * u).mean() - mean * mean) / (mean * mean)
        n, s, w, e = (x - u for x in around(xp, u))
        g2 = (n * n + s * s + w * w + e * e) / (u * u)
        l = (n + s + w + e) / u
        den = 1 + np.float32(0.25) * l
        q = (np.float32(0.5) * g2 - np.float32(1 / 16) * (l * l)) / (den * den)
        c = xp.clip(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0, 1)
        _, below, _, right = around(xp, c)
        return u + np.float32(0.25 * 0.5) * (c * n + below * s + c * w + right * e)

    return xp.log(repeated(xp, 100, advance, xp.exp(image.astype(np.float32) / np.float32(255)))) * np.float32(255)


def nearest(count: int, lat: float, lng: float, lats: Any, lngs: Any) -> Any:
    far = np.sqrt((np.float32(lat) - lats) ** 2 + (np.float32(lng) - lngs) ** 2)
    first = np.argsort(far, kind="stable")[:count]
    return first.astype(np.int32), far[first]


def lud(a: Any) -> Any:
    a = a.copy()
    for k in range(len(a)):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def clusters(points: Any, centres: Any) -> tuple[Any, Any]:
    """The nearest centre of every point (the last of several), and the sums and numbers of points of each centre."""
    k = len(centres)
    away = ((points[:, None, :] - centres[None]) ** 2).sum(-1)
    which = k - 1 - away[:, ::-1].argmin(1)
    sums = np.stack([np.bincount(which, points[:, d], k) for d in range(points.shape[1])], 1)
    return which, (sums, np.bincount(which, minlength=k))


def kmeans_rodinia(threshold: int, k: int, most: int, points: Any) -> Any:
    centres, member, delta, rounds = points[:k], np.arange(len(points)) % k, threshold + 1, 0
    while delta > threshold and rounds < most:
        which, (sums, number) = clusters(points, centres)
        centres = (sums / np.maximum(number, 1)[:, None]).astype(np.float32)
        delta, member, rounds = int((which != member).sum()), which, rounds + 1
    return centres, rounds


def kmeans_accelerate(k: int, points: Any) -> Any:
    def again(c: Any) -> Any:
        _, (sums, number) = clusters(points, c)
        return (sums / number[:, None]).astype(np.float32)

    old, new, rounds = points[:k], again(points[:k]), 0
    while (np.abs(old - new) > 0.01).any():
        old, new, rounds = new, again(new), rounds + 1
    return new, rounds


def mri_q(xp: Any, kx: Any, ky: Any, kz: Any, x: Any, y: Any, z: Any, re: Any, im: Any) -> Any:
    mag = re * re + im * im
    angle = np.float32(2 * np.pi) * (xp.outer(x, kx) + xp.outer(y, ky) + xp.outer(z, kz))
    return xp.cos(angle) @ mag, xp.sin(angle) @ mag


def histo(width: int, height: int, img: Any) -> Any:
    return np.minimum(np.bincount(img.ravel(), minlength=width * height), 255).astype(np.int32)


def stencil(xp: Any, iterations: int, nx: int, a: Any) -> Any:
    c0, c1 = np.float32(1 / 6), np.float32(1 / 36)

    def advance(u: Any) -> Any:
        inner = (u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]) * c1 + u[1:-1, 1:-1, 1:-1] * c0
        if xp is np:
            u = u.copy()
            u[1:-1, 1:-1, 1:-1] = inner
            return u
        return u.at[1:-1, 1:-1, 1:-1].set(inner)

    return repeated(xp, iterations, advance, xp.broadcast_to(a, (nx, *a.shape)))[0]


def sgemm(xp: Any, a: Any, b: Any, c: Any, alpha: float, beta: float) -> Any:
    return c * np.float32(beta) + (a @ b) * np.float32(alpha)


def product(xp: Any, a: Any, b: Any) -> Any:
    return a @ b


def nbody(xp: Any, steps: int, eps: float, dt: float, x: Any, y: Any, z: Any, m: Any, u: Any, v: Any, w: Any) -> Any:
    eps, dt = np.float32(eps), np.float32(dt)

    def advance(state: Any) -> Any:
        p, q = state
        d = [a[None, :] - a[:, None] for a in p]
        inverse = 1 / xp.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps * eps)
        s = m[None, :] * inverse * inverse * inverse
        return tuple(a + dt * b for a, b in zip(p, q, strict=True)), tuple(b + dt * (s * a).sum(1) for a, b in zip(d, q, strict=True))

    (x, y, z), (u, v, w) = repeated(xp, steps, advance, ((x, y, z), (u, v, w)))
    return x, y, z, m, u, v, w


def pagerank(froms: Any, tos: Any, sizes: Any, iterations: int) -> Any:
    n = len(sizes)
    ranks = np.full(n, 1 / n, np.float32)
    for _ in range(iterations):
        given = np.where(sizes == 0, 0, ranks / np.maximum(sizes, 1))
        ranks = np.bincount(tos, given[froms], n).astype(np.float32)
        ranks = ranks + np.float32(ranks[sizes == 0].sum() / n)
    return ranks


def highpass(xp: Any, cutoff: int, img: Any) -> Any:
    n, m, _ = img.shape
    i, j = np.arange(n)[:, None], np.arange(m)[None]
    sign = ((-1.0) ** (i + j)).astype(np.float32)
    gone = (np.abs(i - n // 2) < cutoff) & (np.abs(j - m // 2) < cutoff)
    return tuple(xp.abs(xp.fft.ifft2(xp.where(gone, 0, xp.fft.fft2(img[:, :, k].astype(np.float32) * sign)))).astype(np.float32) for k in range(3))


def series(rows: int) -> Any:
    steps, dx = 1000, 2.0 / 1000
    x = np.cumsum(np.full(steps - 2, dx))
    f, last = (x + 1) ** x, 9.0
    angle = np.pi * np.arange(rows)[:, None]
    a = (1 / 2 + np.cos(angle * x) @ f + last * np.cos(angle[:, 0] * 2) / 2) * dx
    b = (np.sin(angle * x) @ f + last * np.sin(angle[:, 0] * 2) / 2) * dx
    a[0] /= 2
    return a, b


def idea(key: Any, text: Any) -> Any:
    """The cipher's rounds on all blocks at once."""
    pairs = text.reshape(-1, 4, 2).astype(np.uint16)
    x1, x2, x3, x4 = (pairs[:, :, 0] | pairs[:, :, 1] << 8).T
    times = lambda a, k: (a.astype(np.uint32) * np.uint32(k) % np.uint32(0x10001)).astype(np.uint16)
    for k in key[:48].reshape(8, 6):
        x1, x2, x3, x4 = times(x1, k[0]), x2 + k[1], x3 + k[2], times(x4, k[3])
        t2 = times(x1 ^ x3, k[4])
        t1 = times(t2 + (x2 ^ x4), k[5])
        t2 = t1 + t2
        x1, x4, x2, x3 = x1 ^ t1, x4 ^ t2, x3 ^ t1, t2 ^ x2
    k = key[48:]
    out = np.stack([times(x1, k[0]), x3 + k[1], x2 + k[2], times(x4, k[3])], 1)
    return np.stack([out & 255, out >> 8], 2).astype(np.uint8).ravel()


def crypt(z: Any, dk: Any, text: Any) -> Any:
    there = idea(z, text)
    return there, idea(dk, there)


def life(base: Any, _: int, k: int) -> Any:
    world = np.tile(base, (k, k)).astype(np.int32)
    for _ in range(k):
        near = sum(np.roll(world, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - world
        world = ((near == 3) | ((world == 1) & (near == 2))).astype(np.int32)
    return world.sum()


def in_rectangles(all_points: Any) -> Any:
    third = len(all_points) // 3
    corners, points = all_points[: 2 * third].reshape(third, 2, 2), all_points[2 * third :]
    low, high = corners.min(1), corners.max(1)
    return ((points[None] >= low[:, None]) & (points[None] <= high[:, None])).all(-1).sum(1).astype(np.int32)


def counted(xp: Any, k: int, where: Any, what: Any) -> Any:
    if xp is np:
        out = np.zeros(k, what.dtype)
        np.add.at(out, where % k, what)
        return out
    return xp.zeros(k, what.dtype).at[where % k].add(what)


def counted_rows(k: int, where: Any, what: Any) -> Any:
    out = np.zeros((len(where), k), what.dtype)
    np.add.at(out, (np.arange(len(where))[:, None], where % k), what)
    return out
