"""Ctrl-C at random moments: python -m tests.runtime.interrupts [TIMES] [SEED] [SHAPE...]

Each shape is a call that would take minutes. It is interrupted, the time from the signal to the end of the call is taken, and the processor time in it (of a
machine with much else to do the first says little), and then a small call of the same function must be right. In a process of its own, which sets its own handler: SIGINT may be ignored where tests run.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import atoll as at
from atoll import c128, f64, i64, idx

n, m, k = at.sizes("n m k")
found = at.some("found")


@at.fn
def sums(x: f64[n], r: i64) -> f64[n]:
    return [sum(sin(v + i) for i in range(r)) for v in x]


@at.fn
def folds(x: f64[n], r: i64) -> f64[n]:
    return [fold(lambda a, i: a * 0.5 + v, 0.0, range(r)) for v in x]


@at.fn
def one_sum(r: i64) -> i64:
    return sum(i * i % 7 for i in range(r))


@at.fn
def least(x: f64[n], r: i64) -> f64[n]:
    return [min((cos(v * i) for i in range(r)), default=2.0) for v in x]


@at.fn
def complex_sums(x: c128[n], r: i64) -> c128[n]:
    return [sum(v * i for i in range(r)) for v in x]


@at.fn
def climb(x: f64, limit: i64) -> i64:
    y = x
    c = 0
    while c < limit and y > -1.0:
        y = y * 0.75 + 1.0
        c = c + 1
    return c


@at.fn
def whiles(x: f64[n], limit: i64) -> i64[n]:
    return [climb(v, limit) for v in x]


@at.fn
def triple(x: f64[n], r: i64) -> f64[n]:
    return [sum(sum(sum(v * a + b * c for a in range(3)) for b in range(r)) for c in range(r)) for v in x]


@at.fn
def nothing_inside(r: i64, none: i64) -> i64:
    return sum(sum(a * b for b in range(none)) for a in range(r))


@at.fn
def product(a: f64[n, m], b: f64[m, k]) -> f64[n, k]:
    return a @ b


@at.fn
def turned(a: f64[m, n], b: f64[k, m]) -> f64[n, k]:
    return a.T @ b.T


@at.fn
def few_rows(a: f64[n, m], b: f64[m, k], r: i64) -> f64[n, k]:
    total = a @ b
    for j in range(r):
        total = total + (a * f64(j)) @ b
    return total


@at.fn
def sorts(x: f64[n], r: i64) -> f64:
    total = 0.0
    y = x
    for j in range(r):
        y = sort([v * 1.5 % 1.0 for v in y])
        total = total + y[0]
    return total


@at.fn
def scans(x: f64[n], r: i64) -> f64[n]:
    y = x
    for j in range(r):
        y = scan(add, 0.0, [v * 0.5 for v in y])
    return y


@at.fn
def histograms(x: f64[n], i: idx[m][n], h: f64[m], r: i64) -> f64[m]:
    for j in range(r):
        g = hist(add, 0.0, m, i, [v * f64(j) for v in x])
        h = [u + v for u, v in zip(h, g)]
    return h


@at.fn
def fib(r: i64) -> i64:
    return r if r < 2 else fib(r - 1) + fib(r - 2)


@at.fn
def steps(x: f64[n], r: i64) -> f64[n]:
    y = x
    for j in range(r):
        y = [y[i] * 0.5 + y[n - 1 - i] * 0.25 for i in range(n)]
    return y


@at.fn
def heavy(x: f64[n]) -> f64[n]:
    return [sum(sin(v * a + 0.5) for a in range(5000)) for v in x]


@at.fn
def filtered(x: f64[n], r: i64) -> f64:
    t = 0.0
    for j in range(r):
        y = filter(lambda v: v > t * 1e-9, x)
        t = t + sum(y)
    return t


@at.fn
def loss(x: f64[n], r: i64) -> f64:
    return sum(fold(lambda a, i: sin(a) + v, 0.0, range(r)) for v in x)


slope = at.grad(loss)
X = np.linspace(0.1, 1.0, 40)
LONG = np.linspace(0.0, 1.0, 2_000_000)
Shape = tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]
SHAPES: dict[str, Shape] = {  # a function, arguments for minutes, arguments for a moment
    "sums in a map": (sums, (X, 10**9), (X, 10)),
    "folds in a map": (folds, (X, 10**10), (X, 10)),
    "one fold": (folds, (X[:1], 10**12), (X[:1], 10)),
    "one sum": (one_sum, (10**13,), (100,)),
    "least in a map": (least, (X, 10**10), (X, 10)),
    "complex sums": (complex_sums, (X + 1j, 10**10), (X + 1j, 10)),
    "while in a map": (whiles, (X, 10**11), (X, 10)),
    "triple sums": (triple, (X, 10**6), (X, 3)),
    "empty loops": (nothing_inside, (10**12, 0), (10, 0)),
    "product": (product, (np.ones((6000, 6000)), np.ones((6000, 6000))), (np.ones((5, 4)), np.ones((4, 3)))),
    "product, packed": (turned, (np.ones((6000, 6000)), np.ones((6000, 6000))), (np.ones((4, 5)), np.ones((3, 4)))),
    "few rows": (few_rows, (np.ones((2, 10**6)), np.ones((10**6, 40)), 10**6), (np.ones((2, 4)), np.ones((4, 40)), 3)),
    "sorts": (sorts, (LONG, 10**6), (X, 2)),
    "scans": (scans, (LONG, 10**6), (X, 3)),
    "histograms": (histograms, (LONG, np.arange(len(LONG)) % 10, np.zeros(10), 10**6), (X, np.arange(40) % 10, np.zeros(10), 2)),
    "recursion": (fib, (70,), (10,)),
    "steps": (steps, (X, 10**10), (X, 3)),
    "heavy elements": (heavy, (LONG,), (X,)),
    "filters": (filtered, (LONG, 10**6), (X, 3)),
}


def interrupt(call: Callable[..., Any], args: tuple[Any, ...], delay: float) -> tuple[float, float] | None:
    """The time from the signal to the end of the call, and the processor time; None if it ended by itself."""
    sent: list[tuple[float, float]] = []

    def press() -> None:
        sent.append((time.perf_counter(), time.process_time()))
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, press)
    timer.start()
    try:
        call(*args)
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0][0], time.process_time() - sent[0][1]
    finally:
        timer.cancel()
    return None


def main(times: int, seed: int, names: list[str]) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = random.Random(seed)
    wrong = 0
    for name in names or SHAPES:
        f, long, small = SHAPES[name]
        expected = f(*small)
        taken: list[tuple[float, float]] = []
        for _ in range(times):
            try:
                after = interrupt(f, long, rng.choice((0.001, 0.02, 0.06, 0.15, 0.3)) * rng.random() * 2)
                if after is None:
                    print(f"{name}: ended by itself")
                    wrong += 1
                else:
                    taken.append(after)
            except KeyboardInterrupt:  # between two calls
                taken.append((0.0, 0.0))
            if not np.array_equal(f(*small), expected):
                print(f"{name}: wrong after an interruption")
                wrong += 1
        if not taken:
            continue
        clock, processor = zip(*taken, strict=True)
        print(f"{name:16} {len(taken)} interrupted, at most {max(clock):.3f} s, {sum(clock) / len(taken):.3f} s on average, of the processor at most {max(processor):.3f} s", flush=True)
        wrong += any(t > float(os.environ.get("ATOLL_PATIENCE", "0.5")) for t in clock)
    return wrong


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.argv[3:]))
