"""A function on a device: built or found in the cache, loaded, and called.

The host part is C that asks the device's table for memory and launches (backends/cuda); it is the same for every device. Kernels are compiled for the device.
Arrays of NumPy are copied to the device and results from it; if any argument is on the device already, results stay there.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from atoll.core import ir
from atoll.core import values as v
from atoll.core.binding import bind_call
from atoll.core.fingerprint import fingerprint
from atoll.errors import Span, fail
from atoll.runtime.arguments import Donated, from_python, refuse_axes, to_python
from atoll.runtime.cache import cache
from atoll.runtime.cuda.arrays import DeviceArray, on_device
from atoll.runtime.cuda.devices import NO_ROOM, REFUSED, Device, Queue, device, helpers
from atoll.runtime.identity import build_key
from atoll.runtime.library import attach, device_path, load
from atoll.runtime.plain_call import NO_OPEN_RESULT, Host, _Call
from atoll.runtime.program import _nested, _readable, not_lifted, raise_site, site_from_json, site_to_json
from atoll.runtime.toolchain import compile_c
from atoll.sizes.describe import requirement
from atoll.types.types import Record, Tuple, dtype_of, flatten, shape_of
from atoll.uncollected import uncollected

Lifted = Callable[[tuple[Any, ...]], Callable[..., Any] | None]


_MOST = 64  # leaves, axes, sizes, values of a check, for the quick way
_TORCH_NAMES = {name: name for name in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool", "bfloat16")}


class _Request(ctypes.Structure):
    """`request` of native/device_call.c."""

    _fields_ = [
        ("call", _Call),
        ("entry", ctypes.c_void_p),
        ("queue", ctypes.POINTER(Queue)),
        ("inputs", ctypes.c_int),
        ("outputs", ctypes.c_int),
        ("given", ctypes.c_void_p),
        ("bytes", ctypes.c_void_p),
        ("axes", ctypes.c_void_p),
        ("widths", ctypes.c_void_p),
        ("dims", ctypes.c_void_p),
        ("in", ctypes.c_void_p),
        ("out", ctypes.c_void_p),
    ]


class DeviceProgram:
    """A core function on a device. `generate` makes its text: backends/cuda, unless a test brings its own."""

    _entry: Any = None  # the quick way, once there is one
    _queue: Queue

    def __init__(self, fn: ir.Function, arrange: Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]], target: str, lifted: Lifted = not_lifted, generate: Callable[[ir.Function], Any] | None = None) -> None:
        refuse_axes(fn)
        self.fn, self.arrange, self.lifted = fn, arrange, lifted
        self.target = target
        digest, spans = fingerprint(fn)
        key = build_key("device", digest, "" if generate is None else generate.__name__, optimise="2")
        self.library, self.path, meta = cache.use(key, lambda folder: _build(fn, spans, folder, generate), load)
        self.kernels_text: str = meta["kernels_text"]
        self.kernels: list[tuple[str, list[str]]] = [(name, types) for name, types in meta["kernels"]]
        self.sites = [site_from_json(s, spans) for s in meta["sites"]]
        self.values = max((len(kinds) for _, kinds in self.sites), default=0)
        attach(self.library)
        self.host = Host(self._show)
        self.leaf_dtypes = [dtype_of(shape_of(t)[1]).numpy for _, p in fn.params for _, t in flatten(p)]
        self.leaf_axes = [len(shape_of(t)[0]) for _, p in fn.params for _, t in flatten(p)]
        self.out_dtypes = [dtype_of(shape_of(t)[1]).numpy for _, t in flatten(fn.result)]
        self.out_axes = [len(shape_of(t)[0]) for _, t in flatten(fn.result)]
        self._spare: list[_Run] = []  # what calls need, kept from those that are done
        self._torch_told = False
        self.number = int(key[:16], 16) | 1  # by which devices know it

    @functools.cached_property
    def device(self) -> Device:
        """Looked for at the first call: a program can be made and read where it cannot run."""
        return device(self.target)

    @functools.cached_property
    def loaded(self) -> Any:
        return self.device.load(self.kernels_text, self.kernels, self.fn.name)

    def queue(self) -> Queue:
        """A queue for the kernels of this program."""
        made = self.device.queue(self.loaded)
        made.program = self.number
        return made

    @functools.cached_property
    def call(self) -> Callable[..., Any]:
        """What is called: C for arrays of the device and numbers (native/device_path.c), which leaves everything else to Python."""
        kinds = [(int(t.num), axes or -1, t.itemsize, t) for t, axes in zip(self.leaf_dtypes, self.leaf_axes, strict=True)]
        outs = [(int(t.num), axes, t.itemsize, t) for t, axes in zip(self.out_dtypes, self.out_axes, strict=True)]
        counts = (len(kinds), len(outs), sum(self.leaf_axes), sum(self.out_axes), len(self.fn.sizes), self.values)
        flat = [t for _, t in self.fn.params] + (list(self.fn.result.items) if isinstance(self.fn.result, Tuple) else [self.fn.result])
        module = device_path()
        if module is None or max(counts) > _MOST or any(isinstance(shape_of(t)[1], (Tuple, Record)) for t in flat):
            return self._called
        self._queue = self.queue()
        addresses = [ctypes.cast(f, ctypes.c_void_p).value for f in (self.library.atoll_prepare, self.library.atoll_device_entry, helpers().atoll_device_call)]
        single = not isinstance(self.fn.result, Tuple)
        self._entry = module.make(
            DeviceArray, self.device, *addresses, ctypes.addressof(self._queue), tuple(kinds), tuple(outs), single, self.values, self._called, self._failed
        )
        return self._entry  # type: ignore[no-any-return]

    def _failed(self, status: int, queue: int, values: list[tuple[int, float]]) -> None:
        self.fail_with(status, Queue.from_address(queue), values)

    def _tell_torch(self, torch: Any) -> None:
        """Let the quick way take tensors from now on."""
        self._torch_told = True
        module = device_path()
        if module is None or self._entry is None:
            return
        names = [_TORCH_NAMES.get(t.name) for t in self.leaf_dtypes]
        dtypes = tuple(getattr(torch, name) if name and t.kind != "c" else None for name, t in zip(names, self.leaf_dtypes, strict=True))
        module.torch(self._entry, torch.Tensor, dtypes, torch.device("cuda", self.device.number), torch._C._cuda_getCurrentRawStream, self.device.number)

    def _called(self, *args: Any, **keywords: Any) -> Any:
        given = self.arrange(args, keywords)
        other = None if self._ranks_fit(given) else self.lifted(given)
        if other is not None:
            return other(*given)
        leaves, stays = self._leaves(given)
        if stays and not self._torch_told and "torch" in sys.modules:
            self._tell_torch(sys.modules["torch"])
        results = self.run_leaves(leaves, stays)
        return to_python(self.fn.result, _nested(self.fn.result, iter(results)))

    def _ranks_fit(self, given: tuple[Any, ...]) -> bool:
        """True if every argument plainly has the declared number of axes, so that nothing is lifted."""
        plain = [len(shape_of(t)[0]) if not isinstance(shape_of(t)[1], (Tuple, Record)) else -1 for _, t in self.fn.params]
        return all(getattr(x, "ndim", 0 if isinstance(x, (int, float)) else -2) == axes for x, axes in zip(given, plain, strict=True))

    def _leaves(self, given: tuple[Any, ...]) -> tuple[list[Any], bool]:
        """The arguments, converted and checked, as NumPy's arrays and scalars and arrays of the device, and whether there is any of those."""
        standing: dict[int, tuple[Any, DeviceArray]] = {}
        shown = tuple(self._stand_in(sym.name, x, standing) for (sym, _), x in zip(self.fn.params, given, strict=True))
        try:
            values = from_python(self.fn, shown)
        except MemoryError:
            fail("E0713", name=self.fn.name)
        sizes = bind_call(self.fn, values)
        env = {**sizes, **{sym: int(x) for (sym, _), x in zip(self.fn.params, values, strict=True) if isinstance(x, np.integer)}}
        for need in self.fn.requires:
            if need.poly.evaluate(lambda atom: env[atom]) < 0:  # type: ignore[index]
                text = requirement(need.poly, lambda atom: env[atom])  # type: ignore[index]
                fail("E0709", name=self.fn.name, what=need.text, line=need.span.line, need=text)
        leaves = [standing[id(x)][1] if id(x) in standing else _readable(x) for value in values for x in v.leaves(value)]
        return leaves, bool(standing)

    def _stand_in(self, name: str, x: Any, standing: dict[int, tuple[Any, DeviceArray]]) -> Any:
        """An argument with arrays of a device replaced by arrays of the host of the same type and shape, whose elements all are one zero: for the checks."""
        if isinstance(x, Donated):
            x = x.value
        if isinstance(x, (tuple, list)):
            return type(x)(self._stand_in(name, item, standing) for item in x) if type(x) in (tuple, list) else x
        if hasattr(x, "__dataclass_fields__"):
            fields = {f: getattr(x, f) for f in x.__dataclass_fields__}
            replaced = {f: self._stand_in(f"{name}.{f}", item, standing) for f, item in fields.items()}
            return type(x)(**replaced) if any(fields[f] is not replaced[f] for f in fields) else x
        found = on_device(x, self.fn.name, name)
        if found is None:
            return x
        if found.device is not self.device:
            what = f"{name} is on {found.target}, and the program on {self.device.target}"
            fail("E0845", name=self.fn.name, what=what, remedy=f'copy it: at.DeviceArray(np.asarray({name}), "{self.device.target}")')
        if not found.shape:  # a number that is on the device: it is part of the call
            return found.numpy()[()]
        zero = np.lib.stride_tricks.as_strided(np.zeros(1, found.dtype), found.shape, (0,) * found.ndim, writeable=False)
        standing[id(zero)] = (zero, found)
        return zero

    def run_leaves(self, leaves: list[Any], stays: bool) -> list[Any]:
        """The leaves of the result: arrays of the device if they stay there, else NumPy's."""
        run = self._spare.pop() if self._spare else _Run(self)
        try:
            return run(leaves, stays)
        finally:
            self._spare.append(run)

    def fail_with(self, status: int, queue: Queue, values: list[tuple[int, float]]) -> None:
        if status in (NO_ROOM, REFUSED):
            self.device.refuse(queue, status, self.fn.name)
        if status == -1:
            fail("E0713", name=self.fn.name)
        if status == -2:
            raise KeyboardInterrupt
        site, kinds = self.sites[status - 1]
        raise_site(site, [float(d) if kind == "d" else i for kind, (i, d) in zip(kinds, values, strict=False)])

    def _show(self, number: int, items: list[tuple[Any, ...]]) -> None:
        raise AssertionError("programs on devices print nothing")


