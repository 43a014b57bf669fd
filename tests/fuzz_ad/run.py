"""Many programs of derivatives, and one that fails made small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.fuzz.harness import Case, died
from tests.fuzz.inputs import choose_sizes
from tests.fuzz.seeds import Died, each_seed
from tests.fuzz.shrink import smallest

from .check import Outcome, check
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


def run_seed(seed: int, stages: Sequence[str]) -> Report:
    text, sizes = text_of(seed), sizes_of(seed)
    return Report(seed, text, sizes, check(text, seed, sizes, stages))


def run_seeds(seeds: Iterable[int], stages: Callable[[int], Sequence[str]]) -> Iterator[Report]:
    """The reports of all seeds; `stages` says by which stages a seed is run."""
    for report in each_seed(seeds, lambda seed: run_seed(seed, stages(seed)), PATIENCE):
        if isinstance(report, Died):
            yield Report(report.seed, text_of(report.seed), sizes_of(report.seed), Outcome(failure=died(report.exitcode)))
        else:
            yield report


def shrink(report: Report, stages: Sequence[str], seconds: float = 60.0) -> str:
    """A smaller program that fails in the same way."""
    assert report.outcome.failure is not None
    wanted = report.outcome.failure.signature

    def fails(case: Case) -> bool:
        found = check(case.text, report.seed, case.sizes, stages).failure
        return found is not None and found.signature == wanted

    best = smallest(Case(report.text, report.seed, report.sizes), fails, seconds)
    report.sizes = best.sizes
    return best.text
