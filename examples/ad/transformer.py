"""A transformer block: causal attention with several heads, layer norms, a feed-forward layer; the loss of the next token and its gradient.

Written for one sequence; the batch is a map. Attention is a softmax over the positions before, so its sums are triangular.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64, idx

b, t, d, a, c, v = at.sizes("b t d a c v")  # sequences, positions, width, heads, width of a head, words


@at.fn
def norm(x: f64[d], scale: f64[d]) -> f64[d]:
    middle = sum(x) / d
    spread = sum((u - middle) ** 2 for u in x) / d
    return [scale[j] * (x[j] - middle) / sqrt(spread + 1e-5) for j in range(d)]


@at.fn
def attention(x: f64[t, d], wq: f64[a, c, d], wk: f64[a, c, d], wv: f64[a, c, d], wo: f64[d, a, c]) -> f64[t, d]:
    def projected(weights):
        return [[[sum(weights[s, e, j] * x[i, j] for j in range(d)) for e in range(c)] for i in range(t)] for s in range(a)]

    q, k, u = projected(wq), projected(wk), projected(wv)

    def looked(s, i):  # what head s finds at position i: a softmax of the scores up to i
        score = [sum(q[s, i, e] * k[s, j, e] for e in range(c)) / sqrt(f64(c)) for j in range(i + 1)]
        top = at.stop(max(score))
        weight = exp(score - top)
        total = sum(weight)
        return [sum(weight[j] * u[s, j, e] for j in range(i + 1)) / total for e in range(c)]

    heads = [[looked(s, i) for i in range(t)] for s in range(a)]
    return [[sum(wo[j, s, e] * heads[s, i, e] for s in range(a) for e in range(c)) for j in range(d)] for i in range(t)]


@at.fn
def objective(
    embedding: f64[v, d], position: f64[t, d], wq: f64[a, c, d], wk: f64[a, c, d], wv: f64[a, c, d], wo: f64[d, a, c], scale: f64[2, d],
    w1: f64[d, 4 * d], w2: f64[4 * d, d], words: idx[v][b, t + 1],
) -> f64:
    def loss(sentence):
        x = [embedding[sentence[i]] + position[i] for i in range(t)]
        x = x + attention([norm(row, scale[0]) for row in x], wq, wk, wv, wo)
        x = x + tanh([norm(row, scale[1]) for row in x] @ w1) @ w2
        logits = x @ embedding.T

        def surprise(i):
            top = at.stop(max(logits[i]))
            return log(sum(exp(z - top) for z in logits[i])) + top - logits[i, sentence[i + 1]]

        return sum(surprise(i) for i in range(t)) / t

    return sum(loss(sentence) for sentence in words) / b


WEIGHTS = ("embedding", "position", "wq", "wk", "wv", "wo", "scale", "w1", "w2")
gradient = at.value_and_grad(objective, wrt=WEIGHTS)


def data(sequences: int, length: int, width: int, heads: int, vocabulary: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(width)
    head = width // heads
    shapes = [(vocabulary, width), (length, width), *[(heads, head, width)] * 3, (width, heads, head)]
    weights = [rng.normal(size=shape) * 0.4 for shape in shapes]
    return (
        *weights, 1.0 + 0.1 * rng.normal(size=(2, width)), 0.3 * rng.normal(size=(width, 4 * width)), 0.3 * rng.normal(size=(4 * width, width)),
        rng.integers(0, vocabulary, (sequences, length + 1)),
    )


def main() -> None:
    args = data(sequences=2, length=4, width=4, heads=2, vocabulary=5)
    value, gradients = gradient(*args)
    print(f"loss {value:.4f} of {np.log(5):.4f} for a guess")
    check("transformer", objective, args, range(9), gradients)


if __name__ == "__main__":
    main()
