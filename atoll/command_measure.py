"""atoll bench and atoll tune: how fast a function is, and what makes it faster."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from atoll.command_files import one, sizes_of, split_name
from atoll.errors import Error
from atoll.errors.misuse import Misuse


def bench(args: argparse.Namespace) -> int:
    if args.file is None:
        root = Path(__file__).parents[1] / "bench" / "run.py"
        if not root.exists():
            raise Misuse("bench/ is part of the source tree; give FILE:FUNCTION to time a function of yours")
        import runpy

        runpy.run_path(str(root), run_name="__main__")
        return 0
    sizes = sizes_of(args.size)
    path, name = split_name(args.file)
    if path.suffix == ".madl":
        from atoll.madl.command import bench_file

        print(bench_file(path, name, sizes))
        return 0
    from atoll.command_data import random_arguments

    f = one(args.file)
    values = random_arguments(f, sizes)
    start = time.perf_counter()
    f(*values)
    first = time.perf_counter() - start
    times: list[float] = []
    until = time.perf_counter() + 1.0
    while len(times) < 5 or (time.perf_counter() < until and len(times) < 1000):
        start = time.perf_counter()
        f(*values)
        times.append(time.perf_counter() - start)
    times.sort()
    shown = ", ".join(f"{k}={v}" for k, v in sizes.items())
    median = times[len(times) // 2]
    print(f"{f.name} [{shown}]: median {median * 1e3:.4f} ms of {len(times)} calls, first call {first * 1e3:.0f} ms{_rate(f, sizes, median)}")
    return 0


def _rate(f: Any, sizes: dict[str, int], seconds: float) -> str:
    """Operations and bytes a second, where the cost is a number: what to hold against the machine's own."""
    try:
        cost = f.cost(**{k: v for k, v in sizes.items() if k in {s.name for s in f.core.sizes}})
    except Error:  # it has no loops
        return ""
    if not (isinstance(cost.operations, int) and isinstance(cost.arrays, int)):
        return ""
    return f"; {cost.operations / seconds / 1e9:.3g} billion operations/s, {cost.arrays / seconds / 1e9:.3g} GB/s of its arrays"


def tune(args: argparse.Namespace) -> int:
    from atoll.command_data import random_arguments
    from atoll.tune import tune as measured

    f = one(args.file)
    if not args.seconds > 0:
        raise Misuse(f"--seconds takes a time above 0, not {args.seconds:g}")
    measured(f, random_arguments(f, sizes_of(args.size)), seconds=args.seconds)
    return 0
