"""Calling a program through ctypes: the way without Python's C headers. Slower by some microseconds, otherwise the same."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.runtime.library import runtime
from atoll.types.dtypes import DTYPES
from atoll.types.types import dtype_of

if TYPE_CHECKING:
    from atoll.runtime.program import Program


class _Arg(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("d", ctypes.c_double)]


class _Shown(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("ndim", ctypes.c_int),
        ("kind", ctypes.c_int),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("v", _Arg * 2),
    ]


class _Call(ctypes.Structure):
    pass


_Open = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Call), ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_int64))
NO_OPEN_RESULT = _Open()  # for programs whose results all have sizes that the caller knows
_Print = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Call), ctypes.c_int, ctypes.c_int, ctypes.POINTER(_Shown))
_Poll = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Call))
_Call._fields_ = [
    ("sizes", ctypes.POINTER(ctypes.c_int64)),
    ("inputs", ctypes.POINTER(ctypes.c_void_p)),
    ("out", ctypes.POINTER(ctypes.c_void_p)),
    ("host", ctypes.c_void_p),
    ("open_result", _Open),
    ("print", _Print),
    ("poll", _Poll),
    ("piece", ctypes.c_int64),
    ("site", ctypes.c_int),
    ("room", ctypes.c_int),
    ("args", ctypes.POINTER(_Arg)),
    ("polled", ctypes.c_double),
]


class _Kept(ctypes.Structure):
    _fields_ = [("error", ctypes.c_void_p * 3), ("failed", ctypes.c_int), ("print", _Print)]


class Host:
    """What programs ask of Python while they run, through ctypes: to print, and whether to stop. What that raises is kept until the program
    has stopped; the functions that are asked stand in runtime.c."""

    def __init__(self, show: Callable[[int, list[tuple[Any, ...]]], None]) -> None:
        self.show = show
        self.printer = _Print(self._print)
        library, python = runtime(), ctypes.pythonapi
        used = (python.PyGILState_Ensure, python.PyGILState_Release, python.PyErr_CheckSignals, python.PyErr_Fetch)
        library.atoll_use_python(*(ctypes.cast(f, ctypes.c_void_p) for f in used))
        self.print, self.poll = _Print(("atoll_print_python", library)), _Poll(("atoll_poll_python", library))

    def call(self, sizes: Any, inputs: Any, out: Any, open_result: Any, values: int) -> _Call:
        """A call that may show so many values."""
        kept = ctypes.pointer(_Kept(print=self.printer))
        call = _Call(sizes, inputs, out, ctypes.cast(kept, ctypes.c_void_p), open_result, self.print, self.poll, 0, 0, values, (_Arg * max(1, values))(), 0.0)
        call.kept = kept.contents
        return call

    def raise_kept(self, call: _Call) -> None:
        """Raise the error of a callback, if there was one."""
        if call.kept.failed:
            ctypes.pythonapi.PyErr_Restore(*(ctypes.c_void_p(e) for e in call.kept.error))

    def _print(self, call: Any, number: int, count: int, items: Any) -> None:
        try:
            self.show(number, [_item(items[k]) for k in range(count)])
        except BaseException as error:  # noqa: BLE001
            kept = ctypes.cast(call.contents.host, ctypes.POINTER(_Kept)).contents
            if not kept.failed:
                for k, part in enumerate((type(error), error, error.__traceback__)):
                    ctypes.pythonapi.Py_IncRef(ctypes.py_object(part))
                    kept.error[k] = id(part)
                kept.failed = 1


def _item(x: Any) -> tuple[Any, ...]:
    return (x.kind, x.v[0].i, x.v[0].d, x.v[1].d) if x.kind else (x.data or 0, tuple(x.dims[:x.ndim]))


class PlainCall:
    """Runs a program on converted leaves."""

    def __init__(self, program: Program, params: tuple[tuple[int, int], ...], results: tuple[tuple[int, int], ...], single: bool) -> None:
        self.program, self.params, self.results, self.single = program, params, results, single
        self.dtypes = [dtype_of(t).numpy for t in program.leaf_types]
        self.out_dtypes = [np.dtype(_by_number(n)) for n, _ in results]
        self.host = Host(program._show)

    def __call__(self, leaves: tuple[Any, ...]) -> Any:
        program = self.program
        arrays = [np.asarray(x, dtype) for x, dtype in zip(leaves, self.dtypes, strict=True)]
        pointers = (ctypes.c_void_p * max(1, len(arrays)))(*(a.ctypes.data for a in arrays))
        shape = [n for a, (_, axes) in zip(arrays, self.params, strict=True) if axes >= 0 for n in a.shape]
        c_shape = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        sizes = (ctypes.c_int64 * max(1, len(program.fn.sizes)))()
        dims = (ctypes.c_int64 * max(1, sum(max(0, axes) for _, axes in self.results)))()
        outs: list[Any] = [None] * len(self.results)
        out_pointers = (ctypes.c_void_p * max(1, len(outs)))()

        def open_result(_call: Any, k: int, ndim: int, extents: Any) -> int:
            try:
                outs[k] = np.empty([max(0, extents[j]) for j in range(ndim)], self.out_dtypes[k])
            except (MemoryError, ValueError):
                return 0
            return int(outs[k].ctypes.data)

        call = self.host.call(sizes, pointers, out_pointers, _Open(open_result), program.values)
        prepared = program.library.atoll_prepare(ctypes.byref(call), c_shape, sizes, dims)
        if prepared == 2:
            program._fail(-1, [])
        if prepared != 0:
            raise SystemError("atoll: sizes were accepted by the slow path only")
        d = 0
        for k, (_, axes) in enumerate(self.results):
            wanted = [dims[d + j] for j in range(max(0, axes))]
            d += max(0, axes)
            if all(n >= 0 for n in wanted):
                try:
                    outs[k] = np.empty(wanted, self.out_dtypes[k])
                except (MemoryError, ValueError):
                    program._fail(-1, [])
                out_pointers[k] = outs[k].ctypes.data
        status = program.library.atoll_entry(ctypes.byref(call))
        self.host.raise_kept(call)
        if status != 0:
            program._fail(status, [(call.args[k].i, call.args[k].d) for k in range(program.values)])
        values = [o[()] if axes < 0 else o for o, (_, axes) in zip(outs, self.results, strict=True)]
        return values[0] if self.single else tuple(values)


def _by_number(n: int) -> Any:
    return next(d.numpy for d in DTYPES.values() if d.numpy.num == n)
