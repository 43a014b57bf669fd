"""NPBench's own programs for pythran and DaCe, run from a checkout by a Python that has them: python published.py CHECKOUT TOOL TASK PRESET [--seconds 0.4] [--cache FOLDER]

A process of its own: it imports nothing of Atoll, and these tools need other versions of NumPy than the rest. The data are what the checkout's `initialize` makes. An
answer (what is returned, and the arrays that were given and are results) is compared with that of the checkout's NumPy version, all of it, before anything is timed: their own check
lets answers through that are too short. One line of JSON: {"seconds": median of the processor's time} or {"problem": words}.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TOOLS = ("pythran", "dace")


def data_of(checkout: Path, info: dict[str, Any], preset: str) -> dict[str, Any]:
    """Parameters and arrays by name."""
    data = dict(info["parameters"][preset])
    init = info.get("init")
    if init:
        module = importlib.import_module(module_name(info))
        made = getattr(module, init["func_name"])(*(data[a] for a in init["input_args"]))
        names = init["output_args"]
        data.update(zip(names, made if len(names) > 1 else (made,), strict=True))
    return data


def module_name(info: dict[str, Any], ending: str = "") -> str:
    return f"npbench.benchmarks.{info['relative_path'].replace('/', '.')}.{info['module_name']}{ending}"


def by_pythran(checkout: Path, info: dict[str, Any], cache: Path) -> Any:
    """The compiled function; the flags are those of NPBench's entry."""
    source = checkout / "npbench/benchmarks" / info["relative_path"] / f"{info['module_name']}_pythran.py"
    if not source.exists():
        raise LookupError("no such program")
    key = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    library = cache / key / f"{info['module_name']}_pythran.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pythran.run", "-DUSE_XSIMD", "-fopenmp", "-march=native", "-ffast-math", str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not library.exists():
            raise RuntimeError((done.stderr.strip().splitlines() or ["it does not compile"])[-1])
    spec = importlib.util.spec_from_file_location(f"{info['module_name']}_pythran", library)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, info["func_name"])
    return lambda data: function(*(data[a] for a in info["input_args"]))


def by_dace(checkout: Path, info: dict[str, Any], cache: Path) -> Any:
    """The program after DaCe's own optimiser, called as NPBench's entry calls it."""
    if not (checkout / "npbench/benchmarks" / info["relative_path"] / f"{info['module_name']}_dace.py").exists():
        raise LookupError("no such program")
    cache.mkdir(parents=True, exist_ok=True)
    os.chdir(cache)  # it writes what it builds into the working folder
    import dace
    from dace.transformation.auto.auto_optimize import auto_optimize

    program = getattr(importlib.import_module(module_name(info, "_dace")), info["func_name"])
    if dace.libraries.blas.environments.OpenBLAS.is_installed():
        dace.Config.set("library", "blas", "default_implementation", value="OpenBLAS")
    graph = program.to_sdfg(simplify=True)
    auto_optimize(graph, dace.dtypes.DeviceType.CPU)
    compiled = graph.compile()
    symbols = [p for p in info["parameters"]["L"] if p not in info["input_args"]]
    return lambda data: compiled(**{a: data[a] for a in info["input_args"]}, **{p: data[p] for p in symbols})


def copied(data: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in data.items()}


def flat(value: Any) -> list[Any]:
    import numpy as np

    if value is None:
        return []
    return [x for v in value for x in flat(v)] if isinstance(value, (tuple, list)) else [np.asarray(value)]


def wrong(found: tuple[Any, dict[str, Any]], wanted: tuple[Any, dict[str, Any]], outputs: list[str], rtol: float) -> str | None:
    """What is wrong with (what was returned, what was given, afterwards). Where something new is returned, only `outputs` of what was given are results too."""
    import numpy as np

    a, b = flat(found[0]), flat(wanted[0])
    after = [[v for v in given.values() if isinstance(v, np.ndarray)] for _, given in (found, wanted)]
    news = [x for x in b if not any(x.shape == y.shape and np.array_equal(x, y) for y in after[1])]
    if a and news:
        after = [[given[name] for name in outputs] for _, given in (found, wanted)]
    if not a and not news:
        b = []  # the reference returns only arrays it was given and has changed
    if len(a) != len(b):
        return f"{len(a)} results instead of {len(b)}"
    a, b = a + after[0], b + after[1]
    for k, (x, y) in enumerate(zip(a, b, strict=True)):
        if x.size != y.size or (x.size > 1 and x.shape != y.shape):
            return f"result {k}: shape {x.shape} instead of {y.shape}"
        finite = np.isfinite(y)
        if not np.array_equal(np.isfinite(x).reshape(y.shape), finite):
            return f"result {k} is not finite"
        x, y = x.reshape(y.shape)[finite], y[finite]
        scale = max(float(np.abs(y).max(initial=0)), 1e-300)
        off = float(np.abs(x.astype(np.result_type(y, np.float64)) - y).max(initial=0)) / scale
        if off > rtol:
            return f"result {k} is off by {off:.1e}"
    return None


def timed(call: Any, data: dict[str, Any], seconds: float) -> float:
    """The median of the processor's time, over calls on arrays of their own; what copies them is not counted."""
    taken: list[float] = []
    until = time.perf_counter() + max(8 * seconds, 4.0)
    while len(taken) < 3 or (sum(taken) < seconds and len(taken) < 2000 and time.perf_counter() < until):
        given = copied(data)
        start = time.process_time()
        call(given)
        taken.append(time.process_time() - start)
        if len(taken) == 1 and taken[0] > 10 * seconds:
            break
    return sorted(taken)[len(taken) // 2]


def answer(checkout: Path, tool: str, task: str, preset: str, seconds: float, cache: Path) -> dict[str, Any]:
    info = json.loads((checkout / "bench_info" / f"{task}.json").read_text())["benchmark"]
    data = data_of(checkout, info, preset)
    call = {"pythran": by_pythran, "dace": by_dace}[tool](checkout, info, cache / tool / task)
    given, theirs = copied(data), copied(data)
    found = call(given), given
    reference = getattr(importlib.import_module(module_name(info, "_numpy")), info["func_name"])
    wanted = reference(*(theirs[a] for a in info["input_args"])), theirs
    problem = wrong(found, wanted, info["output_args"], max(1e-5, float(info.get("norm_error", 0))))
    return {"problem": problem} if problem else {"seconds": timed(call, data, seconds)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("task")
    parser.add_argument("preset")
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--cache", type=Path, default=Path("out/npbench"))
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    sys.path.insert(0, str(checkout))
    try:
        with contextlib.redirect_stdout(sys.stderr):  # DaCe tells there what it does
            told = answer(checkout, options.tool, options.task, options.preset, options.seconds, options.cache.resolve())
    except Exception as error:  # noqa: BLE001  whatever these tools raise is told in a line
        told = {"problem": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}"}
    print(json.dumps(told), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
