"""Everything that must hold of derivatives (tests/fuzz_ad/check.py) holds of the programs of strange.py, also with sizes 0 and 1."""

from __future__ import annotations

import pytest

from tests.ad.strange import HEAD, LEAST, PROGRAMS
from tests.fuzz_ad.check import check

USUAL = (2, {"n": 4, "m": 3, "k": 2})
OTHERS = [(6, {"n": 1, "m": 1, "k": 1}), (7, {"n": 0, "m": 2, "k": 0}), (13, {"n": 5, "m": 0, "k": 1})]  # with the first, second derivatives too


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    """At a usual point, and at one with sizes 0 or 1."""
    for seed, sizes in (USUAL, OTHERS[list(PROGRAMS).index(name) % len(OTHERS)]):
        if all(sizes[size] >= least for size, least in LEAST.get(name, {}).items()):
            outcome = check(f"{HEAD}@at.fn\n{PROGRAMS[name]}\n", seed, sizes)
            assert not outcome.refused, (sizes, outcome.refused)
            assert outcome.failure is None, (sizes, outcome.failure.detail)
            assert outcome.checks
