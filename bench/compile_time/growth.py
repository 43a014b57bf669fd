"""Compile time: a function of 100 lines, cold and from the cache, and how it grows with a body ten times longer; import and call times.

    python -m bench.compile_time.growth [--lines 100] [--processor]

Every figure is the least of a few runs in processes of their own; goals: cold < 2 s, cached < 50 ms, ten times the lines in at most
twelve times the time, import < 0.2 s, a call of a small kernel < 1 µs above the kernel. `--processor` counts the processor's time, ours and the C
compiler's, which a busy machine changes less.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]

# One line of each kind in turn; every line uses the line before it and an older one.
_KINDS = [
    "{new} = [sin(v) * 0.5 + u for u, v in zip({old}, {last})]",
    "{new} = {last} * {c} + {old}",
    "{new} = scan(add, 0.0, {last})",
    "{new} = {last} / (1.0 + sum(v * v for v in {old}))",
    "{new} = [{last}[max(i - 1, 0)] + {last}[min(i + 1, n - 1)] for i in range(n)]",
    "{new} = where({last} > {old}, {last}, {old})",
    "{new} = [v if v > 0.0 else -v for v in {last}]",
    "{new} = {last} - max({old}, default=0.0)",
    "{new} = exp(-({last} * {last})) + {old}",
    "{new} = [({last}[i] + {old}[n - 1 - i]) * {c} for i in range(n)]",
]


def body(lines: int) -> str:
    """A function of so many lines."""
    text = ["import atoll as at", "from atoll import f64", 'n = at.sizes("n")', "@at.fn", "def long(x: f64[n]) -> f64[n]:"]
    names = ["x", "x"]
    for k in range(lines - 1):
        text.append("    " + _KINDS[k % len(_KINDS)].format(new=f"a{k}", last=names[-1], old=names[max(0, len(names) - 4)], c=f"{1 + k}.5"))
        names.append(f"a{k}")
    text.append(f"    return {names[-1]}")
    return "\n".join(text) + "\n"


_RUN = """
import json, os, sys, time
clock = (lambda: sum(os.times()[:4])) if {processor} else time.perf_counter
start = clock()
import atoll as at
imported = clock()
from atoll.runtime.library import call_path, runtime
import numpy as np
if {warm}:
    at.fn(source="import atoll as at\\ndef f(x: at.f64):\\n    return x + 1\\n")(1.0)  # everything is loaded, the runtime is built
ready = clock()
import program
defined = clock()
compiled = program.long.compile()
done = clock()
program.long(np.linspace(0, 1, 100))
print(json.dumps(dict(imported=imported - start, define=defined - ready, compile=done - defined, total=done - ready)))
"""


PROCESSOR = "--processor" in sys.argv


def measure(lines: int, folder: Path, cache: Path, warm: bool = True) -> dict[str, float]:
    """Times of one process, in seconds."""
    (folder / "program.py").write_text(body(lines))
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{folder}", "ATOLL_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", _RUN.format(warm=warm, processor=PROCESSOR)], capture_output=True, text=True, env=env, cwd=folder, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def least(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: min(run[key] for run in runs) for key in runs[0]}


def figures(lines: int = 100, repeat: int = 3) -> dict[str, float]:
    """What the table shows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm = folder / "warm"
        measure(3, folder, warm)  # builds the runtime
        cold = []
        for k in range(repeat):
            fresh = folder / f"cold{k}"
            _copy(warm, fresh)
            cold.append(measure(lines, folder, fresh))
        cached = [measure(lines, folder, folder / "cold0") for _ in range(repeat)]
        long = folder / "long"
        _copy(warm, long)
        ten = measure(10 * lines, folder, long)
    first, again = least(cold), least(cached)
    return {
        "import": min(first["imported"], again["imported"]),
        "cold: check": first["define"],
        "cold: compile": first["compile"],
        "cold": first["total"],
        "cached: check": again["define"],
        "cached: load": again["compile"],
        "ten times longer": ten["total"],
        "ratio": ten["total"] / first["total"],
        "ratio: check": ten["define"] / first["define"],
        "ratio: compile": ten["compile"] / first["compile"],
    }


def _copy(source: Path, target: Path) -> None:
    import shutil

    shutil.copytree(source, target)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--processor", action="store_true")
    given = parser.parse_args()
    for name, value in figures(given.lines, given.repeat).items():
        print(f"{name:<18} {value:8.3f}" + ("" if name.startswith("ratio") else " s"))
