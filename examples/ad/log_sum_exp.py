"""log-sum-exp, whose gradient is softmax: what is subtracted against overflow does not matter, so it is kept out of the derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
from differences import check

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def objective(x: f64[n]) -> f64:
    top = at.stop(max(x))
    return log(sum(exp(v - top) for v in x)) + top


gradient = at.value_and_grad(objective)


def data(size: int) -> tuple[Any, ...]:
    return (np.random.default_rng(size).normal(size=size) * 3,)


def main() -> None:
    (x,) = data(7)
    value, softmax = gradient(x)
    print(f"log-sum-exp {value:.6f}, gradient sums to {softmax.sum():.6f}; at 1000 + x it is {objective(x + 1000):.6f}")
    check("log-sum-exp", objective, (x,), (0,), softmax)


if __name__ == "__main__":
    main()
