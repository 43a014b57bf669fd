"""Foxes and rabbits: a differential equation in small steps."""

import numpy as np

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def predators(times: f64[n], rabbits: f64, foxes: f64) -> f64[n, 2]:
    seen = zeros((n, 2))
    for k in range(n):
        seen[k, 0] = rabbits
        seen[k, 1] = foxes
        rabbits, foxes = rabbits + 0.01 * rabbits * (1.1 - 0.4 * foxes), foxes + 0.01 * foxes * (0.1 * rabbits - 0.4)
    return seen


def picture() -> np.ndarray:
    return predators(np.arange(3000.0), 10.0, 5.0)
