"""Many programs of derivatives, and one that fails made small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import atoll as at
from tests.fuzz.harness import Case, Failure, TooSlow, died, time_limit
from tests.fuzz.inputs import choose_sizes
from tests.fuzz.seeds import Died, each_seed
from tests.fuzz.shrink import smallest

from . import compiled
from .check import TIME, Outcome, _function, check
from .cost import measured, too_dear
from .programs import text_of

PATIENCE = 60


@dataclass
class Report:
    seed: int
    text: str
    sizes: dict[str, int]
    outcome: Outcome


def sizes_of(seed: int) -> dict[str, int]:
    """Small sizes; chains need one element at least."""
    found = choose_sizes(["n", "m", "k1"], seed)
    return {name: min(max(size, seed % 2), 7) for name, size in found.items()}


def run_seed(seed: int, stages: Sequence[str], made: Callable[[int], str] = text_of) -> Report:
    """Everything that must hold, by these stages; without any, the compiled gradient alone."""
    text, sizes = made(seed), sizes_of(seed)
    if made is not text_of:  # places are taken modulo the size
        sizes = {name: min(max(size, 1), 5) for name, size in sizes.items()}
    outcome = check(text, seed, sizes, stages) if stages else compiled.check(text, seed, sizes)
    measures = seed % 10 == 1 if made is text_of else seed % 4 == 1  # counting takes longer than everything else
    if measures and outcome.checks and not outcome.refused and outcome.failure is None:
        outcome.failure = dear(text, seed)
    return Report(seed, text, sizes, outcome)


def dear(text: str, seed: int) -> Failure | None:
    """A chain whose derivative costs too much beside it."""
    try:
        with time_limit(TIME):
            found = measured(_function(text), seed)
    except (TooSlow, at.Error):  # at these sizes it is another question
        return None
    return Failure("cost", "loops", f"{found}", "cost") if too_dear(found) else None


def run_seeds(seeds: Iterable[int], stages: Callable[[int], Sequence[str]], made: Callable[[int], str] = text_of) -> Iterator[Report]:
    """The reports of all seeds; `stages` says by which stages a seed is run, `made` gives its program."""
    for report in each_seed(seeds, lambda seed: run_seed(seed, stages(seed), made), PATIENCE):
        if isinstance(report, Died):
            yield Report(report.seed, made(report.seed), sizes_of(report.seed), Outcome(failure=died(report.exitcode)))
        else:
            yield report


def shrink(report: Report, stages: Sequence[str], seconds: float = 60.0) -> str:
    """A smaller program that fails in the same way."""
    assert report.outcome.failure is not None
    wanted = report.outcome.failure.signature

    def fails(case: Case) -> bool:
        found = dear(case.text, report.seed) if wanted[0] == "cost" else check(case.text, report.seed, case.sizes, stages).failure
        return found is not None and found.signature == wanted

    best = smallest(Case(report.text, report.seed, report.sizes), fails, seconds)
    report.sizes = best.sizes
    return best.text
