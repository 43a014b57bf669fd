"""The libraries programs share, built on first use and cached like programs: the runtime, the call path, products of matrices."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.machinery
import importlib.util
import os
import sysconfig
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from atoll.errors import Error, fail
from atoll.errors.misuse import kind_of
from atoll.runtime.cache import cache
from atoll.runtime.identity import text_key
from atoll.runtime.toolchain import compile_c, python_headers

_MOST = 1 << 30  # in the environment
_MOST_THREADS = 256  # what the pool of runtime.c has places for
_NATIVE = Path(__file__).parent / "native"


def _text(source: str) -> str:
    """A file of ours and all it may include."""
    return "\0".join([(_NATIVE / source).read_text(), *(path.read_text() for path in sorted(_NATIVE.glob("*.h")))])


def load(path: Path) -> ctypes.CDLL:
    """A compiled program. A folder whose files may not be run (mounted noexec, say) is the user's to change."""
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        fail("E0815", path=path, reason=str(error))


_brought: dict[str, bytes] = {}


def bring(objects: Mapping[str, bytes]) -> None:
    """Shared libraries compiled on a machine like this one, for when there is no compiler here (distribute/kernel.py)."""
    _brought.update(objects)


def shared_objects(library: ctypes.CDLL) -> dict[str, bytes]:
    """The shared libraries that a compiled program needs, to be brought elsewhere."""
    kinds = ctypes.c_int.in_dll(library, "atoll_has_products").value if hasattr(library, "atoll_has_products") else 0
    needed = {"runtime": runtime(), **{f"products {is_double}": products(is_double) for is_double in (False, True) if kinds >> is_double & 1}}
    return {name: _brought[name] if name in _brought else Path(found._name).read_bytes() for name, found in needed.items()}


def carried(data: bytes) -> ctypes.CDLL:
    """A library that came along as bytes."""
    with tempfile.NamedTemporaryFile(suffix=".so", prefix="atoll-part-") as file:
        file.write(data)
        file.flush()
        return load(Path(file.name))


def _shared(name: str, source: str, parts: tuple[str, ...], flags: list[str]) -> ctypes.CDLL:
    """A library of ours: of the cache, compiled, or as it was brought."""

    def build(folder: Path) -> dict[str, Any]:
        compile_c(_NATIVE / source, folder / "program.so", "2", [f"-I{_NATIVE}", *flags])
        return {"kind": parts[0]}

    try:
        return cache.use(text_key(*parts, _text(source), optimise="2"), build, load)[0]
    except Error as error:
        if error.code != "E0802" or name not in _brought:
            raise
        return carried(_brought[name])


@functools.cache
def runtime() -> ctypes.CDLL:
    """Threads and memory."""
    _check_environment()
    library = _shared("runtime", "runtime.c", ("runtime",), [])
    library.atoll_runtime.restype = ctypes.c_void_p
    library.atoll_set_loader(_loader)
    return library


_NUMBERS = {  # environment variables the runtime reads: the least they may be, and what they are
    "ATOLL_NUM_THREADS": (1, "a number of threads"),
    "ATOLL_KEEP": (0, "a number of megabytes"),
}


def _check_environment() -> None:
    """A number in the environment is one, or there is none."""
    for name, (least, what) in _NUMBERS.items():
        text = os.environ.get(name, "")
        if text and not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= _MOST):
            fail("E0826", name=name, given=text, what=what, least=least)


_product_locks = (threading.Lock(), threading.Lock())  # of f32, of f64


def _built_products(is_double: bool) -> ctypes.CDLL:
    return _shared(f"products {is_double}", "product.c", ("products", str(is_double)), ["-ffp-contract=fast", f"-DELEMENTS={1 + is_double}"])


def expect_products(text: str) -> None:
    """Begin to build the products that a program's text calls for, while it is compiled."""

    def build(is_double: bool) -> None:
        with contextlib.suppress(Exception), _product_locks[is_double]:  # who needs it meets what is wrong again
            _built_products(is_double)

    for is_double in (False, True):
        if f"at_rt->product(at, &at_p, {int(is_double)})" in text:
            threading.Thread(target=build, args=(is_double,)).start()


