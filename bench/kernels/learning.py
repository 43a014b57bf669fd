"""Statistics and learning: k-means, Gaussian mixtures, their gradients, regression."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f64
from bench.kernel import Kernel, jax, jnp, prange, rng

n, d, k = at.sizes("n d k")


@at.fn
def kmeans_step(points: f64[n, d], centers: f64[k, d]) -> f64[k, d]:
    nearest = [argmin([sum((a - b) * (a - b) for a, b in zip(p, c)) for c in centers]) for p in points]
    counts = hist(add, 0.0, k, nearest, [1.0 for _ in range(n)])
    sums = hist(add, zeros(d), k, nearest, points)
    return [[sums[c, j] / maximum(counts[c], 1.0) for j in range(d)] for c in range(k)]


def kmeans_shared(xp, points, centers):
    far = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(2)
    chosen = (xp.argmin(far, 1)[:, None] == xp.arange(centers.shape[0])[None, :]) * 1.0
    return (chosen.T @ points) / xp.maximum(chosen.sum(0), 1.0)[:, None]


def kmeans_numba(points, centers):
    n, d = points.shape
    k = centers.shape[0]
    nearest = np.empty(n, np.int64)
    for i in prange(n):
        best = np.inf
        for c in range(k):
            s = 0.0
            for j in range(d):
                s += (points[i, j] - centers[c, j]) ** 2
            if s < best:
                best = s
                nearest[i] = c
    sums, counts = np.zeros((k, d)), np.zeros(k)
    for i in range(n):
        counts[nearest[i]] += 1
        for j in range(d):
            sums[nearest[i], j] += points[i, j]
    for c in range(k):
        sums[c] /= max(counts[c], 1.0)
    return sums


@at.fn
def gmm(x: f64[n, d], means: f64[k, d], scales: f64[k, d], weights: f64[k]) -> f64:
    def point(row):
        logs = [weights[c] - sum(0.5 * ((row[j] - means[c, j]) * scales[c, j]) ** 2 - log(scales[c, j]) for j in range(d)) for c in range(k)]
        top = at.stop(max(logs))
        return top + log(sum(exp(v - top) for v in logs))

    return sum(point(row) for row in x)


gmm_gradient = at.grad(gmm, wrt=("means", "scales", "weights"))


def gmm_shared(xp, x, means, scales, weights):
    z = (x[:, None, :] - means) * scales
    logs = weights - (0.5 * z * z - xp.log(scales)).sum(2)
    top = logs.max(1)
    return (top + xp.log(xp.exp(logs - top[:, None]).sum(1))).sum()


def gmm_gradient_numpy(x, means, scales, weights):
    diff = x[:, None, :] - means
    z = diff * scales
    logs = weights - (0.5 * z * z - np.log(scales)).sum(2)
    p = np.exp(logs - logs.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    return ((p[:, :, None] * z).sum(0) * scales, (p[:, :, None] * (1 / scales - z * diff)).sum(0), p.sum(0))


def gmm_gradient_jax(x, means, scales, weights):
    return jax.grad(lambda m, s, w: gmm_shared(jnp, x, m, s, w), (0, 1, 2))(means, scales, weights)


def gmm_numba(x, means, scales, weights):
    n, d = x.shape
    k = weights.size
    total = 0.0
    for i in prange(n):
        logs = np.empty(k)
        for c in range(k):
            s = weights[c]
            for j in range(d):
                s -= 0.5 * ((x[i, j] - means[c, j]) * scales[c, j]) ** 2 - np.log(scales[c, j])
            logs[c] = s
        top = logs.max()
        t = 0.0
        for c in range(k):
            t += np.exp(logs[c] - top)
        total += top + np.log(t)
    return total


def gmm_data(s):
    r = rng()
    return r.normal(size=(s, 8)), r.normal(size=(10, 8)), r.random((10, 8)) + 0.5, r.normal(size=10)


@at.fn
def logistic(X: f64[n, d], y: f64[n], w: f64[d]) -> f64[d]:
    p = [1.0 / (1.0 + exp(-sum(a * b for a, b in zip(row, w)))) for row in X]
    return (p - y) @ X / n


def logistic_shared(xp, X, y, w):
    return (1 / (1 + xp.exp(-(X @ w))) - y) @ X / X.shape[0]


def logistic_numba(X, y, w):
    n = X.shape[0]
    r = np.empty(n)
    for i in prange(n):
        s = 0.0
        for j in range(w.size):
            s += X[i, j] * w[j]
        r[i] = 1 / (1 + np.exp(-s)) - y[i]
    return r @ X / n


KERNELS = [
    Kernel("k-means step", kmeans_step, lambda s: (rng().random((s, 16)), rng().random((32, 16))), 1 << 14, shared=kmeans_shared, numba=kmeans_numba, rtol=1e-8, flops=lambda p, c: 3.0 * p.size * c.shape[0]),
    Kernel("gmm", gmm, gmm_data, 1 << 14, shared=gmm_shared, numba=gmm_numba, rtol=1e-8),
    Kernel("gmm gradient", gmm_gradient, gmm_data, 1 << 14, numpy=gmm_gradient_numpy, jax=gmm_gradient_jax, rtol=1e-7),
    Kernel("logistic gradient", logistic, lambda s: (rng().random((s, 128)), rng().random(s), rng().random(128)), 1 << 14, shared=logistic_shared, numba=logistic_numba, rtol=1e-8, bytes=lambda X, *_: float(X.nbytes)),
]
