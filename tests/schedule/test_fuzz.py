"""A few random schedules each time, and every one that once went wrong. `make fuzz-schedule` runs hundreds."""

from __future__ import annotations

import collections

import pytest

from tests.schedule.fuzz import one

# 440, 709: the checker and zeros beside a guard; 500: threads inside a vector; 73, 156, 248: proofs of signs that rested on themselves; 228: a piece that is empty only where a loop around it runs was dropped
FOUND = [73, 156, 228, 248, 440, 500, 709, 3080]


@pytest.mark.parametrize("seed", [*FOUND, *range(1000, 1008)])
def test_random_schedule(seed: int) -> None:
    counts: collections.Counter[str] = collections.Counter()
    problem = one(seed, 5 if 1000 <= seed < 2000 else 7 if seed >= 3000 else 6, counts, 10)
    assert problem is None, problem
    assert sum(counts.values()) > 0
