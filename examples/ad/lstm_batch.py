"""An LSTM with matrices on a batch of sequences: the loss of its last hidden state and the gradient by all weights.

A loop over time of matrix products; `checkpoint=2` would keep about 2*sqrt(n) states instead of n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64

s, n, d, h = at.sizes("s n d h")  # sequences, length, inputs, hidden units


@at.fn
def sigmoid(x: f64) -> f64:
    return 1.0 / (1.0 + exp(-x))


@at.fn
def objective(
    w_input: f64[4, d, h], w_hidden: f64[4, h, h], bias: f64[4, h], hidden: f64[s, h], cell: f64[s, h], x: f64[n, s, d], target: f64[s, h]
) -> f64:
    for t in range(n):
        gate = lambda g: x[t] @ w_input[g] + hidden @ w_hidden[g] + bias[g]
        cell = sigmoid(gate(0)) * cell + sigmoid(gate(1)) * tanh(gate(3))
        hidden = sigmoid(gate(2)) * tanh(cell)
    return sum((hidden[i, j] - target[i, j]) ** 2 for i in range(s) for j in range(h)) / (s * h)


gradient = at.value_and_grad(objective, wrt=("w_input", "w_hidden", "bias"))


def data(sequences: int, length: int, inputs: int, units: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(length)
    return (
        rng.normal(size=(4, inputs, units)) / inputs**0.5, rng.normal(size=(4, units, units)) / units**0.5, rng.normal(size=(4, units)),
        rng.normal(size=(sequences, units)), rng.normal(size=(sequences, units)), rng.normal(size=(length, sequences, inputs)),
        rng.normal(size=(sequences, units)),
    )


def main() -> None:
    args = data(sequences=3, length=4, inputs=2, units=3)
    value, gradients = gradient(*args)
    print(f"loss {value:.6f}")
    check("batched lstm", objective, args, (0, 1, 2), gradients)


if __name__ == "__main__":
    main()
