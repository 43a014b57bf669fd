"""Times of the tasks of NPBench, each answer checked first.

    python -m bench.npbench.run [--preset S] [--only TEXT,TEXT] [--threads 1] [--seconds 0.4] [--write] [--published CHECKOUT --published-python PYTHON]

Run it with a Python that has the peers (numba, jax); those that are missing have no column. One thread by default: the clock is then the processor's, which other programs on
the machine do not disturb. `best/atoll` is the time of the best peer over ours. --write puts what was measured into bench/results/npbench.json, beside what is there of other
presets and tasks; `python -m bench.standing` tells it in docs/performance.md. --published adds NPBench's own programs for pythran and DaCe, from a checkout, run by a
Python that has them (published.py): pip install pythran dace 'networkx<3.3'; apt-get install cmake g++ libopenblas-dev liblapacke-dev, without which DaCe's products are loops.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_PEERS = ("numpy", "numba", "jax")
_PUBLISHED = ("pythran", "dace")
_PATIENCE = 180.0  # seconds for a published program, compiling included
RESULTS = Path(__file__).parents[1] / "results" / "npbench.json"


def environment(threads: int) -> None:
    """Before anything is imported: as many threads for every tool."""
    for key in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "ATOLL_NUM_THREADS"):
        os.environ[key] = str(threads)
    if threads == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def contenders(task: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    import numpy as np

    from bench.npbench import task as t

    found: dict[str, Any] = {"atoll": lambda: task.atoll(*args), "numpy": lambda: task.numpy(np, *args)}
    if t.numba is not None and task.numba is not None:
        compiled = t.numba.njit(parallel=not task.serial)(task.numba)
        found["numba"] = lambda: compiled(*args)
    if t.jax is not None and (task.shared or task.jax is not None):
        jitted = t.jax.jit(task.jax) if task.jax is not None else t.jax.jit(lambda *a: task.numpy(t.jnp, *a))
        moved = [t.jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        found["jax"] = lambda: t.jax.block_until_ready(jitted(*moved))
    return found


def wrong(found: Any, expected: Any, like: Any, rtol: float, strict: bool = True) -> str | None:
    """What is wrong with an answer, beside the expected one in double precision; `like` is NumPy's own, for its dtypes
    (which are not asked of peers: Numba gives numbers of Python)."""
    import numpy as np

    many = [x if isinstance(x, tuple) else (x,) for x in (found, expected, like)]
    if len({len(x) for x in many}) != 1:
        return f"{len(many[0])} results instead of {len(many[1])}"
    for k, (a, b, c) in enumerate(zip(*many, strict=True)):
        x, y, z = np.asarray(a), np.asarray(b), np.asarray(c)
        if x.shape != y.shape:
            return f"result {k}: shape {x.shape} instead of {y.shape}"
        if strict and x.dtype != z.dtype:
            return f"result {k}: {x.dtype} instead of {z.dtype}"
        if x.size == 0:
            return f"result {k} is empty"
        if not np.isfinite(x).all():
            return f"result {k} is not finite"
        scale = max(float(np.abs(y).max()), 1e-300)
        off = float(np.abs(x.astype(y.dtype) - y).max()) / scale
        if off > rtol:
            return f"result {k} is off by {off:.1e}"
    return None


def check(task: Any, args: tuple[Any, ...], found: Any, strict: bool = True) -> str | None:
    import numpy as np

    wide = tuple(a.astype(np.float64) if isinstance(a, np.ndarray) and a.dtype == np.float32 else a for a in args)
    with np.errstate(all="ignore"):
        expected, like = task.numpy(np, *wide), task.numpy(np, *args)
    return wrong(found, expected, like, task.rtol, strict)


def published(tool: str, name: str, options: argparse.Namespace) -> float | None:
    """The time of NPBench's own program; None, told, where it is none or wrong."""
    script, cache = Path(__file__).with_name("published.py"), Path(__file__).parents[2] / "out" / "npbench"
    beside = str(Path(options.published_python).parent)  # where pythran's own commands are
    command = [options.published_python, "-W", "ignore", str(script), options.published, tool, name, options.preset, "--seconds", str(options.seconds), "--cache", str(cache)]
    environ = {**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, env=environ, check=False)
        told = json.loads(done.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, json.JSONDecodeError, IndexError) as error:
        told = {"problem": f"{type(error).__name__}: no answer"}
    if "seconds" not in told:
        print(f"{name:<26} {tool}: {told['problem']}", file=sys.stderr)
        return None
    return float(told["seconds"])


