"""Calling a program through ctypes: the way without Python's C headers. Slower by some microseconds, otherwise the same."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

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
        ("dims", ctypes.c_int64 * 8),
        ("v", _Arg * 2),
    ]


class _Call(ctypes.Structure):
    pass


_Open = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Call), ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_int64))
_Print = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Call), ctypes.c_int, ctypes.c_int, ctypes.POINTER(_Shown))
_Call._fields_ = [
    ("sizes", ctypes.POINTER(ctypes.c_int64)),
    ("inputs", ctypes.POINTER(ctypes.c_void_p)),
    ("out", ctypes.POINTER(ctypes.c_void_p)),
    ("host", ctypes.c_void_p),
    ("open_result", _Open),
    ("print", _Print),
    ("poll", ctypes.c_void_p),
    ("piece", ctypes.c_int64),
    ("site", ctypes.c_int),
    ("args", _Arg * 8),
    ("polled", ctypes.c_double),
]


class PlainCall:
    """Runs a program on converted leaves."""

    def __init__(self, program: Program, params: tuple[tuple[int, int], ...], results: tuple[tuple[int, int], ...], single: bool) -> None:
        self.program, self.params, self.results, self.single = program, params, results, single
        self.dtypes = [dtype_of(t).numpy for t in program.leaf_types]
        self.out_dtypes = [np.dtype(_by_number(n)) for n, _ in results]

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

        def show(_call: Any, number: int, count: int, items: Any) -> None:
            given: list[tuple[Any, ...]] = []
            for k in range(count):
                x = items[k]
                if x.data:
                    given.append((x.data, tuple(x.dims[j] for j in range(x.ndim))))
                else:
                    given.append((x.kind, x.v[0].i, x.v[0].d, x.v[1].d))
            program._show(number, given)

        call = _Call(sizes, pointers, out_pointers, None, _Open(open_result), _Print(show), None, 0, 0)
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
        if status != 0:
            program._fail(status, [(a.i, a.d) for a in call.args])
        values = [o[()] if axes < 0 else o for o, (_, axes) in zip(outs, self.results, strict=True)]
        return values[0] if self.single else tuple(values)


def _by_number(n: int) -> Any:
    from atoll.types.dtypes import DTYPES

    return next(d.numpy for d in DTYPES.values() if d.numpy.num == n)
