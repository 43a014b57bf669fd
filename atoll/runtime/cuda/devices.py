"""Devices by the name of a target: "cuda", "cuda:1", and "cuda-emulated", which runs kernels on the CPU and is for tests; nobody gets it without asking.

Every device is a table of C functions (native/device.h): a GPU's through the driver, the emulated one's through fibers. What Python does with a device is said
once here, in terms of that table.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from atoll.errors import fail
from atoll.runtime.cache import cache
from atoll.runtime.cuda.nvrtc import cubin, places
from atoll.runtime.identity import text_key
from atoll.runtime.library import load
from atoll.runtime.toolchain import compile_c

NATIVE = Path(__file__).parents[1] / "native"
NO_ROOM, REFUSED = -4, -3
EMULATED = "cuda-emulated"
LEGACY_STREAM = 1  # as DLPack and __cuda_array_interface__ write the stream that everything is on
_STICKY = (700, 702, 710, 714, 715, 716, 717, 718, 719)  # after these nothing works in the process any more
_FORM = re.compile(r"cuda(?::([0-9]{1,3}))?")


class Queue(ctypes.Structure):
    """`at_queue` of native/device.h."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("alloc", "release", "to_device", "to_host", "copy", "fill", "launch", "sync", "enter", "leave", "lend", "take_back")),
        ("kernels", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
        ("error", ctypes.c_int),
        ("doing", ctypes.c_char_p),
        ("device", ctypes.c_int),
        ("program", ctypes.c_uint64),
        *((name, ctypes.c_void_p) for name in ("product", "record", "recorded", "recording", "tape")),
        ("launches", ctypes.c_int64),
    ]


@functools.cache
def helpers() -> ctypes.CDLL:
    """What is done in C for every device: calls of programs, copies, DLPack's capsules."""
    library = _built("device_call.c")
    python = ctypes.pythonapi
    used = (
        python.PyGILState_Ensure,
        python.PyGILState_Release,
        python.Py_IncRef,
        python.Py_DecRef,
        python.PyCapsule_New,
        python.PyCapsule_IsValid,
        python.PyCapsule_GetPointer,
    )
    library.atoll_device_python((ctypes.c_void_p * len(used))(*(ctypes.cast(f, ctypes.c_void_p).value for f in used)))
    library.atoll_device_alloc.argtypes = [ctypes.POINTER(Queue), ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p)]
    library.atoll_device_release.argtypes = [ctypes.POINTER(Queue), ctypes.c_void_p]
    library.atoll_device_copy.argtypes = [ctypes.POINTER(Queue), ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int]
    library.atoll_device_sync.argtypes = [ctypes.POINTER(Queue)]
    library.atoll_device_call.argtypes = [ctypes.c_void_p]
    return library


def _built(source: str) -> ctypes.CDLL:
    """A C file of ours, compiled once."""

    def build(folder: Path) -> dict[str, Any]:
        compile_c(NATIVE / source, folder / "program.so", "2", [f"-I{NATIVE}", "-ldl"])
        return {"kind": source}

    texts = [(NATIVE / name).read_text() for name in (source, "device.h", "device_states.h", "device_records.h", "abi.h", "cuda_products.h")]
    return cache.use(text_key(*texts, optimise="2"), build, load)[0]


