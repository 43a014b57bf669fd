"""Random numbers against NumPy's Generator: nanoseconds of the processor for each number with one thread, and by the clock with all.

    python bench/random_numbers.py [names]

Rounds take turns. Figures of one thread are processor time, and how many times as fast is the median of the ratios of rounds, so that other processes disturb little.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("ATOLL_FIRST", "0")  # the first call waits for the optimised code

import numpy as np

import atoll as at

COUNT, ROUNDS = 1_000_000, 11
KEY, RNG = at.random.key(0), np.random.default_rng(0)
WEIGHTS = np.arange(1.0, 11.0) / 55

CASES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "uniform": (lambda: at.random.uniform(KEY, COUNT), lambda: RNG.random(COUNT)),
    "uniform f32": (lambda: at.random.uniform(KEY, COUNT, dtype=at.f32), lambda: RNG.random(COUNT, np.float32)),
    "normal": (lambda: at.random.normal(KEY, COUNT), lambda: RNG.normal(size=COUNT)),
    "normal f32": (lambda: at.random.normal(KEY, COUNT, dtype=at.f32), lambda: RNG.standard_normal(COUNT, np.float32)),
    "exponential": (lambda: at.random.exponential(KEY, COUNT), lambda: RNG.exponential(size=COUNT)),
    "integers": (lambda: at.random.integers(KEY, COUNT, 0, 1000), lambda: RNG.integers(0, 1000, COUNT)),
    "lognormal": (lambda: at.random.lognormal(KEY, COUNT), lambda: RNG.lognormal(size=COUNT)),
    **{f"gamma({a:g})": (lambda a=a: at.random.gamma(KEY, COUNT, a), lambda a=a: RNG.gamma(a, size=COUNT)) for a in (0.05, 0.3, 0.5, 1.0, 1.5, 2.5, 50.0)},
    **{
        f"beta({a:g}, {b:g})": (lambda a=a, b=b: at.random.beta(KEY, COUNT, a, b), lambda a=a, b=b: RNG.beta(a, b, COUNT))
        for a, b in ((0.3, 0.3), (0.3, 2.5), (1.0, 1.0), (2.0, 3.0), (50.0, 50.0))
    },
    "chisquare(3)": (lambda: at.random.chisquare(KEY, COUNT, 3.0), lambda: RNG.chisquare(3.0, COUNT)),
    "student_t(3)": (lambda: at.random.student_t(KEY, COUNT, 3.0), lambda: RNG.standard_t(3.0, COUNT)),
    **{f"poisson({a:g})": (lambda a=a: at.random.poisson(KEY, COUNT, a), lambda a=a: RNG.poisson(a, COUNT)) for a in (0.5, 4.0, 10.0, 50.0, 1000.0)},
    "geometric(0.3)": (lambda: at.random.geometric(KEY, COUNT, 0.3), lambda: RNG.geometric(0.3, COUNT)),
    "permutation": (lambda: at.random.permutation(KEY, COUNT), lambda: RNG.permutation(COUNT)),
    "half, no replace": (lambda: at.random.choice(KEY, COUNT, COUNT // 2, replace=False), lambda: RNG.choice(COUNT, COUNT // 2, replace=False)),
    "choice": (lambda: at.random.choice(KEY, 10, COUNT), lambda: RNG.choice(10, COUNT)),
    "choice with p": (lambda: at.random.choice(KEY, 10, COUNT, p=WEIGHTS), lambda: RNG.choice(10, COUNT, p=WEIGHTS)),
}


def once(f: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    start = clock()
    f()
    return (clock() - start) / COUNT * 1e9


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def main() -> None:
    most = at.threads()
    print(f"{'':16} {'NumPy':>8} {'1 thread':>9} {f'{most} threads':>10}   (ns)")
    for name, (ours, theirs) in CASES.items():
        if sys.argv[1:] and not name.startswith(tuple(sys.argv[1:])):
            continue
        seen: list[tuple[float, float, float]] = []
        for _ in range(ROUNDS + 1):
            at.set_threads(1)
            pair = once(theirs), once(ours)
            at.set_threads(most)
            seen.append((*pair, once(ours, time.perf_counter)))
        numpy, one, many = zip(*seen[1:], strict=True)
        times = median([n / o for n, o in zip(numpy, one, strict=True)])
        print(f"{name:16} {median(list(numpy)):8.2f} {median(list(one)):9.2f} {median(list(many)):10.2f}   {times:.2f} times as fast with one thread", flush=True)


if __name__ == "__main__":
    main()
