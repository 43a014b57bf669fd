"""A fixed range of random programs through every stage, and the programs that failed once."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from .cases import FOLDER, run_file
from .generator import generate
from .harness import COMPILED, FAST, Case, run_case, run_seeds
from .seeds import Died, each_seed
from .shrink import shrink

FAST_SEEDS = range(0, 75)  # make fuzz does thousands
COMPILED_SEEDS = range(1000, 1016)


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "fuzz-cache"))


def _failures(seeds: range, stages: tuple[str, ...], rounds: int) -> tuple[list[str], float]:
    bad: list[str] = []
    accepted = 0
    for report in run_seeds(seeds, stages, rounds):
        accepted += report.outcome.accepted
        bad += [f"seed {report.seed}: {f.kind} in {f.stage}: {f.where or f.detail[:300]}" for f in report.outcome.failures]
    return bad, accepted / len(seeds)


def test_stages_agree() -> None:
    """Interpreter, AiNF and loops, without compilation."""
    bad, accepted = _failures(FAST_SEEDS, FAST, 2)
    assert not bad, "\n".join(bad)
    assert accepted > 0.9


def test_compiled_agrees() -> None:
    bad, accepted = _failures(COMPILED_SEEDS, ("interpret", *COMPILED), 2)
    assert not bad, "\n".join(bad)
    assert accepted > 0.9


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.stem)
def test_found(path: Path) -> None:
    """What was wrong once is not wrong again."""
    assert run_file(path) == []


def test_same_seed_same_program() -> None:
    assert generate(11).text == generate(11).text
    assert len({generate(seed).text for seed in range(20)}) == 20


def test_shrinking_keeps_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stage that is wrong about every product, a long program becomes one with a product."""
    from . import stages

    plain = stages.Stages.run_ainf

    def wrong(self: stages.Stages, args: tuple[object, ...]) -> list[object]:
        found = plain(self, args)
        return [-1 for _ in found] if "b * b" in self.f.surface.span.source.text else found

    monkeypatch.setattr(stages.Stages, "run_ainf", wrong)
    text = """import atoll as at
from atoll import i64
n = at.sizes("n")
@at.fn
def f(a: i64[n], b: i64, c: i64):
    d = sum(a) + c
    if d > 3:
        d = d - len(a)
    e = [x + b * b for x in a]
    return d + sum(e)
"""
    failure = run_case(Case(text, 1, {"n": 3}), ("interpret", "ainf")).failures[0]
    small = shrink(Case(text, 1, {"n": 3}), failure, ("interpret", "ainf"))
    assert "b * b" in small.text
    assert len(small.text) < 0.6 * len(text)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::atoll.AliasWarning")
@pytest.mark.parametrize("start", [0, 12])
def test_imperative_programs(start: int) -> None:
    """Nested loops over state, against Python itself."""
    from .imperative import wrong

    found = [wrong(seed) for seed in range(start, start + 12)]
    assert not any(found), "\n".join(filter(None, found))
    assert found.count(None) < 4


def test_a_seed_that_ends_its_worker():
    def run(seed):
        if seed == 1:
            os._exit(3)
        if seed == 3:
            time.sleep(60)
        return seed

    assert list(each_seed(range(5), run, patience=0.5)) == [0, Died(1, 3), 2, Died(3, -signal.SIGKILL), 4]
