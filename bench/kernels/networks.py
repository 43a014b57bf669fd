"""Layers of neural networks, forward and backward."""

from __future__ import annotations

import math

import numpy as np

import atoll as at
from atoll import f32
from bench.kernel import Kernel, f32s, jax, jnp, prange, rng, torch, touched

n, m, d, h, c, k, l = at.sizes("n m d h c k l")


@at.fn
def softmax(x: f32[n, m]) -> f32[n, m]:
    def row(v):
        top = max(v)
        e = [exp(a - top) for a in v]
        return e / sum(e)

    return [row(v) for v in x]


def softmax_shared(xp, x):
    e = xp.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def softmax_numba(x):
    o = np.empty_like(x)
    for i in prange(x.shape[0]):
        top = x[i, 0]
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        s = np.float32(0)
        for j in range(x.shape[1]):
            o[i, j] = math.exp(x[i, j] - top)
            s += o[i, j]
        for j in range(x.shape[1]):
            o[i, j] /= s
    return o


@at.fn
def layer_norm(x: f32[n, m], scale: f32[m], shift: f32[m]) -> f32[n, m]:
    def row(v):
        mean = sum(v) / f32(m)
        variance = sum((a - mean) * (a - mean) for a in v) / f32(m)
        inverse = 1.0 / sqrt(variance + 1e-5)
        return [(a - mean) * inverse * s + t for a, s, t in zip(v, scale, shift)]

    return [row(v) for v in x]


def layer_norm_shared(xp, x, scale, shift):
    mean = x.mean(1, keepdims=True)
    variance = ((x - mean) ** 2).mean(1, keepdims=True)
    return (x - mean) / xp.sqrt(variance + 1e-5) * scale + shift


def layer_norm_numba(x, scale, shift):
    o = np.empty_like(x)
    n, m = x.shape
    for i in prange(n):
        s = np.float32(0)
        for j in range(m):
            s += x[i, j]
        mean = s / np.float32(m)
        t = np.float32(0)
        for j in range(m):
            t += (x[i, j] - mean) * (x[i, j] - mean)
        inverse = np.float32(1) / math.sqrt(t / np.float32(m) + np.float32(1e-5))
        for j in range(m):
            o[i, j] = (x[i, j] - mean) * inverse * scale[j] + shift[j]
    return o


@at.fn
def attention(q: f32[n, d], k: f32[m, d], v: f32[m, h]) -> f32[n, h]:
    scores = [[sum(a * b for a, b in zip(qi, kj)) / sqrt(f32(d)) for kj in k] for qi in q]

    def row(s):
        top = max(s)
        e = [exp(a - top) for a in s]
        return e / sum(e)

    return [row(s) for s in scores] @ v


def attention_shared(xp, q, k, v):
    s = q @ k.T / math.sqrt(q.shape[1])
    e = xp.exp(s - s.max(1, keepdims=True))
    return (e / e.sum(1, keepdims=True)) @ v


def attention_torch(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None])[0, 0]


@at.fn
def mlp(x: f32[n, d], w1: f32[d, h], b1: f32[h], w2: f32[h, c], b2: f32[c]) -> f32[n, c]:
    return tanh(x @ w1 + b1) @ w2 + b2


@at.fn
def mlp_loss(x: f32[n, d], w1: f32[d, h], b1: f32[h], w2: f32[h, c], b2: f32[c], y: f32[n, c]) -> f32:
    out = tanh(x @ w1 + b1) @ w2 + b2
    return sum((out - y) * (out - y), axis=None) / f32(n)


mlp_gradient = at.grad(mlp_loss, wrt=("w1", "b1", "w2", "b2"))


def mlp_shared(xp, x, w1, b1, w2, b2):
    return xp.tanh(x @ w1 + b1) @ w2 + b2


def mlp_backward_numpy(x, w1, b1, w2, b2, y):
    a = np.tanh(x @ w1 + b1)
    g = 2 * (a @ w2 + b2 - y) / x.dtype.type(x.shape[0])
    ga = (g @ w2.T) * (1 - a * a)
    return x.T @ ga, ga.sum(0), a.T @ g, g.sum(0)


def mlp_backward_jax(x, w1, b1, w2, b2, y):
    def loss(w1, b1, w2, b2):
        out = jnp.tanh(x @ w1 + b1) @ w2 + b2
        return ((out - y) ** 2).sum() / x.shape[0]

    return jax.grad(loss, (0, 1, 2, 3))(w1, b1, w2, b2)


def mlp_data(s, target):
    r = rng()
    f = lambda *shape: (r.standard_normal(shape) / math.sqrt(shape[0])).astype(np.float32)
    args = (f(s, 256) * 16, f(256, 512), f(512), f(512, 64), f(64))
    return (*args, f(s, 64)) if target else args


@at.fn
def conv2d(x: f32[c, n + k - 1, m + l - 1], w: f32[d, c, k, l]) -> f32[d, n, m]:
    return [[[sum(x[q, i + a, j + b] * w[o, q, a, b] for q in range(c) for a in range(k) for b in range(l)) for j in range(m)] for i in range(n)] for o in range(d)]


