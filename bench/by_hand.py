"""Atoll beside hand-written C of one loop nest (by_hand.c): the demo's programs, and chains of twenty array operations.

    python -m bench.by_hand [--quick] [--write]

The same compiler and flags, one thread, processor time, results allocated by each. Calls alternate between the two, so that both see the same
machine; the figure is the median of the ratios of neighbouring calls. Goal: at most 1.1. `--write` makes results/by_hand.md.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["ATOLL_NUM_THREADS"] = "1"

import numpy as np

import atoll as at
from atoll import f64
from atoll.runtime.toolchain import compiler
from examples import demo

HERE = Path(__file__).parent
GOAL = 1.1
n = at.sizes("n")


@at.fn
def chain(x: f64[n]) -> f64[n]:
    """Twenty array operations."""
    y = x * 1.5
    y = y + x
    y = y - 0.25
    y = y * y
    y = y + 1.0
    y = sqrt(y)
    y = y * 0.5
    y = y - x
    y = y * 2.0
    y = y + 3.0
    y = abs(y)
    y = y * x
    y = y + 0.125
    y = y * 0.75
    y = y - 1.0
    y = y * y
    y = y + x
    y = y * 1.25
    y = -y
    return y + 2.0


@at.fn
def chain_sum(x: f64[n]) -> f64:
    return sum(chain(x))


@dataclass(frozen=True)
class Pair:
    """A program of Atoll, the same by hand, how closely they must agree, and what is measured."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    tolerance: float
    shown: str


def library() -> ctypes.CDLL:
    """by_hand.c, compiled as Atoll compiles its own."""
    folder = Path(tempfile.mkdtemp())
    cc = compiler()
    subprocess.run([*cc.command, *cc.flags("3"), str(HERE / "by_hand.c"), "-o", str(folder / "by_hand.so"), "-lm"], check=True)
    made = ctypes.CDLL(str(folder / "by_hand.so"))
    made.chain_sum.restype = ctypes.c_double
    return made


def pairs(quick: bool) -> list[Pair]:
    c = library()
    blur, options, product, points, walk = (job.data for job in demo.jobs(quick))
    long = np.random.default_rng(1).random(2_000 if quick else 4_000_000)
    short = long[: 2_000 if quick else 100_000].copy()

    def call(function: Any, shape: tuple[int, ...], like: Any, *given: Any) -> Callable[[], Any]:
        def run() -> Any:
            out = np.empty(shape, like.dtype)
            function(*[_c(x) for x in given], _c(out))
            return out

        return run

    (img,), (a, b), (p, centres), (prices,) = blur, product, points, walk
    rows, columns = img.shape
    return [
        Pair("blur", lambda: demo.box_blur(img), call(c.blur, (rows - 8, columns - 8), img, rows, columns, img), 1e-4, f"{rows} x {columns} pixels, 9 x 9"),
        Pair("Black-Scholes", lambda: demo.black_scholes(*options), call(c.black_scholes, options[0].shape, options[0], len(options[0]), *options), 1e-9, f"{len(options[0]):,} options"),
        Pair("matrix product", lambda: demo.matrix_product(a, b), call(c.matrix_product, (len(a), b.shape[1]), a, len(a), len(b), b.shape[1], a, b), 1e-2, f"{len(a)} x {len(b)}"),
        Pair("k-means step", lambda: demo.kmeans_step(p, centres), call(c.kmeans_step, centres.shape, p, len(p), p.shape[1], len(centres), p, centres), 1e-9, f"{len(p):,} points"),
        Pair("scan (drawdown)", lambda: demo.drawdown(prices), call(c.drawdown, prices.shape, prices, len(prices), prices), 1e-12, f"{len(prices):,} prices"),
        Pair("chain of 20, in memory", lambda: chain(long), call(c.chain, long.shape, long, len(long), long), 1e-12, f"{len(long):,} numbers"),
        Pair("chain of 20, in cache", lambda: chain(short), call(c.chain, short.shape, short, len(short), short), 1e-12, f"{len(short):,} numbers"),
        Pair("chain of 20 and a sum", lambda: chain_sum(long), lambda: c.chain_sum(len(long), _c(long)), 1e-3, f"{len(long):,} numbers"),
    ]


def _c(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return ctypes.c_void_p(x.ctypes.data)
    return ctypes.c_double(x) if isinstance(x, float) else ctypes.c_int64(x)


def timed(run: Callable[[], Any], repeat: int) -> float:
    start = time.process_time()
    for _ in range(repeat):
        run()
    return (time.process_time() - start) / repeat


def measure(pair: Pair, seconds: float) -> tuple[float, float, float]:
    """Milliseconds of both, and the median of their ratios."""
    found, wanted = pair.ours(), pair.theirs()
    worst = float(np.max(np.abs(np.asarray(found) - np.asarray(wanted))))
    if not worst <= pair.tolerance:
        raise SystemExit(f"{pair.name}: the two differ by {worst}")
    repeat = max(1, int(0.005 / max(timed(pair.ours, 1), 1e-7)))
    times: list[tuple[float, float]] = []
    until = time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < until:
        ours, theirs = timed(pair.ours, repeat), timed(pair.theirs, repeat)
        again = timed(pair.ours, repeat)  # before and after: a machine that changes its speed meanwhile favours nobody
        times.append(((ours + again) / 2, theirs))
    ours, theirs = (statistics.median(side) for side in zip(*times, strict=True))
    return 1e3 * ours, 1e3 * theirs, statistics.median(a / b for a, b in times)


def main() -> None:
    quick = "--quick" in sys.argv
    head = ["program", "data", "Atoll ms", "C by hand ms", "ratio"]
    rows = []
    for pair in pairs(quick):
        ours, theirs, ratio = measure(pair, 0.1 if quick else 3.0)
        rows.append([pair.name, pair.shown, f"{ours:.3f}", f"{theirs:.3f}", f"{ratio:.2f}"])
        print("  ".join(f"{x:<24}" for x in rows[-1]), flush=True)
    if "--write" in sys.argv:
        text = ["# Beside hand-written C", "", *(__doc__ or "").strip().split("\n")[:1], "", f"Compiler: {compiler().version}; `{' '.join(compiler().flags('3'))}`. One thread, processor time; `python -m bench.by_hand --write`.", ""]
        text += ["| " + " | ".join(x) + " |" for x in [head, ["---"] * len(head), *rows]]
        path = HERE / "results" / "by_hand.md"
        notes = path.read_text().rpartition("|\n")[2] if path.is_file() else ""  # what a person wrote below the table stays
        path.write_text("\n".join(text) + "\n" + notes)


if __name__ == "__main__":
    main()
