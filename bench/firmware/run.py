"""Code, RAM and stack of exported C against the same kernels by hand, on Cortex-M0 and M4: `python -m bench.firmware.run [--write]`.

Both sides are compiled with -Os; code counts instructions and constants of the object file, not what the linker adds (soft floats, mathematics), which is the same
for both. That both compute the same is checked first, on this machine.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from atoll.madl.api import Module, madl
from atoll.madl.c_file import CFile, Options
from atoll.madl.report import measure, true_stack
from atoll.madl.targets import TARGETS, Target

HERE = Path(__file__).parent
FFT = (HERE.parents[1] / "examples" / "madl" / "fft.madl").read_text() + "\nlet fft16 (x of [16]complex, factors of [15]complex) returns (y): y = fft<<16>>(x, factors)\n"
NAMES = {"fir": "FIR, 16 taps", "iir": "IIR, one biquad", "pid": "PID", "kalman": "Kalman, 2 states", "fft": "FFT, 16 points", "inverse": "inverse 3x3", "conv": "convolution layer 2x3x3 on 8x8"}  # fmt: skip


def hand(kernel: str, target: Target) -> tuple[int, int, int]:
    """Code, state and deepest frame of the version by hand."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hand.c").write_text((HERE / "hand.c").read_text())
        done = target.check("hand.c", folder, ["-std=c99", "-Os", "-fstack-usage", f"-D{kernel.upper()}"])
        assert done.returncode == 0, done.stderr
        tool = "arm-none-eabi-size" if target.cross else "size"
        text = subprocess.run([tool, "hand.c.o"], cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()[1]
        frames = [int(line.split("\t")[1]) for su in folder.glob("*.su") for line in su.read_text().splitlines()]
        source = (HERE / "hand.c").read_text()
    state = {"fir": 64, "iir": 8, "pid": 8, "kalman": 20}.get(kernel, 0)
    assert not state or f"{kernel}_state" in source
    return int(text.split()[0]) - 4, state, max(frames)  # without state_bytes itself


def made(kernel: str, modules: dict[str, Module], target: Target) -> tuple[int, int, int]:
    """The same of exported C, with 32-bit indices."""
    module = modules["fft" if kernel == "fft" else "rest"]
    compiled = getattr(module, "fft16" if kernel == "fft" else kernel).compiled
    file = CFile(kernel, [compiled], Options(index="int32_t"))
    found = measure(file, file.exported[0], target, ["-Os"])
    return found.text, found.state or 0, true_stack(file, file.exported[0], found.frames)


def agree(modules: dict[str, Module]) -> None:
    """Both sides give the same numbers on this machine, as far as rounding goes."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        for kernel in NAMES:
            library = Path(name) / f"{kernel}.so"
            command = ["gcc", "-std=c99", "-O1", "-shared", "-fPIC", f"-D{kernel.upper()}", str(HERE / "hand.c"), "-o", str(library)]
            subprocess.run(command, check=True)
            c = ctypes.CDLL(str(library))
            if kernel in ("inverse", "conv"):
                args = [rng.random(s).astype("f4") for s in ({"inverse": [(3, 3)], "conv": [(2, 3, 3), (8, 8)]}[kernel])]
                ours = getattr(modules["rest"], kernel)(*args)
                theirs = np.zeros_like(ours)
                getattr(c, kernel)(*(a.ctypes.data_as(ctypes.c_void_p) for a in (*args, theirs)))
            elif kernel == "fft":
                re, im = rng.random(16), rng.random(16)
                angles = np.concatenate([np.arange(n // 2) / n for n in (16, 8, 4, 2)])
                factors = np.exp(-2j * np.pi * angles)
                ours = np.stack(modules["fft"].fft16((re, im), (factors.real.copy(), factors.imag.copy())))
                theirs = np.zeros((2, 16))
                c.fft(*(a.ctypes.data_as(ctypes.c_void_p) for a in (re, im, theirs[0], theirs[1])))
                np.testing.assert_allclose(ours[0] + 1j * ours[1], np.fft.fft(re + 1j * im), rtol=1e-9)
            else:
                ours, theirs = _steps(kernel, modules["rest"], c, rng)
            np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5, err_msg=kernel)


def _steps(kernel: str, module: Module, c: Any, rng: Any) -> tuple[Any, Any]:
    node, state = getattr(module, kernel)(), (ctypes.c_float * 16)()
    getattr(c, f"{kernel}_init")(state)
    inputs, outputs = {"pid": (2, 1), "kalman": (1, 2)}.get(kernel, (1, 1))
    ours, theirs = [], []
    for _ in range(40):
        args = [np.float32(v) for v in rng.random(inputs)]
        ours.append(np.atleast_1d(node.step(*args)))
        out = [ctypes.c_float() for _ in range(outputs)]
        getattr(c, f"{kernel}_step")(state, *(ctypes.c_float(v) for v in args), *map(ctypes.byref, out))
        theirs.append([o.value for o in out])
    return np.array(ours), np.array(theirs)


def table() -> list[str]:
    modules = {"rest": madl(HERE / "kernels.madl"), "fft": madl(source=FFT)}
    agree(modules)
    lines = ["| kernel | target | code: hand | Atoll | state: hand | Atoll | stack: hand | Atoll |", "|---|---|---|---|---|---|---|---|"]
    for kernel, shown in NAMES.items():
        for name in ("cortex-m0", "cortex-m4"):
            if subprocess.run(["which", TARGETS[name].compiler], capture_output=True, check=False).returncode != 0:
                continue
            a, b = hand(kernel, TARGETS[name]), made(kernel, modules, TARGETS[name])
            lines.append(f"| {shown} | {name} | {a[0]} | {b[0]} | {a[1]} | {b[1]} | {a[2]} | {b[2]} |")
    return lines


if __name__ == "__main__":
    rows = table()
    print("\n".join(rows))
    if "--write" in sys.argv:
        (HERE / "results.md").write_text("# Bytes of exported C against C by hand (-Os)\n\n" + "\n".join(rows) + "\n")
