"""python -m bench.products [--only TEXT] [--dtypes f32,f64] [--threads 1,2] [--most N] [--seconds S] [--write]: products of every shape beside OpenBLAS and PyTorch.

Each row is a shape (rows x columns x length of the sums). A cell is the time of NumPy, which calls OpenBLAS, over ours: above 1 we are faster.
In brackets the same for PyTorch, where it is installed (not for the largest). Tools run in turn in one process for each number of threads, each when no
thread of the others runs any more, because those of BLAS libraries spin on; medians of seven rounds (three of the largest); with one thread the clock is the
process's own. Results are checked against NumPy in double precision. Everything, with one thread and with two, takes about six minutes.
--write puts the table into bench/results/products.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "products.md"
WANTED = 0.95

SQUARES = (64, 100, 128, 200, 255, 256, 333, 400, 512, 640, 777, 1000, 1024, 1500, 2048, 3000, 4096)
SHAPES: dict[str, tuple[str, int, int, int]] = {
    **{f"{s}": ("NN", s, s, s) for s in SQUARES},
    **{
        f"{m}x{n}x{k}": ("NN", m, n, k)
        for m, n, k in (
            (777, 333, 1001), (1001, 777, 333), (333, 1001, 777), (500, 300, 700), (4096, 64, 64), (64, 4096, 64), (64, 64, 4096), (8192, 16, 256), (16, 8192, 256), (10000, 8, 100),
            (20000, 32, 32), (100, 20000, 10), (1, 512, 512), (1, 4096, 1000), (2, 1000, 1000), (6, 1000, 1000), (8, 2000, 500), (12, 1000, 1000), (20, 1000, 1000), (1000, 2, 1000), (1000, 3, 1000),
            (1000, 6, 1000), (3, 3, 20000), (8, 8, 20000), (2000, 2000, 1), (2000, 2000, 2), (2000, 2000, 3), (1000, 1000, 8), (300, 300, 32), (200, 200, 5000),
        )
    },
    **{f"left transposed {m}x{n}x{k}": ("TN", m, n, k) for m, n, k in ((200, 200, 200), (512, 512, 512), (1000, 1000, 1000), (2048, 2048, 2048), (64, 64, 10000), (777, 333, 1001))},
    **{f"right transposed {m}x{n}x{k}": ("NT", m, n, k) for m, n, k in ((200, 200, 200), (512, 512, 512), (1000, 1000, 1000), (2048, 2048, 2048), (64, 64, 10000), (777, 333, 1001))},
    **{f"1000 of {s}": ("batch", s, s, s) for s in (4, 8, 16, 32, 64)},
    **{f"matrix times vector {s}": ("matvec", s, 1, s) for s in (64, 200, 512, 1000, 2048, 4096)},
    **{f"vector times matrix {s}": ("vecmat", 1, s, s) for s in (64, 200, 512, 1000, 2048, 4096)},
    **{f"dot {name}": ("dot", 1, 1, s) for name, s in (("1K", 1 << 10), ("64K", 1 << 16), ("1M", 1 << 20), ("4M", 1 << 22))},
}


def _functions(dtype: str) -> dict[str, Any]:
    """The same program for every form, in Atoll."""
    import atoll as at

    text = """
import atoll as at
n, m, k, b = at.sizes("n m k b")
def NN(x: at.T[n, k], y: at.T[k, m]) -> at.T[n, m]:
    return x @ y
def TN(x: at.T[k, n], y: at.T[k, m]) -> at.T[n, m]:
    return x.T @ y
def NT(x: at.T[n, k], y: at.T[m, k]) -> at.T[n, m]:
    return x @ y.T
def batch(x: at.T[b, n, k], y: at.T[b, k, m]) -> at.T[b, n, m]:
    return [p @ q for p, q in zip(x, y)]
def matvec(x: at.T[n, k], y: at.T[k]) -> at.T[n]:
    return x @ y
def vecmat(x: at.T[k], y: at.T[k, m]) -> at.T[m]:
    return x @ y
def dot(x: at.T[k], y: at.T[k]) -> at.T:
    return sum(x * y)
