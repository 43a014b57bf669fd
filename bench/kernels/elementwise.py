"""One output element from a few input elements: arithmetic and transcendental chains."""

from __future__ import annotations

import math

import numpy as np

import atoll as at
from atoll import f32, f64, i64
from bench.kernel import Kernel, f32s, f64s, jax, prange, torch, touched

n, m = at.sizes("n m")


@at.fn
def four_arrays(a: f32[n], b: f32[n], c: f32[n], d: f32[n]) -> f32[n]:
    """So little work that a call of it is what a call costs."""
    return a * b + c * d


@at.fn
def chain(a: f32[n], b: f32[n], c: f32[n]) -> f32[n]:
    return [(x * 2.0 + y) * z - x / (y * y + 1.0) for x, y, z in zip(a, b, c)]


def chain_shared(xp, a, b, c):
    return (a * 2 + b) * c - a / (b * b + 1)


def chain_numba(a, b, c):
    o = np.empty_like(a)
    for i in prange(a.size):
        o[i] = (a[i] * np.float32(2) + b[i]) * c[i] - a[i] / (b[i] * b[i] + np.float32(1))
    return o


@at.fn
def saxpy(s: f32, x: f32[n], y: f32[n]) -> f32[n]:
    return s * x + y


def saxpy_numba(s, x, y):
    o = np.empty_like(x)
    for i in prange(x.size):
        o[i] = s * x[i] + y[i]
    return o


@at.fn
def waves(x: f64[n]) -> f64[n]:
    return [sin(v) * exp(-v * v) + log1p(v) * cos(3.0 * v) for v in x]


def waves_shared(xp, x):
    return xp.sin(x) * xp.exp(-x * x) + xp.log1p(x) * xp.cos(3.0 * x)


def waves_numba(x):
    o = np.empty_like(x)
    for i in prange(x.size):
        v = x[i]
        o[i] = math.sin(v) * math.exp(-v * v) + math.log1p(v) * math.cos(3.0 * v)
    return o


@at.fn
def gelu(x: f32[n]) -> f32[n]:
    return [0.5 * v * (1.0 + tanh(0.7978845608 * (v + 0.044715 * v * v * v))) for v in x]


def gelu_shared(xp, x):
    return 0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def gelu_numba(x):
    o = np.empty_like(x)
    for i in prange(x.size):
        v = x[i]
        o[i] = np.float32(0.5) * v * (np.float32(1) + math.tanh(np.float32(0.7978845608) * (v + np.float32(0.044715) * v * v * v)))
    return o


@at.fn
def black_scholes(S: f64[n], T: f64[n]) -> f64[n]:
    def price(s, t):
        d1 = (log(s / 100.0) + 0.07 * t) / (0.2 * sqrt(t))
        d2 = d1 - 0.2 * sqrt(t)
        return s * 0.5 * erfc(-d1 / 1.4142135623730951) - 100.0 * exp(-0.05 * t) * 0.5 * erfc(-d2 / 1.4142135623730951)

    return [price(s, t) for s, t in zip(S, T)]


def black_scholes_numba(S, T):
    o = np.empty_like(S)
    for i in prange(S.size):
        s, t = S[i], T[i]
        d1 = (math.log(s / 100.0) + 0.07 * t) / (0.2 * math.sqrt(t))
        d2 = d1 - 0.2 * math.sqrt(t)
        o[i] = s * 0.5 * math.erfc(-d1 / 1.4142135623730951) - 100.0 * math.exp(-0.05 * t) * 0.5 * math.erfc(-d2 / 1.4142135623730951)
    return o


def _black_scholes(xp, erfc, S, T):
    d1 = (xp.log(S / 100.0) + 0.07 * T) / (0.2 * xp.sqrt(T))
    d2 = d1 - 0.2 * xp.sqrt(T)
    return S * 0.5 * erfc(-d1 / 1.4142135623730951) - 100.0 * xp.exp(-0.05 * T) * 0.5 * erfc(-d2 / 1.4142135623730951)


def black_scholes_numpy(S, T):
    return _black_scholes(np, np.vectorize(math.erfc), S, T)


