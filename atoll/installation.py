"""`at.doctor()`: what this machine has, what Atoll will use, and whether a program compiles and runs."""

from __future__ import annotations

import importlib.util
import platform
import sys
import time
from dataclasses import dataclass

from atoll.backends.c.known_wrong import probes
from atoll.errors import Error
from atoll.errors.plain import plain
from atoll.making import fn
from atoll.runtime.cache import cache
from atoll.runtime.cuda.devices import gpus
from atoll.runtime.cuda.nvrtc import nvrtc
from atoll.runtime.library import threads
from atoll.runtime.probes import tried
from atoll.runtime.toolchain import compiler, python_headers


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    ok: bool
    text: str

    def __repr__(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'} {self.name:<14} {self.text}"


@dataclass(frozen=True, slots=True)
class Report:
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        return all(f.ok for f in self.findings)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.findings))


@plain
def doctor() -> Report:
    """Look at the installation and try it."""
    import numpy as np

    found = [
        Finding("python", sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.machine()}"),
        Finding("numpy", True, np.__version__),
    ]
    try:
        cc = compiler()
        found.append(Finding("C compiler", True, f"{' '.join(cc.command)}: {cc.version}"))
        outcome = tried(cc, "3")
        text = f"{len(probes())} programs that compilers get wrong: "
        text += f"{', '.join(outcome.wrong)} wrong" + (f", right with {' '.join(outcome.mended_by)}" if not outcome.still_wrong else "") if outcome.wrong else "all right"
        found.append(Finding("its results", not outcome.still_wrong, text))
        headers = python_headers()
        text = str(headers) if headers else "missing: calls go through ctypes, some microseconds slower (install python3-dev)"
        found.append(Finding("call path", True, text))
        found += _try_it()
    except Error as error:
        found.append(Finding("C compiler", False, str(error).splitlines()[0]))
    for name, use in (("highspy", "rank inference"), ("lark", "MADL files"), ("rich", "coloured output")):
        there = importlib.util.find_spec(name) is not None
        found.append(Finding(name, there or name != "highspy", f"installed ({use})" if there else f"not installed ({use})"))
    return Report((*found, *_gpu()))


def _gpu() -> list[Finding]:
    """The GPU, its driver and the compiler of kernels. A machine without them is in order: nothing uses a GPU that was not asked to."""
    found = []
    try:
        for k, gpu in enumerate(gpus()):
            driver = f"driver of CUDA {gpu.driver // 1000}.{gpu.driver % 1000 // 10}"
            found.append(Finding(f"cuda:{k}", gpu.pools, f"{gpu.name}, {gpu.arch}, {gpu.memory / 1e9:.0f} GB, {gpu.processors} multiprocessors, {driver}"))
    except Error as error:
        found.append(Finding("GPU", True, f"none: {str(error).splitlines()[0].partition('used: ')[2]}"))
    try:
        there = nvrtc()
        known = int(there.version.partition(".")[0]) >= 11
        found.append(Finding("NVRTC", known, f"{there.version} ({there.path})"))
    except Error:
        found.append(Finding("NVRTC", True, "not installed: kernels cannot be compiled (pip install 'atoll[cuda]')"))
    return found


def _try_it() -> list[Finding]:
    import numpy as np

    text = (
        "import atoll as at\nn = at.sizes('n')\n\n@at.fn\ndef doctor_sum(x: at.f64[n]) -> at.f64:\n    return sum(x * x)\n"
    )
    try:
        start = time.perf_counter()
        f = fn(source=text)
        value = f(np.arange(4.0))
        seconds = time.perf_counter() - start
        ok = bool(value == 14.0)
        return [
            Finding("compile, run", ok, f"sum of squares = {value} in {seconds:.2f} s"),
            Finding("cache", True, f"{cache.dir} ({cache.stats()['entries']} entries)"),
            Finding("threads", True, f"{threads()} (ATOLL_NUM_THREADS)"),
        ]
    except Error as error:
        return [Finding("compile, run", False, str(error).splitlines()[0])]