def conv2d_numpy(x, w):
    v = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (1, 2))
    return np.einsum("cijab,dcab->dij", v, w, optimize=True)


def conv2d_jax(x, w):
    return jax.lax.conv(x[None], w, (1, 1), "VALID")[0]


def conv2d_numba(x, w):
    d, c, k, l = w.shape
    n, m = x.shape[1] - k + 1, x.shape[2] - l + 1
    o = np.zeros((d, n, m), np.float32)
    for q in prange(d):
        for i in range(n):
            for p in range(c):
                for a in range(k):
                    for b in range(l):
                        f = w[q, p, a, b]
                        for j in range(m):
                            o[q, i, j] += x[p, i + a, j + b] * f
    return o


@at.fn
def max_pool(x: f32[c, 2 * n, 2 * m]) -> f32[c, n, m]:
    return [[[max(x[q, 2 * i + a, 2 * j + b] for a in range(2) for b in range(2)) for j in range(m)] for i in range(n)] for q in range(c)]


def max_pool_shared(xp, x):
    c, a, b = x.shape
    return x.reshape(c, a // 2, 2, b // 2, 2).max((2, 4))


def max_pool_numba(x):
    c, a, b = x.shape
    o = np.empty((c, a // 2, b // 2), np.float32)
    for q in prange(c):
        for i in range(a // 2):
            for j in range(b // 2):
                o[q, i, j] = max(max(x[q, 2 * i, 2 * j], x[q, 2 * i, 2 * j + 1]), max(x[q, 2 * i + 1, 2 * j], x[q, 2 * i + 1, 2 * j + 1]))
    return o


@at.fn
def conv1d(x: f32[n + k - 1], w: f32[k]) -> f32[n]:
    return [sum(x[i + j] * w[j] for j in range(k)) for i in range(n)]


def conv1d_numba(x, w):
    o = np.empty(x.size - w.size + 1, np.float32)
    for i in prange(o.size):
        s = np.float32(0)
        for j in range(w.size):
            s += x[i + j] * w[j]
        o[i] = s
    return o


KERNELS = [
    Kernel("softmax f32", softmax, lambda s: (f32s(s, 1024),), 2048, shared=softmax_shared, numba=softmax_numba, torch=lambda x: torch.softmax(x, 1), rtol=1e-5, bytes=lambda x: 2.0 * x.nbytes),
    Kernel("layer norm f32", layer_norm, lambda s: (f32s(s, 1024), f32s(1024), f32s(1024)), 2048, shared=layer_norm_shared, numba=layer_norm_numba, torch=lambda x, a, b: torch.nn.functional.layer_norm(x, (x.shape[1],), a, b), rtol=1e-3, bytes=lambda x, *_: 2.0 * x.nbytes),
    Kernel("attention f32", attention, lambda s: (f32s(s, 64), f32s(s, 64), f32s(s, 64)), 512, shared=attention_shared, torch=attention_torch, rtol=1e-4, growth=2, flops=lambda q, k, v: 4.0 * q.shape[0] * k.shape[0] * 64),
    Kernel("mlp forward f32", mlp, lambda s: mlp_data(s, False), 512, shared=mlp_shared, torch=lambda x, w1, b1, w2, b2: torch.addmm(b2, torch.tanh(torch.addmm(b1, x, w1)), w2), rtol=1e-3, flops=lambda x, *_: 2.0 * x.shape[0] * 512 * (256 + 64)),
    Kernel("mlp gradient f32", mlp_gradient, lambda s: mlp_data(s, True), 512, numpy=mlp_backward_numpy, jax=mlp_backward_jax, rtol=1e-3, flops=lambda x, *_: 2.0 * x.shape[0] * 512 * (2 * 256 + 3 * 64)),
    Kernel("conv2d 3x3 f32", conv2d, lambda s: (f32s(16, s + 2, s + 2), f32s(16, 16, 3, 3)), 64, numpy=conv2d_numpy, jax=conv2d_jax, numba=conv2d_numba, torch=lambda x, w: torch.nn.functional.conv2d(x[None], w)[0], rtol=1e-4, growth=2, flops=lambda x, w: 2.0 * w.size * (x.shape[1] - 2) * (x.shape[2] - 2)),
    Kernel("max pool f32", max_pool, lambda s: (f32s(16, s // 2 * 2, s // 2 * 2),), 256, shared=max_pool_shared, numba=max_pool_numba, torch=lambda x: torch.nn.functional.max_pool2d(x[None], 2)[0], rtol=0, growth=2, bytes=lambda x: 1.25 * x.nbytes),
    Kernel("conv1d 31 f32", conv1d, lambda s: (f32s(s + 30), f32s(31)), 1 << 18, numpy=lambda x, w: np.convolve(x, w[::-1], "valid"), jax=lambda x, w: jnp.convolve(x, w[::-1], mode="valid"), numba=conv1d_numba, torch=lambda x, w: torch.nn.functional.conv1d(x[None, None], w[None, None])[0, 0], rtol=1e-4, flops=lambda x, w: 2.0 * x.size * w.size),
]
del touched
