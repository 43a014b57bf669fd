"""Every allocation of a call fails once, one call for each: python -m tests.runtime.no_memory [TIMES] [NAME...]

A call with such a failure raises MemoryError, or has the right result where it could do without. The next call is right, and after TIMES rounds over all
places no more blocks are held than after the first. In a process of its own, with tests/runtime/no_memory.c before the system's allocator.
"""

from __future__ import annotations

import ctypes
import gc
import io
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64
from tests.agreement import same
from tests.functions.test_native import doubled
from tests.runtime.test_failures import asserts, filters, reads, temporaries

n, m, k = at.sizes("n m k")
HERE = Path(__file__).parent




@at.fn
def product(a: f64[n, m], b: f64[m, k]) -> f64[n, k]:
    return [[sin(v) for v in row] for row in a @ b]


@at.fn
def several(x: f64[n]) -> (f64[n], f64, i64):
    return [2.0 * v for v in x], sum(x), n


@at.fn
def says(x: f64[n]) -> f64:
    print(f"x is {x} of {n}")
    return sum(x)


@at.fn
def loss(x: f64[n]) -> f64:
    return sum(fold(lambda a, v: sin(a) * v, 1.0, x) * u for u in x)


OUT = io.StringIO()
X = np.linspace(0.1, 1.0, 30)
WIDE = np.linspace(0.1, 1.0, 300_000)
slope = at.grad(loss)
CALLS: dict[str, Callable[[], Any]] = {
    "arrays and a sort": lambda: temporaries(X, np.arange(30)),
    "large arrays": lambda: temporaries(WIDE, np.arange(300_000)),
    "a filter": lambda: filters(X, 0),
    "a product": lambda: product(np.ones((40, 30)), np.ones((30, 50))),
    "several results": lambda: several(X),
    "printing": lambda: says(X),
    "a failing assert": lambda: asserts(-X),
    "a failing index": lambda: reads(X, np.array([0, 99])),
    "a wrong argument": lambda: reads([1.0], 2),
    "a derivative": lambda: slope(X),
    "lists": lambda: doubled(list(range(40))),
}


def once(call: Callable[[], Any]) -> tuple[Any, Any]:
    """The value and what was printed, or the error."""
    try:
        OUT.seek(0)
        OUT.truncate()
        sys.stdout = OUT
        return call(), OUT.getvalue()
    except MemoryError as error:
        return MemoryError, type(error)
    except at.Error as error:
        return at.Error, error.code
    except SystemError as error:  # a reduction of NumPy says so when it has no memory (2.x); it prints arrays with them
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is None or "numpy" not in trace.tb_frame.f_code.co_filename:
            raise
        return MemoryError, "NumPy's"
    finally:
        sys.stdout = sys.__stdout__


def check(name: str, times: int, library: Any) -> str:
    call = CALLS[name]
    expected = once(call)
    for _ in range(3):
        once(call)
    places = 0
    held = []
    found: Counter[str] = Counter()
    for _ in range(times):
        after = 0
        while True:
            value = (MemoryError, None)
            count = -1
            try:
                library.no_memory_after(after)
                value = once(call)
            except (MemoryError, ctypes.ArgumentError):  # of this loop itself
                pass
            try:
                count = library.no_memory_after(-1)
            except (MemoryError, ctypes.ArgumentError):
                pass
            if value[0] is MemoryError:
                found["MemoryError"] += 1
            else:
                same_outcome(value, expected, name, after)
                found["right"] += 1
            value = None
            if count >= 0:  # nothing failed: all places were tried
                break
            after += 1
        same_outcome(once(call), expected, name, -1)
        places = after
        gc.collect()
        held.append(library.no_memory_live())
    assert held[-1] == held[min(1, times - 1)], f"{name}: blocks are lost: {held}"
    return f"{name:18} {places} places, {times} times: {dict(found)}; blocks held {held}"


def same_outcome(found: tuple[Any, Any], expected: tuple[Any, Any], name: str, after: int) -> None:
    where = f"{name}, allocation {after}"
    if expected[0] is at.Error or found[0] is at.Error:
        assert found == expected, f"{where}: {found}, not {expected}"
    else:
        same(found[0], expected[0], where)


def main(times: int, *names: str) -> None:
    library = ctypes.CDLL(None)
    library.no_memory_after.restype = library.no_memory_live.restype = ctypes.c_long
    library.no_memory_after.argtypes = [ctypes.c_long]
    at.set_threads(1)
    for name in names or CALLS:
        print(check(name, times, library), flush=True)


def start(times: int, *names: str) -> subprocess.CompletedProcess[str]:
    """The same, with the allocator that fails."""
    with tempfile.TemporaryDirectory() as folder:
        shim = Path(folder) / "no_memory.so"
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", str(shim), str(HERE / "no_memory.c"), "-ldl"], check=True)
        around = {**os.environ, "LD_PRELOAD": str(shim), "ATOLL_NO_MEMORY": "1", "ATOLL_KEEP": "0"}
        return subprocess.run([sys.executable, "-m", "tests.runtime.no_memory", str(times), *names], cwd=HERE.parents[1], env=around, capture_output=True, text=True, timeout=600, check=False)


if __name__ == "__main__":
    given = (int(sys.argv[1]) if len(sys.argv) > 1 else 3, *sys.argv[2:])
    if os.environ.get("ATOLL_NO_MEMORY"):
        main(*given)
    else:
        finished = start(*given)
        print(finished.stdout, finished.stderr[-4000:])
        raise SystemExit(finished.returncode)
