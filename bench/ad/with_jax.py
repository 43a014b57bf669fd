"""The objectives of rows.py for JAX, as one would write them: functions of jax.numpy arrays, to be jitted."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def log_sum_exp() -> Any:
    return jax.nn.logsumexp


def dot() -> Any:
    return lambda x, y: jnp.sum(x * y)


def elementwise() -> Any:
    return lambda x: jnp.sum(x * x / (1 + x * x))


def kmeans() -> Any:
    def objective(points: Any, centers: Any) -> Any:
        distances = jnp.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
        return jnp.sum(jnp.min(distances, axis=1))

    return objective


def mlp() -> Any:
    def objective(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, labels: Any) -> Any:
        scores = jax.nn.log_softmax(jnp.tanh(x @ w1 + b1) @ w2 + b2)
        return -jnp.sum(scores[jnp.arange(x.shape[0]), labels]) / x.shape[0]

    return objective


def gmm() -> Any:
    def objective(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, wishart_m: Any) -> Any:
        count, d = x.shape
        k = alphas.shape[0]
        diagonal, packed = jnp.exp(icf[:, :d]), icf[:, d:]
        sum_log = jnp.sum(icf[:, :d], 1)
        rows_, columns = np.tril_indices(d, -1)
        order = np.lexsort((rows_, columns))
        lower = jnp.zeros((k, d, d)).at[:, rows_[order], columns[order]].set(packed)
        centred = x[:, None, :] - means[None]
        q = diagonal[None] * centred + jnp.einsum("kba,nka->nkb", lower, centred)
        terms = alphas + sum_log - 0.5 * jnp.sum(q * q, 2)
        likelihood = jnp.sum(jax.nn.logsumexp(terms, axis=1)) - count * jax.nn.logsumexp(alphas) - 0.5 * count * d * jnp.log(2 * jnp.pi)
        n_ = d + wishart_m + 1
        a = 0.5 * n_
        log_gamma = 0.25 * d * (d - 1) * jnp.log(jnp.pi) + sum(jax.scipy.special.gammaln(a - 0.5 * j) for j in range(d))
        constant = n_ * d * (jnp.log(gamma) - 0.5 * jnp.log(2.0)) - log_gamma
        squares = jnp.sum(diagonal**2) + jnp.sum(packed**2)
        return likelihood + 0.5 * gamma * gamma * squares - wishart_m * jnp.sum(sum_log) - k * constant

    return objective


def lstm_batch() -> Any:
    def objective(w_input: Any, w_hidden: Any, bias: Any, hidden: Any, cell: Any, x: Any, target: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            hidden, cell = state
            gates = jnp.einsum("sd,gdh->gsh", now, w_input) + jnp.einsum("sk,gkh->gsh", hidden, w_hidden) + bias[:, None, :]
            cell = jax.nn.sigmoid(gates[0]) * cell + jax.nn.sigmoid(gates[1]) * jnp.tanh(gates[3])
            return (jax.nn.sigmoid(gates[2]) * jnp.tanh(cell), cell), None

        (hidden, _), _ = jax.lax.scan(step, (hidden, cell), x)
        return jnp.mean((hidden - target) ** 2)

    return objective


def lbm() -> Any:
    dx, dy = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    opposite = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
    weight = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)

    def step(f: Any, lid: Any, rate: Any) -> Any:
        height, width, _ = f.shape
        rho = jnp.sum(f, 2)
        ux, uy = jnp.sum(f * dx, 2) / rho, jnp.sum(f * dy, 2) / rho
        along = dx * ux[..., None] + dy * uy[..., None]
        square = (ux * ux + uy * uy)[..., None]
        after = f + rate * (weight * rho[..., None] * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square) - f)
        y, x = np.arange(height)[:, None], np.arange(width)[None]
        moved = []
        for q in range(9):
            from_y, from_x = y - dy[q], x - dx[q]
            inside = (from_y >= 0) & (from_y < height) & (from_x >= 0) & (from_x < width)
            back = after[..., opposite[q]] + np.where(from_y >= height, 6.0 * weight[q] * dx[q], 0.0) * lid
            moved.append(jnp.where(inside, jnp.roll(after[..., q], (dy[q], dx[q]), (0, 1)), back))
        return jnp.stack(moved, 2)

    def objective(f: Any, lid: Any, rate: Any, steps: int) -> Any:
        f, _ = jax.lax.scan(lambda g, _: (step(g, lid, rate), None), f, None, length=steps)
        px, py = jnp.sum(f * dx, 2), jnp.sum(f * dy, 2)
        return jnp.sum(px * px + py * py) / (f.shape[0] * f.shape[1])

    return objective


STATIC = {"lbm": (3,)}
"""Arguments that are numbers of rounds."""