"""
    head, *each = text.replace("at.T", f"at.{dtype}").split("\ndef ")
    return {one.split("(")[0]: at.fn(source=f"{head}\ndef {one}") for one in each}


PEERS: dict[str, Callable[[Any, Any], Any]] = {
    "NN": lambda x, y: x @ y, "TN": lambda x, y: x.T @ y, "NT": lambda x, y: x @ y.T, "batch": lambda x, y: x @ y,
    "matvec": lambda x, y: x @ y, "vecmat": lambda x, y: x @ y, "dot": lambda x, y: x @ y,
}


def _data(form: str, m: int, n: int, k: int, dtype: str) -> tuple[Any, Any]:
    shapes = {
        "NN": ((m, k), (k, n)), "TN": ((k, m), (k, n)), "NT": ((m, k), (n, k)), "batch": ((1000, m, k), (1000, k, n)),
        "matvec": ((m, k), (k,)), "vecmat": ((k,), (k, n)), "dot": ((k,), (k,)),
    }[form]
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(s).astype({"f32": np.float32, "f64": np.float64}[dtype]) for s in shapes)
    return x, y


def _one(label: str, dtype: str, threads: int, seconds: float, functions: dict[str, Any]) -> dict[str, float]:
    from bench.timing import measure

    form, m, n, k = SHAPES[label]
    x, y = _data(form, m, n, k, dtype)
    f, peer = functions[form], PEERS[form]
    calls: dict[str, Callable[[], Any]] = {"atoll": lambda: f(x, y), "numpy": lambda: peer(x, y)}
    large = m * n * k > 1 << 32
    try:
        import torch
    except ImportError:
        large = True
    if not large:
        torch.set_num_threads(threads)
        a, b = torch.from_numpy(x), torch.from_numpy(y)
        calls["torch"] = lambda: peer(a, b)
    expected = peer(x.astype(np.float64), y.astype(np.float64)) if m * n * k <= 1 << 28 else peer(x, y)
    error = float(np.max(np.abs(f(x, y) - expected)) / np.max(np.abs(expected)))
    assert error < (1e-3 if dtype == "f32" else 1e-10), f"{label}: relative error {error}"
    clock = time.process_time if threads == 1 else time.perf_counter
    return {tool: t.median for tool, t in measure(calls, seconds=seconds, rounds=7 if m * n * k < 1 << 30 else 3, pause=0.02 if threads > 1 else 0.0, clock=clock).items()}


def _child(options: argparse.Namespace) -> int:
    for dtype in options.dtypes.split(","):
        functions = _functions(dtype)
        for label in SHAPES:
            if all(part in label for part in options.only.split("+")) and math.prod(SHAPES[label][1:]) <= options.most:
                print(json.dumps([label, dtype, _one(label, dtype, options.child, options.seconds, functions)]), flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.products", description=__doc__)
    parser.add_argument("--only", default="", help="shapes whose name contains this (or all of a+b)")
    parser.add_argument("--dtypes", default="f32,f64")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each shape")
    parser.add_argument("--most", type=float, default=math.inf, help="multiply-adds of the largest shape")
    parser.add_argument("--write", action="store_true", help="write bench/results/products.md")
    parser.add_argument("--child", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return _child(options)
    found: dict[tuple[str, str], dict[str, float]] = {}
    columns = [(dtype, int(t)) for dtype in options.dtypes.split(",") for t in options.threads.split(",")]
    for threads in map(int, options.threads.split(",")):
        env = {**os.environ, **{key: str(threads) for key in ("ATOLL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}}
        command = [sys.executable, "-m", "bench.products", "--child", str(threads), "--only", options.only, "--dtypes", options.dtypes, "--seconds", str(options.seconds), "--most", str(options.most)]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for line in child.stdout:
                label, dtype, times = json.loads(line)
                found[(label, f"{dtype} {threads}")] = times
                print(f"{label:<34}{dtype} {threads}t {1e6 * times['atoll']:>12.1f} us   {_cell(times)}", flush=True)
        if child.returncode:
            return child.returncode
    table = [_row(label, [found.get((label, f"{d} {t}")) for d, t in columns]) for label in SHAPES if any(key[0] == label for key in found)]
    late = [f"{label} ({column}: {times['numpy'] / times['atoll']:.2f})" for (label, column), times in found.items() if times["numpy"] / times["atoll"] < WANTED]
    print(f"{len(found) - len(late)} of {len(found)} at least {WANTED} of OpenBLAS; below: {', '.join(late) or 'none'}")
    if options.write:
        RESULTS.write_text(_page(columns, table, len(found), late))
    return 0


def _cell(times: dict[str, float] | None) -> str:
    if times is None:
        return ""
    ratio = times["numpy"] / times["atoll"]
    torch = f" ({times['torch'] / times['atoll']:.2f})" if "torch" in times else ""
    return f"{ratio:.2f}{'<' if ratio < WANTED else ''}{torch}"


def _row(label: str, cells: list[dict[str, float] | None]) -> str:
    return f"| {label} | " + " | ".join(map(_cell, cells)) + " |"


def _page(columns: list[tuple[str, int]], table: list[str], count: int, late: list[str]) -> str:
    text = " ".join((__doc__ or "").split("\n\n")[1].split()).split(" --write")[0]
    head = f"# Products of every shape\n\nWritten by `bench/.peers/bin/python -m bench.products --write`: {platform.machine()}, NumPy {np.__version__}, load of the machine in the last minutes {os.getloadavg()[1]:.1f}.\n\n{text}\n\n"
    titles = [f"{d}, {t} thread{'s' if t > 1 else ''}" for d, t in columns]
    summary = f"\n{count - len(late)} of {count} at least {WANTED} of OpenBLAS. Below (marked <): {', '.join(late) or 'none'}.\n"
    return head + "\n".join(["| shape | " + " | ".join(titles) + " |", "|" + "---|" * (len(titles) + 1), *table]) + "\n" + summary


if __name__ == "__main__":
    sys.exit(main())
