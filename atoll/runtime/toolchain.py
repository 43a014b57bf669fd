"""The C compiler: which one, what it is called with, and what it is (for the cache key). It is code from outside: it may hang, fail, or print anything."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from atoll.errors import fail

_COMMON = ["-std=gnu11", "-fPIC", "-shared", "-fwrapv", "-fno-math-errno", "-ffp-contract=off", "-w"]
_PATIENCE = 600  # seconds a compiler may take for a program; ATOLL_CC_TIMEOUT is another number of them
_FIRST = 20  # seconds it may take to say its version, or to compile the small programs it is tried with
_MOST_TEXT = 1 << 16  # bytes of what it prints that are kept
_SCRIPT = 1 << 18  # files up to this size are known by what is in them, larger ones by size and time
_HEEDED = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH", "CCC_OVERRIDE_OPTIONS", "ZIG_LIB_DIR")


_SOONER = (
    "-fno-gcse", "-fno-schedule-insns2", "-fno-rerun-cse-after-loop", "-fno-cse-follow-jumps", "-fno-cprop-registers", "-fno-if-conversion", "-fno-if-conversion2",
    "-fno-peephole2", "-fno-reorder-blocks", "-fno-combine-stack-adjustments", "-fno-compare-elim", "-fno-dce", "-fno-dse", "-fno-forward-propagate",
    "-fno-move-loop-invariants", "-fno-shrink-wrap", "-fno-ree", "-fno-crossjumping", "-fno-caller-saves", "-fno-split-wide-types", "-fno-web",
    "-fira-region=one", "-fira-algorithm=priority",
)  # fmt: skip
"""Passes of gcc over instructions (RTL). What is in vectors, which function is called with what and every sum are settled before them (GIMPLE), so bits stay
without them, and a sixth of the time of -O3 is saved."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler and how to start it."""

    command: tuple[str, ...]
    kind: str  # gcc, clang or zig
    version: str

    def flags(self, optimise: str) -> list[str]:
        """What it is called with, but for what runtime/probes.py finds that it gets wrong."""
        flags = [*_COMMON, f"-O{optimise}", "-fopenmp-simd"]
        if self.kind == "gcc":
            # with cos built in, gcc joins sin(x) and cos(x) to one call that has no vector version; it would also undo what loops/idioms/late.py does
            flags += ["-fno-trapping-math", "-fno-builtin-cos", "-fno-builtin-cosf", "-fno-tree-reassoc", "-fcx-limited-range"]
            flags.append("-falign-loops=64")  # a short loop that lies across two lines of the instruction cache took twice the time (bench/everyday: bellman-ford 0.109 ms, 0.056 with it)
        flags.append("-march=native" if self.kind != "zig" or platform.machine() == "x86_64" else "-O3")
        return flags

    def flags_sooner(self, optimise: str) -> list[str]:
        """The same for what is needed once: the same bits, compiled as soon as can be."""
        flags = self.flags(optimise)
        if self.kind != "gcc":
            return flags
        if optimise == "0":  # nothing is in vectors, and no table tells how functions are left
            return [*(f for f in flags if f != "-fopenmp-simd"), "-fno-asynchronous-unwind-tables"]
        return [*flags, *_SOONER, "-fno-asynchronous-unwind-tables"]

    @property
    def identity(self) -> str:
        """What it is: every word of its command, the files these name, its version, and the variables it heeds."""
        words = [f"{word}\n{_contents(word)}" for word in self.command]
        return "\0".join([*words, self.version, *(f"{name}={os.environ[name]}" for name in _HEEDED if name in os.environ)])

    @property
    def patience(self) -> int:
        """Seconds for what takes others less than one; zig first builds its own library."""
        return _FIRST if self.kind != "zig" else 10 * _FIRST


@functools.cache
def _contents(word: str) -> str:
    """What stands in a file that a word of a command names: a script's text, a response file's."""
    name = word.lstrip("@").split("=")[-1]
    found = shutil.which(name) or name
    try:
        known = os.stat(found)
        if not os.path.isfile(found):
            return ""
        if known.st_size <= _SCRIPT:
            return hashlib.sha256(Path(found).read_bytes()).hexdigest()
        return f"{os.path.realpath(found)} {known.st_size} {known.st_mtime_ns}"
    except (OSError, ValueError):
        return ""


def compiler() -> Compiler:
    """The compiler to use: ATOLL_CC, cc, gcc, clang, or the one in the ziglang wheel."""
    return _compiler(os.environ.get("ATOLL_CC"))


