"""The log posterior of a Gaussian mixture with a Wishart prior. Component c has the factor Q_c of its inverse covariance: exp(q) on the diagonal, l below it by columns."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64
from bench.gradbench.tool import Entry

n, d, k = at.sizes("n d k")


@at.fn
def log_sum_exp(x: f64[n]) -> f64:
    top = at.stop(max(x))
    return log(sum(exp(v - top) for v in x)) + top


@at.fn
def objective(alpha: f64[k], mu: f64[k, d], q: f64[k, d], l: f64[k, d * (d - 1) // 2], x: f64[n, d], gamma: f64, m: i64) -> f64:
    diagonal = exp(q)
    sums = [sum(row) for row in q]

    factors = [
        [[diagonal[c, b] if a == b else l[c, a * d - a * (a + 1) // 2 + b - a - 1] if a < b else 0.0 for a in range(d)] for b in range(d)]
        for c in range(k)
    ]

    def term(c, row):
        turned = [sum(factors[c, b, a] * (row[a] - mu[c, a]) for a in range(d)) for b in range(d)]
        return alpha[c] + sums[c] - 0.5 * sum(v * v for v in turned)

    likelihood = sum(log_sum_exp([term(c, row) for c in range(k)]) for row in x) - n * log_sum_exp(alpha) - 0.5 * n * d * log(2.0 * pi)
    count = d + m + 1
    log_gammas = 0.25 * d * (d - 1) * log(pi) + sum(lgamma(0.5 * count - 0.5 * j) for j in range(d))
    constant = count * d * (log(gamma) - 0.5 * log(2.0)) - log_gammas
    squares = sum(v * v for row in diagonal for v in row) + sum(v * v for row in l for v in row)
    return likelihood - 0.5 * gamma * gamma * squares + m * sum(sums) + k * constant


def arguments(given: Any) -> tuple[Any, ...]:
    components, dimension = given["k"], given["d"]
    lower = np.array(given["l"], np.float64).reshape(components, dimension * (dimension - 1) // 2)
    arrays = [np.array(given[name], np.float64) for name in ("alpha", "mu", "q")]
    return (*arrays, lower, np.array(given["x"], np.float64), float(given["gamma"]), int(given["m"]))


def output(found: tuple[Any, ...]) -> dict[str, Any]:
    return {name: value.tolist() for name, value in zip(("alpha", "mu", "q", "l"), found, strict=True)}


ENTRIES = {
    "objective": Entry(objective, arguments, float),
    "jacobian": Entry(at.grad(objective, wrt=("alpha", "mu", "q", "l")), arguments, output),
}