def black_scholes_jax(S, T):
    return _black_scholes(jax.numpy, jax.scipy.special.erfc, S, T)


@at.fn
def mandelbrot(re: f64[m], im: f64[n], limit: i64) -> i64[n, m]:
    def escape(cr, ci):
        x, y, count = 0.0, 0.0, 0
        while x * x + y * y <= 4.0 and count < limit:
            x, y, count = x * x - y * y + cr, 2.0 * x * y + ci, count + 1
        return count

    return [[escape(a, b) for a in re] for b in im]


def mandelbrot_numpy(re, im, limit):
    c = re[None, :] + 1j * im[:, None]
    z = np.zeros_like(c)
    count = np.zeros(c.shape, np.int64)
    inside = np.ones(c.shape, bool)
    for _ in range(limit):
        inside &= z.real * z.real + z.imag * z.imag <= 4.0
        count += inside
        z = np.where(inside, z * z + c, z)
    return count


def mandelbrot_numba(re, im, limit):
    o = np.empty((im.size, re.size), np.int64)
    for i in prange(im.size):
        for j in range(re.size):
            x = y = 0.0
            count = 0
            while x * x + y * y <= 4.0 and count < limit:
                x, y, count = x * x - y * y + re[j], 2.0 * x * y + im[i], count + 1
            o[i, j] = count
    return o


@at.fn
def outer(x: f32[n], y: f32[m]) -> f32[n, m]:
    return [[a * b + 1.0 for b in y] for a in x]


def outer_shared(xp, x, y):
    return x[:, None] * y[None, :] + 1


def outer_numba(x, y):
    o = np.empty((x.size, y.size), np.float32)
    for i in prange(x.size):
        for j in range(y.size):
            o[i, j] = x[i] * y[j] + np.float32(1)
    return o


def plain_bytes(*args):
    return touched(*args) + args[-1].nbytes


KERNELS = [
    Kernel("chain 64K f32", chain, lambda s: (f32s(s), f32s(s), f32s(s)), 1 << 16, shared=chain_shared, numba=chain_numba, rtol=2e-5, bytes=plain_bytes),
    Kernel("chain 1M f32", chain, lambda s: (f32s(s), f32s(s), f32s(s)), 1 << 20, shared=chain_shared, numba=chain_numba, rtol=2e-5, bytes=plain_bytes),
    Kernel("chain 16M f32", chain, lambda s: (f32s(s), f32s(s), f32s(s)), 1 << 24, shared=chain_shared, numba=chain_numba, rtol=2e-5, bytes=plain_bytes, streams=True),
    Kernel("saxpy 16M f32", saxpy, lambda s: (np.float32(2), f32s(s), f32s(s)), 1 << 24, shared=lambda xp, s, x, y: s * x + y, numba=saxpy_numba, rtol=1e-5, bytes=plain_bytes, streams=True),
    Kernel("transcendental chain f64", waves, lambda s: (f64s(s),), 1 << 20, shared=waves_shared, numba=waves_numba, rtol=1e-9, bytes=plain_bytes),
    Kernel("gelu f32", gelu, lambda s: (f32s(s),), 1 << 20, shared=gelu_shared, numba=gelu_numba, torch=lambda x: torch.nn.functional.gelu(x, approximate="tanh"), rtol=1e-5, bytes=plain_bytes),
    Kernel("black-scholes f64", black_scholes, lambda s: (f64s(s) * 100, f64s(s)), 1 << 19, numpy=black_scholes_numpy, jax=black_scholes_jax, numba=black_scholes_numba, rtol=1e-8, bytes=plain_bytes),
    Kernel("mandelbrot", mandelbrot, lambda s: (np.linspace(-2, 0.5, s), np.linspace(-1.2, 1.2, s), 100), 256, numpy=mandelbrot_numpy, numba=mandelbrot_numba, rtol=0, growth=2),
    Kernel("outer product f32", outer, lambda s: (f32s(s), f32s(s)), 2048, shared=outer_shared, numba=outer_numba, rtol=1e-6, bytes=lambda x, y: 4.0 * x.size * y.size, growth=2),
]
