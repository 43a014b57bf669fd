"""python -m bench.compile_time.one TOOL PROGRAM: a first result in this process, as JSON: seconds on the clock and of processors, ours and the C compiler's."""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.compile_time import layers

Stages = dict[str, float]


def main() -> None:
    tool, program = sys.argv[1:]
    figures: dict[str, Any] = {}
    start = time.perf_counter()
    call, stages = (_atoll if tool == "atoll" else _jax)(program)
    figures["ready"] = time.perf_counter() - start
    before, start = _processor(), time.perf_counter()
    value = call()
    figures["wall"] = time.perf_counter() - start
    figures["own"], figures["compiler"] = (b - a for a, b in zip(before, _processor(), strict=True))
    start = time.perf_counter()
    call()
    figures["second"] = time.perf_counter() - start
    again = []
    for _ in range(5):
        begun = time.perf_counter()
        call()
        again.append(time.perf_counter() - begun)
    figures.update(stages=stages, again=min(again), value=float(np.asarray(value).reshape(-1)[0]))
    print(json.dumps(figures))


def _processor() -> tuple[float, float]:
    """Seconds of this process, and of those it started."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime, others.ru_utime + others.ru_stime


def _first(found: Any) -> Any:
    while isinstance(found, (tuple, list)):
        found = found[0]
    return found


def _atoll(program: str) -> tuple[Callable[[], Any], Stages]:
    import atoll as at

    # everything is loaded, as it is for JAX: a program that is in no cache goes through all stages
    at.fn(source=f"import atoll as at\ndef f(x: at.f64):\n    return x + {time.time_ns() % 1_000_000_007}\n")(1.0)
    stages = _watched()
    kind, _, count = program.partition(" ")
    if kind not in ("grad", "jvp", "value"):
        from bench.ad.rows import ROWS

        row = ROWS[program]()
        return lambda: _first(row.derivative(*row.args)), stages
    path = Path(tempfile.mkdtemp()) / "transformer.py"
    path.write_text(layers.text(int(count)))
    spec = importlib.util.spec_from_file_location("transformer", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["transformer"] = module
    weights, x = layers.data(int(count))

    def call() -> Any:
        if not hasattr(module, "loss"):
            spec.loader.exec_module(module)  # type: ignore[union-attr]
        blocks = tuple(module.Block(**w) for w in weights)
        if kind == "value":
            return module.loss(*blocks, x)
        if kind == "jvp":
            return _first(at.jvp(module.loss, (*blocks, x), (*blocks, x)))
        return _first(at.value_and_grad(module.loss, wrt=tuple(range(int(count))))(*blocks, x))

    return call, stages


def _watched() -> Stages:
    """Seconds of processor that stages of the compiler take from now on."""
    import atoll.backends.c.jit as jit
    import atoll.lower.make as make
    import atoll.runtime.program as program

    stages: Stages = {}

    def watch(module: Any, name: str, label: str) -> None:
        f = getattr(module, name)

        def watched(*args: Any, **keywords: Any) -> Any:
            start = time.process_time()
            try:
                return f(*args, **keywords)
            finally:
                stages[label] = stages.get(label, 0.0) + time.process_time() - start

        setattr(module, name, watched)

    watch(make, "make_loops", "plan, lower")
    watch(program, "compiled_loops", "loops")  # with those before
    watch(jit, "generate", "C text")
    return stages


def _jax(program: str) -> tuple[Callable[[], Any], Stages]:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax

    jax.config.update("jax_enable_x64", program.partition(" ")[0] not in ("grad", "jvp", "value"))
    jax.jit(lambda x: x + 1)(1.0).block_until_ready()
    kind, _, count = program.partition(" ")
    if kind in ("grad", "jvp", "value"):
        loss, (weights, x) = layers.with_jax(), layers.data(int(count))
        made = {
            "value": jax.jit(loss),
            "grad": jax.jit(jax.value_and_grad(loss)),
            "jvp": jax.jit(lambda w, x: jax.jvp(loss, (w, x), (w, x))),
        }[kind]
        return lambda: _first(jax.block_until_ready(made(weights, x))), {}
    from bench.ad.one_row import jax_call
    from bench.ad.rows import ROWS

    found = jax_call(ROWS[program]())
    assert found is not None, f"no JAX version of {program}"
    return lambda: _first(found()), {}


if __name__ == "__main__":
    main()
