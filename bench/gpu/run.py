"""The bench on a GPU: Atoll against JAX, PyTorch (eager and compiled) and CuPy in one run, on arrays that are on the device already.

    python -m bench.gpu.run [--seconds 300] [--only TEXT] [--peers] [--before FILE] [--tools atoll,torch] [--numbers 1e8,1e6] [--beside FILE] [--out bench/results/gpu.json]
    python -m bench.gpu.run --again bench/results/gpu.json [--first "softmax f32,conv2d 3x3 f32"]

--tools and --numbers: only these; --beside prints how a time compares with those of the peers in another run (a look while working: the table is of one run).
--peers leaves out kernels that no peer has; --before goes on where another run on such a machine ended: its rows are kept.
--again: the rows of the table that are of an earlier run, and those it lacks of kernels that have a peer; before them --first, kernels that have changed, at the largest size (then,
after them, at the others). bench/gpu/page.py puts the rows of such a run into the table.

A process whose device reports an error ends with 3, because no later call of it would work: `--before` its own file goes on. A row that ended the process says so.

Every kernel of bench/kernels at sizes whose arrays hold about 10^4, 10^6 and 10^8 numbers. A time is that of K calls and one wait for the device, divided by K,
the median of 5; so for small arrays it is what a call costs the host. Results are compared with those of a peer first. JAX multiplies matrices at its
`highest` precision, as the others do. torch.compile compiles for one size, the largest.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at
from bench.kernel import Kernel, jax, jnp, torch
from bench.kernels import all_kernels
from bench.measure import difference

NUMBERS = (10**4, 10**6, 10**8)
ENDED = "the process ended"  # with this row: it is written before the row is begun
PATIENCE = 12  # seconds for one tool with one kernel at one size, compiling included
try:
    import cupy
except ImportError:
    cupy = None


def wait() -> None:
    torch.cuda.synchronize()


def size_for(kernel: Kernel, numbers: int) -> int:
    """The size at which the arguments hold about so many numbers; less where the work grows faster than they do."""
    base = kernel.size
    small, large = (sum(a.size for a in kernel.data(n) if isinstance(a, np.ndarray)) for n in (base, 2 * base))
    if small == large:
        return base
    slope = float(np.log2(large / small))  # numbers grow like size ** slope
    found = base * (numbers / small) ** (1 / max(slope, 0.5))
    if kernel.growth > slope + 0.5:
        found = min(found, 3 * numbers ** (1 / kernel.growth))
    if "fft" in kernel.name:  # by factors of two
        found = 1 << int(np.log2(found))
    return max(8, int(min(found, 4096) if kernel.growth >= 3 else found))


def contenders(kernel: Kernel, args: tuple[Any, ...], compiled: bool, tools: set[str] | None = None) -> dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """A call of every tool, and how its result comes to the host."""
    there = kernel.atoll.on("cuda")
    ours = tuple(at.DeviceArray(a) if isinstance(a, np.ndarray) else a for a in args)
    found: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {"atoll": (lambda: there(*ours), _host)}
    if tools == {"atoll"}:
        return found
    if jax is not None and (kernel.jax is not None or kernel.shared is not None):
        jitted = jax.jit(kernel.jax or (lambda *a: kernel.shared(jnp, *a)))
        given = tuple(jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in args)
        found["jax"] = (lambda: jitted(*given), _host)
    if torch is not None and kernel.torch is not None:
        tensors = tuple(torch.from_numpy(a).cuda() if isinstance(a, np.ndarray) else a for a in args)
        found["torch"] = (lambda: kernel.torch(*tensors), _of_torch)
        if compiled:
            by_inductor = torch.compile(kernel.torch, dynamic=False)
            found["compile"] = (lambda: by_inductor(*tensors), _of_torch)
    if cupy is not None and kernel.shared is not None:
        cupys = tuple(cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in args)
        found["cupy"] = (lambda: kernel.shared(cupy, *cupys), _of_cupy)
    return found


def _host(value: Any) -> Any:
    return tuple(map(_host, value)) if isinstance(value, (tuple, list)) else np.asarray(value)


def _of_torch(value: Any) -> Any:
    return tuple(map(_of_torch, value)) if isinstance(value, (tuple, list)) else value.cpu().numpy() if hasattr(value, "cpu") else np.asarray(value)


def _of_cupy(value: Any) -> Any:
    return tuple(map(_of_cupy, value)) if isinstance(value, (tuple, list)) else cupy.asnumpy(value)


def finished(tool: str, result: Any) -> None:
    if tool == "jax":
        jax.block_until_ready(result)
    else:
        wait()


def timed(tool: str, call: Callable[[], Any], seconds: float = 0.05) -> float:
    """Seconds a call."""
    finished(tool, call())
    start = time.perf_counter()
    finished(tool, call())
    once = max(time.perf_counter() - start, 2e-6)
    count = int(min(200, max(1, seconds / once)))
    times = []
    for _ in range(5 if once < 0.2 else 1):
        start = time.perf_counter()
        for _ in range(count):
            result = call()
        finished(tool, result)
        times.append((time.perf_counter() - start) / count)
    return sorted(times)[len(times) // 2]


@contextlib.contextmanager
def patience(seconds: int) -> Any:
    import signal

    def ring(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} s")

    old = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def one(kernel: Kernel, numbers: int, tools: set[str] | None = None) -> dict[str, Any]:
    """A row of the table."""
    size = size_for(kernel, numbers)
    args = kernel.data(size)
    held = sum(a.nbytes for a in args if isinstance(a, np.ndarray))
    row: dict[str, Any] = {"kernel": kernel.name, "numbers": numbers, "size": size, "bytes in": held, "times": {}, "errors": {}}
    values: dict[str, Any] = {}
    calls = contenders(kernel, args, numbers == NUMBERS[-1], tools)
    for tool, (call, to_host) in calls.items():
        if tools is not None and tool not in tools:
            continue
        try:
            with patience(PATIENCE):
                result = call()
                finished(tool, result)
                if numbers <= NUMBERS[1]:
                    values[tool] = to_host(result)
                row["times"][tool] = timed(tool, call)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  compiled code that is interrupted raises the latter
            row["errors"][tool] = f"{type(error).__name__}: {error}"[:300]
        result = None
    if "atoll" in values:
        for tool in ("jax", "torch", "cupy"):
            if tool in values:
                wrong = difference(values["atoll"], values[tool], max(kernel.rtol, 2e-4 if any(getattr(a, "dtype", None) == np.float32 for a in args) else 1e-8))
                row["checked"] = f"{tool}: {wrong or 'the same'}"
                break
    for name, formula in (("bytes", kernel.bytes), ("flops", kernel.flops)):
        if formula is not None:
            with contextlib.suppress(Exception):
                row[name] = float(formula(*args))
    return row


def again(table: Path, first: list[str]) -> list[tuple[Kernel, int]]:
    """The rows of a run that is to make those of a table new."""
    kernels = {kernel.name: kernel for kernel in chosen("")}
    rows = json.loads(table.read_text())["rows"]
    fresh = {(row["kernel"], row["numbers"]) for row in rows if "earlier" not in row}
    largest = NUMBERS[-1]
    wanted = [(name, largest) for name in first]
    wanted += [(row["kernel"], row["numbers"]) for row in rows if "earlier" in row]
    missing = [(name, numbers) for numbers in NUMBERS[::-1] for name in kernels if (name, numbers) not in fresh and has_peer(kernels[name])]
    wanted += [row for row in missing if row[1] == largest]
    wanted += [(name, numbers) for numbers in NUMBERS[1::-1] for name in first]
    wanted += missing
    return [(kernels[name], numbers) for name, numbers in dict.fromkeys(wanted) if name in kernels]


def chosen(only: str) -> list[Kernel]:
    """One kernel of each function: those that differ in size only are one."""
    seen: set[Any] = set()
    found = []
    for kernel in all_kernels():
        if kernel.atoll in seen or not any(word in kernel.name for word in only.split(",")):
            continue
        seen.add(kernel.atoll)
        found.append(kernel)
    return sorted(found, key=lambda k: not has_peer(k))  # those without a peer last


def has_peer(kernel: Kernel) -> bool:
    return any(x is not None for x in (kernel.jax, kernel.shared, kernel.torch))


def beside(row: dict[str, Any], path: Path | None) -> str:
    """How our time compares with those of another run: the best peer's over ours, and ours then over ours now."""
    ours = row["times"].get("atoll")
    other = next((r for r in json.loads(path.read_text())["rows"] if (r["kernel"], r["numbers"]) == (row["kernel"], row["numbers"])), None) if path is not None and ours else None
    peers = [t for tool, t in other["times"].items() if tool != "atoll"] if other else []
    return f", x {min(peers) / ours:.2f} of that run's peers, {other['times'].get('atoll', float('nan')) / ours:.2f} of ours" if other and peers else ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.gpu.run", description=__doc__)
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, default=Path("bench/results/gpu.json"))
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--tools", type=lambda text: set(text.split(",")))
    parser.add_argument("--numbers", type=lambda text: [int(float(x)) for x in text.split(",")], default=[NUMBERS[1], NUMBERS[0], NUMBERS[2]])
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--again", type=Path)
    parser.add_argument("--first", type=lambda text: text.split(","), default=[])
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available():
        print("this bench needs PyTorch and a GPU", file=sys.stderr)
        return 1
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if jax is not None:
        jax.config.update("jax_default_matmul_precision", "highest")
        jax.config.update("jax_compilation_cache_dir", "/tmp/atoll-bench-jax")
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    rows: list[dict[str, Any]] = json.loads(options.before.read_text())["rows"] if options.before is not None else []
    done = {(row["kernel"], row["numbers"]) for row in rows}
    start = time.monotonic()
    if options.again is not None:
        asked = again(options.again, options.first)
    else:
        asked = [(kernel, numbers) for numbers in options.numbers for kernel in chosen(options.only) if not options.peers or has_peer(kernel)]
    facts = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "jax": getattr(jax, "__version__", None), "cupy": getattr(cupy, "__version__", None)}

    def write(rows: list[dict[str, Any]]) -> None:
        options.out.write_text(json.dumps({"facts": facts, "asked": len(asked), "rows": rows}, indent=1))

    for kernel, numbers in asked:
        if (kernel.name, numbers) in done:
            continue
        if time.monotonic() - start > options.seconds:
            break
        write([*rows, {"kernel": kernel.name, "numbers": numbers, "times": {}, "errors": {"atoll": ENDED}}])
        try:
            row = one(kernel, numbers, options.tools)
        except Exception as error:  # noqa: BLE001  one kernel must not end the table
            row = {"kernel": kernel.name, "numbers": numbers, "times": {}, "errors": {"bench": f"{type(error).__name__}: {error}"[:300]}}
        rows.append(row)
        write(rows)
        shown = ", ".join(f"{tool} {1e6 * t:.1f}" for tool, t in row["times"].items())
        print(f"{row['kernel']} {numbers:.0e} ({row.get('size')}): {shown} us{beside(row, options.beside)}; {row.get('checked', '')} {row['errors'] or ''}", flush=True)
        try:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        except RuntimeError as error:
            print(f"the device: {error}", flush=True)
            return 3
    write(rows)
    print(f"{len(rows)} of {len(asked)} rows in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