class Device:
    """Where programs run and arrays live."""

    name: str
    target: str
    number = 0
    dlpack_type: int

    def queue(self, kernels: Any = None) -> Queue:
        """A queue for the kernels of a program."""
        raise NotImplementedError

    def load(self, kernels_text: str, kernels: list[tuple[str, list[str]]], name: str) -> Any:
        """The kernels of a program, ready to be launched."""
        raise NotImplementedError

    def refuse(self, queue: Queue, status: int, name: str) -> NoReturn:
        """Raise what a status of the table means."""
        raise NotImplementedError

    @functools.cached_property
    def plain(self) -> Queue:
        """A queue for copies."""
        return self.queue()

    def _fresh(self) -> Queue:
        """A queue of one use: threads do not share what went wrong."""
        made = Queue()
        ctypes.pointer(made)[0] = self.plain
        return made

    def alloc(self, count: int, name: str) -> int:
        """Bytes on the device."""
        found, queue = ctypes.c_void_p(), self._fresh()
        status = helpers().atoll_device_alloc(queue, count, ctypes.byref(found))
        if status:
            self.refuse(queue, status, name)
        return found.value or 0

    def release(self, pointer: int) -> None:
        """Give bytes back once what is in the queue is done."""
        helpers().atoll_device_release(self._fresh(), pointer)

    def copy(self, target: int, source: int, count: int, way: int, name: str) -> None:
        """Bytes to the device (way 0), from it (1; waits) or within it (2)."""
        queue = self._fresh()
        status = helpers().atoll_device_copy(queue, target, source, count, way)
        if status:
            self.refuse(queue, status, name)

    def sync(self) -> None:
        """Wait for everything."""
        queue = self._fresh()
        status = helpers().atoll_device_sync(queue)
        if status:
            self.refuse(queue, status, "at.DeviceArray")

    def order(self, waits: int, for_: int) -> None:
        """What is put on one stream from now on comes after what another has."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a GPU is."""

    name: str
    major: int
    minor: int
    processors: int
    pools: bool
    memory: int
    driver: int  # 13000: CUDA 13.0

    @property
    def arch(self) -> str:
        return f"sm_{self.major}{self.minor}"


@functools.cache
def _found_driver(path: str) -> tuple[ctypes.CDLL, str]:
    """The driver, and why it cannot be used ("": it can)."""
    library = _built("cuda_driver.c")
    library.atoll_cuda_queue.argtypes = [ctypes.POINTER(Queue), ctypes.c_int, ctypes.c_void_p]
    library.atoll_cuda_queue.restype = None
    library.atoll_cuda_load.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
    library.atoll_cuda_wait.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    reason = ctypes.create_string_buffer(512)
    code = library.atoll_cuda_find(os.fsencode(path), reason, len(reason))
    if code < 0:
        text = reason.value.decode(errors="replace")
        return library, f"there is no driver of NVIDIA's here ({text})" if "has no" not in text else text
    return library, _words(library, code) if code else ""


def _words(library: ctypes.CDLL, code: int) -> str:
    text = ctypes.create_string_buffer(512)
    library.atoll_cuda_words(code, text, len(text))
    return text.value.decode(errors="replace")


def driver(target: str = "cuda") -> ctypes.CDLL:
    """The driver, or an error that says why there is none."""
    library, reason = _found_driver(os.environ.get("ATOLL_CUDA_DRIVER") or "libcuda.so.1")
    if reason:
        fail("E0840", target=target, reason=reason)
    return library


def gpus() -> list[Facts]:
    """The GPUs of this machine."""
    library = driver()
    count, version = ctypes.c_int(), ctypes.c_int()
    code = library.atoll_cuda_count(ctypes.byref(count), ctypes.byref(version))
    if code:
        fail("E0840", target="cuda", reason=_words(library, code))
    found = []
    for k in range(count.value):
        name, facts = ctypes.create_string_buffer(256), (ctypes.c_int64 * 5)()
        code = library.atoll_cuda_describe(k, name, len(name), facts)
        if code:
            fail("E0840", target=f"cuda:{k}", reason=_words(library, code))
        found.append(Facts(name.value.decode(errors="replace"), facts[0], facts[1], facts[2], bool(facts[3]), facts[4], version.value))
    return found


