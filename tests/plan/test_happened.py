"""The plan reaches the best known: how many loops, which memory, how much work."""

from __future__ import annotations

import numpy as np
import pytest

from tests.agreement import agree

from . import programs
from .measure import measure

N, M, D = 10, 7, 5
SIZES = {"n": N, "m": M, "d": D, "k": 3}

# nests, bytes of temporaries, float operations, elements stored
BEST = {
    "black_scholes": (1, 0, 35 * N, 2 * N),  # one loop, the two results only
    "chain": (1, 0, 20 * N, N),  # twenty operations, one pass
    "dense": (1, 0, M * (2 * N + 2), M),  # no row of products
    "softmax": (3, 0, N + 3 * N + N + 2, 2 * N),  # maximum; exponentials and their sum; quotients: the result holds the exponentials
    "layer_norm": (1, 0, 8 * M * N + 5 * M, M * N),  # one pass over rows, the row's scalars once per row
    "moments": (1, 0, 5 * N + 4, 4),  # four reductions in one loop
    "n_body": (1, 0, 18 * N * N, 3 * N),  # three sums share every distance
    "jacobi": (1, 0, 4 * M * N, M * N),
    "normalise": (2, 0, 2 * N + 1, N),  # the sum is not computed again for every element
    "total_distance": (1, 0, 7 * N * N + N + 1, 1),
    "prefix_chain": (2, 0, 4 * N, 2 * N),  # the result holds the prefix sums
    "blur": (2, 4 * (N + 2) * M, 3 * (N + 2) * M + 3 * N * M, (N + 2) * M + N * M),  # rows are averaged once, not three times
}


@pytest.mark.parametrize("name", BEST)
def test_best_plan(name: str) -> None:
    found = measure(getattr(programs, name), **SIZES)
    assert (found.nests, found.temporary_bytes, found.flops, found.stores) == BEST[name]


def test_covariance_centres_once() -> None:
    """Centring costs a pass over the data and its copy, not one per pair of columns."""
    found = measure(programs.covariance, **SIZES)
    assert found.temporary_bytes == 8 * (N * M + N)
    assert found.flops < 2.6 * M * N * N


def test_attention_row_keeps_vectors_only() -> None:
    found = measure(programs.attention_row, **SIZES)
    assert found.temporary_bytes <= 8 * (2 * N + D)
    assert found.nests == 3


def test_values() -> None:
    rng = np.random.default_rng(1)
    r = lambda *s: rng.random(s) + 0.5
    agree(programs.black_scholes, r(N), r(N), r(N))
    agree(programs.dense, r(M, N), r(N), r(M))
    for size in (1, 2, N):
        x = r(size)
        agree(programs.softmax, x, expected=np.exp(x - x.max()) / np.exp(x - x.max()).sum())
    x, g, b = r(M, N), r(N), r(N)
    agree(programs.layer_norm, x, g, b, expected=(x - x.mean(1)[:, None]) / np.sqrt(x.var(1)[:, None] + 1e-5) * g + b)
    q, K, V = r(D), r(N, D), r(N, D)
    w = np.exp(K @ q - (K @ q).max())
    agree(programs.attention_row, q, K, V, expected=w @ V / w.sum())
    agree(programs.covariance, x, expected=np.cov(x.T))
    agree(programs.n_body, r(N, 3), r(N))
    agree(programs.jacobi, r(N, M))
    agree(programs.jacobi, r(1, 1))
    agree(programs.moments, r(N))
    agree(programs.prefix_chain, r(N))
    agree(programs.blur, (r(N + 2, M + 2)).astype(np.float32))
    agree(programs.normalise, r(N))
    agree(programs.total_distance, r(N, 2))
    agree(programs.chain, r(N))


def test_dead_memory_is_used_again() -> None:
    """Three prefix sums, each read from both ends: two arrays are enough."""
    found = measure(programs.there_and_back, **SIZES)
    assert len(found.temporaries) == 2
    agree(programs.there_and_back, np.random.default_rng(2).random(N))
