"""Five real programs, checked against NumPy and timed beside it: `make demo`.

Each is a typed array function; the NumPy version next to it is what one would write without Atoll. The picture of the blur is written
to out/blur.png. `--quick` uses small data.
"""

from __future__ import annotations

import statistics
import struct
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at
from atoll import f32, f64

n, m, k, d = at.sizes("n m k d")


# -- the programs


@at.fn
def box_blur(img: f32[n, m]) -> f32[n - 8, m - 8]:
    """The mean of each 9 by 9 neighbourhood, by columns, then by rows."""
    tall = [[sum(img[i + t, j] for t in range(9)) / 9 for j in range(m)] for i in range(n - 8)]
    return [[sum(tall[i, j + t] for t in range(9)) / 9 for j in range(m - 8)] for i in range(n - 8)]


def box_blur_numpy(img):
    rows, columns = img.shape
    tall = sum(img[t : rows - 8 + t] for t in range(9)) / 9
    return sum(tall[:, t : columns - 8 + t] for t in range(9)) / 9


@at.fn
def below(x: f64) -> f64:
    """How likely a normal variable is below x."""
    return 0.5 * erfc(-x / sqrt(2.0))


@at.fn
def black_scholes(price: f64[n], strike: f64[n], years: f64[n], rate: f64, volatility: f64) -> f64[n]:
    """The value of European call options: written for one option, lifted over all of them."""
    spread = volatility * sqrt(years)
    high = (log(price / strike) + (rate + volatility**2 / 2) * years) / spread
    return price * below(high) - strike * exp(-rate * years) * below(high - spread)


def black_scholes_numpy(price, strike, years, rate, volatility):
    def below(x):  # NumPy has no erf: Abramowitz and Stegun 7.1.26, good to 7 digits
        z = np.abs(x) / np.sqrt(2)
        t = 1 / (1 + 0.3275911 * z)
        poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
        return 0.5 * (1 + np.sign(x) * (1 - poly * np.exp(-z * z)))

    spread = volatility * np.sqrt(years)
    high = (np.log(price / strike) + (rate + volatility**2 / 2) * years) / spread
    return price * below(high) - strike * np.exp(-rate * years) * below(high - spread)


