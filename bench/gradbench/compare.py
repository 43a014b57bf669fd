"""The tool against the manual C++ of a checkout of GradBench, in one run: python -m bench.gradbench.compare CHECKOUT [EVAL ...] [--check] [--write FILE]

Every number of every output within 1e-9 of theirs, relative to the larger of 1e-3 of the greatest and itself; a table of medians. Saddle and particle have no manual
version: their four variants are compared with the values GradBench expects. JAX's and PyTorch's entries of the checkout are timed beside them where the Python that
runs this has them (bench/.peers), waiting for their results, which their own timing does not.

All on one thread, by the processor's time: Atoll, JAX and PyTorch take turns in this process (its clock counts all of its threads, and no other program's); the manual
version is a process of its own just before them, whose clock is set to its processor's time (CLOCK below). Prints and, with --write, keeps the table.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import importlib.util
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at
from bench.gradbench.tool import entries
from bench.gradbench.workloads import workloads
from bench.npbench.run import environment
from bench.timing import measure

TOLERANCE = 1e-9
RUNS = {"min_runs": 5, "min_seconds": 0.2}
PATIENCE = 2.0  # seconds of a call from which on one is enough, and a peer's larger workloads are not waited for
LIMIT = 60  # seconds by the clock after which a peer's first two calls are not waited for, so that the table ends
EXPECTED = {"saddle": [8.246324826140356e-06, 8.246324826140356e-06, 8.246324826140356e-06, 8.246324826140356e-06], "particle": 0.2071918746486116}
# The clock of the C++ tools is std::chrono's steady one: put before theirs, this one tells the time of the processor.
CLOCK = """
#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
int clock_gettime(clockid_t id, struct timespec *t) { return syscall(SYS_clock_gettime, id == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : id, t); }
"""


def flat(value: Any) -> np.ndarray[Any, Any]:
    """All numbers of an output, in order; records by their keys."""
    if isinstance(value, dict):
        parts = [flat(value[key]) for key in sorted(value)]
    elif isinstance(value, list) and value and isinstance(value[0], (list, dict)):
        parts = [flat(item) for item in value]
    else:
        return np.atleast_1d(np.array(value, np.float64)).ravel()
    return np.concatenate(parts) if parts else np.zeros(0)


def difference(found: Any, wanted: Any) -> float:
    """The greatest difference, relative to the number or to a thousandth of the greatest of its output."""
    a, b = flat(found), flat(wanted)
    if a.shape != b.shape:
        return float("inf")
    if not a.size:
        return 0.0
    scale = np.maximum(np.abs(b), 1e-3 * np.abs(b).max() + 1e-300)
    worst: float = (np.abs(a - b) / scale).max()
    return worst


@functools.cache
def clock() -> str:
    """The library that sets the clock of a process to its processor's time."""
    folder = Path(tempfile.mkdtemp())
    (folder / "clock.c").write_text(CLOCK)
    subprocess.run([shutil.which("cc") or "gcc", "-shared", "-fPIC", "-O1", str(folder / "clock.c"), "-o", str(folder / "clock.so")], check=True)
    return str(folder / "clock.so")


def manual(checkout: Path, module: str, function: str, given: Any) -> tuple[Any, float] | None:
    """The output and the median seconds of the C++ tool; None where it has no such eval."""
    program = checkout / "tools/manual/bin" / module
    if not program.exists():
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({**given, **RUNS} if isinstance(given, dict) else given, file)
        file.flush()
        own = {**os.environ, "LD_PRELOAD": clock()}
        ended = subprocess.run([str(program), file.name, function], capture_output=True, text=True, timeout=600, check=False, env=own)
    if ended.returncode:
        raise RuntimeError(f"{program} {function}: {ended.stderr[:300]}")
    output, *timings = (json.loads(line) for line in ended.stdout.strip().split("\n"))
    return output, statistics.median(t["nanoseconds"] for t in timings if t["name"] == "evaluate") / 1e9


def ours(module: str, function: str, given: Any) -> tuple[Any, Callable[[], Any]]:
    """The output, and a call."""
    entry = entries(module)[function]
    args = entry.arguments(given)
    return entry.output(entry.function(*args)), lambda: entry.function(*args)


def peer(checkout: Path, tool: str, module: str, function: str, given: Any) -> tuple[Callable[[], Any], float] | None:
    """A call of a peer's entry in the checkout and the seconds of its second one; None where the peer or the entry is missing, infinite where it is not waited for."""
    library = {"jax": "jax", "pytorch": "torch"}[tool]
    if importlib.util.find_spec(library) is None:
        return None
    folder = str(checkout / "python/gradbench")
    if folder not in sys.path:
        sys.path.insert(0, folder)
        wrap = types.ModuleType("gradbench.wrap")
        wrap.multiple_runs = wrap.function = Waiting  # type: ignore[attr-defined]
        importlib.import_module("gradbench").wrap = wrap  # type: ignore[attr-defined]
        sys.modules["gradbench.wrap"] = wrap
    signal.signal(signal.SIGALRM, _over)
    signal.alarm(LIMIT)
    try:
        if tool == "pytorch":
            importlib.import_module("torch").set_num_threads(1)
        call = getattr(importlib.import_module(f"gradbench.tools.{tool}.{module}"), function).call(given)
        call()
        start = time.process_time()
        call()
        return call, time.process_time() - start
    except TimeoutError:
        return lambda: None, math.inf
    except Exception as problem:  # noqa: BLE001  theirs, and said
        if not isinstance(problem, (ModuleNotFoundError, AttributeError)):
            print(f"{tool} {module} {function}: {type(problem).__name__}: {str(problem)[:100]}")
        return None
    finally:
        signal.alarm(0)