@functools.cache
def products(is_double: bool) -> ctypes.CDLL:
    """Products of matrices of one type. ATOLL_BLAS names a library whose cblas_sgemm and cblas_dgemm are used for them."""
    with _product_locks[is_double]:
        library = _built_products(is_double)
    library.atoll_product_init(ctypes.c_void_p(runtime().atoll_runtime()))
    blas = os.environ.get("ATOLL_BLAS")
    if blas:
        try:
            found = ctypes.CDLL(blas)
            pointers = [ctypes.cast(getattr(found, name), ctypes.c_void_p) for name in ("cblas_sgemm", "cblas_dgemm")]
        except (OSError, AttributeError) as error:
            fail("E0812", path=blas, reason=str(error))
        library.atoll_set_blas(*pointers)
    runtime().atoll_set_product(ctypes.cast(library.atoll_product, ctypes.c_void_p), int(is_double))
    return library


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)  # type: ignore[untyped-decorator]
def _loader(is_double: int) -> int:
    """Asked for by the first product of a program that did not say it has one."""
    products(bool(is_double))
    return 0


def attach(library: ctypes.CDLL) -> None:
    """Give a program the runtime, and the products if it has any."""
    library.atoll_init(ctypes.c_void_p(runtime().atoll_runtime()))
    if hasattr(library, "atoll_has_products"):
        kinds = ctypes.c_int.in_dll(library, "atoll_has_products").value
        for is_double in (False, True):
            if kinds >> is_double & 1:
                products(is_double)


def extension(source: str, name: str) -> Any | None:
    """A module of Python's written in C, or None where Python's headers are missing or it cannot be compiled: there is a slower way without it."""
    headers = python_headers()
    if headers is None:
        return None

    def build(folder: Path) -> dict[str, Any]:
        include = [f"-I{_NATIVE}", f"-I{headers}", f"-I{np.get_include()}"]
        compile_c(_NATIVE / source, folder / "program.so", "2", include)
        return {"kind": "call path"}

    def imported(path: Path) -> Any:
        loader = importlib.machinery.ExtensionFileLoader(name, str(path))
        spec = importlib.util.spec_from_loader(name, loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module

    try:
        key = text_key("call", _text(source), str(headers), sysconfig.get_config_var("SOABI") or "", np.__version__, optimise="2")
        return cache.use(key, build, imported)[0]
    except Exception:  # noqa: BLE001  without it, calls go through ctypes: slower, never wrong
        return None


@functools.cache
def call_path() -> Any | None:
    """The extension module that calls programs, or None where it cannot be made."""
    module = extension("call.c", "atoll_call")
    if module is None:
        return None
    try:
        blocks = (getattr(runtime(), name) for name in ("atoll_block", "atoll_reblock", "atoll_unblock"))
        module.use_blocks(*(ctypes.cast(function, ctypes.c_void_p).value for function in blocks))
        return module
    except Exception:  # noqa: BLE001  as above
        return None


@functools.cache
def device_path() -> Any | None:
    """The extension module that calls programs on devices."""
    return extension("device_path.c", "atoll_device")


def set_threads(n: int) -> None:
    """How many threads loops may use from now on."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        found = n if isinstance(n, (int, np.integer)) else kind_of(n)
        fail("E0610", name="at.set_threads", text=f"takes a number of threads, at least 1, not {found}", help="write at.set_threads(4)")
    if n > _MOST_THREADS:
        fail("E0610", name="at.set_threads", text=f"takes at most {_MOST_THREADS} threads, not {n}", help="write at.set_threads(os.cpu_count()) for one a core")
    runtime().atoll_threads(int(n))


def threads() -> int:
    """How many threads loops may use."""
    return int(runtime().atoll_threads(0))


def peak() -> int:
    """The most bytes programs held for temporary arrays since the last call of this."""
    library = runtime()
    library.atoll_peak.restype = ctypes.c_int64
    return int(library.atoll_peak(1))