@at.fn
def matrix_product(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:
    return [[sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]


@at.fn
def kmeans_step(points: f64[n, d], centres: f64[k, d]) -> f64[k, d]:
    """Every centre moves to the mean of the points that are nearest to it."""
    nearest = [argmin(sum((p[t] - c[t]) ** 2 for t in range(d)) for c in centres) for p in points]
    total = hist(add, zeros(d), k, nearest, points)
    count = hist(add, 0.0, k, nearest, ones(n))
    return [[total[j, t] / count[j] if count[j] > 0 else centres[j, t] for t in range(d)] for j in range(k)]


def kmeans_step_numpy(points, centres):
    distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    nearest = distance.argmin(axis=1)
    total = np.zeros_like(centres)
    np.add.at(total, nearest, points)
    count = np.bincount(nearest, minlength=len(centres))[:, None]
    return np.where(count > 0, total / np.maximum(count, 1), centres)


@at.fn
def drawdown(prices: f64[n]) -> f64[n]:
    """How far each price lies under the highest one so far: a scan."""
    return 1 - prices / scan(maximum, 0.0, prices)


def drawdown_numpy(prices):
    return 1 - prices / np.maximum.accumulate(prices)


# -- checking and timing


@dataclass(frozen=True)
class Job:
    """A program, what NumPy calls it, its data, and how closely the two must agree."""

    program: Any
    numpy: Callable[..., Any]
    data: tuple[Any, ...]
    shown: str
    tolerance: float


def jobs(quick: bool) -> list[Job]:
    rng = np.random.default_rng(0)
    side, many, order, count = (60, 1000, 40, 500) if quick else (1500, 2_000_000, 700, 200_000)
    days = many
    points, centres = rng.normal(size=(count, 3)), rng.normal(size=(12, 3))
    walk = np.exp(np.cumsum(rng.normal(0, 0.01, days)) / 10)
    options = (rng.uniform(20, 80, many), rng.uniform(20, 80, many), rng.uniform(0.1, 3, many), 0.03, 0.25)
    a, b = (rng.random((order, order), dtype=np.float32) for _ in range(2))
    return [
        Job(box_blur, box_blur_numpy, (scene(side),), f"{side} x {side} pixels", 1e-5),
        Job(black_scholes, black_scholes_numpy, options, f"{many:,} options", 1e-4),
        Job(matrix_product, np.matmul, (a, b), f"{order} x {order}", 1e-2),
        Job(kmeans_step, kmeans_step_numpy, (points, centres), f"{count:,} points, 12 centres", 1e-9),
        Job(drawdown, drawdown_numpy, (walk,), f"{days:,} prices", 1e-12),
    ]


def seconds(call: Callable[[], Any], rounds: int) -> float:
    """The median of some calls."""
    times = []
    time.sleep(0.3)  # threads of whoever ran before go to sleep
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(job: Job, rounds: int) -> tuple[str, ...]:
    """One row of the table: compile, compare, time."""
    start = time.perf_counter()
    found = job.program(*job.data)
    first = time.perf_counter() - start
    error = float(np.max(np.abs(found - job.numpy(*job.data))))
    if not error <= job.tolerance:
        raise SystemExit(f"{job.program.name} differs from NumPy by {error:g}")
    mine = seconds(lambda: job.program(*job.data), rounds)
    theirs = seconds(lambda: job.numpy(*job.data), rounds)
    times = (f"{1e3 * mine:.2f} ms", f"{1e3 * theirs:.2f} ms", f"{theirs / mine:.1f} x")
    return job.program.name, job.shown, f"{first:.2f} s", *times, f"{error:.0e}"


HEAD = ("program", "data", "first call", "Atoll", "NumPy", "faster", "difference")


def table(rows: list[tuple[str, ...]]) -> None:
    """Print the rows: with rich where it is installed, else plainly."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        widths = [max(len(row[i]) for row in [HEAD, *rows]) for i in range(len(HEAD))]
        for row in [HEAD, *rows]:
            print("  ".join(cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))))
        return
    shown = Table(title="Atoll beside NumPy")
    for i, name in enumerate(HEAD):
        shown.add_column(name, justify="left" if i < 2 else "right", no_wrap=True)
    for row in rows:
        shown.add_row(*row)
    console = Console()
    console = console if console.is_terminal else Console(width=110)
    console.print(shown)


# -- the picture


def scene(side: int) -> Any:
    """A lagoon: rings of coral, and squares as buoys, so that there are edges to blur."""
    y, x = np.mgrid[0:side, 0:side].astype(np.float32) / side - 0.5
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    reef = (np.abs(radius - 0.33 - 0.03 * np.sin(5 * angle)) < 0.05).astype(np.float32)
    waves = 0.25 + 0.15 * (np.sin(90 * radius) > 0)
    buoys = (np.maximum(np.abs((x * 8) % 1 - 0.5), np.abs((y * 8) % 1 - 0.5)) < 0.08) & (radius < 0.27)
    return np.clip(waves + 0.6 * reef + buoys, 0, 1).astype(np.float32)


def png(path: Path, grey: Any) -> None:
    """Write a picture with values 0..1 as an 8-bit grey PNG."""
    rows = (np.clip(grey, 0, 1) * 255).astype(np.uint8)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, 0, 0, 0, 0)
    pixels = b"".join(b"\0" + row.tobytes() for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b""))


def picture(path: Path, side: int) -> None:
    """The scene, and beside it the scene blurred three times."""
    before = after = scene(side)
    for _ in range(3):
        after = box_blur(after)
    gap = np.ones((len(after), 12), np.float32)
    png(path, np.hstack([before[12:-12, 12:-12], gap, after]))


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    table([measure(job, 3 if quick else 7) for job in jobs(quick)])
    path = Path("out") / "blur.png"
    picture(path, 100 if quick else 500)
    print(f"picture: {path}")
    print(f"\n{box_blur.type}\n{box_blur.memory()}")


if __name__ == "__main__":
    main()
