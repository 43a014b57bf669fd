"""A Fourier transform in place, two levels at a time: indices that only run-time checks can bound."""

import math

import numpy as np

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


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
    r = np.random.default_rng(0)
    angle = -2 * np.pi * np.arange(s // 2) / s
    return r.random(s), r.random(s), np.cos(angle), np.sin(angle), int(math.log2(s))


def fft_numpy(re, im, cosine, sine, levels):
    z = np.fft.fft(re + 1j * im)
    return z.real, z.imag
