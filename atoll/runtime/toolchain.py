"""The C compiler: which one, what it is called with, and what it is (for the cache key)."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from atoll.errors import fail

_COMMON = ["-std=gnu11", "-fPIC", "-shared", "-fwrapv", "-fno-math-errno", "-ffp-contract=off", "-fcx-limited-range", "-w"]


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler and how to start it."""

    command: tuple[str, ...]
    kind: str  # gcc, clang or zig
    version: str

    def flags(self, optimise: str) -> list[str]:
        flags = [*_COMMON, f"-O{optimise}", "-fopenmp-simd"]
        if self.kind == "gcc":
            # with cos built in, gcc joins sin(x) and cos(x) to one call that has no vector version; it would also undo what loops/late.py does
            flags += ["-fno-trapping-math", "-fno-builtin-cos", "-fno-builtin-cosf", "-fno-tree-reassoc"]
        flags.append("-march=native" if self.kind != "zig" or platform.machine() == "x86_64" else "-O3")
        return flags


@functools.cache
def compiler() -> Compiler:
    """The compiler to use: ATOLL_CC, cc, gcc, clang, or the one in the ziglang wheel."""
    wanted = os.environ.get("ATOLL_CC")
    if wanted:
        command = tuple(shlex.split(wanted))
        version = _version(command)
        if version is None:
            fail("E0802", tried=wanted)
        return Compiler(command, _kind(version), version)
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path is not None:
            version = _version((path,))
            if version is not None:
                return Compiler((path,), _kind(version), version)
    if importlib.util.find_spec("ziglang") is not None:
        command = (sys.executable, "-m", "ziglang", "cc")
        version = _version(command)
        if version is not None:
            return Compiler(command, "zig", version)
    fail("E0802", tried="cc, gcc, clang, ziglang")


def _kind(version: str) -> str:
    return "clang" if "clang" in version.lower() else "gcc"


def _version(command: tuple[str, ...]) -> str | None:
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None


@functools.cache
def target() -> str:
    """The exact processor, because code is compiled for it."""
    flags = ""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features", "model name")):
                flags += line
                if line.startswith(("flags", "Features")):
                    break
    except OSError:
        flags = platform.processor()
    return f"{platform.machine()}-{hashlib.sha256(flags.encode()).hexdigest()[:16]}"


def compile_c(source: Path, output: Path, optimise: str = "3", extra: list[str] | None = None) -> None:
    """Compile one file to a shared object."""
    cc = compiler()
    command = [*cc.command, *cc.flags(optimise), *(extra or []), "-o", str(output), str(source), "-lm", "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail("E0803", compiler=cc.command[0], message=(done.stderr or done.stdout).strip()[:2000])
    if not output.exists():
        fail("E0802", tried=" ".join(cc.command) + ", which says that it works but compiles nothing")


def python_headers() -> Path | None:
    """Where Python.h is, if it is installed."""
    include = Path(sysconfig.get_paths()["include"])
    return include if (include / "Python.h").exists() else None
