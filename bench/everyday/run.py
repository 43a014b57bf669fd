"""python -m bench.everyday.run [NAME ...]: each program with Atoll and with Numba, the same text, in turns; the best of at least nine, one thread.

What is measured is the thread's processor time, so that a machine with other work on it tells the same.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import atoll as at
from bench.everyday.kernels import KERNELS
from bench.everyday.programs import HEAD, PROGRAMS, in_plain_python


def in_numba(text: str) -> Any:
    """The program without annotations, compiled by Numba. It changes its arguments, so they are copied as Atoll copies them."""
    import numba

    names: dict[str, Any] = {"np": np, "full": numba.njit(lambda n, x: np.full(n, x)), "zeros": numba.njit(lambda n: np.zeros(n))}
    exec(in_plain_python(text), names)  # noqa: S102  our own text
    return numba.njit(names["f"])


def copy(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def main() -> None:
    at.set_threads(1)
    for name, (text, size, make) in (PROGRAMS | KERNELS).items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        args = make(size, np.random.default_rng(0))
        ours, theirs = at.fn(source=HEAD + text), in_numba(text)
        ours(*args)
        theirs(*map(copy, args))
        best = [float("inf"), float("inf")]
        begun = time.thread_time()
        for turn in range(1000):
            t = time.thread_time()
            ours(*args)
            best[0] = min(best[0], time.thread_time() - t)
            t = time.thread_time()
            theirs(*map(copy, args))
            best[1] = min(best[1], time.thread_time() - t)
            if turn >= 8 and time.thread_time() - begun > 0.3:
                break
        print(f"{name:14s} atoll {best[0] * 1e3:9.3f} ms  numba {best[1] * 1e3:9.3f} ms  {best[1] / best[0]:5.2f}", flush=True)


if __name__ == "__main__":
    main()
