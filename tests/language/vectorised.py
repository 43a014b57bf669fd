"""Programs in NumPy's style: whole arrays, axes, masks, slices.

Each is what one writes without having read anything about Atoll; plain Python and NumPy say what it means.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64

n, m, k = at.sizes("n m k")
PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = []
rng = np.random.default_rng(4)


def prog(*cases: Any) -> Any:
    def deco(fn: Any) -> Any:
        PROGRAMS.append((fn, cases))
        return fn

    return deco


def A(*shape: int) -> Any:
    return rng.integers(0, 9, shape)


def X(*shape: int) -> Any:
    return rng.standard_normal(shape)

@prog((X(5, 3),), (X(1, 1),))
def standardise(x: f64[n, m]):
    mu = x.mean(axis=0)
    sd = x.std(axis=0) + 1e-9
    return (x - mu) / sd

@prog((X(5, 3),),)
def pairwise(x: f64[n, m]):
    d = x[:, None, :] - x[None, :, :]
    return np.sqrt((d ** 2).sum(axis=-1))

@prog((X(6, 3), A(6) % 3),)
def class_means(x: f64[n, m], y: i64[n]):
    out = np.zeros((3, m))
    for c in range(3):
        mask = y == c
        cnt = mask.sum()
        if cnt > 0:
            out[c] = (x * mask[:, None]).sum(axis=0) / cnt
    return out

@prog((X(4, 4),),)
def power_iteration(a: f64[n, n]):
    v = np.ones(n)
    lam = 0.0
    for _ in range(20):
        w = a @ v
        lam = np.linalg.norm(w)
        v = w / lam
    return lam, v

@prog((X(8),), (X(2),))
def smooth(x: f64[n]):
    y = x.copy()
    y[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
    return y

@prog((X(8), 0.3),)
def ema(x: f64[n], a: f64):
    y = np.zeros(n)
    y[0] = x[0]
    for i in range(1, n):
        y[i] = a * x[i] + (1 - a) * y[i - 1]
    return y

@prog((X(4, 6),),)
def softmax_rows(x: f64[n, m]):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

@prog((X(6, 2), X(6)),)
def least_squares(x: f64[n, m], y: f64[n]):
    return np.linalg.solve(x.T @ x, x.T @ y)

@prog((A(20),),)
def histo(a: i64[n]):
    return np.bincount(a, minlength=10), np.unique(a).sum(), np.sort(a)[::-1]

@prog((X(7),), (X(2),))
def stats(x: f64[n]):
    return np.median(x), np.percentile(x, 30), np.var(x), np.ptp(x), np.cumsum(x)[-1], np.diff(x).sum()

@prog((X(3, 4),),)
def reshapes(x: f64[n, m]):
    return x.reshape(-1), x.T, x.ravel()[::2], np.vstack([x, x]), np.hstack([x, x])

@prog((X(5), X(5)),)
def corr(x: f64[n], y: f64[n]):
    xm, ym = x - x.mean(), y - y.mean()
    return (xm * ym).sum() / np.sqrt((xm ** 2).sum() * (ym ** 2).sum())

@prog((X(10), 3),)
def topk(x: f64[n], q: i64):
    order = np.argsort(-x)
    return x[order[:q]]

@prog((X(6, 6),),)
def laplacian(u: f64[n, m]):
    out = np.zeros_like(u)
    out[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    return out

@prog((X(12),),)
def clip_count(x: f64[n]):
    c = np.clip(x, -1, 1)
    return c, (c != x).sum(), np.where(x > 0, x, 0.1 * x), np.count_nonzero(x > 0.5)

@prog((X(4, 3), X(3, 2), X(2)),)
def mlp(x: f64[n, m], w: f64[m, k], b: f64[k]):
    h = np.maximum(x @ w + b, 0)
    return h.sum(axis=1), np.tanh(h).mean()

@prog((X(9),),)
def trapezoid(x: f64[n]):
    t = np.linspace(0, 1, n)
    return ((x[1:] + x[:-1]) / 2 * np.diff(t)).sum()

@prog((X(50),),)
def monte(x: f64[n]):
    inside = 0
    for i in range(n // 2):
        if x[2 * i] ** 2 + x[2 * i + 1] ** 2 < 1:
            inside += 1
    return 4 * inside / (n // 2)

@prog((A(8), A(4)),)
def membership(a: i64[n], b: i64[m]):
    return np.isin(a, b), np.searchsorted(np.sort(a), b)

@prog((X(3, 3), X(3)),)
def jacobi(a: f64[n, n], b: f64[n]):
    d = np.diag(a) + 10.0
    r = a - np.diag(np.diag(a))
    x = np.zeros(n)
    for _ in range(30):
        x = (b - r @ x) / d
    return x

@prog((X(20), 4),)
def autocorr(x: f64[n], lag: i64):
    return [(x[:n - l] * x[l:]).sum() for l in range(lag)]

@prog((A(6, 6) % 2,),)
def neighbours(g: i64[n, m]):
    p = np.pad(g, 1)
    return sum(p[1 + di:1 + di + n, 1 + dj:1 + dj + m] for di in (-1, 0, 1) for dj in (-1, 0, 1) if (di, dj) != (0, 0))

@prog((X(30),),)
def online_variance(x: f64[n]):
    mean, m2, cnt = 0.0, 0.0, 0
    for v in x:
        cnt += 1
        d = v - mean
        mean += d / cnt
        m2 += d * (v - mean)
    return mean, m2 / cnt if cnt > 1 else 0.0

@prog((X(6),),)
def argstuff(x: f64[n]):
    return np.argmin(x), np.argmax(np.abs(x)), np.nonzero(x > 0)[0], np.flip(x), np.roll(x, 2)

@prog((X(4), 3),)
def poly_features(x: f64[n], deg: i64):
    return np.stack([x ** d for d in range(4)], axis=1)

@prog((X(5, 2), X(4, 2)),)
def nearest(p: f64[n, k], q: f64[m, k]):
    d = ((p[:, None] - q[None]) ** 2).sum(-1)
    return d.argmin(axis=1), d.min(axis=1)
