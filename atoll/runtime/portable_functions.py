"""The functions of backends/c/portable_math.py as a library, for the interpreter and for tests: compiled of the very text that programs have, or of another's."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

from atoll.backends.c.prelude import needed
from atoll.core.portable import COMPLEX, OF_TWO, REAL
from atoll.runtime.cache import cache
from atoll.runtime.identity import text_key
from atoll.runtime.library import load
from atoll.runtime.toolchain import compile_c
from atoll.types.dtypes import DTYPES

_HEAD = "#include <complex.h>\n#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n"


def table() -> str:
    """C with a function for each that takes the address of the arguments, how many there are, and where results go."""
    out = []
    for name, ops in (("f32", REAL), ("f64", REAL), ("c64", COMPLEX), ("c128", COMPLEX)):
        t = DTYPES[name].c_name
        for op in ops:
            args = "x[2 * k], x[2 * k + 1]" if op in OF_TWO else "x[k]"
            out.append(f"void at_run_{op}_{name}(const {t} *x, int64_t n, {t} *y) {{ for (int64_t k = 0; k < n; k++) y[k] = ({t})at_portable_{op}_{name}({args}); }}")
    text = "\n".join(out)
    return "\n".join([_HEAD, *needed(text), text, ""])


@functools.cache
def library(optimise: str = "1") -> ctypes.CDLL:
    """The table, built or found in the cache."""
    text = table()

    def build(folder: Path) -> dict[str, Any]:
        source = folder / "program.c"
        source.write_text(text)
        compile_c(source, folder / "program.so", optimise)
        return {"kind": "portable functions"}

    return cache.use(text_key("portable functions", text, optimise=optimise), build, load)[0]


def computed(op: str, given: Any, out: Any, of: ctypes.CDLL | None = None) -> None:
    """out := the function of given, element by element; pairs for functions of two."""
    kind = {"f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128"}[given.dtype.str[1:]]
    run = (of or library())[f"at_run_{op}_{kind}"]
    run(ctypes.c_void_p(given.ctypes.data), ctypes.c_int64(out.size), ctypes.c_void_p(out.ctypes.data))
