"""Loops inside loops that overwrite places: a few random ones; `python -m tests.hunt --only nests` for many."""

from __future__ import annotations

import pytest

from .check import check
from .nests import nest
from .run import dear


@pytest.mark.parametrize("seed", [7])
def test_nests(seed: int) -> None:
    outcome = check(nest(seed), seed, {"n": 1 + seed % 5, "m": 2})
    assert outcome.failure is None and outcome.checks, outcome


@pytest.mark.parametrize("seed", [7, 48])
def test_costs_of_nests(seed: int) -> None:
    """A loop that only checks is left of a nest that is counted (48)."""
    assert (found := dear(nest(seed), seed)) is None, found


def test_same_seed_same_program() -> None:
    assert nest(3) == nest(3) and len({nest(seed) for seed in range(10)}) == 10
