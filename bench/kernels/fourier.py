"""Fourier transforms."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f64
from bench.kernel import Kernel, jnp, numba, prange, rng, torch

r, c = at.sizes("r c")


@at.fn
def fft(re: f64[r * c], im: f64[r * c], cosine: f64[c, r], sine: f64[c, r]):
    """In four steps: the signal is a matrix whose columns are transformed, turned by the roots of unity in the tables, then its rows.

    Sixteen columns at a time go through all levels, two at a time, and come out in the order of reversed digits.
    """
    assert r % 16 == 0 and c % 16 == 0

    def roots(count):
        return [cos(2.0 * pi * k / count) for k in range(count)], [-sin(2.0 * pi * k / count) for k in range(count)]

    def levels(count):
        found = 0
        while 2 << found <= count:
            found = found + 1
        return found

    def places(count, bits):
        def place(k):
            found, rest, left = 0, k, count
            for _ in range(bits % 2):
                left = left // 2
                found, rest = left * (k % 2), k // 2
            for _ in range(bits // 2):
                left = left // 4
                found, rest = found + left * (rest % 4), rest // 4
            return found

        return [place(k) for k in range(count)]

    def columns(x, y, bits, c0, s0):
        size, odd = len(x), bits % 2
        for level in range((bits + 1) // 2):
            alone = odd if level == 0 else 0
            for p in range(alone * (size // 2)):
                for q in range(16):
                    u, v = x[p, q] - x[p + size // 2, q], y[p, q] - y[p + size // 2, q]
                    x[p, q], y[p, q] = x[p, q] + x[p + size // 2, q], y[p, q] + y[p + size // 2, q]
                    x[p + size // 2, q], y[p + size // 2, q] = u * c0[p] - v * s0[p], u * s0[p] + v * c0[p]
            step = (1 << (2 * level - odd + 2 * alone)) * (1 - alone)
            w = size >> (2 * level - odd + 2 + 2 * alone)
            for g in range(step):
                for p in range(w):
                    c1, s1, c2, s2, c3, s3 = c0[p * step], s0[p * step], c0[2 * p * step], s0[2 * p * step], c0[3 * p * step], s0[3 * p * step]
                    i0 = 4 * w * g + p
                    i1, i2, i3 = i0 + w, i0 + 2 * w, i0 + 3 * w
                    for q in range(16):
                        a0, b0, a1, b1 = x[i0, q] + x[i2, q], y[i0, q] + y[i2, q], x[i0, q] - x[i2, q], y[i0, q] - y[i2, q]
                        a2, b2, a3, b3 = x[i1, q] + x[i3, q], y[i1, q] + y[i3, q], x[i1, q] - x[i3, q], y[i1, q] - y[i3, q]
                        x[i0, q], y[i0, q] = a0 + a2, b0 + b2
                        u, v = a1 + b3, b1 - a3
                        x[i1, q], y[i1, q] = u * c1 - v * s1, u * s1 + v * c1
                        u, v = a0 - a2, b0 - b2
                        x[i2, q], y[i2, q] = u * c2 - v * s2, u * s2 + v * c2
                        u, v = a1 - b3, b1 + a3
                        x[i3, q], y[i3, q] = u * c3 - v * s3, u * s3 + v * c3
        return x, y

    bits_r, bits_c = levels(r), levels(c)
    c_r, s_r = roots(r)
    c_c, s_c = roots(c)
    places_r, places_c = places(r, bits_r), places(c, bits_c)

    def first(k):
        x = [[re[c * i + 16 * k + q] for q in range(16)] for i in range(r)]
        y = [[im[c * i + 16 * k + q] for q in range(16)] for i in range(r)]
        x, y = columns(x, y, bits_r, c_r, s_r)
        u = [[x[places_r[i], q] * cosine[16 * k + q, i] - y[places_r[i], q] * sine[16 * k + q, i] for q in range(16)] for i in range(r)]
        v = [[x[places_r[i], q] * sine[16 * k + q, i] + y[places_r[i], q] * cosine[16 * k + q, i] for q in range(16)] for i in range(r)]
        return u, v

    xs, ys = unzip([first(k) for k in range(c // 16)])

    def second(k):
        x = [[xs[j // 16, 16 * k + q, j % 16] for q in range(16)] for j in range(c)]
        y = [[ys[j // 16, 16 * k + q, j % 16] for q in range(16)] for j in range(c)]
        return columns(x, y, bits_c, c_c, s_c)

    xt, yt = unzip([second(k) for k in range(r // 16)])
    out_x = [[[xt[k, places_c[i], q] for q in range(16)] for k in range(r // 16)] for i in range(c)]
    out_y = [[[yt[k, places_c[i], q] for q in range(16)] for k in range(r // 16)] for i in range(c)]
    return flatten(flatten(out_x)), flatten(flatten(out_y))


def fft_data(s):
    """A signal of length r * c, and the roots of unity that turn element (i, j) of its matrix."""
    rows = 1 << ((s.bit_length() - 1) // 2)
    columns = s // rows
    angle = -2 * np.pi * np.outer(np.arange(columns), np.arange(rows)) / s
    g = rng()
    return g.random(s), g.random(s), np.cos(angle), np.sin(angle)


def fft_numpy(re, im, cosine, sine):
    z = np.fft.fft(re + 1j * im)
    return z.real, z.imag


def fft_numba(re, im, cosine, sine):
    c, r = cosine.shape
    x, y = np.empty((r, c)), np.empty((r, c))
    for k in prange(c):
        u, v = re[k::c].copy(), im[k::c].copy()
        transform(u, v)
        for i in range(r):
            x[i, k] = u[i] * cosine[k, i] - v[i] * sine[k, i]
            y[i, k] = u[i] * sine[k, i] + v[i] * cosine[k, i]
    out_x, out_y = np.empty((c, r)), np.empty((c, r))
    for i in prange(r):
        u, v = x[i].copy(), y[i].copy()
        transform(u, v)
        out_x[:, i], out_y[:, i] = u, v
    return out_x.reshape(r * c), out_y.reshape(r * c)


def transform(x, y):
    """In place, for Numba."""
    n = x.size
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            x[i], x[j] = x[j], x[i]
            y[i], y[j] = y[j], y[i]
    width = 1
    while width < n:
        for p in range(width):
            c, s = np.cos(np.pi * p / width), -np.sin(np.pi * p / width)
            for i in range(p, n, 2 * width):
                u, v = x[i + width] * c - y[i + width] * s, x[i + width] * s + y[i + width] * c
                x[i], y[i], x[i + width], y[i + width] = x[i] + u, y[i] + v, x[i] - u, y[i] - v
        width *= 2


if numba is not None:
    transform = numba.njit(transform)


def fft_jax(re, im, cosine, sine):
    z = jnp.fft.fft(re + 1j * im)
    return z.real, z.imag


def fft_torch(re, im, cosine, sine):
    z = torch.fft.fft(torch.complex(re, im))
    return z.real, z.imag


KERNELS = [
    Kernel("fft 64K", fft, fft_data, 1 << 16, numpy=fft_numpy, numba=fft_numba, jax=fft_jax, torch=fft_torch, rtol=1e-8),
]
