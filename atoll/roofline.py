"""`f.roofline(n=1000)`, `f.roofline(n=[100, 1000, 10000])`: how fast a function runs, against what memory and arithmetic of this machine allow.

Operations and bytes come from `f.cost()`, exact; the time is measured on random arguments, the median of calls; the two roofs are measured here, once: reading and writing a large
array, and a product of matrices. They say what NumPy and its BLAS reach on this machine now, not what its maker promises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from atoll.command_data import random_arguments
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

    @property
    def speed(self) -> float:
        """Operations a second."""
        return self.operations / self.seconds

    def plot(self) -> Picture:
        title = f"{self.function}: {self.share:.0%} of the roof ({self.bound})"
        return roof(title, [(title, self.intensity, self.speed)], self.bandwidth, self.peak)

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


@dataclass(frozen=True, slots=True)
class Rooflines:
    """A function at several sizes under one roof."""

    points: tuple[Roofline, ...]

    def __iter__(self) -> Iterator[Roofline]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, i: int) -> Roofline:
        return self.points[i]

    def plot(self) -> Picture:
        first = self.points[0]
        vary = [k for k in first.sizes if len({p.sizes[k] for p in self.points}) > 1]
        named = [(", ".join(f"{k}={p.sizes[k]}" for k in vary) + f": {p.share:.0%}", p.intensity, p.speed) for p in self.points]
        return roof(f"{first.function} under the roof of this machine", named, first.bandwidth, first.peak)

    def __str__(self) -> str:
        return "\n".join(map(str, self.points))

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


def at_sizes(f: Function, sizes: Mapping[str, int | Sequence[int]]) -> Roofline | Rooflines:
    """Measure a function at sizes, or at each of several: lists of sizes go together, one of each a point."""
    lists = {name: list(given) for name, given in sizes.items() if isinstance(given, list | tuple | range | np.ndarray)}
    lengths = sorted({len(each) for each in lists.values()})
    if not lists:
        return roofline(f, dict(sizes))  # type: ignore[arg-type]
    if len(lengths) > 1 or lengths == [0]:
        told = ", ".join(f"{len(each)} of {name}" for name, each in lists.items())
        fail("E0610", name="roofline", text=f"the lists of sizes do not go together: {told}", help="give lists of one length, a point for each place: f.roofline(n=[100, 1000], m=[10, 20])")
    return Rooflines(tuple(roofline(f, {name: int(lists[name][i]) if name in lists else given for name, given in sizes.items()}) for i in range(lengths[0])))  # type: ignore[misc]


def roofline(f: Function, sizes: dict[str, int]) -> Roofline:
    """Measure a function."""
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
