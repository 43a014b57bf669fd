"""The log-likelihood of a Gaussian mixture with a Wishart prior, as in ADBench, and its gradient.

Each component k has a weight alpha, a mean and the inverse square root Q of its covariance: a lower triangular matrix whose diagonal is
stored as logarithms and whose rest is packed column by column after it, so an entry is read at a quadratic index.
"""

from __future__ import annotations

import numpy as np
from differences import check

import atoll as at
from atoll import f64, i64

n, d, k = at.sizes("n d k")


@at.fn
def log_sum_exp(x: f64[n]) -> f64:
    top = at.stop(max(x))  # the derivative does not depend on what is subtracted
    return log(sum(exp(v - top) for v in x)) + top


@at.fn
def log_gamma_distribution(a: f64, p: i64) -> f64:
    return 0.25 * p * (p - 1) * log(pi) + sum(lgamma(a - 0.5 * j) for j in range(p))


@at.fn
def objective(
    alphas: f64[k], means: f64[k, d], icf: f64[k, d + d * (d - 1) // 2], x: f64[n, d], gamma: f64, wishart_m: i64
) -> f64:
    log_diagonal = icf[:, :d]
    diagonal = exp(log_diagonal)
    sum_log = [sum(row) for row in log_diagonal]

    def triangle(c, a, b):  # entry (b, a) of Q_c below its diagonal, 0 elsewhere
        position = where(a < b, d + a * d - a * (a + 1) // 2 + b - a - 1, 0)
        return where(a < b, icf[c, position], 0.0)

    def q_times(c, row):  # Q_c (row - mean_c)
        return [
            diagonal[c, b] * (row[b] - means[c, b]) + sum(triangle(c, a, b) * (row[a] - means[c, a]) for a in range(d))
            for b in range(d)
        ]

    def point(row):
        return log_sum_exp([alphas[c] + sum_log[c] - 0.5 * sum(q * q for q in q_times(c, row)) for c in range(k)])

    likelihood = sum(point(row) for row in x) - n * log_sum_exp(alphas) - 0.5 * n * d * log(2 * pi)

    squares = sum(sum(v * v for v in diagonal[c]) + sum(v * v for v in icf[c, d:]) for c in range(k))
    count = d + wishart_m + 1
    constant = count * d * (log(gamma) - 0.5 * log(2.0)) - log_gamma_distribution(0.5 * count, d)
    prior = 0.5 * gamma * gamma * squares - wishart_m * sum(sum_log) - k * constant
    return likelihood + prior


gradient = at.value_and_grad(objective, wrt=("alphas", "means", "icf"))


def data(points: int, dimension: int, components: int) -> tuple[object, ...]:
    rng = np.random.default_rng(points)
    packed = dimension + dimension * (dimension - 1) // 2
    return (
        rng.normal(size=components), rng.normal(size=(components, dimension)), 0.5 * rng.normal(size=(components, packed)),
        rng.normal(size=(points, dimension)), 1.0, 0,
    )


def main() -> None:
    args = data(points=20, dimension=3, components=4)
    value, gradients = gradient(*args)
    print(f"log-likelihood {value:.6f}, gradient of the weights {np.round(gradients[0], 4)}")
    check("gmm", objective, args, (0, 1, 2), gradients)


if __name__ == "__main__":
    main()
