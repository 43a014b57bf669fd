"""Training in a page: stochastic gradient descent and Adam for parameters of any structure.

An optimiser says what happens to one number; calls from Python lift it over arrays of any rank, and at.tree.map over the parts of whatever the
parameters are made of: here a record of two layers. The model and its gradient are compiled once for all sizes.

    python examples/training.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64

n, h, m, batch = at.sizes("n h m batch")

# -- optimisers: `start(params)` makes a state, `step(params, slopes, state)` gives (params, state)


@at.fn
def descend(x: f64, slope: f64, rate: f64) -> f64:
    return x - rate * slope


@at.fn
def adam(x: f64, slope: f64, mean: f64, square: f64, t: i64, rate: f64) -> (f64, f64, f64):
    """Kingma and Ba (2015), algorithm 1, for one number."""
    mean = 0.9 * mean + 0.1 * slope
    square = 0.999 * square + 0.001 * slope * slope
    step = (mean / (1.0 - 0.9**t)) / (sqrt(square / (1.0 - 0.999**t)) + 1e-8)
    return x - rate * step, mean, square


def sgd(rate: float) -> tuple[Callable[[Any], Any], Callable[..., Any]]:
    return lambda params: (), lambda params, slopes, state: (at.tree.map(lambda x, d: descend(x, d, rate), params, slopes), state)


def adam_with(rate: float) -> tuple[Callable[[Any], Any], Callable[..., Any]]:
    def start(params: Any) -> Any:
        zeros = at.tree.map(np.zeros_like, params)
        return 0, zeros, zeros

    def step(params: Any, slopes: Any, state: Any) -> Any:
        t, means, squares = state
        rows = zip(*map(at.tree.leaves, (params, slopes, means, squares)))
        made = [adam(*row, t=t + 1, rate=rate) for row in rows]
        params, means, squares = (at.tree.unflatten(params, column) for column in zip(*made))
        return params, (t + 1, means, squares)

    return start, step


# -- a model


@at.record
class Network:
    w1: f64[n, h]
    b1: f64[h]
    w2: f64[h, m]
    b2: f64[m]


@at.fn
def predict(p: Network, x: f64[n]) -> f64[m]:
    return tanh(x @ p.w1 + p.b1) @ p.w2 + p.b2


@at.fn
def loss(p: Network, x: f64[batch, n], y: f64[batch, m]) -> (f64, f64):
    error = predict(p, x) - y  # lifted over the batch
    return mean(flatten(error * error)), max(flatten(abs(error)))


slopes = at.value_and_grad(loss, has_aux=True)


def train(optimiser: tuple[Callable[[Any], Any], Callable[..., Any]], rounds: int) -> list[float]:
    rng = np.random.default_rng(0)
    params = Network(rng.normal(size=(2, 16)), np.zeros(16), rng.normal(size=(16, 1)) / 4, np.zeros(1))
    start, step = optimiser
    state, seen = start(params), []
    for _ in range(rounds):
        x = rng.uniform(-1, 1, (64, 2))
        (value, _worst), slope = slopes(params, x, (x[:, :1] * x[:, 1:]))
        params, state = step(params, slope, state)
        seen.append(float(value))
    return seen


if __name__ == "__main__":
    for name, optimiser in (("sgd", sgd(0.1)), ("adam", adam_with(0.02))):
        seen = train(optimiser, 400)
        print(f"{name:5} first {seen[0]:.4f}  last {np.mean(seen[-20:]):.5f}")
