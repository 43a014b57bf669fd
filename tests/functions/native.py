"""Running closed λANF programs of tests/functions/little.py natively: numbers and lists come back."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from atoll.functions import ir
from atoll.functions.native_text import generate
from atoll.functions.program import _Exchange, _Open
from atoll.runtime.library import runtime
from atoll.runtime.plain_call import Host
from atoll.runtime.toolchain import compile_c
from tests.functions.little import LIST


class LittleTables:
    """No parameters; one result, a number or a list of numbers."""

    types = [LIST]
    params: list[Any] = []
    results = [(0, 8)]

    def leaf(self, con: ir.Constructor, k: int) -> tuple[int, int, int]:
        return (2, 0, 8) if con.fields[k] == ir.DATA else (0, -1, 8)


def run_native(program: ir.Program, folder: Path, optimise: str = "1", reuse: bool = True) -> tuple[Any, int]:
    """The observed value, and how many cells were left."""
    text = generate(program, LittleTables(), counters=True, reuse=reuse).text  # type: ignore[arg-type]
    source = folder / "little.c"
    source.write_text(text)
    compile_c(source, folder / "little.so", optimise, ["-fno-strict-aliasing"])
    library = ctypes.CDLL(str(folder / "little.so"))
    library.atoll_init(ctypes.c_void_p(runtime().atoll_runtime()))
    exchange = _Exchange()
    words = np.zeros(1, np.int64)
    exchange.words = words.ctypes.data
    host = Host(lambda *a: None)
    call = host.call((ctypes.c_int64 * 1)(), None, None, _Open(lambda *a: 0), 8)
    status = library.atoll_call(ctypes.byref(call), ctypes.byref(exchange))
    assert status == 0, status
    out = [int(exchange.out[k]) for k in range(exchange.out_count)]
    library.atoll_done(ctypes.byref(exchange))
    live = exchange.live
    if program.results == ("data",):
        return _list(out), live
    return (out[0],), live


def _list(words: list[int]) -> Any:
    spine: list[Any] = []
    at = 0
    while words[at] >> 2 == 1:
        spine.append(("Cons", (words[at + 1],)))
        at += 2
    return ((*spine, "Nil"),)
