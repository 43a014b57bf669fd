"""`at.DeviceArray`: an array that stays on a device. Other libraries' arrays are taken, and these given, without copies: by DLPack or `__cuda_array_interface__`."""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import all_plain, plain
from atoll.runtime.arguments import as_array
from atoll.runtime.cuda.devices import EMULATED, LEGACY_STREAM, Device, device, helpers
from atoll.types.dtypes import BF16, DTYPES, F16, by_numpy

_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # DLPack's for the kinds of NumPy's types
_BFLOAT = 4
_CUDA, _MANAGED = 2, 13  # DLPack's kinds of devices


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


@functools.cache
def _capsule() -> Any:
    """What makes DLPack's capsules; it calls Python, so it keeps the interpreter's lock."""
    make = ctypes.PyDLL(helpers()._name).atoll_device_capsule
    make.restype, make.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p, *[ctypes.c_int] * 5, ctypes.c_void_p]
    return make


@all_plain
class DeviceArray:
    """An array on a device: `shape`, `dtype`, `device`; `np.asarray(x)` copies it to the host; `free()` gives its memory back before the garbage collector does.

    `at.DeviceArray(x)` puts a NumPy array on the GPU, or takes an array that is on it as it is."""

    __slots__ = ("device", "shape", "dtype", "pointer", "_owner", "_foreign", "__weakref__")

    @plain
    def __init__(self, x: Any, target: str = "cuda") -> None:
        if isinstance(x, DeviceArray):
            self._set(x.device, x.shape, x.dtype, x._usable(), x, False)
            return
        found = on_device(x, "at.DeviceArray", "x")
        if found is not None:
            self._set(found.device, found.shape, found.dtype, found.pointer, found, found._foreign)
            return
        if not isinstance(target, str):
            fail("E0845", name="at.DeviceArray", what=f"target is a text, not {kind_of(target)}", remedy='write at.DeviceArray(x, "cuda")')

        value = np.ascontiguousarray(as_array("at.DeviceArray", "x", x)).reshape(np.shape(x))
        if by_numpy(value.dtype) is None:
            fail("E0845", name="at.DeviceArray", what=f"there are no arrays of {value.dtype} here", remedy="convert it: x.astype(np.float64)")
        where = device(target)
        self._set(where, value.shape, value.dtype, where.alloc(value.nbytes, "at.DeviceArray"), None, False)
        where.copy(self.pointer, value.ctypes.data, value.nbytes, 0, "at.DeviceArray")

    def _set(self, where: Device, shape: tuple[int, ...], dtype: Any, pointer: int, owner: Any, foreign: bool) -> None:
        self.device, self.shape, self.dtype, self.pointer = where, shape, dtype, pointer
        self._owner = owner  # whose memory it is; None: its own
        self._foreign = foreign  # it belongs to a library that must not have it back before we are done

    @classmethod
    def _of(cls, where: Device, shape: tuple[int, ...], dtype: Any, pointer: int, owner: Any = None, foreign: bool = False) -> DeviceArray:
        made = cls.__new__(cls)
        made._set(where, shape, dtype, pointer, owner, foreign)
        return made

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * int(self.dtype.itemsize)

    @property
    def target(self) -> str:
        """The target it is on: "cuda:0"."""
        return self.device.target

    def __len__(self) -> int:
        if not self.shape:
            fail("E0845", name="len", what="an array without axes has no length", remedy="use float(x) or x.item()")
        return self.shape[0]

    def numpy(self) -> Any:
        """A copy on the host; waits until it is computed."""
        made = np.empty(self.shape, self.dtype)
        self.device.copy(made.ctypes.data, self._usable(), made.nbytes, 1, "at.DeviceArray")
        return made

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            fail("E0845", name="np.asarray", what="an array on a device is only copied to the host", remedy="leave copy=False out")
        made = self.numpy()
        return made if dtype is None else made.astype(dtype, copy=False)

    def item(self) -> Any:
        """The only element, as Python's number."""
        return self.numpy().item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        found = self.item()
        if not isinstance(found, int):
            fail("E0845", name="index", what=f"an array of {self.dtype} is no index", remedy="use int(x)")
        return found

    def __bool__(self) -> bool:
        return bool(self.item())

    def wait(self) -> DeviceArray:
        """Itself, once it is computed."""
        self._usable()
        self.device.sync()
        return self

    def free(self) -> None:
        """Give the memory back now. The array cannot be used afterwards."""
        if self._owner is None and self.pointer:
            self.device.release(self.pointer)
        self.pointer, self._owner = 0, self

    def __del__(self) -> None:
        try:
            if self._owner is None and self.pointer:
                self.device.release(self.pointer)
        except Exception:  # noqa: BLE001  at the end of the process nothing is left to give it back to, and no module either
            pass

    def _usable(self) -> int:
        if self._owner is self:
            fail("E0845", name="at.DeviceArray", what="this array was freed", remedy="free an array after its last use, or leave it to Python")
        return self.pointer

    def __repr__(self) -> str:
        if self._owner is self:
            return "DeviceArray(freed)"
        return f"DeviceArray({np.array2string(self.numpy(), separator=', ', prefix='DeviceArray(')}, dtype={self.dtype}, target={self.target!r})"

    # -- other libraries

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device.dlpack_type != _CUDA:
            raise AttributeError(f"an array on {EMULATED} is no array of CUDA")
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self._usable(), False), "version": 3, "strides": None, "stream": LEGACY_STREAM}

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device.dlpack_type, self.device.number

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        if (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()) or copy:
            raise BufferError("an array on a device is given as it is, where it is")
        if stream is not None and stream not in (-1, 0, LEGACY_STREAM) and self.device.dlpack_type == _CUDA:
            self.device.order(int(stream), LEGACY_STREAM)
        known = by_numpy(self.dtype)
        code = _BFLOAT if known is not None and known.name == "bf16" else _CODES[self.dtype.kind]
        shape = (ctypes.c_int64 * max(1, self.ndim))(*self.shape)
        return _capsule()(self, self._usable() or None, self.device.dlpack_type, self.device.number, code, 8 * self.dtype.itemsize, self.ndim, shape)


