"""The tool against the manual C++ of a checkout of GradBench, in one run: python -m bench.gradbench.compare CHECKOUT [EVAL ...]

Every number of every output within 1e-9 of theirs, relative to the larger of 1e-3 of the greatest and itself; a table of medians. Saddle and particle have no manual
version: their four variants are compared with the values GradBench expects. JAX's and PyTorch's entries of the checkout are timed beside them where the Python that
runs this has them (bench/.peers), waiting for their results, which their own timing does not.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path
from typing import Any

import numpy as np

from bench.gradbench.tool import answer, entries
from bench.gradbench.workloads import workloads

TOLERANCE = 1e-9
RUNS = {"min_runs": 5, "min_seconds": 0.2}
PATIENCE = 5.0  # seconds for a peer's runs of one function; at least two, the first of which compiles
LIMIT = 30  # seconds by the clock after which a peer is not waited for, so that the table ends
EXPECTED = {"saddle": [8.246324826140356e-06, 8.246324826140356e-06, 8.246324826140356e-06, 8.246324826140356e-06], "particle": 0.2071918746486116}


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


def manual(checkout: Path, module: str, function: str, given: Any) -> tuple[Any, float] | None:
    """The output and the median seconds of the C++ tool; None where it has no such eval."""
    program = checkout / "tools/manual/bin" / module
    if not program.exists():
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({**given, **RUNS} if isinstance(given, dict) else given, file)
        file.flush()
        ended = subprocess.run([str(program), file.name, function], capture_output=True, text=True, timeout=600, check=False)
    if ended.returncode:
        raise RuntimeError(f"{program} {function}: {ended.stderr[:300]}")
    output, *timings = (json.loads(line) for line in ended.stdout.strip().split("\n"))
    return output, statistics.median(t["nanoseconds"] for t in timings if t["name"] == "evaluate") / 1e9


def ours(module: str, function: str, given: Any) -> tuple[Any, float]:
    message = {"kind": "evaluate", "module": module, "function": function, "input": {**given, **RUNS} if isinstance(given, dict) else given}
    answer(message)  # compiles
    told = answer(message)
    if not told["success"]:
        raise RuntimeError(f"{module} {function}: {told['error']}")
    return told["output"], statistics.median(t["nanoseconds"] for t in told["timings"]) / 1e9


def peer(checkout: Path, tool: str, module: str, function: str, given: Any) -> float | None:
    """The median seconds of a peer's entry in the checkout; None where the peer or the entry is missing, infinite where it is not waited for."""
    library = {"jax": "jax", "pytorch": "torch"}[tool]
    if importlib.util.find_spec(library) is None:
        return None
    folder = str(checkout / "python/gradbench")
    if folder not in sys.path:
        sys.path.insert(0, folder)
        wrap = types.ModuleType("gradbench.wrap")
        wrap.multiple_runs = wrap.function = blocking  # type: ignore[attr-defined]
        importlib.import_module("gradbench").wrap = wrap  # type: ignore[attr-defined]
        sys.modules["gradbench.wrap"] = wrap
    signal.signal(signal.SIGALRM, _over)
    signal.alarm(LIMIT)
    try:
        found = getattr(importlib.import_module(f"gradbench.tools.{tool}.{module}"), function)
        seconds: float = found.seconds(given)
    except TimeoutError:
        return math.inf
    except Exception as problem:  # noqa: BLE001  theirs, and said
        if not isinstance(problem, (ModuleNotFoundError, AttributeError)):
            print(f"{tool} {module} {function}: {type(problem).__name__}: {str(problem)[:100]}")
        return None
    finally:
        signal.alarm(0)
    return seconds


def _over(*_: Any) -> None:
    raise TimeoutError


class blocking:
    """Called as they call it, the function itself; `seconds` is the median of runs whose results were waited for."""

    def __init__(self, *, pre: Any, post: Any, **_: Any) -> None:
        self.pre, self.post, self.function = pre, post, None

    def __call__(self, *args: Any) -> Any:
        if self.function is None:
            (self.function,) = args
            return self
        return self.function(*args)

    def seconds(self, given: Any) -> float:
        assert self.function is not None
        prepared, taken = self.pre(given), []
        while len(taken) < 2 or (sum(taken) < PATIENCE and (len(taken) < RUNS["min_runs"] + 1 or sum(taken) < RUNS["min_seconds"])):
            start = time.perf_counter()
            result = self.function(prepared)
            if "jax" in sys.modules:
                result = sys.modules["jax"].block_until_ready(result)
            taken.append(time.perf_counter() - start)
        self.post(result)
        return statistics.median(taken[1:])


def rows(checkout: Path, only: set[str]) -> list[tuple[str, str, str, float | None, float, float]]:
    """Eval, workload, function, seconds of the manual C++, ours, greatest difference."""
    found = []
    slow: set[tuple[str, str, str]] = set()
    for module, name, given in workloads():
        if only and module not in only:
            continue
        for function in entries(module):
            output, seconds = ours(module, function, given)
            theirs = manual(checkout, module, function, given)
            wanted = EXPECTED[module] if module in EXPECTED else theirs[0] if theirs is not None else None
            off = difference(output, wanted) if wanted is not None else 0.0
            found.append((module, name, function, theirs[1] if theirs is not None else None, seconds, off))
            times = [theirs[1] if theirs is not None else None]
            for tool in ("jax", "pytorch"):
                times.append(None if (tool, module, function) in slow else peer(checkout, tool, module, function, given))
                if (times[-1] or 0) > PATIENCE:
                    slow.add((tool, module, function))  # its larger workloads are not waited for
            told = "".join(" " * 20 if t is None else f"{t * 1e6:12.1f}{t / seconds:8.2f}" if t < math.inf else f"{f'over {LIMIT} s':>20}" for t in times)
            print(f"{module:9}{name:25}{function:10}{seconds * 1e6:12.1f}{told}   {off:.1e}{'' if off <= TOLERANCE else '   WRONG'}", flush=True)
    return found


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    checkout = Path(sys.argv[1]).resolve()
    subprocess.run(["make", "-C", str(checkout / "tools/manual"), "-j2"], check=False, stdout=subprocess.DEVNULL)
    print(f"{'eval':9}{'workload':25}{'function':10}{'Atoll, µs':>12}" + "".join(f"{tool:>12}{'x':>8}" for tool in ("manual C++", "JAX", "PyTorch")) + "   greatest difference")
    found = rows(checkout, set(sys.argv[2:]))
    gains = [theirs / own for *_, theirs, own, _ in found if theirs is not None]
    if gains:
        print(f"geometric mean of manual / ours: {statistics.geometric_mean(gains):.2f} over {len(gains)}")
    wrong = [row for row in found if row[-1] > TOLERANCE]
    print(f"{len(wrong)} of {len(found)} differ by more than {TOLERANCE}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
