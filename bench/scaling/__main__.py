"""python -m bench.scaling [--rows N] [--only NAME] [--write]"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.scaling.programs import PROGRAMS, Program

RESULTS = Path(__file__).parents[1] / "results" / "scaling.md"


def seconds(run: Callable[[], Any], times: int = 5) -> float:
    """The median, after one run that compiles and loads."""
    run()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def flat(value: Any) -> list[Any]:
    return [np.asarray(x) for x in value] if isinstance(value, (tuple, list)) else [np.asarray(value)]


def one(p: Program, rows: int, workers: int) -> tuple[float, float, float, float, float, int, int]:
    """Seconds of Atoll, dask.array, xarray (NaN where there is no such program), NumPy and the plain call; bytes in a task and bytes moved by the plan."""
    import dask
    import dask.array as da
    import xarray as xr

    arrays = p.arrays(rows)
    lazy = tuple(da.from_array(a, chunks=(-(-len(a) // (2 * workers)), *a.shape[1:])) if cut else a for a, cut in zip(arrays, p.cut, strict=True))
    plan = p.atoll.plan_distribution(*lazy, parts=2 * workers, memory="4GB")
    ours = lambda: dask.compute(p.atoll.distribute(*lazy, parts=2 * workers, memory="4GB"))[0]
    theirs = lambda: dask.compute(p.dask(*lazy))[0]
    named = [xr.DataArray(x, dims=("y", "x")) for x in lazy] if p.xarray is not None else []
    in_xarray = lambda: dask.compute(p.xarray(*named))[0] if p.xarray is not None else None
    with dask.config.set(scheduler="threads", num_workers=workers):
        wanted = flat(p.atoll(*arrays))
        assert all(np.array_equal(a, b) for a, b in zip(flat(ours()), wanted, strict=True)), f"{p.name}: other bits"
        assert all(np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(flat(theirs()), wanted, strict=True)), f"{p.name}: dask.array differs"
        assert all(np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(flat(p.numpy(*arrays)), wanted, strict=True)), f"{p.name}: NumPy differs"
        if p.xarray is not None:
            assert all(np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(flat(in_xarray()), wanted, strict=True)), f"{p.name}: xarray differs"
        times = seconds(ours), seconds(theirs), seconds(in_xarray) if p.xarray is not None else float("nan"), seconds(lambda: p.numpy(*arrays), 3), seconds(lambda: p.atoll(*arrays))
    return *times, plan.bytes_per_worker, plan.bytes_moved


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scaling")
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--only")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    lines = [
        "| program | rows | workers | Atoll on Dask, ms | dask.array / ours | xarray / ours | NumPy / ours | plain call, ms | MB in a task | MB taken |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for p in PROGRAMS:
        if args.only and args.only != p.name:
            continue
        for rows, workers in ((args.rows, 1), (args.rows, 2), (2 * args.rows, 2)):
            ours, theirs, named, numpy, plain, in_task, moved = one(p, rows, workers)
            lines.append(f"| {p.name} | {rows} | {workers} | {ours * 1e3:.1f} | {theirs / ours:.2f} | {named / ours:.2f} | {numpy / ours:.2f} | {plain * 1e3:.1f} | {in_task / 1e6:.1f} | {moved / 1e6:.1f} |")
            print(lines[-1], flush=True)
    text = "\n".join(lines)
    if args.write:
        RESULTS.write_text(f"# Scaling on Dask\n\nWritten by `python -m bench.scaling --rows {args.rows} --write`; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}. Strong scaling: rows 1 and 2 of a program; weak: rows 1 and 3. Same bits as the plain call in every row. The plan is made by the first call and kept.\n\n{text}\n")


if __name__ == "__main__":
    main()
