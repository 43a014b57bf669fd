"""NVRTC, CUDA's compiler as a library: found, called, and what it made kept in the cache. It needs no GPU."""

from __future__ import annotations

import ctypes
import functools
import glob
import hashlib
import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atoll.errors import fail
from atoll.runtime.cache import cache

OPTIONS = ("--fmad=false", "--std=c++17", "-default-device", "--ptxas-options=-v", "-w")

HEAD = """typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT64_C(x) x##ll
#define UINT64_C(x) x##ull
#define INT64_MIN (-INT64_C(9223372036854775807) - 1)
#define INT64_MAX INT64_C(9223372036854775807)
#define UINT64_MAX UINT64_C(18446744073709551615)
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#define AT_DYNAMIC_SHARED(name) extern __shared__ __align__(256) unsigned char name[]
"""
"""What stands before kernels when they are compiled for a GPU; cuda_on_cpu.h says the same on the CPU."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a kernel takes of a multiprocessor."""

    registers: int
    spilled: int  # bytes written to memory for want of registers
    stack: int
    shared: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """Machine code for one kind of GPU."""

    image: bytes
    uses: dict[str, Use]


class Nvrtc:
    """The library."""

    def __init__(self, library: ctypes.CDLL, path: str) -> None:
        self.library, self.path = library, path
        major, minor = ctypes.c_int(), ctypes.c_int()
        library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        library.nvrtcCreateProgram.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
        count = ctypes.c_int()
        library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        archs = (ctypes.c_int * max(1, count.value))()
        library.nvrtcGetSupportedArchs(archs)
        self.archs = tuple(archs[: count.value])

    def compile(self, text: str, arch: str, name: str) -> tuple[bytes, str]:
        """Machine code, and what the compiler said. The text is ours, so what it refuses is our mistake."""
        program = ctypes.c_void_p()
        self._ask(name, "nvrtcCreateProgram", ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None)
        try:
            options = [f"--gpu-architecture={arch}".encode(), *(o.encode() for o in OPTIONS)]
            code = self.library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
            log = self._bytes(name, program, "nvrtcGetProgramLog").decode(errors="replace").rstrip("\0")
            if code:
                fail("E0844", name=name, message=log.strip()[:2000] or self._words(code))
            return self._bytes(name, program, "nvrtcGetCUBIN"), log
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def _bytes(self, name: str, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._ask(name, f"{what}Size", program, ctypes.byref(size))
        room = ctypes.create_string_buffer(max(1, size.value))
        self._ask(name, what, program, room)
        return room.raw[: size.value]

    def _ask(self, name: str, function: str, *args: Any) -> None:
        code = getattr(self.library, function)(*args)
        if code:
            fail("E0844", name=name, message=f"{function}: {self._words(code)}")

    def _words(self, code: int) -> str:
        return str((self.library.nvrtcGetErrorString(code) or b"").decode())


def nvrtc() -> Nvrtc:
    """The library: ATOLL_NVRTC, the wheel's, what is on the path of libraries, the toolkit's."""
    return _found(os.environ.get("ATOLL_NVRTC"))


@functools.cache
def _found(wanted: str | None) -> Nvrtc:
    tried = []
    for path in [wanted] if wanted else places("nvrtc", ("13", "12", "11.2")):
        try:
            return Nvrtc(ctypes.CDLL(path), path)
        except (OSError, AttributeError) as error:
            tried.append(str(error))
    reason = f"ATOLL_NVRTC names {wanted}, which cannot be used ({tried[0]})" if wanted else "the library NVRTC is not installed"
    fail("E0841", reason=reason)


def places(library: str, versions: tuple[str, ...]) -> list[str]:
    """Where a library of NVIDIA's may be; what wheels brought first."""
    name = f"lib{library}.so"
    spec = importlib.util.find_spec("nvidia")
    wheels = [p for folder in (spec.submodule_search_locations if spec is not None else None) or () for p in glob.glob(f"{folder}/*/lib*/{name}*")]
    toolkits = [p for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda") if home for p in glob.glob(f"{home}/lib64/{name}*")]
    return [*_newest_first(wheels), name, *(f"{name}.{v}" for v in versions), *_newest_first(toolkits)]


def _newest_first(paths: list[str]) -> list[str]:
    whole = [p for p in paths if "alt" not in os.path.basename(p)]
    return sorted(whole, key=lambda p: [int(x) for x in re.findall(r"\d+", os.path.basename(p))], reverse=True)


_FUNCTION = re.compile(r"Compiling entry function '(\w+)'")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


def _uses(log: str) -> dict[str, Use]:
    """Registers and spills of every kernel, as ptxas tells them."""
    found: dict[str, Use] = {}
    name, stack, spilled = "", 0, 0
    for line in log.splitlines():
        if (m := _FUNCTION.search(line)) is not None:
            name, stack, spilled = m[1], 0, 0
        elif (m := _SPILLS.search(line)) is not None:
            stack, spilled = int(m[1]), int(m[2])
        elif (m := _REGISTERS.search(line)) is not None and name:
            shared = _SHARED.search(line)
            found[name] = Use(int(m[1]), spilled, stack, int(shared[1]) if shared is not None else 0)
    return found


def cubin(kernels_text: str, arch: str, name: str) -> Compiled:
    """Kernels as machine code for one kind of GPU, compiled or found in the cache."""
    compiler = nvrtc()
    text = f'{HEAD}#line 1 "kernels.cu"\n{kernels_text}'
    number = int(arch.removeprefix("sm_"))
    if number not in compiler.archs:
        known = ", ".join(f"sm_{a}" for a in compiler.archs)
        fail("E0841", reason=f"NVRTC {compiler.version} ({compiler.path}) knows no {arch}, only {known}")

    def build(folder: Path) -> dict[str, Any]:
        image, log = compiler.compile(text, arch, name)
        (folder / "program.so").write_bytes(image)  # the cache's name for what is loaded
        (folder / "program.c").write_text(text)
        return {"kind": "kernels", "log": log}

    key = hashlib.sha256("\0".join(["kernels", text, arch, *OPTIONS, compiler.version, _identity(compiler.path)]).encode()).hexdigest()
    image, _, meta = cache.use(key, build, Path.read_bytes)
    return Compiled(image, _uses(meta["log"]))


def _identity(path: str) -> str:
    """Which file a library is: two builds may have one version."""
    try:
        known = os.stat(path)
        return f"{known.st_size}"
    except OSError:  # found by the loader under a bare name
        return ""
