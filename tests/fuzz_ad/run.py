"""Many programs in a worker process: one that ends it, or never ends, is a failure, and the rest goes on in a new worker."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fuzz.harness import Case, Failure
from tests.fuzz.inputs import choose_sizes
from tests.fuzz.shrink import _simpler_expressions, _smaller_sizes, _without_parameters, _without_statements

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


def _worker(connection: Any, seeds: Sequence[int], stages: Callable[[int], Sequence[str]]) -> None:
    for seed in seeds:
        connection.send(("start", seed))
        connection.send(("done", run_seed(seed, stages(seed))))
    connection.send(("end", None))
    connection.close()


def run_seeds(seeds: Iterable[int], stages: Callable[[int], Sequence[str]]) -> Iterator[Report]:
    """The reports of all seeds; `stages` says by which stages a seed is run."""
    left = list(seeds)
    context = multiprocessing.get_context("fork")
    while left:
        ours, theirs = context.Pipe()
        worker = context.Process(target=_worker, args=(theirs, left, stages))
        worker.start()
        theirs.close()
        current, deadline = left[0], time.monotonic() + PATIENCE
        ended = False
        try:
            while not ended:
                message = None
                with contextlib.suppress(EOFError, OSError):
                    if ours.poll(max(0.0, deadline - time.monotonic())):
                        message = ours.recv()
                if message is None:
                    break
                word, value = message
                if word == "start":
                    current, deadline = value, time.monotonic() + PATIENCE
                elif word == "done":
                    left.remove(value.seed)
                    yield value
                else:
                    ended = True
        finally:
            if worker.is_alive() and not ended:
                worker.kill()
            worker.join()
        if left and not ended:
            left.remove(current)
            failure = Failure("died", "compiled", f"exit {worker.exitcode}", f"exit {worker.exitcode}")
            yield Report(current, text_of(current), sizes_of(current), Outcome(failure=failure))


def shrink(report: Report, stages: Sequence[str], seconds: float = 60.0) -> str:
    """A smaller program that fails in the same way."""
    assert report.outcome.failure is not None
    wanted = report.outcome.failure.signature
    deadline = time.monotonic() + seconds
    seen: set[str] = set()

    def fails(case: Case) -> bool:
        key = f"{case.text}{case.sizes}"
        if key in seen or time.monotonic() > deadline:
            return False
        seen.add(key)
        found = check(case.text, report.seed, case.sizes, stages).failure
        return found is not None and found.signature == wanted

    best, before = Case(report.text, report.seed, report.sizes), ""
    while (key := f"{best.text}{best.sizes}") != before and time.monotonic() < deadline:
        before = key
        for candidates in (_smaller_sizes, _without_statements, _simpler_expressions, _without_parameters):
            position = 0
            while time.monotonic() < deadline:
                options = list(candidates(best, position))
                if not options:
                    break
                smaller = [c for c in options if (len(c.text), sum(c.sizes.values())) < (len(best.text), sum(best.sizes.values()))]
                found = next((c for c in smaller if fails(c)), None)
                if found is None:
                    position += 1
                else:
                    best = found
    report.sizes = best.sizes
    return best.text
