"""python -m bench.ad.run [--only TEXT] [--seconds S] [--threads T] [--write]: what derivatives cost, as ratios in one run.

Columns: milliseconds of the primal and of value and gradient, their ratio and its target; value and gradient of JAX (jitted), PyTorch and
hand-written C over ours (above 1: we are faster) where there is a version and the tool is installed; memory, lines of the normal form and
compile time, derivative over primal. With one thread the clock is the process's own, so a busy machine does not count. Every row runs in a process
of its own, and peers' results are checked against ours. `bench/.peers/bin/python` has the peers; --write puts the table into
bench/results/ad.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.ad.rows import ROWS

RESULTS = Path(__file__).parents[1] / "results" / "ad.md"
COLUMNS = ("program", "primal ms", "grad ms", "ratio", "target", "jax", "torch", "C", "memory", "lines", "compile")
WIDTHS = (15, 10, 9, 7, 7, 7, 7, 6, 8, 7, 8)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.ad.run", description=__doc__)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write bench/results/ad.md")
    options = parser.parse_args()
    found = []
    print("".join(f"{c:<{w}}" if c == "program" else f"{c:>{w}}" for c, w in zip(COLUMNS, WIDTHS, strict=True)))
    for name in ROWS:
        if options.only in name:
            row = _measured(name, options.seconds, options.threads)
            found.append(_cells(name, row))
            print("".join(f"{c:<{w}}" if k == 0 else f"{c:>{w}}" for k, (c, w) in enumerate(zip(found[-1], WIDTHS, strict=True))), flush=True)
    print(f"{sum(c[3].endswith('<') for c in found)} over their target")
    if options.write:
        RESULTS.write_text(_page(found, options.threads))
    return 0


def _measured(name: str, seconds: float, threads: int) -> dict[str, float]:
    """The figures of one row, from a process of its own."""
    command = [sys.executable, "-m", "bench.ad.one_row", name, str(seconds), str(threads)]
    threaded = {key: str(threads) for key in ("ATOLL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    xla = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'} intra_op_parallelism_threads={threads}"
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threaded, "XLA_FLAGS": xla}, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _cells(name: str, row: dict[str, Any]) -> list[str]:
    ratio = row["gradient"] / row["primal"]
    target = row["target"]
    peers = [f"{row[p] / row['gradient']:.2f}" if p in row else "" for p in ("jax", "torch", "c")]
    late = "<" if ratio > target else ""
    bound = "" if math.isinf(target) else f"{target:.1f}"
    times = [f"{1e3 * row['primal']:.3f}", f"{1e3 * row['gradient']:.3f}", f"{ratio:.2f}{late}", bound]
    return [name, *times, *peers, f"{row['memory']:.2f}", f"{row['lines']:.1f}", f"{row['compile']:.1f}"]


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())


def _page(rows: list[list[str]], threads: int) -> str:
    head = f"# What gradients cost\n\nWritten by `bench/.peers/bin/python -m bench.ad.run --write`: {_machine()}, {threads} thread{'s' if threads > 1 else ''}, f64.\n\n"
    head += " ".join((__doc__ or "").split("\n\n")[1].split()).split(" `bench/.peers")[0] + " A ratio marked < is over its target.\n\n"
    table = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    return head + "\n".join(table + ["| " + " | ".join(r) + " |" for r in rows]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
