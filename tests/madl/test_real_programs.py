"""The five real programs of examples/madl, against NumPy or a few lines of Python; also under the oracle, and through the C that is exported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atoll.madl.api import Module, madl
from atoll.madl.c_example import example
from tests.madl.harness import SANITIZE, strict_compile, undefined_symbols

FOLDER = Path(__file__).parents[2] / "examples" / "madl"
NAMES = ["fir_bank", "biquad", "kalman", "fft", "pid"]
MATH = {"sqrt", "fabs", "fmin", "fmax"}


@pytest.fixture(scope="module")
def programs() -> dict[str, Module]:
    return {name: madl(FOLDER / f"{name}.madl") for name in NAMES}


def _instances(programs: dict[str, Module], name: str) -> list[Any]:
    """Compiled, and under the oracle, which checks every read."""
    operator = getattr(programs[name], name)
    return [operator.instance(), operator.instance(interpret=True)]


def test_fir_bank(programs: dict[str, Module]) -> None:
    rng = np.random.default_rng(1)
    h, x = rng.standard_normal((3, 5)), rng.standard_normal(3 * 64)
    wanted = np.array([np.convolve(x, taps)[: len(x)] for taps in h])
    for fir in _instances(programs, "fir_bank"):
        found = np.concatenate([fir.step(h, x[k : k + 64]) for k in range(0, len(x), 64)], axis=1)
        assert np.allclose(found, wanted, rtol=1e-12, atol=1e-13)


def test_biquad_cascade(programs: dict[str, Module]) -> None:
    rng = np.random.default_rng(2)
    m, frames = 3, 4
    sections = tuple(0.3 * rng.standard_normal(m) for _ in range(5))
    x = rng.standard_normal((frames, 10))
    for cascade in _instances(programs, "biquad"):
        s = np.zeros((m, 2))
        for frame in x:
            wanted = []
            for v in frame:
                for j in range(m):
                    b0, b1, b2, a1, a2 = (c[j] for c in sections)
                    out = b0 * v + s[j, 0]
                    s[j] = b1 * v - a1 * out + s[j, 1], b2 * v - a2 * out
                    v = out
                wanted.append(v)
            assert np.allclose(cascade.step(sections, frame), wanted, rtol=1e-13)
        cascade.reset()
        one = np.array([1.0, 0.0])
        assert np.isclose(cascade.step(sections, one)[0], np.prod(sections[0]))


def test_kalman(programs: dict[str, Module]) -> None:
    rng = np.random.default_rng(3)
    f, q, h, r = np.eye(4), 0.01 * np.eye(4), np.eye(2, 4), 0.1 * np.eye(2) + 0.02
    f[0, 2] = f[1, 3] = 0.1
    for kalman in _instances(programs, "kalman"):
        x, p = np.zeros(4), np.zeros((4, 4))
        for z in rng.standard_normal((4, 2)):
            x, p = f @ x, f @ p @ f.T + q
            gain = p @ h.T @ np.linalg.inv(h @ p @ h.T + r)
            x, p = x + gain @ (z - h @ x), (np.eye(4) - gain @ h) @ p
            assert np.allclose(kalman.step(f, q, h, r, z), x, rtol=1e-10, atol=1e-14)


def factors(n: int) -> tuple[Any, Any]:
    """The factors of a transform of n and of all the smaller ones it splits into."""
    parts = [np.zeros(0, complex)]
    while n > 1:
        parts.append(np.exp(-2j * np.pi * np.arange(n // 2) / n))
        n //= 2
    w = np.concatenate(parts)
    return w.real.copy(), w.imag.copy()


@pytest.mark.parametrize("n", [1, 2, 4, 16, 64])
def test_fft(programs: dict[str, Module], n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    given = (x.real.copy(), x.imag.copy())
    fft = programs["fft"].fft
    re, im = fft(given, factors(n))
    assert np.allclose(re + 1j * im, np.fft.fft(x), rtol=1e-12, atol=1e-12)
    assert np.array_equal(given[0], x.real), "calls from Python never change their arguments"
    if n <= 16:
        found = fft[n].interpret(given, factors(n))
        assert np.array_equal(found[0], re) and np.array_equal(found[1], im)


def test_fft_needs_no_memory_of_its_own(programs: dict[str, Module]) -> None:
    fft = programs["fft"].fft[64]
    assert fft.places == "x, factors -> y writes x, y"
    assert [m["name"] for m in fft.memory() if m["role"] != "memory"] == ["re", "im"]


def pid_model(clear: Iterator[bool]) -> Any:
    """The same controller, in Python."""
    state = [0.0, 0.0, 0.0]

    def step(setpoint: float, measured: float) -> float:
        if next(clear):
            state[:] = [0.0, 0.0, 0.0]
        slope, before, total = state
        error = setpoint - measured
        slope = 0.8 * slope + 0.2 * (before - measured) / 0.01
        wanted = 2.0 * error + total + 0.05 * slope
        command = min(max(wanted, -10.0), 10.0)
        state[:] = [slope, measured, total + 0.01 * (1.5 * error + 4.0 * (command - wanted))]
        return command

    return step


def test_pid_with_anti_windup_and_reset(programs: dict[str, Module]) -> None:
    rng = np.random.default_rng(4)
    clear = [bool(v) for v in rng.random(60) < 0.1]
    inputs = rng.standard_normal((60, 2)) * 8
    for pid in _instances(programs, "pid"):
        model = pid_model(iter(clear))
        found = [float(pid.step(s, m, c)) for (s, m), c in zip(inputs.tolist(), clear)]
        wanted = [model(s, m) for s, m in inputs.tolist()]
        assert np.allclose(found, wanted, rtol=1e-13)
        assert max(found) == 10.0 and min(found) == -10.0, "the limits are met"


@pytest.mark.parametrize("name", NAMES)
def test_exported_c_is_strict_and_never_allocates(programs: dict[str, Module], name: str, tmp_path: Path) -> None:
    file = programs[name].c_file()
    made = strict_compile(file.source(), file.header(), file.name, tmp_path)
    assert undefined_symbols(made) <= {"memcpy", "_GLOBAL_OFFSET_TABLE_"} | MATH
    assert "malloc" not in file.source() and "free(" not in file.source()


def test_exported_examples_run_under_sanitizers(programs: dict[str, Module], tmp_path: Path) -> None:
    import subprocess

    for name in NAMES:
        file = programs[name].c_file()
        program = strict_compile(file.source(), file.header(), file.name, tmp_path, extra=SANITIZE, example=example(file))
        done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert name in done.stdout


def test_no_copy_is_made_that_was_not_written(programs: dict[str, Module]) -> None:
    written = {"fir_bank": 2, "biquad": 2, "kalman": 3, "pid": 1}
    for name, copies in written.items():
        text = (FOLDER / f"{name}.madl").read_text()
        code = "\n".join(line.partition("//")[0] for line in text.splitlines())
        assert code.count("!") == copies == len(getattr(programs[name], name).copies()), name


def test_the_largest_program_is_compiled_within_a_second() -> None:
    import time

    start = time.process_time()
    madl(FOLDER / "kalman.madl").c_file()
    assert time.process_time() - start < 10.0, "measured 0.2 s"