def keep(run: str, name: str, times: dict[str, float]) -> None:
    """Times of one task, and how busy the machine was."""
    data = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    data.setdefault(run, {})[name] = {**{tool: round(t * 1e3, 4) for tool, t in times.items()}, "load": round(os.getloadavg()[0], 1)}
    RESULTS.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")


def every() -> list[Any]:
    from bench.npbench import dense, learning, others, solvers, stencils

    return sorted([t for module in (dense, learning, others, solvers, stencils) for t in module.TASKS], key=lambda t: str(t.name))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="S", choices=("tiny", "S", "M", "L"))
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--published", help="a checkout of NPBench")
    parser.add_argument("--published-python", default=sys.executable, help="a Python that has pythran and dace")
    options = parser.parse_args()
    environment(options.threads)
    from bench.timing import measure

    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(f"preset {options.preset}, {options.threads} thread{'s' if options.threads > 1 else ''}, {'processor' if options.threads == 1 else 'wall'} time, milliseconds, medians")
    shown = _PEERS + (_PUBLISHED if options.published else ())
    print(f"{'task':<26}{'atoll':>11}" + "".join(f"{p:>11}" for p in shown) + f"{'best/atoll':>12}")
    ratios: dict[str, float] = {}
    failed = 0
    for task in every():
        if options.only and not any(word in task.name for word in options.only.split(",")):
            continue
        args = task.data(*task.presets[options.preset])
        calls = contenders(task, args)
        try:
            problem = check(task, args, calls["atoll"]())
            for peer in _PEERS[1:]:
                if problem is None and peer in calls:
                    other = check(task, args, calls[peer](), strict=False)
                    if other is not None:
                        print(f"{task.name:<26} {peer}: {other}", file=sys.stderr)
                        del calls[peer]
        except Exception as error:  # noqa: BLE001  a table goes on
            problem = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        if problem is not None:
            failed += 1
            print(f"{task.name:<26} WRONG: {problem}", flush=True)
            continue
        slow = {"numpy": calls.pop("numpy")} if task.slow else {}
        times = {name: t.median for name, t in measure(calls, seconds=options.seconds, rounds=5, clock=clock).items()}
        for name, call in slow.items():
            start = clock()
            call()
            times[name] = clock() - start
        if options.published and options.preset != "tiny" and options.threads == 1:
            others = {tool: published(tool, task.name, options) for tool in _PUBLISHED}
            times |= {tool: t for tool, t in others.items() if t is not None}
        ratio = min(times[p] for p in times if p != "atoll") / times["atoll"]
        ratios[task.name] = ratio
        if options.write:
            keep(f"{options.preset}, {options.threads} thread{'s' if options.threads > 1 else ''}", task.name, times)
        print(f"{task.name:<26}{times['atoll'] * 1e3:>11.3f}" + "".join(f"{times[p] * 1e3:>11.3f}" if p in times else f"{'':>11}" for p in shown) + f"{ratio:>12.2f}", flush=True)
    if ratios:
        mean = math.exp(sum(math.log(r) for r in ratios.values()) / len(ratios))
        below = sorted((r, name) for name, r in ratios.items() if r < 0.9)
        first = sum(r >= 1 for r in ratios.values())
        print(f"{len(ratios)} tasks: fastest of all on {first}; geometric mean {mean:.2f}; below 0.9: {', '.join(f'{name} {r:.2f}' for r, name in below) or 'none'}; wrong: {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
