"""Random programs with random words for the values they bind: refused in plain words, or the same results."""

from __future__ import annotations

import random
import warnings

import pytest

import atoll as at
from atoll.plan.override import WORDS, planned
from tests.fuzz.generator import generate
from tests.fuzz.harness import build, same
from tests.fuzz.inputs import arguments, choose_sizes
from tests.fuzz.stages import Stages

SEEDS = range(9000, 9010)


def _bound(f: at.Function) -> list[str]:
    """The names a function binds."""
    try:
        planned(f.core, {"?": "store"})
    except at.Error as error:
        _, _, names = str(error).partition("are: ")
        return [name.strip() for name in names.split(",") if name.strip()]
    return []


def _planned(f: at.Function, plan: dict[str, str]) -> at.Function:
    """With what can be done of a plan: each refusal names the value that must be left out."""
    while True:
        try:
            return f.with_plan(**plan)
        except at.Error as error:
            assert error.code == "E0817", error
            name = str(error).partition("the plan ")[2].partition("=")[0]
            del plan[name]


@pytest.mark.parametrize("seed", SEEDS)
def test_values_stay(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = build(generate(seed).text)
        if not isinstance(f, at.Function):
            pytest.skip(str(f))
        names, rng = _bound(f), random.Random(seed)
        for _ in range(2):
            plan = {name: rng.choice(WORDS) for name in names if rng.random() < 0.5}
            g = _planned(f, plan)
            args = arguments(f.core, choose_sizes([s.name for s in f.core.sizes], seed), seed, False)
            try:
                wanted = Stages(f).runner("interpret")(args)
            except at.Error as error:
                with pytest.raises(at.Error) as found:
                    Stages(g).runner("loops3")(args)
                assert found.value.code == error.code
                continue
            got = Stages(g).runner("loops3")(args)
            assert all(same(a, b, 1e-6) for a, b in zip(wanted, got, strict=True)), plan