def on_device(x: Any, fn: str, name: str) -> DeviceArray | None:
    """An array of any library that is on a GPU, as one of ours in the same memory; None for everything else."""
    if isinstance(x, DeviceArray):
        x._usable()
        return x
    where = type(x).__module__.partition(".")[0]
    if where in ("numpy", "builtins"):
        return None
    if where == "torch" and getattr(getattr(x, "device", None), "type", "") == "cuda":
        return _of_torch(x, fn, name)
    ask: Callable[..., Any] | None = getattr(x, "__dlpack_device__", None)
    if ask is not None:
        try:
            kind, number = ask()
        except Exception:  # noqa: BLE001  whatever it raises, it is not on a GPU
            return None
        return _of_dlpack(x, int(number), fn, name) if int(kind) in (_CUDA, _MANAGED) else None
    found = getattr(x, "__cuda_array_interface__", None)
    return None if found is None else _of_interface(x, found, fn, name)


def _of_torch(x: Any, fn: str, name: str) -> DeviceArray:
    """A tensor on torch's usual stream: its address is all that is needed, because we are on the same stream."""
    torch = sys.modules["torch"]
    if x.requires_grad:
        fail("E0845", name=fn, what=f"{name} is part of a graph of torch", remedy=f"pass {name}.detach()")
    if x.is_conj() or x.is_neg() or x.layout is not torch.strided:
        fail("E0845", name=fn, what=f"{name} is not stored as its elements", remedy=f"pass {name}.resolve_conj().resolve_neg().to_dense()")
    number = x.device.index or 0
    if torch.cuda.current_stream(number).cuda_stream != 0:
        return _of_dlpack(x, number, fn, name)
    dtype = _TORCH.get(str(x.dtype).removeprefix("torch."))
    if dtype is None:
        fail("E0845", name=fn, what=f"{name} is an array of {x.dtype}, which is no type here", remedy=f"convert it: {name}.float()")
    if not x.is_contiguous():
        _scattered(fn, name, "contiguous")
    return DeviceArray._of(device(f"cuda:{number}"), tuple(x.shape), dtype.numpy, x.data_ptr(), x)


_ALL = (*DTYPES.values(), F16, BF16)
_TORCH = {d.numpy_name: d for d in _ALL}


def _of_dlpack(x: Any, number: int, fn: str, name: str) -> DeviceArray:
    try:
        capsule = x.__dlpack__(stream=LEGACY_STREAM)
        address = _pointer(capsule, b"dltensor")
    except Exception as error:  # noqa: BLE001  it belongs to another library
        fail("E0845", name=fn, what=f"{name} is not given by {type(x).__module__.partition('.')[0]}: {error}", remedy="copy it to the host: np.asarray(...)")
    t = _Tensor.from_address(address)
    shape = tuple(t.shape[: t.ndim])
    if t.strides and any(n > 1 and s != w for n, s, w in zip(shape, t.strides[: t.ndim], _steps(shape), strict=True)) and math.prod(shape):
        _scattered(fn, name, "copy")
    kinds = [d for d in _ALL if (t.code, t.bits, t.lanes) == (_BFLOAT if d.name == "bf16" else _CODES.get("f" if d.kind == "h" else d.kind), 8 * d.size, 1)]
    if not kinds:
        fail("E0845", name=fn, what=f"{name} is an array of a type that is none here", remedy="convert it to one of NumPy's numbers")
    return DeviceArray._of(device(f"cuda:{number}"), shape, kinds[0].numpy, (t.data or 0) + t.offset, (x, capsule), True)


def _of_interface(x: Any, found: dict[str, Any], fn: str, name: str) -> DeviceArray:
    """An array that says where it is, and which stream computes it."""
    shape, dtype = tuple(found["shape"]), np.dtype(found["typestr"])
    if by_numpy(dtype) is None:
        fail("E0845", name=fn, what=f"{name} is an array of {dtype}, which is no type here", remedy="convert it to one of NumPy's numbers")
    strides = found.get("strides")
    if strides is not None and tuple(strides) != tuple(s * dtype.itemsize for s in _steps(shape)) and math.prod(shape):
        _scattered(fn, name, "copy")
    where = device("cuda")
    stream = found.get("stream")
    if stream not in (None, 0, LEGACY_STREAM):
        where.order(LEGACY_STREAM, int(stream))
    return DeviceArray._of(where, shape, dtype, int(found["data"][0] or 0), x, stream not in (None, 0, LEGACY_STREAM))


def _steps(shape: tuple[int, ...]) -> list[int]:
    """Elements between neighbours along each axis of an array whose rows are one after the other."""
    return [math.prod(shape[k + 1 :]) for k in range(len(shape))]


def _scattered(fn: str, name: str, method: str) -> NoReturn:
    fail("E0845", name=fn, what=f"the rows of {name} are not one after the other in memory", remedy=f"copy it: {name}.{method}()")
