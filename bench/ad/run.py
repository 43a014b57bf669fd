"""python -m bench.ad.run [--only TEXT] [--seconds S] [--threads T]: what derivatives cost, as ratios in one run.

Columns: milliseconds of the primal and of value and gradient, their ratio and its target; value and gradient of JAX (jitted) and of hand-written C
over ours (above 1: we are faster) where there is a version and the tool is installed; lines of the normal form, derivative over primal. With one thread the
clock is the process's own, so a busy machine does not count. `bench/.peers/bin/python` has JAX; results are checked against it.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.ad.run", description=__doc__)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    os.environ["ATOLL_NUM_THREADS"] = str(options.threads)
    os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if options.threads > 1 else 'false'} intra_op_parallelism_threads={options.threads}"

    from bench.ad.rows import rows
    from bench.timing import measure

    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(f"{'program':<16}{'primal ms':>10}{'grad ms':>9}{'ratio':>7}{'target':>8}  {'jax':>6}{'C':>6}{'lines':>7}")
    missed = 0
    for row in rows():
        if options.only not in row.name:
            continue
        calls: dict[str, Callable[[], Any]] = {"primal": lambda row=row: row.primal(*row.args), "gradient": lambda row=row: row.derivative(*row.args)}
        for name, made in (("jax", _jax(row)), ("c", _hand_written(row))):
            if made is not None:
                calls[name] = made
        times = {name: t.median for name, t in measure(calls, seconds=options.seconds, rounds=7, clock=clock).items()}
        ratio = times["gradient"] / times["primal"]
        others = [f"{times[name] / times['gradient']:>6.2f}" if name in times else f"{'':>6}" for name in ("jax", "c")]
        lines = _lines(row.derivative) / _lines(row.primal)
        late = ratio > row.target
        missed += late
        mark = " <" if late else ""
        print(f"{row.name:<16}{1e3 * times['primal']:>10.3f}{1e3 * times['gradient']:>9.3f}{ratio:>7.2f}{row.target:>8.1f}  {''.join(others)}{lines:>7.1f}{mark}", flush=True)
    print(f"{missed} over their target")
    return 0


def _lines(f: Any) -> int:
    return f.show("ainf").count("let ")


def _jax(row: Any) -> Callable[[], Any] | None:
    """Value and gradient by JAX, checked against ours."""
    try:
        import jax
        import jax.numpy as jnp
        import numpy as np
    except ImportError:
        return None
    if row.jax is None:
        return None
    jax.config.update("jax_enable_x64", True)
    call = jax.jit(jax.value_and_grad(row.jax(jnp), argnums=row.wrt if len(row.wrt) > 1 else row.wrt[0]))
    given = tuple(jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in row.args)
    ours, theirs = row.derivative(*row.args), call(*given)
    for a, b in zip(_leaves(ours), _leaves(theirs), strict=True):
        scale = max(1.0, float(np.max(np.abs(b))))
        assert np.max(np.abs(np.asarray(a) - np.asarray(b))) <= 1e-8 * scale, f"{row.name}: JAX has another gradient"
    return lambda: jax.block_until_ready(call(*given))


def _leaves(value: Any) -> list[Any]:
    return [x for item in value for x in _leaves(item)] if isinstance(value, tuple) else [value]


def _hand_written(row: Any) -> Callable[[], Any] | None:
    """Value and gradient in C, checked against ours."""
    import numpy as np

    if row.c is None:
        return None
    library = Path(tempfile.gettempdir()) / f"atoll_bench_ad_{os.getuid()}.so"
    command = ["cc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", str(FOLDER / "hand_written.c"), "-o", str(library), "-lmvec", "-lm"]
    if not library.exists() or library.stat().st_mtime < (FOLDER / "hand_written.c").stat().st_mtime:
        subprocess.run(command, check=True)
    f = getattr(ctypes.CDLL(str(library)), row.c)
    f.restype = ctypes.c_double

    def call() -> tuple[Any, ...]:
        results = [np.empty_like(a) for a in row.args]
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*row.args, *results)]
        return (f(ctypes.c_int64(len(row.args[0])), *pointers), *results)

    for a, b in zip(_leaves(row.derivative(*row.args)), call(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8)
    return call


if __name__ == "__main__":
    sys.exit(main())
