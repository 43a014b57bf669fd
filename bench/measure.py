"""One child of the bench: every kernel, all tools in turn, with a fixed number of threads. Prints JSON lines.

    python -m bench.measure THREADS [--seconds S] [--only TEXT] [--growth]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

import numpy as np

import atoll as at
from bench.in_halide import FACTORIES, hl
from bench.kernel import Kernel, jax, jnp, numba, torch, touched
from bench.kernels import all_kernels
from bench.machine import copying, limits
from bench.timing import measure


def widened(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments in double precision, for the reference."""
    return tuple(a.astype(np.float64) if getattr(a, "dtype", None) == np.float32 else a for a in args)


def leaves(value: Any) -> list[Any]:
    return [x for v in value for x in leaves(v)] if isinstance(value, (tuple, list)) else [np.asarray(value)]


def difference(found: Any, expected: Any, rtol: float) -> str | None:
    """What is wrong with a result, or None."""
    a, b = leaves(found), leaves(expected)
    if len(a) != len(b):
        return f"{len(a)} results, not {len(b)}"
    for x, y in zip(a, b):
        if x.shape != y.shape:
            return f"shape {x.shape}, not {y.shape}"
        scale = float(np.max(np.abs(y), initial=0.0)) or 1.0
        error = float(np.max(np.abs(x.astype(np.float64) - y), initial=0.0)) / scale
        if not error <= max(rtol, 0.0):
            return f"relative error {error:.3g}, allowed {rtol:g}"
    return None


def contenders(kernel: Kernel, args: tuple[Any, ...], optimised: bool) -> dict[str, Any]:
    """A call without arguments for every tool that has a version."""
    found: dict[str, Any] = {"atoll": lambda: kernel.atoll(*args)}
    if kernel.numpy is not None or kernel.shared is not None:
        call = kernel.numpy or (lambda *a: kernel.shared(np, *a))
        found["numpy"] = lambda: call(*args)
    if numba is not None and kernel.numba is not None:
        jitted = numba.njit(parallel=not kernel.serial, cache=True)(kernel.numba)
        found["numba"] = lambda: jitted(*args)
    if jax is not None and (kernel.jax is not None or kernel.shared is not None):
        compiled = jax.jit(kernel.jax or (lambda *a: kernel.shared(jnp, *a)))
        given = tuple(jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in args)
        found["jax"] = lambda: jax.block_until_ready(compiled(*given))
    if torch is not None and kernel.torch is not None:
        tensors = tuple(torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in args)
        found["torch"] = lambda: kernel.torch(*tensors)
        if optimised:
            by_inductor = torch.compile(kernel.torch, dynamic=False)
            found["inductor"] = lambda: by_inductor(*tensors)
    if hl is not None and kernel.name in FACTORIES:
        found["halide"] = FACTORIES[kernel.name](*args)
    return found


