"""A few random programs of tests/madl/fuzz.py and broken ones of mutate.py; long runs are `python -m tests.madl.fuzz` and `.mutate`."""

from __future__ import annotations

import random

import pytest

from tests.madl.fuzz import Generator, Symbolic, run_one
from tests.madl.mutate import mutated, outcome, sources


@pytest.mark.parametrize("maker", [Generator, Symbolic])
def test_accepted_programs_never_get_stuck(maker: type[Generator]) -> None:
    accepted = 0
    for seed in range(40):
        source = maker(random.Random(seed)).program()
        result, story = run_one(source, seed, code=seed % 20 == 0)
        assert result.startswith(("ok", "refused")), f"{result}\n{source}\n{story}"
        accepted += result.startswith("ok")
    assert accepted >= 15


def test_broken_programs_are_told_about() -> None:
    texts = sources()
    for k in range(120):
        rng = random.Random(k)
        text = mutated(rng.choice(texts), rng)
        result = outcome(text)
        assert result.startswith(("ok", "E09")), f"{text}\n{result}"