def _over(*_: Any) -> None:
    raise TimeoutError


class Waiting:
    """In the place of their decorators: called as they call it, the function itself; `call` is a call of it that waits for its result."""

    def __init__(self, *, pre: Any, post: Any, **_: Any) -> None:
        self.pre, self.post, self.function = pre, post, None

    def __call__(self, *args: Any) -> Any:
        if self.function is None:
            (self.function,) = args
            return self
        return self.function(*args)

    def call(self, given: Any) -> Callable[[], Any]:
        function, prepared = self.function, self.pre(given)
        assert function is not None
        jax = sys.modules.get("jax")
        if jax is None:
            return lambda: function(prepared)
        return lambda: jax.block_until_ready(function(prepared))


def row(checkout: Path, module: str, function: str, given: Any, slow: set[tuple[str, str]], check: bool) -> tuple[dict[str, float], float]:
    """Seconds by tool, and the greatest difference."""
    output, call = ours(module, function, given)
    theirs = manual(checkout, module, function, given)
    wanted = EXPECTED[module] if module in EXPECTED else theirs[0] if theirs is not None else None
    assert wanted is not None, f"no manual version of {module}: make -C {checkout}/tools/manual"
    off = difference(output, wanted)
    if check:
        return {}, off
    contenders, found = {"atoll": call}, {"manual": theirs[1]} if theirs is not None else {}
    for tool in ("jax", "pytorch"):
        other = None if (tool, function) in slow else peer(checkout, tool, module, function, given)
        if other is not None and other[1] < PATIENCE:
            contenders[tool] = other[0]
        elif other is not None:
            found[tool] = other[1]
            slow.add((tool, function))
    return {**found, **{tool: t.median for tool, t in measure(contenders, seconds=0.6, rounds=5, clock=time.process_time).items()}}, off


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("evals", nargs="*")
    parser.add_argument("--check", action="store_true", help="compare, and time nothing")
    parser.add_argument("--write", help="the table, as it is printed")
    options = parser.parse_args()
    environment(1)
    at.set_threads(1)
    checkout = Path(options.checkout).resolve()
    subprocess.run(["make", "-C", str(checkout / "tools/manual"), "-j2"], check=False, stdout=subprocess.DEVNULL)
    lines: list[str] = []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    say(f"{'eval':9}{'workload':25}{'function':10}{'Atoll, µs':>12}" + "".join(f"{tool:>12}{'x':>8}" for tool in ("manual C++", "JAX", "PyTorch")) + "   greatest difference")
    count, wrong, gains, best, last = 0, 0, [], [], ""
    slow: set[tuple[str, str]] = set()
    for module, name, given in workloads():
        if options.evals and module not in options.evals:
            continue
        if module != last:
            slow, last = set(), module
        for function in entries(module):
            times, off = row(checkout, module, function, given, slow, options.check)
            count, wrong = count + 1, wrong + (off > TOLERANCE)
            seconds = times.pop("atoll", math.nan)
            others = [t for t in times.values() if t < math.inf]
            gains += [times["manual"] / seconds] if "manual" in times else []
            best += [min(others) / seconds] if others else []
            told = "".join(_cell(times.get(tool), seconds) for tool in ("manual", "jax", "pytorch"))
            say(f"{module:9}{name:25}{function:10}{seconds * 1e6:12.1f}{told}   {off:.1e}{'' if off <= TOLERANCE else '   WRONG'}")
    if gains:
        say(f"geometric mean of manual / ours: {statistics.geometric_mean(gains):.2f} over {len(gains)}; at or above 0.9 of the fastest other: {sum(x >= 0.9 for x in best)} of {len(best)}")
    say(f"{wrong} of {count} differ by more than {TOLERANCE}")
    say(f"{time.strftime('%d %B %Y, %H:%M')} UTC, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; x = their time / ours: one thread, the processor's time, JAX and PyTorch in turns with ours")
    if options.write:
        Path(options.write).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if wrong else 0


def _cell(seconds: float | None, ours: float) -> str:
    if seconds is None:
        return " " * 20
    return f"{seconds * 1e6:12.1f}{seconds / ours:8.2f}" if seconds < math.inf else f"{f'over {LIMIT} s':>20}"


if __name__ == "__main__":
    sys.exit(main())
