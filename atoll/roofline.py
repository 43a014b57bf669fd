"""`f.roofline(n=1000)`: how fast a function runs, against what memory and arithmetic of this machine allow.

Operations and bytes come from `f.cost()`, exact; the time is measured on random arguments, the median of calls; the two roofs are measured here, once: reading and writing a large
array, and a product of matrices. They say what NumPy and its BLAS reach on this machine now, not what its maker promises.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from atoll.errors import fail
from atoll.errors.misuse import Misuse
from atoll.pictures import Picture, roof

if TYPE_CHECKING:
    from atoll.function import Function


@dataclass(frozen=True, slots=True)
class Roofline:
    """Numbers per call, and the picture of them."""

    function: str
    sizes: dict[str, int]
    operations: int
    bytes: int  # of the arrays that go in and out
    seconds: float
    bandwidth: float  # bytes a second
    peak: float  # operations a second

    @property
    def intensity(self) -> float:
        return self.operations / max(1, self.bytes)

    @property
    def allowed(self) -> float:
        """Seconds that the nearer roof needs."""
        return max(self.bytes / self.bandwidth, self.operations / self.peak)

    @property
    def bound(self) -> str:
        """Which roof is nearer."""
        return "memory" if self.bytes / self.bandwidth > self.operations / self.peak else "arithmetic"

    def plot(self) -> Picture:
        return roof(f"{self.function}: {self.share:.0%} of the roof ({self.bound})", self.intensity, self.operations / self.seconds, self.bandwidth, self.peak)

    @property
    def share(self) -> float:
        return self.allowed / self.seconds

    def __str__(self) -> str:
        sizes = ", ".join(f"{k}={v}" for k, v in self.sizes.items())
        return (
            f"{self.function} [{sizes}]: {self.operations:,} operations, {self.bytes:,} bytes, {self.seconds * 1e3:.4g} ms\n"
            f"  {self.operations / self.seconds / 1e9:.3g} of {self.peak / 1e9:.3g} billion operations a second, {self.bytes / self.seconds / 1e9:.3g} of {self.bandwidth / 1e9:.3g} GB a second\n"
            f"  {self.share:.0%} of what {self.bound} allows"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>{self.plot()}"


def median(call: Callable[[], object], seconds: float = 0.2, least: int = 5) -> float:
    """The median time of calls made for about so long."""
    times = timed(call, seconds, least)
    return times[len(times) // 2]


def timed(call: Callable[[], object], seconds: float, least: int) -> list[float]:
    """The times of calls made for about so long, the shortest first."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < least or (time.perf_counter() < until and len(times) < 1000):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)


@cache
def roofs() -> tuple[float, float]:
    """Bytes and operations a second of this machine, measured once: a roof is the best that was seen, also while others work on it."""
    a = np.ones(4_000_000)
    b = np.empty_like(a)
    copying = timed(lambda: np.copyto(b, a), 0.2, 20)[0]
    m = np.ones((384, 384))
    product = timed(lambda: m @ m, 0.2, 20)[0]
    return 2 * a.nbytes / copying, 2 * 384**3 / product


def roofline(f: Function, sizes: dict[str, int]) -> Roofline:
    """Measure a function."""
    from atoll.command_data import random_arguments

    try:
        arguments = random_arguments(f, sizes)
    except Misuse as wrong:
        fail("E0610", name="roofline", text=str(wrong).replace("--size ", ""), help="give every size: f.roofline(n=1000)")
    cost = f.cost(**sizes)
    if not isinstance(cost.operations, int) or not isinstance(cost.arrays, int):
        fail("E0610", name="roofline", text=f"what {f.name} does depends on more than its sizes", help="f.cost() shows what is unknown")
    f(*arguments)
    seconds = median(lambda: f(*arguments))
    bandwidth, peak = roofs()
    return Roofline(f.name, dict(sizes), cost.operations, cost.arrays, seconds, bandwidth, peak)
