"""python -m bench.competing [--busy K] [--rounds R]: many short parallel loops while other processes want the same cores.

Wall time of one call (200 sweeps over a grid of 300 by 300, each a loop of about 20 µs on two cores) with one thread and with as many as there are cores, alone and
beside K busy processes; medians, the worst, and processor time, in which
waiting counts. The caller waits only for workers that are in a piece
(atoll/runtime/native/runtime.c): one that lost its core there is waited for until its turn.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import atoll as at
from atoll import f64, i64

n, m = at.sizes("n m")


@at.fn
def sweeps(steps: i64, a: f64[n, m]) -> f64[n, m]:
    for t in range(steps):
        a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return a


def times(threads: int, rounds: int, grid: np.ndarray) -> tuple[list[float], list[float]]:
    """Wall and processor time of each call, in milliseconds."""
    at.set_threads(threads)
    sweeps(200, grid)
    wall, processor = [], []
    for _ in range(rounds):
        start, used = time.perf_counter(), time.process_time()
        sweeps(200, grid)
        wall.append((time.perf_counter() - start) * 1e3)
        processor.append((time.process_time() - used) * 1e3)
    return wall, processor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--busy", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--rounds", type=int, default=41)
    options = parser.parse_args()
    grid = np.random.default_rng(0).random((300, 300))
    cores = len(os.sched_getaffinity(0))
    for busy in (0, options.busy):
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        try:
            time.sleep(0.2)
            for threads in (1, cores):
                wall, processor = times(threads, options.rounds, grid)
                shown = f"median {statistics.median(wall):7.2f} ms, worst {max(wall):7.2f} ms, processor {statistics.median(processor):7.2f} ms"
                print(f"{busy} busy processes, {threads} threads: {shown}, load {os.getloadavg()[0]:.1f}", flush=True)
        finally:
            for p in others:
                p.kill()
                p.wait()


if __name__ == "__main__":
    main()
