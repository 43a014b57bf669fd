"""Loops inside loops that overwrite places: a few random ones; `python -m tests.hunt --only nests` for many."""

from __future__ import annotations

import pytest

from .check import check
from .nests import nest
from .run import dear

SEEDS = (7, 12, 48)
"""A slice of data-dependent length in a `while`; a loop that only checks is left of a nest that is counted (48)."""


@pytest.mark.parametrize("seed", SEEDS)
def test_nests(seed: int) -> None:
    text = nest(seed)
    outcome = check(text, seed, {"n": 1 + seed % 5, "m": 2})
    assert outcome.failure is None and outcome.checks, outcome
    assert (found := dear(text, seed)) is None, found


def test_same_seed_same_program() -> None:
    assert nest(3) == nest(3) and len({nest(seed) for seed in range(10)}) == 10