class _Run:
    """What a call needs in C, one call at a time."""

    def __init__(self, program: DeviceProgram) -> None:
        self.program = program
        count, outs = len(program.leaf_axes), len(program.out_axes)
        self.queue = program.queue()
        self.given, self.inputs = (ctypes.c_void_p * (count + 1))(), (ctypes.c_void_p * (count + 1))()
        self.bytes = (ctypes.c_int64 * (count + 1))()
        self.out = (ctypes.c_void_p * (outs + 1))()
        self.axes, self.widths = (ctypes.c_int64 * (outs + 1))(*program.out_axes), (ctypes.c_int64 * (outs + 1))(*(d.itemsize for d in program.out_dtypes))
        self.shape = (ctypes.c_int64 * (sum(program.leaf_axes) + 1))()
        self.sizes = (ctypes.c_int64 * (len(program.fn.sizes) + 1))()
        self.dims = (ctypes.c_int64 * (sum(program.out_axes) + 1))()
        self.scalars = [None if axes else np.zeros((), dtype) for axes, dtype in zip(program.leaf_axes, program.leaf_dtypes, strict=True)]
        self.call = program.host.call(self.sizes, self.inputs, self.out, NO_OPEN_RESULT, program.values)
        entry = ctypes.cast(program.library.atoll_device_entry, ctypes.c_void_p).value
        places = (ctypes.addressof(x) for x in (self.given, self.bytes, self.axes, self.widths, self.dims, self.inputs, self.out))
        self.request = _Request(self.call, entry, ctypes.pointer(self.queue), count, outs, *places)
        self.address = ctypes.addressof(self.request)

    def __call__(self, leaves: list[Any], stays: bool) -> list[Any]:
        program, queue = self.program, self.queue
        self._fill(leaves)
        call = self.request.call
        prepared = program.library.atoll_prepare(ctypes.byref(call), self.shape, self.sizes, self.dims)
        if prepared == 2:
            fail("E0713", name=program.fn.name)
        if prepared:
            raise SystemError("atoll: sizes were accepted by the slow path only")
        self.call.kept.failed, queue.error = 0, 0
        status = helpers().atoll_device_call(self.address)
        program.host.raise_kept(self.call)
        if status:
            program.fail_with(status, queue, [(call.args[k].i, call.args[k].d) for k in range(program.values)])
        results = self._results()
        if not stays:
            return [x.numpy() if x.ndim else x.numpy()[()] for x in results]
        if any(isinstance(x, DeviceArray) and x._foreign for x in leaves):
            program.device.sync()
        return results

    def _fill(self, leaves: list[Any]) -> None:
        """Addresses and extents of the arguments."""
        place = 0
        for k, (x, axes, scalar) in enumerate(zip(leaves, self.program.leaf_axes, self.scalars, strict=True)):
            self.bytes[k] = -1
            if isinstance(x, DeviceArray):
                self.given[k] = x.pointer
            elif scalar is not None:
                scalar[()] = x
                self.given[k] = self.inputs[k] = scalar.ctypes.data  # sizes may depend on it
            else:
                self.given[k], self.bytes[k] = x.ctypes.data, x.nbytes
            if axes:
                for n in x.shape:
                    self.shape[place] = n
                    place += 1

    def _results(self) -> list[DeviceArray]:
        made, dims = [], iter(self.dims)
        for k, (axes, dtype) in enumerate(zip(self.program.out_axes, self.program.out_dtypes, strict=True)):
            made.append(DeviceArray._of(self.program.device, tuple(itertools.islice(dims, axes)), dtype, self.out[k] or 0))
        return made


@uncollected
def _build(fn: ir.Function, spans: list[Span], folder: Path, generate: Callable[[ir.Function], Any] | None) -> dict[str, Any]:
    """Compile the host part into a folder; returns what must be remembered, the text of the kernels with it."""
    generated = (generate or importlib.import_module("atoll.backends.cuda.generate").generate)(fn)
    source = folder / "program.c"
    source.write_text(generated.host_text)
    compile_c(source, folder / "program.so", "2")
    number = {id(span): k for k, span in reversed(list(enumerate(spans)))}
    return {
        "kind": "program",
        "name": fn.name,
        "kernels_text": generated.kernels_text,
        "kernels": [[name, list(types)] for name, types in generated.kernels],
        "sites": [site_to_json(site, kind, number) for site, kind in zip(generated.sites, generated.kinds, strict=True)],
    }

