"""A gradient costs a few times its function, at every size: operations are counted, not timed (tests/cost/ratio.py prints the table)."""

from __future__ import annotations

import pytest

from tests.cost.control import measured
from tests.cost.programs import PROGRAMS, Program
from tests.cost.ratio import ratios

MOST = 5.0
DEARER = {"largest of squares": 5.2, "lu by slices": 5.5, "lu by loops": 6.2, "floyd": 7.2}
"""Those that are above the bound still."""
GROWTH = {"cholesky": 1.5, "lu by loops": 1.4, "solve in place": 1.4}
"""Rounds of a loop around keep the whole array that loops inside update: as much as the function does, but slow to show it at small sizes."""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_gradient_is_cheap(program: Program) -> None:
    found = ratios(program.function, program.gradient, program.points())
    assert max(found.operations) <= DEARER.get(program.name, MOST), found
    assert found.growth <= GROWTH.get(program.name, 1.25), found


@pytest.mark.parametrize(("around", "update"), [("elif", "put"), ("elif", "twice"), ("two ifs", "exchange"), ("else in if", "twice"), ("break", "two arrays"), ("continue", "slice")])
def test_updates_in_branches_are_followed_in_place(around: str, update: str) -> None:
    """What is read of an array after some updates of a round flows back to the places it came from, not to an array of zeros and one element."""
    found = measured(around, update, (8, 32))
    assert found.growth <= 1.25 and max(found.work) < 8, found


@pytest.mark.parametrize(("around", "update"), [("for in if", "read beside"), ("while in if", "two arrays"), ("if in for in if", "slice"), ("break in while", "twice")])
def test_loops_inside_keep_what_they_overwrite(around: str, update: str) -> None:
    """A round whose inner loops update a few places keeps these, not the array (ad/undo_stack.py)."""
    found = measured(around, update, (8, 32))
    assert found.growth <= 1.25 and max(found.work) < 9, found


def test_what_is_counted() -> None:
    """n more products to sum up are 2n more operations and loads, and nothing is stored."""
    import numpy as np

    import atoll as at
    from tests.cost.ratio import counts

    f = at.fn(source="import atoll as at\nfrom atoll import f64\nn = at.sizes('n')\n@at.fn\ndef f(x: f64[n], y: f64[n]) -> f64:\n    return sum(a * b for a, b in zip(x, y))\n")
    few, many = (counts(f, (np.ones(n), np.ones(n))) for n in (7, 17))
    assert (many.operations - few.operations, many.loads - few.loads, many.stores - few.stores) == (20, 20, 0)
    assert many.work == many.operations + many.loads + many.stores and many.rounds > few.rounds
