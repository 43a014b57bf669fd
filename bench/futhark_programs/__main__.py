"""python -m bench.futhark_programs CHECKOUT [--only TEXT,TEXT] [--seconds 0.6] [--check] [--write FILE]

Run it with a Python that has JAX and Numba (bench/.peers/bin/python, PYTHONPATH=.). One thread; the clock is the processor's, all tools in turns in one run. A number is
theirs / ours: above 1 ours is faster. --check compares and times nothing. The files of the checkout itself, with its reference data, are `make bench-futhark`'s.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

from bench.npbench.run import environment


def apart(found: Any, wanted: Any) -> float:
    """How far two results are apart, beside the largest element; infinite where shapes differ."""
    import numpy as np

    a, b = (x if isinstance(x, (tuple, list)) else (x,) for x in (found, wanted))
    if len(a) != len(b):
        return math.inf
    worst = 0.0
    for x, y in zip(a, b, strict=True):
        x, y = np.asarray(x).astype(np.float64), np.asarray(y).astype(np.float64)
        if x.shape != y.shape or not np.isfinite(x).all():
            return math.inf
        worst = max(worst, float(np.abs(x - y).max(initial=0.0)) / max(float(np.abs(y).max(initial=0.0)), 1e-300))
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", help="the table, as Markdown")
    options = parser.parse_args()
    environment(1)
    import numpy as np

    import atoll as at
    from atoll.futhark.api import Module
    from bench.futhark_programs.rows import ROWS, versions
    from bench.timing import measure

    at.set_threads(1)
    lines, wrong, ratios = [], 0, []
    print(f"{'program':<46}{'atoll ms':>10}{'numpy':>9}{'numba':>9}{'jax':>9}")
    for row in ROWS:
        name = f"{row.program.rpartition('/')[0]} {row.program.rpartition('/')[2]}" + ("" if row.entry == "main" else f" {row.entry}")
        if options.only and not any(word in row.program for word in options.only.split(",")):
            continue
        path = Path(options.checkout) / f"{row.program}.fut"
        args = row.data(np.random.default_rng(0))
        try:
            ours = getattr(Module(path.read_text(), str(path), path.parent, frozenset({row.entry})), row.entry)
            others = versions(row, args)
            found = ours(*args)
        except at.Error as error:
            wrong += 1
            print(f"{name:<46} {str(error).splitlines()[0]}", flush=True)
            continue
        off = {tool: apart(found, call()) for tool, call in others.items()}
        if max(off.values()) > row.rtol:
            wrong += 1
            print(f"{name:<46} WRONG: {off}", flush=True)
            continue
        if options.check:
            print(f"{name:<46} right: {max(off.values()):.1e}", flush=True)
            continue
        times = {tool: t.median for tool, t in measure({"atoll": lambda: ours(*args), **others}, seconds=options.seconds, rounds=5, clock=time.process_time).items()}
        cells = [f"{times[tool] / times['atoll']:.2f}" if tool in times else "" for tool in ("numpy", "numba", "jax")]
        ratios.append(min(t for tool, t in times.items() if tool != "atoll") / times["atoll"])
        print(f"{name:<46}{times['atoll'] * 1e3:>10.3f}" + "".join(f"{c:>9}" for c in cells), flush=True)
        lines.append(f"| {name} | {times['atoll'] * 1e3:.2f} | {' | '.join(cells)} | {max(off.values()):.0e} |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} programs, geometric mean of the fastest other / ours {mean:.2f}, {sum(r >= 1 for r in ratios)} at or above 1; wrong or refused: {wrong}; load {os.getloadavg()[0]:.1f}")
    if options.write and lines:
        head = ["| program | Atoll, ms | NumPy | Numba | JAX | greatest difference |", "|---|--:|--:|--:|--:|--:|"]
        Path(options.write).write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
