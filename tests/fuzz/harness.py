"""Run a program in every stage and compare.

A failure has a kind: "value", "shape" (or dtype), "error" (one stage fails, another does not, or with another code), "crash" (an exception that is no
at.Error), "mutated" (an argument was changed), "died" (the process ended) or "slow". Programs the front end refuses are counted, not failures.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import atoll as at

from .generator import generate
from .inputs import arguments, choose_sizes
from .mutate import mutate
from .seeds import Died, each_seed
from .stages import COMPILED, FAST, THREADS, Stages

TIME_LIMIT = 20  # seconds per stage
MEMORY_LIMIT = 8 << 30  # bytes a worker may take, beside what the process it was forked from has
BIG = {"n": 2003, "m": 37, "k1": 509}  # enough work for several threads
FEWER = {"n": 251, "m": 37, "k1": 127}  # where a program ends that was too much work there


@dataclass(frozen=True)
class Failure:
    kind: str
    stage: str
    detail: str
    where: str = ""  # the innermost frame of a crash, an error code: what makes two failures the same

    @property
    def signature(self) -> tuple[str, str, str]:
        stage = "loops" if self.stage.startswith("loops") else "compiled" if self.stage.startswith("O") else self.stage
        return self.kind, stage, self.where


@dataclass
class Case:
    """A text with everything that decides a run."""

    text: str
    seed: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    special: bool = False


@dataclass
class Outcome:
    accepted: bool = False
    refused: str = ""
    failed_runs: int = 0
    large: bool = False  # too much work at the sizes for threads, and right at fewer
    runs: int = 0
    failures: list[Failure] = field(default_factory=list)
    stages: Counter[str] = field(default_factory=Counter)


class TooSlow(BaseException):
    """A stage took longer than TIME_LIMIT."""


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise TooSlow

    old = signal.signal(signal.SIGPROF, ring)  # of this process's own time: on a loaded machine a clock says little
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)


def crash_place(error: BaseException) -> str:
    """file:function of the innermost frame inside Atoll, and the class."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if f"{os.sep}atoll{os.sep}" in f.filename]
    last = inside[-1] if inside else frames[-1]
    name = last.filename.rpartition(f"{os.sep}atoll{os.sep}")[2]
    return f"{type(error).__name__} in {name}:{last.name}"


def build(text: str) -> at.Function | Failure | str:
    """The function, the refusal's code, or a crash of the front end."""
    try:
        with warnings.catch_warnings(), time_limit(TIME_LIMIT):
            warnings.simplefilter("ignore")
            f = at.fn(source=text)
            _ = f.core
            return f
    except at.Error as error:
        return f"{error.code}: {str(error).splitlines()[0][7:]}"
    except TooSlow:
        return Failure("slow", "front", "the front end takes too long", "front")
    except Exception as error:  # noqa: BLE001  finding those is the purpose
        return Failure("crash", "front", _shown(error), crash_place(error))


def _shown(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, limit=-4))


def run_case(case: Case, stages: Sequence[str]) -> Outcome:
    """Compare all stages on one set of arguments."""
    outcome = Outcome()
    f = build(case.text)
    if isinstance(f, Failure):
        outcome.failures.append(f)
        return outcome
    if isinstance(f, str):
        outcome.refused = f
        return outcome
    outcome.accepted = True
    run_function(Stages(f), case, stages, outcome)
    return outcome


def run_function(runs: Stages, case: Case, stages: Sequence[str], outcome: Outcome) -> None:
    """Compare all stages of a function on one set of arguments; what a stage makes of the function is made once for all sets."""
    f = runs.f
    loose = any(d in case.text for d in ("f32[", "f32(", ": f32", "c64[", "c64(", ": c64", "[f32", "[c64", "float32"))
    args = arguments(f.core, case.sizes, case.seed, case.special)
    before = [np.array(x, copy=True) for x in _argument_leaves(args)]
    expected: tuple[str, Any] | None = None
    by_level: dict[str, Any] = {}
    for stage in stages:
        found = _attempt(runs, stage, args)
        if found is None:  # a target that says it cannot
            continue
        outcome.runs += 1
        outcome.stages[stage] += 1
        if isinstance(found, Failure):
            outcome.failures.append(found)
            if found.kind == "slow" and stage == "interpret":
                return
            continue
        after = _argument_leaves(args)
        if any(not same(a, b, 0.0) for a, b in zip(before, after, strict=True)):
            outcome.failures.append(Failure("mutated", stage, "an argument was changed"))
            args = arguments(f.core, case.sizes, case.seed, case.special)
        exact = by_level.setdefault(stage.partition("T")[0], found)
        if expected is None:
            expected = found
            outcome.failed_runs += found[0] == "error"
            continue
        difference = compare(exact, found, 0.0) or compare(expected, found, 2e-3 if loose else 1e-6)
        if difference is not None:
            kind, detail = difference
            outcome.failures.append(Failure(kind, stage, detail, detail if kind == "error" else ""))


