"""Timing contenders against each other: interleaved calls, medians, a pause between them so that nobody pays for another's threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Times:
    """Seconds per call over the rounds."""

    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        return sorted(self.samples)[len(self.samples) // 2]

    @property
    def spread(self) -> float:
        """The distance between the quartiles, as a part of the median."""
        s = sorted(self.samples)
        return (s[(3 * len(s)) // 4] - s[len(s) // 4]) / self.median


def measure(
    contenders: dict[str, Callable[[], Any]], seconds: float = 0.6, rounds: int = 7, pause: float = 0.02, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Times]:
    """Times of each contender. Each is called to warm up; short calls are repeated inside a round.

    After the pause there is another for as long as anything in the process still runs: the threads of OpenBLAS spin for a tenth of a second
    after their work, and whoever comes next would have a core less.

    `clock` may be time.process_time: on a busy machine, with one thread, it does not count the time others run.
    """
    share = seconds / rounds / len(contenders)
    repeat: dict[str, int] = {}
    took: dict[str, float] = {}
    for name, call in contenders.items():
        call()
        start = clock()
        call()
        took[name] = max(clock() - start, 1e-7)
        repeat[name] = max(1, min(2000, int(share / took[name])))
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            _rest(pause)
            if took[name] < 0.1:  # longer ones are not helped by a call before them
                _warm(call, min(share / 2, 0.02))
            start = clock()
            for _ in range(repeat[name]):
                call()
            times[name].append((clock() - start) / repeat[name])
    return {name: Times(tuple(t)) for name, t in times.items()}


def _rest(pause: float, slice_: float = 0.01, most: float = 0.5) -> None:
    """Sleep, and then until no thread of this process has run for a moment."""
    if pause <= 0:
        return
    time.sleep(max(0.0, pause - slice_))
    until = time.perf_counter() + most
    while time.perf_counter() < until:
        used = time.process_time()
        time.sleep(slice_)
        if time.process_time() - used < slice_ / 10:
            return


def _warm(call: Callable[[], Any], seconds: float) -> None:
    """Calls until caches hold what they can and threads are awake: once, and then for a while."""
    start = time.perf_counter()
    call()
    while time.perf_counter() - start < seconds:
        call()


def interleaved(contenders: dict[str, Callable[[], Any]], seconds: float = 0.6, rounds: int = 7, pause: float = 0.02) -> dict[str, float]:
    """Median seconds per call of each contender."""
    return {name: t.median for name, t in measure(contenders, seconds, rounds, pause).items()}
