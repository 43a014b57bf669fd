"""Sums, products of matrices, losses, factorisations."""

from __future__ import annotations

import numpy as np

import atoll as at
from atoll import f64
from bench.ad.beside_jax.program import Program, jnp, lax, sized

n, m, k = at.sizes("n m k")


@at.fn
def logistic(w: f64[m], x: f64[n, m], y: f64[n]) -> f64:
    z = x @ w
    return sum(log1p(exp(-abs(z))) + maximum(z, 0.0) - y * z) / n


def logistic_jax(w, x, y):  # type: ignore[no-untyped-def]
    z = x @ w
    return jnp.mean(jnp.log1p(jnp.exp(-jnp.abs(z))) + jnp.maximum(z, 0.0) - y * z)


@at.fn
def softmax_loss(w: f64[m, k], x: f64[n, m], y: f64[n, k]) -> f64:
    z = x @ w
    top = [max(row) for row in z]
    return sum(log(sum(exp(z[i, c] - top[i]) for c in range(k))) + top[i] - sum(y[i, c] * z[i, c] for c in range(k)) for i in range(n)) / n


def softmax_jax(w, x, y):  # type: ignore[no-untyped-def]
    z = x @ w
    top = jnp.max(z, axis=1, keepdims=True)
    return jnp.mean(jnp.log(jnp.sum(jnp.exp(z - top), axis=1)) + top[:, 0] - jnp.sum(y * z, axis=1))


@at.fn
def two_layers(w1: f64[m, k], w2: f64[k], x: f64[n, m], y: f64[n]) -> f64:
    h = maximum(x @ w1, 0.0)
    return sum((h @ w2 - y) ** 2) / n


@at.fn
def ridge(w: f64[m], x: f64[n, m], y: f64[n]) -> f64:
    return sum((x @ w - y) ** 2) + 0.1 * sum(w * w)


@at.fn
def factors(u: f64[n, k], v: f64[m, k], a: f64[n, m]) -> f64:
    return sum((a[i, j] - sum(u[i, c] * v[j, c] for c in range(k))) ** 2 for i in range(n) for j in range(m))


@at.fn
def rayleigh(x: f64[n], a: f64[n, n]) -> f64:
    return sum(x * (a @ x)) / sum(x * x)


@at.fn
def distances(x: f64[n, k]) -> f64:
    return sum(sqrt(1e-3 + sum((x[i, c] - x[j, c]) ** 2 for c in range(k))) for i in range(n) for j in range(n))


@at.fn
def kernel_matrix(x: f64[n, k], y: f64[n]) -> f64:
    return sum(y[i] * y[j] * exp(-0.5 * sum((x[i, c] - x[j, c]) ** 2 for c in range(k))) for i in range(n) for j in range(n))


def kernel_jax(x, y):  # type: ignore[no-untyped-def]
    d = jnp.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)
    return y @ jnp.exp(-0.5 * d) @ y


@at.fn
def cholesky_log_det(a: f64[n, n]) -> f64:
    for j in range(n):
        a[j, j] = sqrt(a[j, j] - sum(a[j, p] * a[j, p] for p in range(j)))
        for i in range(j + 1, n):
            a[i, j] = (a[i, j] - sum(a[i, p] * a[j, p] for p in range(j))) / a[j, j]
    return sum(log(a[i, i]) for i in range(n))


def cholesky_jax(a):  # type: ignore[no-untyped-def]
    return jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky(jnp.tril(a) + jnp.tril(a, -1).T))))  # of the lower half alone, as ours


@at.fn
def lu_in_place(a: f64[n, n]) -> f64:
    for p in range(n):
        for i in range(p + 1, n):
            a[i, p] = a[i, p] / a[p, p]
            for j in range(p + 1, n):
                a[i, j] -= a[i, p] * a[p, j]
    return sum(a * a, axis=None)


def lu_jax(a):  # type: ignore[no-untyped-def]
    size = a.shape[0]
    at_ = jnp.arange(size)

    def step(p, a):  # type: ignore[no-untyped-def]
        below = at_ > p
        column = jnp.where(below, a[:, p] / a[p, p], 0.0)
        a = a.at[:, p].set(jnp.where(below, column, a[:, p]))
        return a - jnp.outer(column, jnp.where(below, a[p], 0.0))

    return jnp.sum(lax.fori_loop(0, size, step, a) ** 2)


