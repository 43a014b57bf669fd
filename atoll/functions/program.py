"""A compiled λANF program: built or found in the cache, loaded, and called with Python objects."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.core import ir as core
from atoll.core.binding import bind_call
from atoll.core.fingerprint import fingerprint
from atoll.core.rewrite import called, walk
from atoll.errors import fail
from atoll.functions import ir
from atoll.functions.exchange import Tables
from atoll.functions.from_core import Translator
from atoll.functions.native_text import generate
from atoll.functions.pipeline import SELECTIONS, Selection, compile_away
from atoll.runtime.arguments import refuse_axes
from atoll.runtime.cache import cache
from atoll.runtime.data import Outside, PythonWriter, Reader, make_python, shown
from atoll.runtime.identity import build_key
from atoll.runtime.library import attach, load
from atoll.runtime.plain_call import Host, _Call, _Open
from atoll.runtime.program import (
    Lifted,
    _print_to_json,
    has_index,
    not_lifted,
    raise_site,
    site_from_json,
    site_to_json,
)
from atoll.runtime.program import Program as ArrayProgram
from atoll.runtime.toolchain import compile_c
from atoll.types.types import Record, Tuple, Type, shape_of


def c_flags() -> list[str]:
    """What λANF's C is compiled with: cells hold numbers of several types at the same places."""
    return ["-fno-strict-aliasing", *os.environ.get("ATOLL_CFLAGS", "").split()]


def externs(functions: list[core.Function]) -> list[Unit]:
    """The modules these functions use, and those the modules use."""
    from atoll.functions.modules import all_units

    nodes = (node for fn in functions for f in called(fn) for node in walk(f.body) if isinstance(node, core.Extern))
    return all_units(list(dict.fromkeys(node.unit for node in nodes)))


if TYPE_CHECKING:
    from atoll.functions.modules import Unit

Arrange = Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]]


class _OutsideArray(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("ndim", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64))]


class _Exchange(ctypes.Structure):
    _fields_ = [
        ("words", ctypes.c_void_p),
        ("arrays", ctypes.POINTER(_OutsideArray)),
        ("out", ctypes.POINTER(ctypes.c_int64)),
        ("out_count", ctypes.c_int64),
        ("out_room", ctypes.c_int64),
        ("out_arrays", ctypes.POINTER(_OutsideArray)),
        ("out_array_count", ctypes.c_int64),
        ("out_array_room", ctypes.c_int64),
        ("live", ctypes.c_int64),
        ("made", ctypes.c_int64),
        ("closures", ctypes.c_int64),
        ("heap", ctypes.c_void_p),
        ("interruptible", ctypes.c_int64),
    ]


def compiled(fn: core.Function, selection: Selection = SELECTIONS["default"]) -> tuple[ir.Program, Tables]:
    """The closed λANF of a core function, and how its values cross."""
    translator = Translator()
    translated = translator.program(fn)
    tables = Tables(fn, translator.data_type)
    return compile_away(translated.program, selection), tables