def peak_memory(call: Any) -> int | None:
    """Bytes above the present use that a call needs, where the system can tell."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = _status("VmRSS")
        call()
        return max(0, _status("VmHWM") - before)
    except OSError:
        return None


def _status(key: str) -> int:
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    return 0


def compile_seconds(kernel: Kernel) -> float:
    """From the decorated function to a loaded library, nothing cached."""
    import tempfile

    from atoll.runtime.cache import cache

    kernel.atoll.refresh()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATOLL_CACHE_DIR"] = folder
        try:
            start = time.perf_counter()
            kernel.atoll.compile()
            return time.perf_counter() - start
        finally:
            os.environ.pop("ATOLL_CACHE_DIR", None)
            cache._dir = None


def one(kernel: Kernel, threads: int, seconds: float, with_growth: bool, with_compile: bool, optimised: bool, clock: Any) -> dict[str, Any]:
    args = kernel.data(kernel.size)
    result: dict[str, Any] = {"size": kernel.size, "seconds": {}, "spread": {}, "errors": {}}
    if with_compile:
        result["compile"] = compile_seconds(kernel)
    calls = contenders(kernel, args, optimised)
    reference = kernel.reference or kernel.numpy or (lambda *a: kernel.shared(np, *a))
    if kernel.slow_numpy:
        small = kernel.data(max(8, kernel.size // 8))
        wrong = difference(kernel.atoll(*small), reference(*widened(small)), kernel.rtol)
        if wrong:
            result["errors"]["atoll"] = wrong
        calls.pop("numpy", None)
        expected = None
    else:
        expected = reference(*widened(args))
    for tool in list(calls):
        try:
            got = calls[tool]()
            wrong = difference(got, expected, max(kernel.rtol, 1e-4 if tool != "atoll" and kernel.rtol else 0)) if expected is not None else None
            if wrong:
                result["errors"][tool] = wrong
                if tool != "numpy":
                    del calls[tool]
        except Exception as error:  # noqa: BLE001  a peer may fail in any way; the table says so
            result["errors"][tool] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200] if str(error).strip() else ''}"
            del calls[tool]
    beside = {"copy": copying(int(kernel.bytes(*args)) // 8, threads)} if kernel.streams and kernel.bytes is not None else {}
    times = measure({**calls, **beside}, seconds, clock=clock)
    if beside:
        result["copy"] = times.pop("copy").median
    for tool, t in times.items():
        result["seconds"][tool] = t.median
        result["spread"][tool] = t.spread
    if "atoll" in calls:
        result["peak"] = peak_memory(calls["atoll"])
    if kernel.flops is not None:
        result["flops"] = kernel.flops(*args)
        result["dtype"] = next((str(a.dtype).replace("float", "f") for a in args if isinstance(a, np.ndarray) and a.dtype.kind == "f"), "f64")
    if kernel.bytes is not None:
        result["bytes"] = kernel.bytes(*args)
    if with_growth and "atoll" in calls:
        result["growth"] = {"expected": kernel.growth, **growth(kernel)}
    return result


def growth(kernel: Kernel) -> dict[str, Any]:
    """The exponent fitted over four sizes."""
    sizes = [max(4, int(kernel.size / step)) for step in (4, 2.83, 2, 1.41)]
    if "fft" in kernel.name:
        sizes = [kernel.size >> s for s in (4, 3, 2, 1)]
    times, megabytes = [], []
    for size in sizes:
        args = kernel.data(size)
        megabytes.append(touched(*args) / 1e6)
        times.append(measure({"atoll": lambda: kernel.atoll(*args)}, 0.05, 5, 0.0)["atoll"].median)
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    return {"sizes": sizes, "seconds": times, "megabytes": megabytes, "exponent": slope}


def call_overhead() -> float:
    """Seconds a call with four array arguments costs beyond its work."""
    from bench.kernels.elementwise import four_arrays

    x = np.ones(8, np.float32)
    four_arrays(x, x, x, x)
    start = time.perf_counter()
    for _ in range(100_000):
        four_arrays(x, x, x, x)
    return (time.perf_counter() - start) / 100_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("threads", type=int)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--only", default="")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--inductor", action="store_true", help="PyTorch through torch.compile too; it takes some seconds for each kernel")
    parser.add_argument("--cpu", action="store_true", help="processor time, for one thread on a busy machine")
    args = parser.parse_args()
    clock = time.process_time if args.cpu and args.threads == 1 else time.perf_counter
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[: args.threads]))
    at.set_threads(args.threads)
    if torch is not None:
        torch.set_num_threads(args.threads)
    print(json.dumps({"limits": {**limits(args.threads), "call": call_overhead()}}), flush=True)
    for kernel in all_kernels():
        if not any(part in kernel.name for part in args.only.split(",")):
            continue
        try:
            result = one(kernel, args.threads, args.seconds, args.growth, args.compile, args.inductor, clock)
        except Exception as error:  # noqa: BLE001  one kernel that fails must not end the run
            result = {"seconds": {}, "spread": {}, "errors": {"atoll": f"{type(error).__name__}: {str(error).strip()[:300]}"}}
        print(json.dumps({"kernel": kernel.name, "result": result}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