class Gpu(Device):
    """One of NVIDIA's."""

    dlpack_type = 2

    def __init__(self, number: int) -> None:
        self.number = number
        self.target = f"cuda:{number}"
        self.library = driver(self.target)
        found = gpus()
        if number >= len(found):
            there = "there is no GPU" if not found else f"there is {'only cuda:0' if len(found) == 1 else f'cuda:0 to cuda:{len(found) - 1}'}"
            fail("E0840", target=self.target, reason=there)
        self.facts = found[number]
        self.name = self.facts.name
        if not self.facts.pools:
            fail("E0840", target=self.target, reason=f"{self.name} has no pools of memory, which programs take theirs from")
        code = self.library.atoll_cuda_open(number)
        if code:
            fail("E0840", target=self.target, reason=_words(self.library, code))
        self.library.atoll_cuda_products("\n".join(products()).encode())
        self._process = os.getpid()

    def queue(self, kernels: Any = None) -> Queue:
        if os.getpid() != self._process:
            fail("E0840", target=self.target, reason="this process was forked from one that used the GPU, which CUDA does not allow; use multiprocessing's 'spawn'")
        made = Queue()
        self.library.atoll_cuda_queue(made, self.number, ctypes.cast(kernels, ctypes.c_void_p) if kernels is not None else None)
        return made

    def load(self, kernels_text: str, kernels: list[tuple[str, list[str]]], name: str) -> Any:
        found = (ctypes.c_void_p * max(1, len(kernels)))()
        if not kernels:
            return found
        image = cubin(kernels_text, self.facts.arch, name).image
        names = b"".join(k.encode() + b"\0" for k, _ in kernels)
        code = self.library.atoll_cuda_load(self.number, image, names, len(kernels), found)
        if code:
            self._refused(code, "to load kernels")
        return found

    def refuse(self, queue: Queue, status: int, name: str) -> NoReturn:
        if status == NO_ROOM:
            room = (ctypes.c_int64 * 2)()
            self.library.atoll_cuda_memory(self.number, room)
            fail("E0843", name=name, target=f"{self.target} ({self.name})", room=f"{room[0] / 1e9:.1f} of {room[1] / 1e9:.1f} GB are free")
        self._refused(queue.error, (queue.doing or b"").decode())

    def _refused(self, code: int, doing: str) -> NoReturn:
        remedy = "start the process anew: after this nothing works on the device" if code in _STICKY else "see what else uses the device: nvidia-smi"
        fail("E0842", target=f"{self.target} ({self.name})", doing=doing, said=_words(self.library, code), remedy=remedy)

    def order(self, waits: int, for_: int) -> None:
        code = self.library.atoll_cuda_wait(self.number, None if waits == LEGACY_STREAM else waits, None if for_ == LEGACY_STREAM else for_)
        if code:
            self._refused(code, "to wait for a stream")

    def resources(self, kernels: Any, count: int) -> list[tuple[int, int]]:
        """Registers and bytes of local memory of each kernel."""
        found, facts = [], (ctypes.c_int * 2)()
        for k in range(count):
            code = self.library.atoll_cuda_kernel(ctypes.c_void_p(kernels[k]), facts)
            if code:
                self._refused(code, "to describe a kernel")
            found.append((facts[0], facts[1]))
        return found


def products() -> list[str]:
    """Where cuBLAS may be; ATOLL_CUBLAS names a file, or "none"."""
    wanted = os.environ.get("ATOLL_CUBLAS")
    if wanted:
        return [] if wanted == "none" else [wanted]
    return [p for p in places("cublas", ("13", "12")) if "\n" not in p]


_lock = threading.Lock()
_devices: dict[str, Device] = {}


def device(target: str) -> Device:
    """The device of a target."""
    if target == "cuda":
        target = "cuda:0"
    with _lock:
        if target not in _devices:
            form = _FORM.fullmatch(target)
            if target == EMULATED:
                from atoll.runtime.cuda.emulated import Emulated

                _devices[target] = Emulated()
            elif form is not None and form[1]:
                _devices[target] = Gpu(int(form[1]))
            else:
                fail("E0840", target=repr(target), reason='a device is called "cuda", or "cuda:1" for the second one')
        return _devices[target]