@at.fn
def forward_solve(a: f64[n, n], b: f64[n]) -> f64:
    x = zeros(n)
    for i in range(n):
        x[i] = (b[i] - sum(a[i, j] * x[j] for j in range(i))) / a[i, i]
    return sum(x * x)


def forward_solve_jax(a, b):  # type: ignore[no-untyped-def]
    import jax.scipy.linalg as linalg

    return jnp.sum(linalg.solve_triangular(a, b, lower=True) ** 2)


@at.fn
def correlation(x: f64[n, m]) -> f64:
    mean = [sum(x[i, j] for i in range(n)) / n for j in range(m)]
    spread = [sqrt(sum((x[i, j] - mean[j]) ** 2 for i in range(n)) / n) + 1e-6 for j in range(m)]
    z = [[(x[i, j] - mean[j]) / spread[j] for j in range(m)] for i in range(n)]
    c = [[1.0 if a == b else sum(z[i, a] * z[i, b] for i in range(n)) / n for b in range(m)] for a in range(m)]
    return sum(c * c, axis=None)


def correlation_jax(x):  # type: ignore[no-untyped-def]
    z = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6)
    c = z.T @ z / x.shape[0]
    return jnp.sum(jnp.where(jnp.eye(c.shape[0], dtype=bool), 1.0, c) ** 2)


def _regression(g: np.random.Generator, s: float) -> tuple[np.ndarray, ...]:
    rows, columns = sized(4000, s), 64
    return g.normal(size=columns) / 8, g.normal(size=(rows, columns)), g.random(rows)


def _positive(g: np.random.Generator, s: float) -> tuple[np.ndarray, ...]:
    size = sized(200, s)
    a = g.normal(size=(size, size))
    return (a @ a.T / size + 2 * np.eye(size),)


def _dominant(g: np.random.Generator, s: float) -> np.ndarray:
    size = sized(120, s)
    return g.normal(size=(size, size)) / size + 2 * np.eye(size)


PROGRAMS = [
    Program("logistic regression", logistic, logistic_jax, (0,), _regression),
    Program("softmax regression", softmax_loss, softmax_jax, (0,), lambda g, s: (g.normal(size=(64, 10)), g.normal(size=(sized(4000, s), 64)), np.eye(10)[g.integers(0, 10, sized(4000, s))])),
    Program("two layers", two_layers, lambda w1, w2, x, y: jnp.mean((jnp.maximum(x @ w1, 0.0) @ w2 - y) ** 2), (0, 1), lambda g, s: (g.normal(size=(64, 100)) / 8, g.normal(size=100), g.normal(size=(sized(3000, s), 64)), g.random(sized(3000, s)))),
    Program("ridge regression", ridge, lambda w, x, y: jnp.sum((x @ w - y) ** 2) + 0.1 * jnp.sum(w * w), (0,), _regression),
    Program("matrix factors", factors, lambda u, v, a: jnp.sum((a - u @ v.T) ** 2), (0, 1), lambda g, s: (g.normal(size=(sized(400, s), 16)), g.normal(size=(sized(300, s), 16)), g.normal(size=(sized(400, s), sized(300, s))))),
    Program("rayleigh quotient", rayleigh, lambda x, a: x @ (a @ x) / (x @ x), (0,), lambda g, s: (g.normal(size=sized(800, s)), g.normal(size=(sized(800, s), sized(800, s))))),
    Program("distances", distances, lambda x: jnp.sum(jnp.sqrt(1e-3 + jnp.sum((x[:, None] - x[None]) ** 2, axis=2))), (0,), lambda g, s: (g.normal(size=(sized(400, s), 3)),)),
    Program("kernel matrix", kernel_matrix, kernel_jax, (0, 1), lambda g, s: (g.normal(size=(sized(400, s), 4)), g.normal(size=sized(400, s)))),
    Program("cholesky", cholesky_log_det, cholesky_jax, (0,), _positive),
    Program("lu in place", lu_in_place, lu_jax, (0,), lambda g, s: (_dominant(g, s),)),
    Program("triangular solve", forward_solve, forward_solve_jax, (0, 1), lambda g, s: (np.tril(_dominant(g, s * 4)), g.normal(size=sized(120, s * 4)))),
    Program("correlation", correlation, correlation_jax, (0,), lambda g, s: (g.normal(size=(sized(1500, s), 80)),)),
]
