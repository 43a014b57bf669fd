"""Kernels on the CPU, for machines without a GPU: the same text, compiled as C++ behind native/cuda_on_cpu.h. For tests: it is slow, and it looks for mistakes."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any, NoReturn

from atoll.errors import fail
from atoll.runtime.cache import cache
from atoll.runtime.cuda.devices import EMULATED, NATIVE, NO_ROOM, Device, Queue
from atoll.runtime.identity import text_key
from atoll.runtime.library import load
from atoll.runtime.toolchain import Compiler, compiler, patience, run_compiler

_FLAGS = ["-x", "c++", "-std=gnu++17", "-O1", "-fPIC", "-shared", "-fwrapv", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing", "-fno-threadsafe-statics", "-U_FORTIFY_SOURCE", "-w"]


def text(kernels_text: str, kernels: list[tuple[str, list[str]]]) -> str:
    """The C++ file of kernels: how each is called with the addresses of its arguments, and the table."""
    parts = [(NATIVE / "cuda_on_cpu.h").read_text(), f'#line 1 "kernels.cu"\n{kernels_text}', '#line 1 "table"', (NATIVE / "device.h").read_text()]
    for k, (name, types) in enumerate(kernels):
        args = ", ".join(f"*({t} *)a[{j}]" for j, t in enumerate(types))
        parts.append(f"static void at_run_{k}(void **a) {{ {name}({args}); }}")
    entries = ", ".join(f"(void *)at_run_{k}" for k in range(len(kernels)))
    names = ", ".join(f'"{name}"' for name, _ in kernels)
    parts.append(f"static void *const at_kernel_table[] = {{{entries or '0'}}};\nstatic const char *const at_kernel_names[] = {{{names or '0'}}};")
    sizes = ", ".join(f"at_sizes_{k}" for k in range(len(kernels)))
    parts += [f"static const int at_sizes_{k}[] = {{{''.join(f'(int)sizeof({t}), ' for t in types)}0}};" for k, (_, types) in enumerate(kernels)]
    parts.append(f"static const int *const at_argument_sizes[] = {{{sizes or '0'}}};")
    parts += [(NATIVE / name).read_text() for name in ("device_states.h", "device_records.h", "cuda_on_cpu_table.h")]
    return "\n".join(parts)


def compiled(kernels_text: str, kernels: list[tuple[str, list[str]]]) -> ctypes.CDLL:
    """The library of kernels, built or found in the cache."""
    cc, whole = compiler(), text(kernels_text, kernels)

    def build(folder: Path) -> dict[str, Any]:
        source, made = folder / "program.c", folder / "program.so"
        source.write_text(whole)
        run_compiler(cc, [*cc.command, *_flags(cc), "-o", str(made), str(source), "-lm", "-lpthread"], made, patience())
        return {"kind": "emulated kernels"}

    return cache.use(text_key("emulated", whole, *_flags(cc)), build, load)[0]


def _flags(cc: Compiler) -> list[str]:
    """What the C++ compiler is called with; fma is one instruction, as on a GPU. zig's linker drops the section of shared memory, whose ends are asked for."""
    return [*_FLAGS, *(["-march=native"] if cc.kind != "zig" else ["-Wl,--no-gc-sections"])]


class Emulated(Device):
    """The CPU as a device. Its memory is this process's; ATOLL_EMULATED_MEMORY bounds it, ATOLL_EMULATED_ORDER is the order of threads and blocks."""

    name = "the CPU, emulating a GPU"
    target = EMULATED
    dlpack_type = 1

    @functools.cached_property
    def _base(self) -> ctypes.CDLL:
        return compiled("", [])

    def queue(self, kernels: Any = None) -> Queue:
        made = Queue()
        self._base.atoll_emulated(ctypes.byref(made))
        if kernels is not None:  # kernels are run by their own library, memory is everybody's
            own = Queue()
            kernels.atoll_emulated(ctypes.byref(own))
            made.launch, made.kernels = own.launch, own.kernels
        return made

    def load(self, kernels_text: str, kernels: list[tuple[str, list[str]]], name: str) -> Any:
        return compiled(kernels_text, kernels)

    def refuse(self, queue: Queue, status: int, name: str) -> NoReturn:
        if status == NO_ROOM:
            fail("E0843", name=name, target=EMULATED, room="ATOLL_EMULATED_MEMORY says how much it has")
        fail("E0842", target=EMULATED, doing=f"to run a kernel of {name}", said=(queue.doing or b"").decode(errors="replace"), remedy="this is a bug in Atoll; please report it with the program")
