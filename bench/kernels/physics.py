"""Particles, random numbers, spectra."""

from __future__ import annotations

import math

import numpy as np

import atoll as at
from atoll import f64, i64, u64
from bench.kernel import Kernel, jnp, prange, rng, torch

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


@at.fn
def fft(re: f64[2 * n], im: f64[2 * n], cosine: f64[n], sine: f64[n], levels: i64):
    """In place, two levels at a time; one alone where their number is odd."""
    place = zeros(2 * n, dtype=i64)
    for level in range(levels):
        width = 1 << level
        for r in range(width):
            place[r + width] = place[r] + ((2 * n) >> (level + 1))
    re, im = re[place], im[place]
    odd = levels % 2
    for _ in range(odd):
        for q in range(n):
            a, b, c, d = re[2 * q], im[2 * q], re[2 * q + 1], im[2 * q + 1]
            re[2 * q], im[2 * q], re[2 * q + 1], im[2 * q + 1] = a + c, b + d, a - c, b - d
    for _ in range(1 - odd):
        for q in range(n // 2):
            a, b, c, d = re[4 * q], im[4 * q], re[4 * q + 1], im[4 * q + 1]
            e, f, g, h = re[4 * q + 2], im[4 * q + 2], re[4 * q + 3], im[4 * q + 3]
            re[4 * q], im[4 * q], re[4 * q + 2], im[4 * q + 2] = (a + c) + (e + g), (b + d) + (f + h), (a + c) - (e + g), (b + d) - (f + h)
            re[4 * q + 1], im[4 * q + 1], re[4 * q + 3], im[4 * q + 3] = (a - c) + (f - h), (b - d) - (e - g), (a - c) - (f - h), (b - d) + (e - g)
    for half in range((levels + odd) // 2 - 1):
        level = 2 - odd + 2 * half
        width = 1 << level
        step = 1 << (levels - 2 - level)
        for q in range((2 * n) >> (level + 2)):
            first = 4 * width * q
            for r in range(width):
                c1, s1 = cosine[2 * step * r], sine[2 * step * r]
                c2, s2 = cosine[step * r], sine[step * r]
                i0 = first + r
                i1 = i0 + width
                i2 = i1 + width
                i3 = i2 + width
                x1, y1 = re[i1] * c1 - im[i1] * s1, re[i1] * s1 + im[i1] * c1
                x3, y3 = re[i3] * c1 - im[i3] * s1, re[i3] * s1 + im[i3] * c1
                a0, b0 = re[i0] + x1, im[i0] + y1
                a1, b1 = re[i0] - x1, im[i0] - y1
                a2, b2 = re[i2] + x3, im[i2] + y3
                a3, b3 = re[i2] - x3, im[i2] - y3
                u2, v2 = a2 * c2 - b2 * s2, a2 * s2 + b2 * c2
                u3, v3 = a3 * c2 - b3 * s2, a3 * s2 + b3 * c2
                re[i0], im[i0] = a0 + u2, b0 + v2
                re[i2], im[i2] = a0 - u2, b0 - v2
                re[i1], im[i1] = a1 + v3, b1 - u3
                re[i3], im[i3] = a1 - v3, b1 + u3
    return re, im


def fft_data(s):
    r = rng()
    angle = -2 * np.pi * np.arange(s // 2) / s
    return r.random(s), r.random(s), np.cos(angle), np.sin(angle), int(math.log2(s))


def fft_numpy(re, im, cosine, sine, levels):
    z = np.fft.fft(re + 1j * im)
    return z.real, z.imag


def fft_numba(re, im, cosine, sine, levels):
    n = re.size
    half = n // 2
    re, im = re.copy(), im.copy()
    for level in range(levels):
        width = 1 << level
        nr, ni = np.empty(n), np.empty(n)
        for i in prange(half):
            q, r = i // width, i % width
            c, s = cosine[r << (levels - 1 - level)], sine[r << (levels - 1 - level)]
            tr = re[i + half] * c - im[i + half] * s
            ti = re[i + half] * s + im[i + half] * c
            o = 2 * q * width + r
            nr[o], ni[o] = re[i] + tr, im[i] + ti
            nr[o + width], ni[o + width] = re[i] - tr, im[i] - ti
        re, im = nr, ni
    return re, im


def fft_jax(re, im, cosine, sine, levels):
    z = jnp.fft.fft(re + 1j * im)
    return z.real, z.imag


def fft_torch(re, im, cosine, sine, levels):
    z = torch.fft.fft(torch.complex(re, im))
    return z.real, z.imag


KERNELS = [
    Kernel("n-body", nbody, lambda s: (rng().random((s, 3)), rng().random(s)), 1000, shared=nbody_shared, numba=nbody_numba, growth=2, rtol=1e-7, flops=lambda x, w: 20.0 * w.size**2),
    Kernel("monte carlo pi", monte_carlo, lambda s: (s,), 1 << 20, numpy=monte_carlo_numpy, numba=monte_carlo_numba, rtol=0),
    Kernel("fft 64K", fft, fft_data, 1 << 16, numpy=fft_numpy, numba=fft_numba, jax=fft_jax, torch=fft_torch, rtol=1e-8),
]
