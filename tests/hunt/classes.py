"""The classes of programs that are hunted, each a function of seeds."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import Hunted

Hunt = Callable[[Iterable[int]], Iterator[Hunted]]


def _general(seeds: Iterable[int], stages: tuple[str, ...], mutated: bool = False, big: bool = False) -> Iterator[Hunted]:
    from tests.fuzz.harness import run_seeds

    for report in run_seeds(seeds, stages, 2, mutated=mutated, big=big, patience=60):
        out = report.outcome
        shown = "\n".join(f"{f.kind} in {f.stage}: {f.where} {f.detail[-600:]}" for f in out.failures[:2])
        kind = out.failures[0].kind if out.failures else "refused" if out.refused else "large" if out.large else "right"
        text = report.case.text if report.case is not None else ""
        yield Hunted(report.seed, kind, bool(out.failures), f"{text}\n{report.case and report.case.sizes}\n{shown}" if out.failures else "")


def general(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Any values, interpreter against default-optimised code. The loops that are printed are executed by `stages`."""
    return _general(seeds, ("interpret", "O3"))


def stages(seeds: Iterable[int]) -> Iterator[Hunted]:
    """The same programs through every stage, without a C compiler."""
    from tests.fuzz.harness import FAST

    return _general(seeds, FAST)


def groups(seeds: Iterable[int]) -> Iterator[Hunted]:
    """The kernels for a GPU, executed with every access looked at: a row by a thread, a warp, a block, and in a block's registers."""
    return _general(seeds, ("interpret", "kernels", "warps", "blocks", "rows"))


def devices(seeds: Iterable[int]) -> Iterator[Hunted]:
    """The texts of the kernels and of their host program, compiled and run by the emulation of a GPU."""
    return _general(seeds, ("interpret", "cuda-emulated"))


