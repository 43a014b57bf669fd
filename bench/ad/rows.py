"""What is measured: programs of examples/ad with data, the target of issue 5, and versions for JAX and PyTorch where there is one."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at
from atoll import f64

EXAMPLES = Path(__file__).parents[2] / "examples" / "ad"
n = at.sizes("n")


@at.fn
def dot_product(x: f64[n], y: f64[n]) -> f64:
    return sum(x * y)


@at.fn
def elementwise(x: f64[n]) -> f64:
    return sum(x[i] * x[i] / (1.0 + x[i] * x[i]) for i in range(n))


@dataclass
class Row:
    """A program: primal and derivative, their arguments, and the most the derivative should cost in units of the primal."""

    name: str
    primal: Any
    derivative: Any
    args: tuple[Any, ...]
    target: float
    jax: Callable[[Any], Callable[..., Any]] | None = None  # from jax.numpy to the objective
    wrt: tuple[int, ...] = (0,)
    c: str | None = None  # a file of hand-written C with value and gradient


def example(name: str) -> Any:
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    return importlib.import_module(name)


def _row(name: str, target: float, wrt: tuple[int, ...] = (0,), jax: Any = None, c: str | None = None, label: str = "", **data: Any) -> Row:
    module = example(name)
    return Row(label or name, module.objective, module.gradient, module.data(**data), target, jax, wrt, c)


def rows() -> list[Row]:
    rng = np.random.default_rng(0)
    adjustment = example("bundle_adjustment")
    observations = adjustment.data(cameras=30, points=2000, observations=20000)
    x, y = rng.normal(size=1_000_000), rng.normal(size=1_000_000)
    return [
        _row("gmm", 3.0, (0, 1, 2), gmm, label="gmm d=10 k=25", points=1000, dimension=10, components=25),
        _row("gmm", 3.0, (0, 1, 2), gmm, label="gmm d=32 k=25", points=1000, dimension=32, components=25),
        _row("lstm", 3.0, (0, 1, 2), None, bits=14, layers=2, characters=1024),
        _row("lstm_batch", 3.0, (0, 1, 2), lstm_batch, sequences=64, length=20, inputs=80, units=96),
        Row("ba jacobian", adjustment.errors, adjustment.jacobian, observations, 6.0),
        _row("kmeans", 3.0, (1,), kmeans, points=20000, dimension=35, centers=5),
        _row("kmeans", 3.0, (1,), kmeans, label="kmeans k=64", points=10000, dimension=32, centers=64),
        _row("kmeans_sparse", 3.0, (3,), None, points=5000, dimension=2000, centers=10, density=0.01),
        _row("rsbench", 3.5, (4, 5, 7, 8, 10), None, lookups=2000, nuclides=20, windows=20, poles=4, materials=6),
        _row("xsbench", 3.5, (4, 7, 8), None, lookups=20000, nuclides=30, rows=500, materials=8),
        _row("lbm", 3.5, (0, 1, 2), None, height=48, width=48, steps=30),
        _row("hand_simple", 4.5, (0,), None, vertices=500, points=300),
        _row("mlp", 3.5, (0, 1, 2, 3), mlp, examples=256, inputs=128, hidden=256, classes=10),
        _row("transformer", 3.5, tuple(range(9)), None, sequences=4, length=32, width=32, heads=4, vocabulary=64),
        _row("lotka_volterra", 6.0, (0, 1), None, steps=20000),
        _row("log_sum_exp", 2.0, (0,), log_sum_exp, c="log_sum_exp", size=1_000_000),
        Row("dot", dot_product, at.value_and_grad(dot_product, wrt=(0, 1)), (x, y), 4.0, lambda jnp: lambda x, y: jnp.sum(x * y), (0, 1), "dot"),
        Row("elementwise", elementwise, at.value_and_grad(elementwise), (x,), 2.0, lambda jnp: lambda x: jnp.sum(x * x / (1 + x * x)), (0,), "elementwise"),
    ]


# -- the same objectives for JAX


def log_sum_exp(jnp: Any) -> Any:
    import jax

    return lambda x: jax.nn.logsumexp(x)


def kmeans(jnp: Any) -> Any:
    def objective(points: Any, centers: Any) -> Any:
        distances = jnp.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
        return jnp.sum(jnp.min(distances, axis=1))

    return objective


def mlp(jnp: Any) -> Any:
    import jax

    def objective(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, labels: Any) -> Any:
        scores = jax.nn.log_softmax(jnp.tanh(x @ w1 + b1) @ w2 + b2)
        return -jnp.sum(scores[jnp.arange(x.shape[0]), labels]) / x.shape[0]

    return objective


def gmm(jnp: Any) -> Any:
    import jax

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


def lstm_batch(jnp: Any) -> Any:
    import jax

    def objective(w_input: Any, w_hidden: Any, bias: Any, hidden: Any, cell: Any, x: Any, target: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            hidden, cell = state
            gates = jnp.einsum("sd,gdh->gsh", now, w_input) + jnp.einsum("sk,gkh->gsh", hidden, w_hidden) + bias[:, None, :]
            cell = jax.nn.sigmoid(gates[0]) * cell + jax.nn.sigmoid(gates[1]) * jnp.tanh(gates[3])
            return (jax.nn.sigmoid(gates[2]) * jnp.tanh(cell), cell), None

        (hidden, _), _ = jax.lax.scan(step, (hidden, cell), x)
        return jnp.mean((hidden - target) ** 2)

    return objective
