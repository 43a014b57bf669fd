"""Random numbers against NumPy's Generator: nanoseconds for each number, medians of rounds that take turns, one thread and all.

    python bench/random_numbers.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import atoll as at

COUNT, ROUNDS = 1_000_000, 21
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
    "gamma(2.5)": (lambda: at.random.gamma(KEY, COUNT, 2.5), lambda: RNG.gamma(2.5, size=COUNT)),
    "gamma(0.5)": (lambda: at.random.gamma(KEY, COUNT, 0.5), lambda: RNG.gamma(0.5, size=COUNT)),
    "beta(2, 3)": (lambda: at.random.beta(KEY, COUNT, 2.0, 3.0), lambda: RNG.beta(2.0, 3.0, COUNT)),
    "poisson(4)": (lambda: at.random.poisson(KEY, COUNT, 4.0), lambda: RNG.poisson(4.0, COUNT)),
    "poisson(50)": (lambda: at.random.poisson(KEY, COUNT, 50.0), lambda: RNG.poisson(50.0, COUNT)),
    "permutation": (lambda: at.random.permutation(KEY, COUNT), lambda: RNG.permutation(COUNT)),
    "choice with p": (lambda: at.random.choice(KEY, 10, COUNT, p=WEIGHTS), lambda: RNG.choice(10, COUNT, p=WEIGHTS)),
}


def once(f: Callable[[], Any]) -> float:
    start = time.perf_counter()
    f()
    return (time.perf_counter() - start) / COUNT * 1e9


def main() -> None:
    most = at.threads()
    print(f"{'':14} {'NumPy':>8} {'1 thread':>9} {f'{most} threads':>10}   (ns)")
    for name, (ours, theirs) in CASES.items():
        ours()
        seen: list[list[float]] = [[], [], []]
        for _ in range(ROUNDS):
            seen[0].append(once(theirs))
            for k, count in ((1, 1), (2, most)):
                at.set_threads(count)
                seen[k].append(once(ours))
        numpy, one, many = (sorted(s)[ROUNDS // 2] for s in seen)
        print(f"{name:14} {numpy:8.2f} {one:9.2f} {many:10.2f}   {numpy / one:.2f} times as fast with one thread")


if __name__ == "__main__":
    main()