def threads(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Sizes in the thousands, with 1 and 4 threads."""
    from tests.fuzz.harness import THREADS

    return _general(seeds, THREADS, big=True)


def hostile(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Texts changed at random: refused properly, or right."""
    return _general(seeds, (), mutated=True)


def imperative(seeds: Iterable[int]) -> Iterator[Hunted]:
    from tests.fuzz.imperative import wrong

    return _against_python(seeds, wrong)


def control(seeds: Iterable[int]) -> Iterator[Hunted]:
    """All of Python's control flow against Python: compiled code, every fourth seed through every stage."""
    from tests.fuzz.control import wrong, wrong_compiled

    return _against_python(seeds, lambda seed: wrong(seed, compiled=True) if seed % 4 == 0 else wrong_compiled(seed))


def _against_python(seeds: Iterable[int], wrong: Callable[[int], str | None]) -> Iterator[Hunted]:
    """`wrong` says what is wrong: nothing, or None for a program that is refused."""
    from tests.fuzz.seeds import Died, each_seed

    for seed, found in zip(seeds := list(seeds), each_seed(seeds, wrong, 60), strict=True):
        if isinstance(found, Died):
            yield Hunted(seed, "died", True, f"exit {found.exitcode}")
        else:
            yield Hunted(seed, "refused" if found is None else "wrong" if found else "right", bool(found), found or "")


def scopes(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Closures, sizes in lambdas, two modules, against Python; compiled code."""
    from tests.fuzz.scopes import check, is_failure
    from tests.fuzz.seeds import Died, each_seed

    for seed, found in zip(seeds := list(seeds), each_seed(seeds, lambda seed: check(seed, True), 60), strict=True):
        if isinstance(found, Died):
            yield Hunted(seed, "died", True, f"exit {found.exitcode}")
            continue
        kind, program, detail = found
        failed = is_failure(kind, program)
        yield Hunted(seed, kind, failed, "\n".join((*program.texts, detail)) if failed else "")


def numpy_text(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Functions as NumPy users paste them, against NumPy: every second one compiled, the others interpreted."""
    from tests.fuzz.numpy_text import check

    return _told(seeds, lambda seed: check(seed, seed % 2 == 0))


def numpy_gradients(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Their gradients, against differences of what NumPy computes."""
    from tests.fuzz.numpy_text import check_gradient

    return _told(seeds, lambda seed: check_gradient(seed, seed % 2 == 0))


def _told(seeds: Iterable[int], check: Callable[[int], Any]) -> Iterator[Hunted]:
    """`check` gives an outcome that knows whether it is a failure."""
    from tests.fuzz.seeds import Died, each_seed

    for seed, found in zip(seeds := list(seeds), each_seed(seeds, check, 60), strict=True):
        yield Hunted(seed, "died", True, f"exit {found.exitcode}") if isinstance(found, Died) else Hunted(seed, found.kind, found.failed, found.detail if found.failed else "")


def exported(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Hostile texts in C that is written to files."""
    import tempfile
    from pathlib import Path

    from tests.fuzz.hostile import check, program

    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            found = check(seed, Path(folder))
        yield Hunted(seed, "wrong" if found else "right", bool(found), "\n".join((*found, program(seed)[0])) if found else "")


def c_compiler(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Files of C whose functions optimisation must not change."""
    from tests.fuzz.c_compiler import wrong_in

    for seed in seeds:
        found = wrong_in(seed)
        yield Hunted(seed, "wrong" if found else "right", bool(found), f"python -m tests.fuzz.c_compiler --show --seeds {seed}:{seed + 1}" if found else "")


def rewrites(seeds: Iterable[int]) -> Iterator[Hunted]:
    from tests.fuzz.rewrites.run import run_seeds

    for found in run_seeds(seeds):
        yield Hunted(found.seed, found.kind, found.failed, f"{found.row}: python -m tests.fuzz.rewrites --row {found.row} --seeds {found.seed},\n{found.detail}" if found.failed else "")


def nests(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Gradients of loops inside loops that overwrite, their cost too."""
    from tests.fuzz_ad.nests import nest

    yield from gradients(seeds, nest)


def gradients(seeds: Iterable[int], made: Callable[[int], str] | None = None) -> Iterator[Hunted]:
    """Compiled gradients against differences; every fourth seed through every stage, both modes and second derivatives."""
    from tests.fuzz_ad.programs import text_of
    from tests.fuzz_ad.run import run_seeds

    for report in run_seeds(seeds, lambda seed: ("ainf", "loops3", "O3") if seed % 4 == 0 else (), made or text_of):
        failure = report.outcome.failure
        dear = failure is not None and failure.kind == "cost"
        kind = "dear" if dear else failure.kind if failure is not None else "refused" if report.outcome.refused else "right"
        detail = f"{report.text}\n{report.sizes}\n{failure.detail[-600:]}" if failure is not None else ""
        yield Hunted(report.seed, kind, failure is not None and not dear, detail, dear)


def schedules(seeds: Iterable[int]) -> Iterator[Hunted]:
    from tests.schedule.fuzz import one

    for seed in seeds:
        problem = one(seed, 6, collections.Counter(), 10)
        yield Hunted(seed, "right" if problem is None else "wrong", problem is not None, problem or "")


def madl(seeds: Iterable[int]) -> Iterator[Hunted]:
    from tests.madl.fuzz import Generator, Symbolic, run_one

    for seed in seeds:
        source = (Symbolic if seed % 3 == 0 else Generator)(random.Random(seed)).program()
        outcome, story = run_one(source, seed, seed % 40 == 0)
        failed = outcome.split()[0].isupper()
        yield Hunted(seed, outcome if failed else outcome.split()[0], failed, f"{source}\n{story}" if failed else "")


def madl_text(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Texts of MADL changed at random."""
    from tests.madl.mutate import mutated, outcome, sources

    texts = sources()
    for seed in seeds:
        rng = random.Random(seed)
        text = mutated(rng.choice(texts), rng)
        found = outcome(text)
        failed = found.startswith(("CRASH", "NOWHERE", "STUCK"))
        yield Hunted(seed, found.split()[0] if failed or found.startswith("ok") else "refused", failed, f"{text}\n{found}" if failed else "")


def ranks(seeds: Iterable[int]) -> Iterator[Hunted]:
    """Rank polymorphism and sizes, 20 examples of each property a seed."""
    return _properties(seeds, "tests/conformance/test_automap_generated.py")


def sizes(seeds: Iterable[int]) -> Iterator[Hunted]:
    return _properties(seeds, "tests/conformance/test_sizes_generated.py")


def _properties(seeds: Iterable[int], path: str) -> Iterator[Hunted]:
    import os
    import subprocess
    import sys

    for seed in seeds:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"--hypothesis-seed={seed}", path], env={**os.environ, "ATOLL_EXAMPLES": "20"}, capture_output=True, text=True, timeout=600
        )
        yield Hunted(seed, "right" if done.returncode == 0 else "wrong", done.returncode != 0, done.stdout[-1500:] if done.returncode else "")


CLASSES: dict[str, Hunt] = {
    "rewrites": rewrites,
    "general": general,
    "imperative": imperative,
    "control": control,
    "scopes": scopes,
    "numpy": numpy_text,
    "numpy_gradients": numpy_gradients,
    "gradients": gradients,
    "nests": nests,
    "schedules": schedules,
    "stages": stages,
    "groups": groups,
    "devices": devices,
    "threads": threads,
    "hostile": hostile,
    "exported": exported,
    "c_compiler": c_compiler,
    "madl": madl,
    "madl_text": madl_text,
    "ranks": ranks,
    "sizes": sizes,
}
