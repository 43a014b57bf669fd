"""Normalising and planning grow with the number of lines, not faster, and need no deep stack (bench/middle.py measures to 50,000 lines)."""

from __future__ import annotations

import sys

import pytest

from bench.middle import PROGRAMS, measure


def _middle(name: str, lines: int) -> float:
    """Seconds per line, the better of two runs."""
    found = []
    for _ in range(2):
        made, times = measure(PROGRAMS[name](lines))
        found.append((times["ainf"] + times["plan"] + times["lower"]) / max(made, 1))
    return min(found)


@pytest.mark.long
@pytest.mark.parametrize("name", ["chain", "branches", "old_values", "sums"])
def test_five_times_the_lines_take_about_five_times_as_long(name: str) -> None:
    _middle(name, 60)
    assert _middle(name, 1500) < 2.5 * _middle(name, 300)


def test_more_lines_than_the_stack_is_deep() -> None:
    made, _ = measure(PROGRAMS["scalars"](3 * sys.getrecursionlimit()))
    assert made > 2 * sys.getrecursionlimit()
