"""Every accepted program runs under the oracle, with inferred places and order, and its code gives the same."""

from __future__ import annotations

import random

import numpy as np
import pytest

from atoll.madl.oracle import Oracle, Stuck
from tests.madl.corpus import ACCEPTED
from tests.madl.harness import agree, by_code, by_oracle, last, pick_sizes, random_inputs, same

LARGE = {"P9", "P10", "P11"}  # constant sizes with many rounds
CHOLESKY = {"P17", "P18"}


def positive_definite(n: int, rng: random.Random) -> np.ndarray:
    root = np.array([[rng.randint(1, 3) if j == i else rng.randint(0, 3) if j < i else 0 for j in range(n)] for i in range(n)], "int32")
    return root @ root.T


@pytest.mark.parametrize("name", sorted(set(ACCEPTED) - CHOLESKY))
def test_oracle_and_code_agree(name: str) -> None:
    op = last(ACCEPTED[name])
    agree(op, seed=1, cycles=1 if name in LARGE else 3)
    if op.graph.sizes and name not in LARGE:
        for seed in range(2, 5):
            agree(op, seed=seed, cycles=2, code=False)


@pytest.mark.parametrize("name", sorted(CHOLESKY))
def test_oracle_and_code_agree_on_cholesky(name: str) -> None:
    op = last(ACCEPTED[name])
    rng = random.Random(3)
    for n in (10,) if name == "P17" else (1, 2, 5):
        sizes = {sym: n for sym in op.graph.sizes}
        matrix = positive_definite(n, rng)
        wanted = by_oracle(op, sizes, [(matrix,)])
        assert same(by_code(op, sizes, [(matrix,)]), wanted)
        factor = wanted[0][0]
        assert np.array_equal(factor @ factor.T, matrix)


def test_swapping_statements_that_interfere_gets_stuck() -> None:
    """D24: every order the scheduler excludes for memory's sake is one the oracle refuses, up to a few that are excluded needlessly."""
    stuck = unstuck = 0
    for name in sorted(set(ACCEPTED) - LARGE - CHOLESKY):
        op = last(ACCEPTED[name])
        for scope, order in op.schedule.bodies.items():
            for a, b in sorted(order.before):
                first, second = order.nodes[a], order.nodes[b]
                swapped = list(order.sequence)
                p, q = swapped.index(first), swapped.index(second)
                if q != p + 1:
                    continue
                swapped[p], swapped[q] = second, first
                rng = random.Random(5)
                sizes = {sym: max(n, 2) for sym, n in pick_sizes(op, rng).items()}
                if any(r.evaluate(sizes) < 0 for r, _, _ in op.graph.requirements):
                    continue
                oracle = Oracle(op, sizes)
                oracle.sequences[scope] = swapped
                try:
                    oracle.run(random_inputs(op, sizes, rng, 3))
                    unstuck += scope in oracle.values  # a state that was never entered says nothing
                except Stuck:
                    stuck += 1
    assert stuck >= 40
    assert unstuck <= stuck // 20


def test_any_order_that_extends_the_partial_one_will_do() -> None:
    rng = random.Random(9)
    tried = 0
    for name in sorted(set(ACCEPTED) - LARGE - CHOLESKY):
        op = last(ACCEPTED[name])
        sizes = pick_sizes(op, rng)
        inputs = random_inputs(op, sizes, rng, 2)
        wanted = Oracle(op, dict(sizes)).run(inputs)
        for scope, order in op.schedule.bodies.items():
            if len(order.nodes) < 2:
                continue
            left, sequence = set(range(len(order.nodes))), []
            while left:
                ready = [k for k in left if not any((j, k) in order.before for j in left)]
                chosen = rng.choice(ready)
                left.discard(chosen)
                sequence.append(order.nodes[chosen])
            oracle = Oracle(op, dict(sizes))
            oracle.sequences[scope] = sequence
            assert same(oracle.run(inputs), wanted)
            tried += 1
    assert tried >= 40
