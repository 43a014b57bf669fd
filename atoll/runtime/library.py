"""The two libraries every program shares, built on first use and cached like programs: the runtime and the call path."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.machinery
import importlib.util
import os
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np

from atoll.errors import fail
from atoll.runtime.cache import cache
from atoll.runtime.toolchain import compile_c, compiler, python_headers, target

_NATIVE = Path(__file__).parent / "native"


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join([*parts, compiler().version, target()]).encode()).hexdigest()


@functools.cache
def runtime() -> ctypes.CDLL:
    """Threads, memory, products of matrices. ATOLL_BLAS names a library whose cblas_sgemm and cblas_dgemm are used for these."""
    source = _NATIVE / "runtime.c"
    text = "".join((_NATIVE / name).read_text() for name in ("runtime.c", "abi.h", "product.c", "product.h"))

    def build(folder: Path) -> dict[str, Any]:
        compile_c(source, folder / "program.so", "2", [f"-I{_NATIVE}", "-ffp-contract=fast"])
        return {"kind": "runtime"}

    path, _ = cache.get(_key("runtime", text), build)
    library = ctypes.CDLL(str(path))
    library.atoll_runtime.restype = ctypes.c_void_p
    blas = os.environ.get("ATOLL_BLAS")
    if blas:
        try:
            found = ctypes.CDLL(blas)
            pointers = [ctypes.cast(getattr(found, name), ctypes.c_void_p) for name in ("cblas_sgemm", "cblas_dgemm")]
        except (OSError, AttributeError) as error:
            fail("E0812", path=blas, reason=str(error))
        library.atoll_set_blas(*pointers)
    return library


@functools.cache
def call_path() -> Any | None:
    """The extension module that calls programs, or None where Python's headers are missing."""
    headers = python_headers()
    if headers is None:
        return None
    source = _NATIVE / "call.c"
    text = source.read_text() + (_NATIVE / "abi.h").read_text()

    def build(folder: Path) -> dict[str, Any]:
        include = [f"-I{_NATIVE}", f"-I{headers}", f"-I{np.get_include()}"]
        compile_c(source, folder / "program.so", "2", include)
        return {"kind": "call path"}

    try:
        path, _ = cache.get(_key("call", text, sysconfig.get_config_var("SOABI") or "", np.__version__), build)
        loader = importlib.machinery.ExtensionFileLoader("atoll_call", str(path))
        spec = importlib.util.spec_from_loader("atoll_call", loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module
    except Exception:  # noqa: BLE001  without it, calls go through ctypes: slower, never wrong
        return None


def set_threads(n: int) -> None:
    """How many threads loops may use from now on."""
    runtime().atoll_threads(int(n))


def threads() -> int:
    return int(runtime().atoll_threads(0))
