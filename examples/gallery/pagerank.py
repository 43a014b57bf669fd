"""Where a random surfer is, after one step, two steps, and many."""

import numpy as np

import atoll as at
from atoll import f64, i64

n = at.sizes("n")


@at.fn
def step(links: f64[n, n], rank: f64[n]) -> f64[n]:
    return 0.15 / n + 0.85 * (links @ rank)


@at.fn
def ranks(links: f64[n, n], rounds: i64) -> f64[n]:
    rank = [1.0 / n for _ in range(n)]
    for _ in range(rounds):
        rank = step(links, rank)
    return rank


def web() -> np.ndarray:
    links = (np.random.default_rng(10).random((40, 40)) < np.linspace(0.4, 0.05, 40)[:, None]) + np.eye(40)
    return links / links.sum(axis=0)


def picture() -> np.ndarray:
    return np.stack([ranks(web(), k) for k in (1, 2, 50)], axis=1)
