"""A training step of a perceptron with two layers: cross-entropy of the softmax of its outputs, its gradient, and descent along it."""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64, i64, idx

n, d, h, c = at.sizes("n d h c")  # examples, inputs, hidden units, classes


@at.fn
def log_softmax(x: f64[n]) -> f64[n]:
    top = at.stop(max(x))
    return x - top - log(sum(exp(x - top)))


@at.fn
def objective(w1: f64[d, h], b1: f64[h], w2: f64[h, c], b2: f64[c], x: f64[n, d], labels: idx[c][n]) -> f64:
    hidden = tanh(x @ w1 + b1)
    scores = log_softmax(hidden @ w2 + b2)
    return -sum(scores[i, labels[i]] for i in range(n)) / n


@at.fn
def train(w1: f64[d, h], b1: f64[h], w2: f64[h, c], b2: f64[c], x: f64[n, d], labels: idx[c][n], steps: i64, speed: f64):
    loss = 0.0
    for _ in range(steps):
        loss, (g1, e1, g2, e2) = value_and_grad(objective, wrt=(0, 1, 2, 3))(w1, b1, w2, b2, x, labels)
        w1, b1, w2, b2 = w1 - speed * g1, b1 - speed * e1, w2 - speed * g2, b2 - speed * e2
    return loss, w1, b1, w2, b2


gradient = at.value_and_grad(objective, wrt=("w1", "b1", "w2", "b2"))


def data(examples: int, inputs: int, hidden: int, classes: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(examples)
    x = rng.normal(size=(examples, inputs))
    labels = np.argmax(x @ rng.normal(size=(inputs, classes)), 1)
    return (
        rng.normal(size=(inputs, hidden)) / inputs**0.5, np.zeros(hidden), rng.normal(size=(hidden, classes)) / hidden**0.5, np.zeros(classes),
        x, labels,
    )


def main() -> None:
    args = data(examples=40, inputs=4, hidden=6, classes=3)
    value, gradients = gradient(*args)
    check("mlp", objective, args, (0, 1, 2, 3), gradients)
    loss, *_ = train(*args, steps=200, speed=0.5)
    print(f"loss {value:.4f}, after 200 steps {loss:.4f}")


if __name__ == "__main__":
    main()
