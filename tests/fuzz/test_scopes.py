"""A fixed range of random programs about scopes, against plain Python (python -m tests.fuzz.scopes for more)."""

from __future__ import annotations

import pytest

from .scopes import check, generate, is_failure


@pytest.mark.parametrize("first", range(0, 60, 15))
def test_plain_python_agrees(first: int) -> None:
    right = 0
    for seed in range(first, first + 15):
        outcome, program, detail = check(seed, compiled=False)
        assert not is_failure(outcome, program), f"seed {seed}: {outcome}: {detail}\n" + "\n".join(program.texts)
        right += outcome == "right"
    assert right > 8


def test_compiled_agrees() -> None:
    for seed in range(1000, 1004):
        outcome, program, detail = check(seed, compiled=True)
        assert not is_failure(outcome, program), f"seed {seed}: {outcome}: {detail}\n" + "\n".join(program.texts)


def test_same_seed_same_program() -> None:
    assert generate(3) == generate(3)
    assert len({generate(seed).texts for seed in range(20)}) == 20