@functools.cache
def _compiler(wanted: str | None) -> Compiler:
    if wanted:
        try:
            command = tuple(shlex.split(wanted))
        except ValueError as error:  # a quote that is not closed
            fail("E0802", tried=f"{wanted}, which is no command: {error}")
        version = _version(command) if command else None
        if version is None:
            fail("E0802", tried=wanted)
        return Compiler(command, "zig" if "ziglang" in command or Path(command[0]).name == "zig" else _kind(version), version)
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
        status, text = started([*command, "--version"], 10 * _FIRST if "ziglang" in command else _FIRST)
    except (OSError, ValueError, subprocess.TimeoutExpired):  # ValueError: a NUL in a word
        return None
    return text.splitlines()[0] if status == 0 and text.strip() else None


_given_up = threading.Event()


def give_up() -> None:
    """End the compilers that run: the process ends, and its user does not want to wait."""
    _given_up.set()


def started(command: list[str], seconds: float, folder: Path | None = None) -> tuple[int, str]:
    """Run a command to its end: its status and the beginning of what it printed. After `seconds` it is ended with all it started: TimeoutExpired."""
    end = time.monotonic() + seconds
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder, start_new_session=True
    )
    assert process.stdout is not None
    text = b""
    try:
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            while True:
                if time.monotonic() > end or _given_up.is_set():
                    raise subprocess.TimeoutExpired(command, seconds)
                if ready.select(0.5):
                    more = os.read(process.stdout.fileno(), 1 << 16)
                    if not more:
                        break
                    text += more[: _MOST_TEXT - len(text)]
                elif process.poll() is not None:  # it ended; something it started still holds the pipe
                    break
        return process.wait(max(0.1, end - time.monotonic())), text.decode(errors="replace")
    finally:
        if process.poll() is None:
            _end(process)
        process.stdout.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process of ours and what it started, which is its own group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()
    process.wait()


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
    """Compile one file to a shared object, with the options that the compiler is known to be right with."""
    from atoll.runtime.probes import mending

    cc = compiler()
    # absolute names: one that begins with a dash would be an option
    command = [*cc.command, *cc.flags(optimise), *(extra or []), *mending(cc, optimise), "-o", str(output.absolute()), str(source.absolute()), "-lm", "-lpthread"]
    run_compiler(cc, command, output, patience())


def compile_files(
    sources: list[Path], output: Path, optimise: str = "3", extra: list[str] | None = None, levels: list[str] | None = None
) -> None:
    """Compile files, side by side on as many cores as there are, to one shared object. Only the first file stays. `levels`: how far each is optimised,
    where the program is needed once and soon."""
    if len(sources) == 1 and levels is None:
        compile_c(sources[0], output, optimise, extra)
        return
    from concurrent.futures import ThreadPoolExecutor

    from atoll.runtime.probes import mending

    cc = compiler()
    objects = [source.with_suffix(".o") for source in sources]

    def flags(level: str) -> list[str]:
        wanted = cc.flags(level) if levels is None else cc.flags_sooner(level)
        return [*(f for f in wanted if f != "-shared"), *(extra or []), *mending(cc, optimise)]

    def one(source: Path, made: Path, level: str) -> None:
        run_compiler(cc, [*cc.command, *flags(level), "-c", "-o", str(made.absolute()), str(source.absolute())], made, patience())

    with ThreadPoolExecutor(cores()) as pool:
        for done in [pool.submit(one, *job) for job in zip(sources, objects, levels or [optimise] * len(sources), strict=True)]:
            done.result()
    run_compiler(cc, [*cc.command, "-shared", *flags(optimise), "-o", str(output.absolute()), *(str(o.absolute()) for o in objects), "-lm", "-lpthread"], output, patience())
    for path in (*sources[1:], *objects):
        path.unlink()


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_compiler(cc: Compiler, command: list[str], output: Path, seconds: int) -> None:
    """Start the compiler; what goes wrong is said in words."""
    try:
        status, text = started(command, seconds)
    except subprocess.TimeoutExpired:
        fail("E0828", compiler=" ".join(cc.command), seconds=seconds)
    except (OSError, ValueError) as error:
        fail("E0802", tried=f"{' '.join(cc.command)}: {error}")
    if status != 0:
        fail("E0803", compiler=cc.command[0], message=text.strip()[:2000])
    if not output.exists():
        fail("E0802", tried=" ".join(cc.command) + ", which says that it works but compiles nothing")


def patience() -> int:
    """Seconds a compiler may take for one program."""
    text = os.environ.get("ATOLL_CC_TIMEOUT", "")
    if not text:
        return _PATIENCE
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 8 and int(text) > 0):
        fail("E0826", name="ATOLL_CC_TIMEOUT", given=text[:100], what="a number of seconds", least=1)
    return int(text)


def python_headers() -> Path | None:
    """Where Python.h is, if it is installed."""
    include = Path(sysconfig.get_paths()["include"])
    return include if (include / "Python.h").exists() else None
