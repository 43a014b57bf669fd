"""python -m bench.ad.one_row NAME SECONDS THREADS: the figures of one row, as JSON. `bench.ad.run` calls it."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
_PATIENCE = 2.0  # seconds: a peer that takes longer is called once


def main() -> int:
    name, seconds, threads = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    from bench.ad.rows import ROWS
    from bench.timing import measure

    row = ROWS[name]()
    figures: dict[str, Any] = {"target": row.target}
    figures["compile"] = _compile_time(row.derivative) / _compile_time(row.primal)
    figures["lines"] = _lines(row.derivative) / _lines(row.primal)
    figures["memory"] = _memory(name)
    clock = time.process_time if threads == 1 else time.perf_counter
    calls: dict[str, Callable[[], Any]] = {"primal": lambda: row.primal(*row.args), "gradient": lambda: row.derivative(*row.args)}
    for tool, made in (("jax", _jax(row)), ("torch", _torch(row, threads)), ("c", _hand_written(row))):
        if made is not None:
            start = clock()
            made()
            if (once := clock() - start) < _PATIENCE:
                calls[tool] = made
            else:
                figures[tool] = once
    figures.update({tool: t.median for tool, t in measure(calls, seconds=seconds, rounds=7, clock=clock).items()})
    print(json.dumps(figures))
    return 0


def _compile_time(f: Any) -> float:
    """Processor time to make native code, gcc included, with an empty cache."""
    from atoll.core.fingerprint import fingerprint
    from atoll.loops.choices import USUAL
    from atoll.runtime.program import compiled, prepare

    core = f.core
    _, spans = fingerprint(core)
    with tempfile.TemporaryDirectory() as folder:
        start = os.times()
        compiled(prepare(core, spans, USUAL), Path(folder), "3")
        end = os.times()
    return sum(end[:4]) - sum(start[:4])


def _lines(f: Any) -> int:
    return int(f.show("ainf").count("let "))


def _memory(name: str) -> float:
    """Memory in use at most, arguments included, of the derivative over the primal: what the process grows by in one call."""
    grown = {}
    for which in ("primal", "derivative"):
        command = [sys.executable, "-m", "bench.ad.growth", name, which]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "ATOLL_KEEP": "0"}, check=True)
        grown[which] = int(done.stdout)
    return grown["derivative"] / grown["primal"]


def _jax(row: Any) -> Callable[[], Any] | None:
    """Value and gradient by JAX, checked against ours."""
    made = jax_call(row)
    if made is not None:
        _agree(row, made(), "JAX")
    return made


def jax_call(row: Any) -> Callable[[], Any] | None:
    """Value and gradient by JAX, which compiles at the first call."""
    try:
        import jax
    except ImportError:
        return None
    from bench.ad import with_jax

    jax.config.update("jax_enable_x64", True)
    if not hasattr(with_jax, row.peer):
        return None
    wrt = row.wrt[0] if len(row.wrt) == 1 else row.wrt
    objective = getattr(with_jax, row.peer)(*(_converted(a, lambda x: x) for a in row.args))
    call = jax.jit(jax.value_and_grad(objective, argnums=wrt) if row.wrt else objective)
    given = tuple(_converted(a, jax.numpy.asarray) for a in row.args)
    return lambda: jax.block_until_ready(call(*given))


def _torch(row: Any, threads: int) -> Callable[[], Any] | None:
    """Value and gradient by PyTorch, checked against ours."""
    try:
        import torch
    except ImportError:
        return None
    from bench.ad import with_torch

    if not hasattr(with_torch, row.peer):
        return None
    torch.set_num_threads(threads)
    objective = getattr(with_torch, row.peer)(*(_converted(a, lambda x: x) for a in row.args))
    given = [_converted(a, lambda x: torch.from_numpy(x.copy())) for a in row.args]
    given = [torch.tensor(a, dtype=torch.float64) if k in row.wrt and isinstance(a, float) else a for k, a in enumerate(given)]
    wanted = [given[k].requires_grad_() for k in row.wrt]

    def call() -> tuple[Any, ...]:
        value = objective(*given)
        return (value.detach(), *torch.autograd.grad(value, wanted)) if row.wrt else value

    _agree(row, call(), "PyTorch")
    return call


def _converted(a: Any, array: Callable[[Any], Any]) -> Any:
    """An argument as a peer takes it: its own arrays, records as dictionaries of them."""
    if hasattr(a, "__dataclass_fields__"):
        return {name: _converted(getattr(a, name), array) for name in a.__dataclass_fields__}
    return array(a) if isinstance(a, np.ndarray) else a


def _agree(row: Any, theirs: Any, who: str) -> None:
    for a, b in zip(_leaves(row.derivative(*row.args)), _leaves(theirs), strict=True):
        other = np.asarray(b)
        scale = max(1.0, float(np.max(np.abs(other))))
        assert np.max(np.abs(np.asarray(a) - other)) <= 1e-8 * scale, f"{row.name}: {who} has another gradient"


def _leaves(value: Any) -> list[Any]:
    return [x for item in value for x in _leaves(item)] if isinstance(value, tuple) else [value]


def _hand_written(row: Any) -> Callable[[], Any] | None:
    """Value and gradient in C, checked against ours."""
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

    _agree(row, call(), "C")
    return call


if __name__ == "__main__":
    sys.exit(main())
