"""Elements, stencils, scans, gathers, histograms, sparse matrices, interactions, small networks."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f64, i64
from bench.ad.beside_jax.program import Program, jax, jnp, lax, sized

n, m, k, nnz = at.sizes("n m k nnz")


@at.fn
def rosenbrock(x: f64[n]) -> f64:
    return sum(100.0 * (x[i + 1] - x[i] * x[i]) ** 2 + (1.0 - x[i]) ** 2 for i in range(n - 1))


@at.fn
def rastrigin(x: f64[n]) -> f64:
    return sum(x * x - 10.0 * cos(6.283185307179586 * x) + 10.0)


@at.fn
def black_scholes(s: f64[n], v: f64[n], t: f64[n]) -> f64:
    d = (log(s) + 0.5 * v * v * t) / (v * sqrt(t))
    return sum(0.5 * s * (1.0 + erf(d * 0.7071067811865476)) - 0.5 * (1.0 + erf((d - v * sqrt(t)) * 0.7071067811865476)))


def black_scholes_jax(s, v, t):  # type: ignore[no-untyped-def]
    erf = jax.scipy.special.erf
    d = (jnp.log(s) + 0.5 * v * v * t) / (v * jnp.sqrt(t))
    return jnp.sum(0.5 * s * (1.0 + erf(d * 0.7071067811865476)) - 0.5 * (1.0 + erf((d - v * jnp.sqrt(t)) * 0.7071067811865476)))


@at.fn
def mixture(c: f64[k], mean: f64[k], x: f64[n]) -> f64:
    return sum(log(sum(exp(c[j] - 0.5 * (v - mean[j]) ** 2) for j in range(k))) for v in x)


@at.fn
def bodies(x: f64[n, 3], w: f64[n]) -> f64:
    return sum(w[i] * w[j] / sqrt(0.01 + sum((x[i, c] - x[j, c]) ** 2 for c in range(3))) for i in range(n) for j in range(n))


def bodies_jax(x, w):  # type: ignore[no-untyped-def]
    return jnp.sum(w[:, None] * w[None] / jnp.sqrt(0.01 + jnp.sum((x[:, None] - x[None]) ** 2, axis=2)))


@at.fn
def smoothness(x: f64[n, m]) -> f64:
    return sum(sqrt(1e-4 + (x[i + 1, j] - x[i, j]) ** 2 + (x[i, j + 1] - x[i, j]) ** 2) for i in range(n - 1) for j in range(m - 1))


def smoothness_jax(x):  # type: ignore[no-untyped-def]
    return jnp.sum(jnp.sqrt(1e-4 + (x[1:, :-1] - x[:-1, :-1]) ** 2 + (x[:-1, 1:] - x[:-1, :-1]) ** 2))


@at.fn
def blurred(x: f64[n, m], w: f64[3, 3]) -> f64:
    y = [[sum(x[i + a, j + b] * w[a, b] for a in range(3) for b in range(3)) for j in range(m - 2)] for i in range(n - 2)]
    return sum(tanh(y), axis=None)


def blurred_jax(x, w):  # type: ignore[no-untyped-def]
    y = lax.conv_general_dilated(x[None, None], w[None, None], (1, 1), "VALID")
    return jnp.sum(jnp.tanh(y))


@at.fn
def convolution(x: f64[n, 3, 20, 20], w: f64[8, 3, 3, 3]) -> f64:
    y = [[[[sum(x[b, c, i + p - 1, j + q - 1] * w[o, c, p, q] if 0 <= i + p - 1 and i + p - 1 < 20 and 0 <= j + q - 1 and j + q - 1 < 20 else 0.0
                for c in range(3) for p in range(3) for q in range(3)) for j in range(20)] for i in range(20)] for o in range(8)] for b in range(n)]
    return sum(maximum(y, 0.0), axis=None)


def convolution_jax(x, w):  # type: ignore[no-untyped-def]
    return jnp.sum(jnp.maximum(lax.conv_general_dilated(x, w, (1, 1), "SAME"), 0.0))


@at.fn
def prefix(x: f64[n]) -> f64:
    return sum(tanh(cumsum(x) * 0.01))


@at.fn
def log_cumulative(x: f64[n]) -> f64:
    return sum(scan(lambda a, b: maximum(a, b) + log1p(exp(-abs(a - b))), -1e9, x))


def log_cumulative_jax(x):  # type: ignore[no-untyped-def]
    return jnp.sum(lax.associative_scan(jnp.logaddexp, x))


@at.fn
def embedded(table: f64[m, k], words: i64[n]) -> f64:
    return sum(tanh(sum(table[w, c] * table[w, c] for c in range(k))) for w in words)


@at.fn
def scattered(x: f64[n], places: i64[n], bins: i64) -> f64:
    h = hist(add, 0.0, bins, places, x * x)
    return sum(sqrt(h + 1.0))


@at.fn
def sparse_product(val: f64[nnz], x: f64[n], ptr: i64[n + 1], col: i64[nnz]) -> f64:
    y = [sum(val[e] * x[col[e]] for e in range(ptr[i], ptr[i + 1])) for i in range(n)]
    return 0.5 * sum(v * v for v in y)


def sparse_product_jax(val, x, ptr, col):  # type: ignore[no-untyped-def]
    rows = jnp.repeat(jnp.arange(len(ptr) - 1), jnp.diff(ptr), total_repeat_length=len(val))
    return 0.5 * jnp.sum(jax.ops.segment_sum(val * x[col], rows, len(ptr) - 1) ** 2)


@at.fn
def attention(q: f64[n, k], key: f64[n, k], v: f64[n, k]) -> f64:
    z = [[sum(q[i, c] * key[j, c] for c in range(k)) / sqrt(f64(k)) for j in range(n)] for i in range(n)]
    p = [[exp(z[i, j] - max(z[i])) for j in range(n)] for i in range(n)]
    out = [[sum(p[i, j] * v[j, c] for j in range(n)) / sum(p[i]) for c in range(k)] for i in range(n)]
    return sum(out * out, axis=None)


def attention_jax(q, key, v):  # type: ignore[no-untyped-def]
    return jnp.sum((jax.nn.softmax(q @ key.T / jnp.sqrt(q.shape[1]), axis=1) @ v) ** 2)


def _sparse(g: np.random.Generator, s: float) -> tuple[np.ndarray, ...]:
    size = sized(5000, s)
    ptr = np.concatenate([[0], np.cumsum(g.integers(5, 30, size))])
    return g.normal(size=ptr[-1]), g.normal(size=size), ptr, g.integers(0, size, ptr[-1])


def _one(size: int):  # type: ignore[no-untyped-def]
    return lambda g, s: (g.normal(size=sized(size, s)),)


PROGRAMS = [
    Program("rosenbrock", rosenbrock, lambda x: jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2), (0,), _one(200_000)),
    Program("rastrigin", rastrigin, lambda x: jnp.sum(x * x - 10.0 * jnp.cos(6.283185307179586 * x) + 10.0), (0,), _one(100_000)),
    Program("black and scholes", black_scholes, black_scholes_jax, (0, 1, 2), lambda g, s: tuple(0.5 + g.random(sized(50_000, s)) for _ in range(3))),
    Program("mixture", mixture, lambda c, mean, x: jnp.sum(jnp.log(jnp.sum(jnp.exp(c - 0.5 * (x[:, None] - mean) ** 2), axis=1))), (0, 1), lambda g, s: (g.normal(size=8), g.normal(size=8), g.normal(size=sized(20_000, s)))),
    Program("bodies", bodies, bodies_jax, (0,), lambda g, s: (g.normal(size=(sized(400, s), 3)), g.random(sized(400, s)))),
    Program("total variation", smoothness, smoothness_jax, (0,), lambda g, s: (g.random((sized(500, s), sized(500, s))),)),
    Program("learned blur", blurred, blurred_jax, (0, 1), lambda g, s: (g.random((sized(400, s), sized(400, s))), g.random((3, 3)))),
    Program("convolution with padding", convolution, convolution_jax, (0, 1), lambda g, s: (g.normal(size=(sized(32, s), 3, 20, 20)), g.normal(size=(8, 3, 3, 3)))),
    Program("prefix sums", prefix, lambda x: jnp.sum(jnp.tanh(jnp.cumsum(x) * 0.01)), (0,), _one(200_000)),
    Program("cumulative log sum exp", log_cumulative, log_cumulative_jax, (0,), _one(20_000)),
    Program("embeddings", embedded, lambda table, words: jnp.sum(jnp.tanh(jnp.sum(table[words] ** 2, axis=1))), (0,), lambda g, s: (g.normal(size=(1000, 32)) / 8, g.integers(0, 1000, sized(10_000, s)))),
    Program("histogram of squares", scattered, lambda x, places, bins: jnp.sum(jnp.sqrt(jnp.zeros(bins).at[places].add(x * x) + 1.0)), (0,), lambda g, s: (g.normal(size=sized(100_000, s)), g.integers(0, 500, sized(100_000, s)), 500)),
    Program("sparse product", sparse_product, sparse_product_jax, (0, 1), _sparse),
    Program("attention", attention, attention_jax, (0, 1, 2), lambda g, s: tuple(g.normal(size=(sized(200, s), 32)) for _ in range(3))),
]
