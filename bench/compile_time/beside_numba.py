"""First calls of the everyday programs beside Numba's, the same text: `python -m bench.compile_time.beside_numba`. Seconds of processor, the C compiler's included.

Both have compiled something before; Atoll's cache is empty but for the libraries that programs share. Needs Numba.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

os.environ["ATOLL_CACHE_DIR"] = tempfile.mkdtemp()

import atoll as at
from bench.everyday.programs import HEAD, PROGRAMS
from bench.everyday.run import in_numba


def spent(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of processor (ours and of what we start) and on the clock."""
    before, start = os.times(), time.perf_counter()
    call()
    return sum(os.times()[:4]) - sum(before[:4]), time.perf_counter() - start


def main() -> None:
    x = np.ones(3)
    at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n]):\n    return x + 1.0\n")(x)
    in_numba("def f(n):\n    return zeros(n) + full(n, 1.0)\n")(3)
    print("| program | atoll: processor | clock | Numba: processor | clock | processor, ratio |\n|---|---|---|---|---|---|")
    for name, (text, size, make) in PROGRAMS.items():
        args = make(min(size, 64), np.random.default_rng(0))
        ours, our_clock = spent(lambda text=text, args=args: at.fn(source=HEAD + text)(*args))  # type: ignore[misc]
        theirs, their_clock = spent(lambda text=text, args=args: in_numba(text)(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in args)))  # type: ignore[misc]
        print(f"| {name} | {ours:.2f} | {our_clock:.2f} | {theirs:.2f} | {their_clock:.2f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
