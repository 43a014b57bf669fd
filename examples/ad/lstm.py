"""The diagonal LSTM of ADBench: next-character prediction with elementwise gates, its loss and the gradient by all parameters.

A loop over the sequence whose body is a loop over layers; both keep arrays as state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64

b, l, c = at.sizes("b l c")  # bits per character, layers, characters


@at.fn
def sigmoid(x: f64) -> f64:
    return 1.0 / (1.0 + exp(-x))


@at.fn
def layer(weight: f64[4, b], bias: f64[4, b], hidden: f64[b], cell: f64[b], x: f64[b]) -> (f64[b], f64[b]):
    forget = sigmoid(x * weight[0] + bias[0])
    ingate = sigmoid(hidden * weight[1] + bias[1])
    outgate = sigmoid(x * weight[2] + bias[2])
    change = tanh(hidden * weight[3] + bias[3])
    cell = cell * forget + ingate * change
    return outgate * tanh(cell), cell


@at.fn
def objective(weights: f64[l, 4, b], biases: f64[l, 4, b], extra: f64[3, b], hidden: f64[l, b], cell: f64[l, b], sequence: f64[c, b]) -> f64:
    total = 0.0
    for t in range(c - 1):
        x = sequence[t] * extra[0]
        for i in range(l):
            h, s = layer(weights[i], biases[i], hidden[i], cell[i], x)
            hidden[i] = h
            cell[i] = s
            x = h
        predicted = x * extra[1] + extra[2]
        norm = log(sum(exp(predicted)) + 2.0)
        total += sum(gold * (y - norm) for gold, y in zip(sequence[t + 1], predicted))
    return -total / ((c - 1) * b)


gradient = at.value_and_grad(objective, wrt=("weights", "biases", "extra"))


def data(bits: int, layers: int, characters: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(characters)
    draw = lambda *shape: rng.uniform(-1, 1, shape)
    return (
        draw(layers, 4, bits), draw(layers, 4, bits), draw(3, bits), draw(layers, bits), draw(layers, bits),
        rng.integers(0, 2, (characters, bits)).astype(np.float64),
    )


def main() -> None:
    args = data(bits=5, layers=2, characters=6)
    value, gradients = gradient(*args)
    print(f"loss {value:.6f}, gradient of the output bias {np.round(gradients[2][2], 4)}")
    check("lstm", objective, args, (0, 1, 2), gradients)


if __name__ == "__main__":
    main()
