"""Index arrays that another thread changes while a call runs: python -m tests.runtime.races [SECONDS] [NAME...]

A thread fills the array with indices far out of range and with good ones in turn, while the main thread calls programs that read, write and sort through
it. A call ends with a result or with E0604; with any other index than one in range it would end in a crash (the addresses are gigabytes away).
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import numpy as np

import atoll as at
from atoll import f64, i64, idx

n, m = at.sizes("n m")


@at.fn
def reads(x: f64[m], i: idx[m][n]) -> f64[n]:
    return [x[j] for j in i]


@at.fn
def adds(h: f64[m], i: idx[m][n], v: f64[n]) -> f64[m]:
    return hist(add, 0.0, m, i, v)


@at.fn
def writes(x: f64[m], i: idx[m][n]) -> f64[m]:
    y = at.copy(x)
    for j in range(n):
        y[i[j]] = y[i[j]] + 1.0
    return y


@at.fn
def sorted_reads(x: f64[m], i: idx[m][n]) -> f64[n]:
    return [x[j] for j in sort(i)]


@at.fn
def kept(x: f64[m], i: idx[m][n]) -> f64:
    good = filter(lambda j: j > 2, i)
    return sum(x[j] for j in good)


@at.fn
def changed(x: f64[m], i: idx[m][n]) -> f64[n]:
    k = at.copy(i)
    for j in range(n // 2):
        k[j] = i[n - 1 - j]
    return [x[j] for j in k]


@at.fn
def pairs(x: f64[m, m], i: idx[m][n, 2]) -> f64[n]:
    return [x[p[0], p[1]] for p in i]


@at.fn
def plain(x: f64[m], i: i64[n]) -> f64[n]:
    return [x[j] for j in i]


@at.fn
def walk(x: f64[m], i: idx[m][n], j: i64) -> f64:
    return 0.0 if j >= n else x[i[j]] + walk(x, i, j + 1)


SIZE, COUNT = 50, 20_000
X = np.linspace(0.0, 1.0, SIZE)
GOOD = np.arange(COUNT) % SIZE
CALLS: dict[str, Any] = {
    "reads": lambda i: reads(X, i),
    "adds": lambda i: adds(X, i, np.ones(COUNT)),
    "writes": lambda i: writes(X, i),
    "sorted reads": lambda i: sorted_reads(X, i),
    "kept": lambda i: kept(X, i),
    "changed": lambda i: changed(X, i),
    "pairs": lambda i: pairs(np.outer(X, X), i.reshape(-1, 2)),
    "plain": lambda i: plain(X, i),
    "recursion": lambda i: walk(X, i, 0),
}


def race(name: str, seconds: float) -> tuple[int, int]:
    """Calls that gave a result, and calls that were refused."""
    i = GOOD.copy()
    assert np.array_equal(CALLS[name](i), CALLS[name](GOOD))  # compiled before
    stop = threading.Event()

    def change() -> None:
        far = np.full(COUNT, 1 << 45)
        while not stop.is_set():
            i[:] = far
            i[:] = GOOD
            for _ in range(20):
                i[7000:7100] = -(1 << 44)
                i[7000:7100] = GOOD[7000:7100]

    thread = threading.Thread(target=change)
    thread.start()
    done, refused, end = 0, 0, time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            try:
                CALLS[name](i)
                done += 1
            except at.Error as error:
                assert error.code in ("E0604", "E0701"), error
                refused += 1
    finally:
        stop.set()
        thread.join()
    return done, refused


def main(seconds: float, *names: str) -> None:
    sys.setswitchinterval(1e-5)
    for name in names or CALLS:
        done, refused = race(name, seconds)
        print(f"{name:14} {done} calls ended, {refused} were refused", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0, *sys.argv[2:])
