"""Scheduled programs against Halide and OpenBLAS, in one run: `python bench/schedules/run.py [--short]`.

Halide lives in an environment of its own (bench/.halide, made at first use). Blur with a border of zeros, fused, in two stages, tiled and
with a sliding window; matrix products; unsharp masking. Same data, same border, same number of threads, a new array per call for
everybody; results are compared before anything is timed, calls are interleaved, and the medians of one run are printed, with the time scheduling itself takes. Writes
bench/results/schedules.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "bench" / ".halide"


def python() -> Path:
    """An interpreter that has Halide; made when it is not there."""
    found = HOME / "bin" / "python"
    if not (HOME / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True)
        for package in ("numpy", "highspy", "halide"):
            done = subprocess.run([str(found), "-m", "pip", "install", "-q", package], check=False, capture_output=True)
            if done.returncode != 0:
                print(f"{package} cannot be installed here; its column stays empty", file=sys.stderr)
        (HOME / ".ready").write_text("")
    return found


def measured(threads: int, short: bool) -> list[dict[str, Any]]:
    keys = ("HL_NUM_THREADS", "ATOLL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    env = {**os.environ, **dict.fromkeys(keys, str(threads)), "PYTHONPATH": str(ROOT)}
    command = [str(python()), "-m", "bench.schedules.measure", *(["--short"] if short else [])]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def row(r: dict[str, Any], threads: int) -> str:
    ours, peers = r["atoll"], r["peers"]
    shown = ", ".join(f"{name} {ms:.2f}" for name, ms in peers.items())
    best = min(peers.values(), default=float("nan"))
    return f"| {r['name']} | {threads} | {ours:.2f} | {shown} | {ours / best:.2f} | {r['scheduling']:.2f} | {r['proofs']:.2f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the smaller sizes only")
    options = parser.parse_args()
    lines = [
        "# Schedules",
        "",
        "Milliseconds, medians of one run with interleaved calls; the machine is shared, so ratios matter, not times. The ratio is Atoll's",
        "time over the best peer's: below 1 is faster. Scheduling and proofs are seconds: all steps, and all obligations on the loops.",
        "",
        "| program | threads | atoll | peers | ratio | scheduling | proofs |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines[5:]))
    for threads in (1, 2):
        for result in measured(threads, options.short):
            lines.append(row(result, threads))
            print(lines[-1], flush=True)
    target = ROOT / "bench" / "results" / "schedules.md"
    target.write_text("\n".join(lines) + "\n")
    print(f"written to {target.relative_to(ROOT)}")
    return 0 if len(lines) > 7 else 1


if __name__ == "__main__":
    sys.exit(main())