def _argument_leaves(args: tuple[Any, ...]) -> list[Any]:
    from .stages import leaves

    return leaves(args)


def _attempt(runs: Stages, stage: str, args: tuple[Any, ...]) -> tuple[str, Any] | Failure | None:
    try:
        with time_limit(TIME_LIMIT), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "value", runs.runner(stage)(args)
    except (TooSlow, KeyboardInterrupt):  # compiled code that is interrupted raises the latter
        return Failure("slow", stage, f"more than {TIME_LIMIT} s", stage)
    except at.CompileError as error:
        if error.code == "E0838":
            return None
        return Failure("crash", stage, str(error)[:3000], f"{error.code}")
    except at.Error as error:
        return "error", error.code
    except Exception as error:  # noqa: BLE001
        return Failure("crash", stage, _shown(error), crash_place(error))


def compare(expected: tuple[str, Any], found: tuple[str, Any], tolerance: float) -> tuple[str, str] | None:
    """None when they agree, else a kind and what differs."""
    if expected[0] != found[0] or expected[0] == "error":
        if expected == found:
            return None
        left, right = (x[1] if x[0] == "error" else "a value" for x in (expected, found))
        return "error", f"expected {left}, found {right}"
    if len(expected[1]) != len(found[1]):
        return "shape", f"{len(expected[1])} leaves, found {len(found[1])}"
    for k, (a, b) in enumerate(zip(expected[1], found[1], strict=True)):
        x, y = np.asarray(a), np.asarray(b)
        if x.dtype != y.dtype or x.shape != y.shape:
            return "shape", f"leaf {k}: expected {x.dtype}{list(x.shape)}, found {y.dtype}{list(y.shape)}"
        if not same(x, y, tolerance):
            return "value", f"leaf {k}: expected\n{x}\nfound\n{y}"
    return None


def same(a: Any, b: Any, tolerance: float) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind not in "fc" or tolerance == 0.0:
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))


# -- many programs


@dataclass
class Report:
    seed: int
    outcome: Outcome
    case: Case | None = None


def cases(seed: int, rounds: int = 2, mutated: bool = False, big: bool = False) -> Iterator[Case]:
    """The program of this seed with different sizes and values."""
    text = mutate(seed) if mutated else generate(seed).text
    for k in range(rounds):
        sizes = dict(BIG) if big else choose_sizes(["n", "m", "k1"], seed * 10 + k)
        special = (seed + k) % 8 == 3 and "c64" not in _body(text) and "c128" not in _body(text)
        yield Case(text, seed * 10 + k, sizes, special)


def _body(text: str) -> str:
    return text.partition("at.sizes")[2]


def run_seed(seed: int, stages: Sequence[str], rounds: int = 2, mutated: bool = False, big: bool = False) -> Report:
    """All rounds of one seed; the first failing case is kept."""
    total = Outcome()
    first: Case | None = None
    runs: Stages | None = None
    for case in cases(seed, rounds, mutated, big):
        if runs is None:
            f = build(case.text)
            if isinstance(f, Failure):
                total.failures.append(f)
                return Report(seed, total, case)
            if isinstance(f, str):
                total.refused = f
                return Report(seed, total, case)
            total.accepted = True
            runs = Stages(f)
        known = len(total.failures)
        run_function(runs, case, stages, total)
        if big and known < len(total.failures) and all(f.kind == "slow" for f in total.failures[known:]):
            fewer = Outcome()
            run_function(runs, replace(case, sizes=dict(FEWER)), stages, fewer)
            total.large = True
            total.failures[known:] = fewer.failures
            case = replace(case, sizes=dict(FEWER))
        if len(total.failures) > known and first is None:
            first = case
    return Report(seed, total, first)


def _limit_memory() -> None:
    with open("/proc/self/statm") as file:
        limit = int(file.read().split()[0]) * resource.getpagesize() + MEMORY_LIMIT
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def died(exitcode: int | None) -> Failure:
    """The failure of a program that ended its process, or was ended for want of an end."""
    if exitcode == -signal.SIGKILL:
        return Failure("slow", "compiled", "no end in sight", "killed")
    return Failure("died", "compiled", f"exit {exitcode}", f"exit {exitcode}")


def run_seeds(
    seeds: Iterable[int], stages: Sequence[str], rounds: int = 2, patience: int = 180, mutated: bool = False, big: bool = False
) -> Iterator[Report]:
    """Reports in order."""
    for report in each_seed(seeds, lambda seed: run_seed(seed, stages, rounds, mutated, big), patience, (lambda: None) if "cuda" in stages else _limit_memory):  # a GPU's driver takes addresses for all its memory
        if isinstance(report, Died):
            yield Report(report.seed, Outcome(True, failures=[died(report.exitcode)]), next(cases(report.seed, 1, mutated, big)))
        else:
            yield report


__all__ = ["COMPILED", "FAST", "THREADS", "Case", "Failure", "Outcome", "Report", "cases", "died", "run_case", "run_seed", "run_seeds"]
