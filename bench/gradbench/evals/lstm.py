"""The diagonal LSTM: the loss of predicting each character from those before it, and its gradient by all parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64
from bench.gradbench.tool import Entry

b, l, c = at.sizes("b l c")  # bits of a character, layers, characters


@at.fn
def sigmoid(x: f64) -> f64:
    return 1.0 / (1.0 + exp(-x))


@at.fn
def objective(main: f64[l, 2, 4, b], extra: f64[3, b], state: f64[l, 2, b], sequence: f64[c, b]) -> f64:
    total = 0.0
    hidden, cell = state[:, 0], state[:, 1]
    for t in range(c - 1):
        x = sequence[t] * extra[0]
        for i in range(l):
            weight, bias = main[i, 0], main[i, 1]
            forget = sigmoid(x * weight[0] + bias[0])
            ingate = sigmoid(hidden[i] * weight[1] + bias[1])
            outgate = sigmoid(x * weight[2] + bias[2])
            change = tanh(hidden[i] * weight[3] + bias[3])
            cell[i] = cell[i] * forget + ingate * change
            x = outgate * tanh(cell[i])
            hidden[i] = x
        predicted = x * extra[1] + extra[2]
        norm = log(sum(exp(predicted)) + 2.0)
        total += sum(gold * (y - norm) for gold, y in zip(sequence[t + 1], predicted))
    return -total / ((c - 1) * b)


def arguments(given: Any) -> tuple[Any, ...]:
    main, extra, state, sequence = (np.array(given[name], np.float64) for name in ("main_params", "extra_params", "state", "sequence"))
    layers, width = len(state) // 2, sequence.shape[1]
    return main.reshape(layers, 2, 4, width), extra.reshape(3, width), state.reshape(layers, 2, width), sequence


def output(found: tuple[Any, Any]) -> list[float]:
    return [float(v) for part in found for v in part.reshape(-1)]


ENTRIES = {
    "objective": Entry(objective, arguments, float),
    "jacobian": Entry(at.grad(objective, wrt=("main", "extra")), arguments, output),
}
