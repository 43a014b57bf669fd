"""The bench: Atoll against NumPy, Numba, JAX, PyTorch (eager and compiled) and Halide in one run, on one machine.

    make bench        atoll bench        python bench/run.py [--short] [--only TEXT,TEXT] [--threads 2] [--growth] [--inductor] [--here]

Peers live in an environment of their own (bench/.peers, made at first use). Every result is checked against NumPy in double precision,
then all tools are timed in turn. Writes bench/results/<date>.json and a page with plots beside it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "bench" / ".peers"
PACKAGES = ["numpy", "numba", "jax", "torch==2.13.0", "halide", "highspy", "lark"]


def peers_python(quiet: bool = False) -> Path:
    """The interpreter of the peers' environment, which is made when it is not there."""
    python = PEERS / "bin" / "python"
    marker = PEERS / ".ready"
    if marker.exists() and marker.read_text() == "\n".join(PACKAGES):
        return python
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
    for package in PACKAGES:
        done = subprocess.run([str(python), "-m", "pip", "install", "-q", package], check=False, capture_output=quiet)
        if done.returncode != 0:
            print(f"{package} cannot be installed here; its column stays empty", file=sys.stderr)
    marker.write_text("\n".join(PACKAGES))
    return python


def environment(threads: int) -> dict[str, str]:
    """Variables by which every tool takes the same number of threads."""
    n = str(threads)
    found = {**os.environ, "PYTHONPATH": str(ROOT)}
    for key in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "ATOLL_NUM_THREADS", "HL_NUM_THREADS"):
        found[key] = n
    if threads == 1:
        found["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return found


def child(python: Path, threads: int, options: list[str]) -> tuple[dict[str, float], dict[str, Any]]:
    command = [str(python), "-m", "bench.measure", str(threads), *options]
    limits: dict[str, float] = {}
    kernels: dict[str, Any] = {}
    with subprocess.Popen(command, cwd=ROOT, env=environment(threads), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if not line.startswith("{"):
                continue
            data = json.loads(line)
            if "limits" in data:
                limits = data["limits"]
                print(f"\n{threads} thread{'s' if threads > 1 else ''}: copy {limits['copy'] / 1e9:.1f} GB/s in memory, {limits['copy_cache'] / 1e9:.0f} in cache; "
                      f"multiply-add {limits['flops_f32'] / 1e9:.0f} GFLOP/s f32, {limits['flops_f64'] / 1e9:.0f} f64; a call {limits['call'] * 1e6:.2f} µs")
                print(header())
            else:
                kernels[data["kernel"]] = data["result"]
                print(row(data["kernel"], data["result"], limits), flush=True)
    return limits, kernels


TOOLS = ["atoll", "numpy", "numba", "jax", "torch", "inductor", "halide"]  # inductor: torch.compile


def header() -> str:
    return f"{'kernel':<30}" + "".join(f"{tool:>11}" for tool in TOOLS) + f"{'best/atoll':>12}  {'of limit':>9}  milliseconds"


def ratio(result: dict[str, Any]) -> float | None:
    """How much faster Atoll is than the best peer."""
    seconds = result["seconds"]
    peers = [s for tool, s in seconds.items() if tool != "atoll"]
    return min(peers) / seconds["atoll"] if peers and "atoll" in seconds else None


def fraction(result: dict[str, Any], limits: dict[str, float]) -> float | None:
    """Of the copy bandwidth (of a copy beside it where there is one), or of the multiply-add peak."""
    if "atoll" not in result["seconds"]:
        return None
    seconds = result["seconds"]["atoll"]
    if "copy" in result:
        return float(result["copy"] / seconds)
    if "flops" in result:
        return float(result["flops"] / seconds / limits[f"flops_{result.get('dtype', 'f64')}"])
    if "bytes" in result:
        return float(result["bytes"] / seconds / limits["copy" if result["bytes"] > 32e6 else "copy_cache"])
    return None


def row(name: str, result: dict[str, Any], limits: dict[str, float]) -> str:
    cells = "".join(f"{result['seconds'][t] * 1e3:>11.4f}" if t in result["seconds"] else f"{'-':>11}" for t in TOOLS)
    r, f = ratio(result), fraction(result, limits)
    text = f"{name:<30}{cells}{f'{r:.2f}' if r else '-':>12}  {f'{f:.0%}' if f else '-':>9}"
    if r is not None and r < 0.9:
        text += "  slower"
    if result["errors"]:
        text += "  " + "; ".join(f"{tool}: {what}" for tool, what in result["errors"].items())
    return text


def geometric(values: list[float]) -> float:
    import math

    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


def summary(kernels: dict[str, Any]) -> str:
    best = [r for k in kernels.values() if (r := ratio(k)) is not None]
    lines = [f"{len(best)} kernels; against the best peer of each: geometric mean {geometric(best):.2f}, {sum(r >= 1 for r in best)} at least as fast, {sum(r < 0.9 for r in best)} below 0.9"]
    for tool in TOOLS[1:]:
        each = [k["seconds"][tool] / k["seconds"]["atoll"] for k in kernels.values() if tool in k["seconds"] and "atoll" in k["seconds"]]
        if each:
            lines.append(f"  against {tool}: geometric mean {geometric(each):.2f} over {len(each)} kernels, worst {min(each):.2f}")
    times = sorted(k["compile"] for k in kernels.values() if "compile" in k)
    if times:
        lines.append(f"  compile time: median {times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s")
    grown = {name: k["growth"] for name, k in kernels.items() if "growth" in k}
    if grown:
        lines.append("  growth of cost with the size (expected): " + ", ".join(f"{name} {g['exponent']:.2f} ({g['expected']:g})" for name, g in grown.items()))
    bad = [name for name, k in kernels.items() if "atoll" in k["errors"]]
    if bad:
        lines.append(f"  Atoll fails: {', '.join(bad)}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a fifth of the time per kernel")
    parser.add_argument("--inductor", action="store_true", help="PyTorch through torch.compile too, which takes a minute for some kernels")
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", default="2,1")
    parser.add_argument("--growth", action="store_true", help="fit how cost grows over four sizes")
    parser.add_argument("--cpu", action="store_true", help="with one thread: processor time, which other programs on the machine disturb less")
    parser.add_argument("--here", action="store_true", help="use this interpreter's packages as peers")
    parser.add_argument("--no-write", action="store_true")
    args = parser.parse_args(sys.argv[1:] if Path(sys.argv[0]).name == "run.py" else [])
    python = Path(sys.executable) if args.here else peers_python()
    common = ["--seconds", "0.12" if args.short else "0.6", "--only", args.only, *(["--cpu"] if args.cpu else []), *(["--inductor"] if args.inductor else [])]
    runs: dict[int, Any] = {}
    for k, threads in enumerate(int(t) for t in args.threads.split(",")):
        extra = (["--growth"] if args.growth else []) + (["--compile"] if k == 0 else [])
        limits, kernels = child(python, threads, [*common, *extra])
        runs[threads] = {"limits": limits, "kernels": kernels}
        print(summary(kernels))
    if args.no_write or not runs:
        return 0
    first = next(iter(runs.values()))
    date = datetime.date.today().isoformat()
    where = ROOT / "bench" / "results"
    where.mkdir(exist_ok=True)
    data = {"date": date, "machine": platform.processor() or platform.machine(), "clock": "processor time with one thread" if args.cpu else "wall clock", "limits": first["limits"], "kernels": first["kernels"], "runs": {str(t): r for t, r in runs.items()}}
    (where / f"{date}.json").write_text(json.dumps(data, indent=1))
    sys.path.insert(0, str(ROOT))
    from bench.page import page

    (where / f"{date}.html").write_text(page(data))
    print(f"wrote {where / date}.json and .html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
