"""Timing contenders against each other: interleaved calls, medians, a pause between them so that nobody pays for another's threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def interleaved(contenders: dict[str, Callable[[], Any]], seconds: float = 0.6, rounds: int = 7, pause: float = 0.005) -> dict[str, float]:
    """Median seconds per call of each contender. Each is called once to warm up; short calls are repeated inside a round."""
    repeat: dict[str, int] = {}
    for name, call in contenders.items():
        call()
        start = time.perf_counter()
        call()
        once = max(time.perf_counter() - start, 1e-7)
        repeat[name] = max(1, min(2000, int(seconds / rounds / len(contenders) / once)))
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            time.sleep(pause)
            call()
            start = time.perf_counter()
            for _ in range(repeat[name]):
                call()
            times[name].append((time.perf_counter() - start) / repeat[name])
    return {name: sorted(t)[len(t) // 2] for name, t in times.items()}
