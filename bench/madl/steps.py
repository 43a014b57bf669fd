"""Step times of the five real programs of examples/madl: the C that is generated, the same algorithm written by hand in C (hand.c), and NumPy.

Both C programs are compiled with the same flags into one process and called in turns; times are processor time, medians over rounds.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from atoll.madl.api import madl

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "madl"
NAMES = ["fir_bank", "biquad", "kalman", "fft", "pid"]
FLAGS = ["-std=c99", "-O3", "-march=native"]


def generated_and_hand(rounds: int = 15) -> dict[str, tuple[float, float]]:
    """Nanoseconds per step: generated, by hand."""
    with tempfile.TemporaryDirectory() as folder:
        files = [str(HERE / "hand.c"), str(HERE / "drive.c")]
        for name in NAMES:
            _, source, _ = madl(EXAMPLES / f"{name}.madl").export_c(folder)
            files.append(str(source))
        objects = []
        for file in files:  # apart, so that nothing is inlined from one into another
            target = str(Path(folder) / (Path(file).stem + ".o"))
            subprocess.run(["cc", *FLAGS, f"-I{folder}", "-c", file, "-o", target], check=True)
            objects.append(target)
        program = str(Path(folder) / "drive")
        subprocess.run(["cc", *objects, "-o", program, "-lm"], check=True)
        lines = subprocess.run([program, str(rounds)], capture_output=True, text=True, check=True).stdout.splitlines()
    times: dict[str, list[tuple[float, float]]] = {}
    for line in lines:
        name, ours, hand = line.split()
        times.setdefault(name, []).append((float(ours), float(hand)))
    return {name: (statistics.median(a for a, _ in rows), statistics.median(b for _, b in rows)) for name, rows in times.items()}


def ratios(rounds: int = 15) -> dict[str, float]:
    return {name: ours / hand for name, (ours, hand) in generated_and_hand(rounds).items()}


def numpy_steps() -> dict[str, Callable[[], object]]:
    """A step of each program with NumPy, vectorised where it can be."""
    rng = np.random.default_rng(0)
    h, line, x = rng.standard_normal((8, 5)), np.zeros(68), rng.standard_normal(64)

    def fir() -> object:
        line[:4] = line[64:]
        line[4:] = x
        return h[:, ::-1] @ np.lib.stride_tricks.sliding_window_view(line, 5).T

    c, s = 0.1 * rng.standard_normal((5, 8)), np.zeros((2, 8))

    def biquad() -> object:
        y = np.empty(64)
        for t in range(64):
            v = x[t]
            for j in range(8):
                w = c[0, j] * v + s[0, j]
                s[0, j] = c[1, j] * v - c[3, j] * w + s[1, j]
                s[1, j] = c[2, j] * v - c[4, j] * w
                v = w
            y[t] = v
        return y

    f, q, hm, r = np.eye(4), 0.01 * np.eye(4), np.eye(2, 4), 0.1 * np.eye(2)
    state = [np.zeros(4), np.zeros((4, 4))]

    def kalman() -> object:
        m, p = f @ state[0], f @ state[1] @ f.T + q
        low = np.linalg.cholesky(hm @ p @ hm.T + r)
        w = np.linalg.solve(low, hm @ p)
        e = np.linalg.solve(low, np.array([0.1, 0.2]) - hm @ m)
        state[0], state[1] = m + w.T @ e, p - w.T @ w
        return state[0].copy()

    z = rng.standard_normal(64) + 1j * rng.standard_normal(64)
    control = np.zeros(3)

    def pid() -> object:
        error = 1.0 - 0.3
        control[0] = 0.8 * control[0] + 0.2 * (control[1] - 0.3) / 0.01
        control[1] = 0.3
        wanted = 2.0 * error + control[2] + 0.05 * control[0]
        command = np.clip(wanted, -10.0, 10.0)
        control[2] += 0.01 * (1.5 * error + 4.0 * (command - wanted))
        return command

    return {"fir_bank": fir, "biquad": biquad, "kalman": kalman, "fft": lambda: np.fft.fft(z), "pid": pid}


def by_numpy(seconds: float = 0.3) -> dict[str, float]:
    """Nanoseconds per step."""
    found = {}
    for name, step in numpy_steps().items():
        step()
        times = []
        until = time.process_time() + seconds
        while len(times) < 5 or time.process_time() < until:
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        found[name] = statistics.median(times) * 1e9
    return found
