"""Random programs written as Atoll text: interpreter and compiled code have the value λANF's evaluator says (tests/functions/text.py)."""

from __future__ import annotations

import pytest

from tests.functions.text import check


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_interpreted(first: int) -> None:
    assert sum(check(seed, 4, compiled=False) for seed in range(first, first + 10)) >= 5


@pytest.mark.parametrize("seed", [2, 13, 29, 31, 37])
def test_compiled(seed: int) -> None:
    assert check(seed)