class FunctionProgram:
    """A core function that goes through λANF, as native code. `call` is what a user's call becomes.

    With `counters`, `made`, `closures` and `live` say after a call how many cells and closures were built and how many cells are left.
    """

    def __init__(
        self,
        fn: core.Function,
        arrange: Arrange,
        optimise: str = "3",
        selection: Selection = SELECTIONS["default"],
        counters: bool = False,
        lifted: Lifted = not_lifted,
    ) -> None:
        refuse_axes(fn)
        self.fn, self.arrange, self.lifted = fn, arrange, lifted
        self.made = self.closures = self.live = 0
        digest, spans = fingerprint(fn)
        units = externs([fn])
        extra = [*c_flags(), *(str(u.object) for u in units)]
        self.key = build_key("functions", digest, repr(selection), str(counters), *map(repr, units), optimise=optimise, extra=extra)
        build = functools.partial(_build, fn, spans, optimise=optimise, extra=extra, selection=selection, counters=counters)
        self.library, self.path, meta = cache.use(self.key, build, load)
        self.sites = [site_from_json(s, spans) for s in meta["sites"]]
        self.prints: list[list[Any]] = meta["prints"]
        for u in units:
            self.sites += u.sites
            self.prints = [*self.prints, *u.prints]
        attach(self.library)
        self.library.atoll_call.argtypes = [ctypes.POINTER(_Call), ctypes.POINTER(_Exchange)]
        self.library.atoll_done.argtypes = [ctypes.POINTER(_Exchange)]
        self.values = max((len(kinds) for _, kinds in self.sites), default=0)  # that any check shows
        self._host = Host(functools.partial(ArrayProgram._show, self))  # type: ignore[arg-type]
        self._opens = _Open(lambda *a: 0)
        self._sizes = (ctypes.c_int64 * 1)()

    def call(self, *args: Any, **keywords: Any) -> Any:
        """The value on Python arguments."""
        given = self.arrange(args, keywords)
        other = self.lifted(given)
        if other is not None:
            return other(*given)
        outside = self._write(given)
        return shown(self.fn.result, self._run(outside))

    def _write(self, args: tuple[Any, ...]) -> Outside:
        fn = self.fn
        w = PythonWriter(fn.name)
        parts = [w.spread(t, a, sym.name) for (sym, t), a in zip(fn.params, args, strict=True)]
        for (_, t), p in zip(fn.params, parts, strict=True):
            if has_index(t):  # another thread may change it while it is used; arrays of loops are looked at again instead (backends/c/within.py)
                p[:] = [(a, np.array(x), c) if isinstance(x, np.ndarray) else (a, x, c) for a, x, c in p]
        values = tuple(p[0][1] if _is_leaf(t) else tuple(x for _, x, _ in p) for (_, t), p in zip(fn.params, parts, strict=True))
        sizes = bind_call(fn, values) if fn.sizes or any(has_index(t) for _, t in fn.params) else {}
        w.words += [int(sizes[s]) for s in fn.sizes]
        for p in parts:
            w.put_leaves(p)
        w.measured.check(fn, sizes, values)
        return w.finish()

    def _run(self, outside: Outside) -> Any:
        exchange = _Exchange()
        words = np.ascontiguousarray(outside.words, np.int64)
        exchange.words = words.ctypes.data
        given = (_OutsideArray * max(1, len(outside.arrays)))()
        for k, a in enumerate(outside.arrays):
            given[k].data, given[k].ndim, given[k].dims = a.ctypes.data, a.ndim, (ctypes.c_int64 * max(1, a.ndim))(*a.shape)
        exchange.arrays = given
        exchange.interruptible = threading.get_ident() == threading.main_thread().ident
        call = self._host.call(self._sizes, None, None, self._opens, self.values)
        status = self.library.atoll_call(ctypes.byref(call), ctypes.byref(exchange))
        self.made, self.closures = exchange.made, exchange.closures
        try:
            self._host.raise_kept(call)
            if status != 0:
                self._fail(status, [(call.args[k].i, call.args[k].d) for k in range(self.values)])
            count = exchange.out_count
            out = np.frombuffer(ctypes.string_at(exchange.out, 8 * count), np.int64) if count else np.zeros(0, np.int64)

            def array(k: int, dtype: Any) -> Any:
                found = exchange.out_arrays[k]
                shape = tuple(found.dims[axis] for axis in range(found.ndim))
                size = math.prod(shape) * dtype.itemsize
                raw = ctypes.string_at(found.data, size) if size else b""
                return np.frombuffer(bytearray(raw), dtype).reshape(shape)

            return Reader(out, array, make_python, quick=True).value(self.fn.result)
        finally:
            self.library.atoll_done(ctypes.byref(exchange))
            self.live = exchange.live

    def _fail(self, status: int, values: list[tuple[int, float]]) -> None:
        if status == -1:
            fail("E0713", name=self.fn.name)
        if status == -2:
            raise KeyboardInterrupt
        if status == -3:
            fail("E0712", self.fn.span, name=self.fn.name)
        site, kinds = self.sites[status - 1]
        raise_site(site, [float(d) if kind == "d" else i for kind, (i, d) in zip(kinds, values, strict=False)])


def _is_leaf(t: Type) -> bool:
    return not isinstance(shape_of(t)[1], (Tuple, Record))


def headers_digest() -> str:
    """The layout of values in memory."""
    native = Path(__file__).parent / "native"
    return hashlib.sha256(b"".join(p.read_bytes() for p in sorted(native.glob("*.h")))).hexdigest()


def _build(
    fn: core.Function, spans: list[Any], folder: Path, *, optimise: str, extra: list[str], selection: Selection, counters: bool
) -> dict[str, Any]:
    program, tables = compiled(fn, selection)
    generated = generate(program, tables, counters, units=externs([fn]))
    (folder / "program.c").write_text(generated.text)
    compile_c(folder / "program.c", folder / "program.so", optimise, extra)
    number = {id(span): k for k, span in reversed(list(enumerate(spans)))}
    sites = [site_to_json(s, kinds, number) for s, kinds in zip(generated.sites, generated.kinds, strict=True)]
    return {"kind": "functions", "name": fn.name, "sites": sites, "prints": [_print_to_json(p) for p in generated.prints]}
