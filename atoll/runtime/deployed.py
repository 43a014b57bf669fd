"""Functions of a library that `atoll build --shared` made: called through ctypes, with nothing but NumPy.

This file is copied into the stub beside the library, so it imports nothing of Atoll. What the functions take and give stands in a table (runtime/shared.py
writes it): types as nests, sizes as expressions of `s` (sizes, in order) and `v` (whole numbers among the arguments), messages with holes.
"""

from __future__ import annotations

import collections
import ctypes
import os
import threading
from typing import Any

import numpy as np


class Error(Exception):
    """What goes wrong in a call; also the Python class one would catch. `code` is that of Atoll's message."""

    code = ""


_classes: dict[str, type[Error]] = {}


def _raise(kind: str, code: str, text: str) -> None:
    if kind not in _classes:
        python = getattr(__builtins__, kind, None) if not isinstance(__builtins__, dict) else __builtins__.get(kind)
        _classes[kind] = type(kind, (Error, python), {}) if isinstance(python, type) else Error
    error = _classes[kind](text)
    error.code = code
    raise error


class _Arg(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("d", ctypes.c_double)]


class _Shown(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("ndim", ctypes.c_int), ("kind", ctypes.c_int), ("dims", ctypes.POINTER(ctypes.c_int64)), ("v", _Arg * 2)]


class _Call(ctypes.Structure):
    pass


_Open = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Call), ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_int64))
_Print = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Call), ctypes.c_int, ctypes.c_int, ctypes.POINTER(_Shown))
_Poll = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Call))
_Call._fields_ = [
    ("sizes", ctypes.POINTER(ctypes.c_int64)), ("inputs", ctypes.POINTER(ctypes.c_void_p)), ("out", ctypes.POINTER(ctypes.c_void_p)), ("host", ctypes.c_void_p),
    ("open_result", _Open), ("print", _Print), ("poll", _Poll), ("piece", ctypes.c_int64), ("site", ctypes.c_int), ("room", ctypes.c_int),
    ("args", ctypes.POINTER(_Arg)), ("polled", ctypes.c_double),
]  # fmt: skip


class _Kept(ctypes.Structure):
    _fields_ = [("error", ctypes.c_void_p * 3), ("failed", ctypes.c_int), ("print", _Print)]


class Library:
    """A library, opened once."""

    def __init__(self, path: str, table: dict[str, Any]) -> None:
        self.table, self.c = table, ctypes.CDLL(path)
        missing = self.c.atoll_missing()
        if missing >= 0:
            raise ImportError(f"{os.path.basename(path)} was built for {table['cpu']}: this processor has no {table['features'][missing]}; build it with --cpu for a lesser one")
        self.c.atoll_runtime.restype = ctypes.c_void_p
        runtime = ctypes.c_void_p(self.c.atoll_runtime())
        for k in table["products"]:
            getattr(self.c, f"atoll_product_init_{k}")(runtime)
            self.c.atoll_set_product(ctypes.cast(getattr(self.c, f"atoll_product_{k}"), ctypes.c_void_p), k)
        python = ctypes.pythonapi
        self.c.atoll_use_python(*(ctypes.cast(f, ctypes.c_void_p) for f in (python.PyGILState_Ensure, python.PyGILState_Release, python.PyErr_CheckSignals, python.PyErr_Fetch)))
        self.print, self.poll = _Print(("atoll_print_python", self.c)), _Poll(("atoll_poll_python", self.c))
        self.lock = threading.Lock()
        self.started: set[int] = set()
        self.runtime = runtime
        self.records: dict[str, Any] = {}
        for name, fields in table["records"].items():
            self.records[name] = collections.namedtuple(name, fields)

    def set_threads(self, n: int) -> None:
        if not 1 <= n <= 256:
            raise ValueError(f"set_threads takes a number of threads, at least 1, not {n}")
        self.c.atoll_threads(int(n))

    def call(self, number: int, given: tuple[Any, ...]) -> Any:
        f = self.table["functions"][number]
        with self.lock:
            if number not in self.started:
                getattr(self.c, f"f{number}_init")(self.runtime)
                self.started.add(number)
        leaves: list[Any] = []
        for param, arg in zip(f["params"], given, strict=True):
            _take(f["name"], param["name"], param["type"], arg, leaves)
        sizes = _bind(f, leaves)
        arrays = [x for x, _ in leaves]
        shape = [n for x in arrays for n in x.shape]
        pointers = (ctypes.c_void_p * max(1, len(arrays)))(*(a.ctypes.data for a in arrays))
        outs: list[Any] = [None] * len(f["results"])
        out_pointers = (ctypes.c_void_p * max(1, len(outs)))()
        c_sizes, dims = (ctypes.c_int64 * max(1, len(sizes)))(), (ctypes.c_int64 * max(1, sum(axes for _, axes in f["results"])))()

        def opened(_call: Any, k: int, ndim: int, extents: Any) -> int:
            try:
                outs[k] = np.empty([max(0, extents[j]) for j in range(ndim)], f["results"][k][0])
            except (MemoryError, ValueError):
                return 0
            return int(outs[k].ctypes.data)

        kept = _Kept()
        kept.print = _Print(lambda call, n, count, items: _shown(f["prints"][n], items, kept))
        values = (_Arg * max(1, f["values"]))()
        call = _Call(c_sizes, pointers, out_pointers, ctypes.cast(ctypes.pointer(kept), ctypes.c_void_p), _Open(opened), self.print, self.poll, 0, 0, f["values"], values, 0.0)
        prepared = getattr(self.c, f"f{number}_prepare")(ctypes.byref(call), (ctypes.c_int64 * max(1, len(shape)))(*shape), c_sizes, dims)
        if prepared == 1:
            _raise("ValueError", "E0301", f"{f['name']}: the sizes of the arguments do not fit each other")
        at = 0
        for k, (dtype, axes) in enumerate(f["results"]):
            wanted = list(dims[at : at + axes])
            at += axes
            if prepared == 0 and all(n >= 0 for n in wanted):
                outs[k] = np.empty(wanted, dtype)
                out_pointers[k] = outs[k].ctypes.data
        status = -1 if prepared else getattr(self.c, f"f{number}_entry")(ctypes.byref(call))
        if kept.failed:
            ctypes.pythonapi.PyErr_Restore(*(ctypes.c_void_p(e) for e in kept.error))
            ctypes.pythonapi.PyErr_Occurred()
            raise SystemError  # the error of a print, which was just restored, takes its place
        if status == -2:
            raise KeyboardInterrupt
        if status == -1:
            _raise("MemoryError", "E0713", f"{f['name']}: there is not enough memory")
        if status != 0:
            _fail(f["sites"][status - 1], values)
        return _built(f["result"], iter(outs), self.records)


def _take(fn: str, name: str, t: Any, arg: Any, leaves: list[Any]) -> None:
    """The arrays that an argument is made of, each with its name."""
    kind = t["kind"]
    if kind == "tuple":
        if not isinstance(arg, (tuple, list)) or len(arg) != len(t["items"]):
            _raise("TypeError", "E0602", f"{fn}: argument {name} must be a tuple of {len(t['items'])}, not {type(arg).__name__}")
        for k, (item, x) in enumerate(zip(t["items"], arg, strict=True)):
            _take(fn, f"{name}[{k}]", item, x, leaves)
    elif kind == "record":
        for field, item in zip(t["fields"], t["items"], strict=True):
            if not hasattr(arg, field):
                _raise("TypeError", "E0602", f"{fn}: argument {name} must be a {t['name']}, which has {', '.join(t['fields'])}, not {type(arg).__name__}")
            _take(fn, f"{name}.{field}", item, getattr(arg, field), leaves)
    elif kind == "scalar":
        leaves.append((_scalar(fn, name, t, arg), name))
    else:
        leaves.append((_array(fn, name, t, arg), name))


def _scalar(fn: str, name: str, t: Any, arg: Any) -> Any:
    dtype = np.dtype(t["dtype"])
    if isinstance(arg, np.ndarray) and arg.ndim == 0:
        arg = arg[()]
    if isinstance(arg, np.generic):
        if arg.dtype != dtype:
            _raise("TypeError", "E0603", f"{fn}: argument {name} must be {t['shown']}, not {arg.dtype}; convert it: np.{dtype}({name})")
    elif isinstance(arg, (bool, int, float, complex)):
        fits = isinstance(arg, bool) == (dtype.kind == "b") and (dtype.kind != "f" or not isinstance(arg, complex)) and (dtype.kind not in "iu" or isinstance(arg, int))
        if fits and dtype.kind in "iu":
            fits = np.iinfo(dtype).min <= int(arg.real) <= np.iinfo(dtype).max
        if not fits:
            _raise("TypeError", "E0607", f"{fn}: argument {name} is {arg!r}, which does not fit {t['shown']}")
    else:
        _raise("TypeError", "E0602", f"{fn}: argument {name} must be {t['shown']}, not {type(arg).__name__}")
    return np.array(arg, dtype)


def _array(fn: str, name: str, t: Any, arg: Any) -> Any:
    dtype = np.dtype(t["dtype"])
    if isinstance(arg, (list, tuple)) or not (hasattr(arg, "__array__") or hasattr(arg, "__array_interface__") or hasattr(arg, "__dlpack__")):
        _raise("TypeError", "E0602", f"{fn}: argument {name} must be {t['shown']}, not {type(arg).__name__}; make it an array: np.array({name}, dtype=np.{dtype})")
    value = np.asarray(arg) if not hasattr(arg, "__dlpack__") or hasattr(arg, "__array__") else np.from_dlpack(arg)
    if value.dtype != dtype:
        if value.dtype.newbyteorder("=") != dtype:
            _raise("TypeError", "E0603", f"{fn}: argument {name} must be {t['shown']}, not an array of {value.dtype}; convert it: {name}.astype(np.{dtype})")
        value = value.astype(dtype)
    if value.ndim != t["rank"]:
        _raise("TypeError", "E0608", f"{fn}: argument {name} must have {t['rank']} {'axis' if t['rank'] == 1 else 'axes'}, not {value.ndim}: {t['shown']}")
    if not (value.flags.c_contiguous and value.flags.aligned):
        value = np.array(value, order="C")
    return value.view(np.uint8) != 0 if dtype == np.bool_ else value


def _bind(f: Any, leaves: list[Any]) -> list[int]:
    """The sizes, or an error in the user's names."""
    s: list[int] = [0] * len(f["sizes"])
    v = {k: int(leaves[at][0]) for k, at in f["whole"]}
    first: dict[int, str] = {}

    def value(text: str) -> int:
        return int(eval(text, {"s": s, "v": v}))  # noqa: S307  text of our own table

    def where(step: Any) -> str:
        return f"argument {leaves[step['leaf']][1]} (axis {step['axis']})"

    def misfit(text: str) -> None:
        _raise("ValueError", "E0301", f"{f['name']}: {text}")

    for step in f["steps"]:
        extent, k = leaves[step["leaf"]][0].shape[step["axis"]], step["solves"]
        if k is None:
            wanted = value(step["poly"])
            if wanted != extent:
                if step["single"] is not None and step["single"] in first:
                    misfit(f"size {step['text']} is {wanted} in {first[step['single']]} but {extent} in {where(step)}")
                misfit(f"{where(step)} is {extent}, but {step['text']} is {wanted}")
            continue
        if step["rest"] is None:
            while value(step["poly"]) < extent:
                s[k] += 1
            if value(step["poly"]) != extent:
                misfit(f"{where(step)} is {extent}, which is no {step['text']}")
        else:
            over, factor = extent - value(step["rest"]), value(step["factor"])
            if factor == 0 or over % factor or over // factor < 0:
                misfit(f"{where(step)} is {extent}, which is no {step['text']}")
            s[k] = over // factor
        first[k] = where(step)
    for poly, text in f["requires"]:
        if value(poly) < 0:
            known = " and ".join(f"{name} is {n}" for name, n in zip(f["sizes"], s, strict=True))
            _raise("ValueError", "E0709", f"{f['name']}: {text}, but {known}")
    for leaf, poly, shown in f["indices"]:
        x, name = leaves[leaf]
        if x.size and not 0 <= int(x.min()) <= int(x.max()) < value(poly):
            bad = int(x.min()) if int(x.min()) < 0 else int(x.max())
            _raise("IndexError", "E0604", f"{f['name']}: argument {name} has {bad}, which is not in 0..{value(poly) - 1} ({shown})")
    return s


def _fail(site: Any, values: Any) -> None:
    """Raise what a check of the program found, with its values in the holes of the text."""
    found = [values[k].d if kind == "d" else values[k].i for k, kind in enumerate(site["kinds"])]
    text = site["text"]
    for hole, k, spec, dtype in site["holes"]:
        x = np.dtype(dtype).type(found[k]) if dtype else found[k]
        text = text.replace(hole, format(x.item(), spec) if spec else str(x) if dtype else repr(x))
    _raise(site["class"], site["code"], text)


def _shown(parts: Any, items: Any, kept: Any) -> None:
    """What a program prints."""
    try:
        text, k = "", 0
        for part in parts:
            if isinstance(part, str):
                text += part
                continue
            dtypes, spec, nest = part
            leaves = []
            for dtype in dtypes:
                leaves.append(_value(np.dtype(dtype), items[k]))
                k += 1
            text += _format(_put_together(nest, iter(leaves)), spec)
        print(text)
    except BaseException as error:  # noqa: BLE001  it is raised when the program has stopped
        if not kept.failed:
            for k, part in enumerate((type(error), error, error.__traceback__)):
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(part))
                kept.error[k] = id(part)
            kept.failed = 1


def _value(dtype: Any, x: Any) -> Any:
    if x.kind == 0:
        dims = tuple(x.dims[: x.ndim])
        count = int(np.prod(dims, dtype=np.int64))
        return np.frombuffer(ctypes.string_at(x.data, count * dtype.itemsize), dtype).reshape(dims) if count else np.zeros(dims, dtype)
    if x.kind == 2:
        return dtype.type(complex(x.v[0].d, x.v[1].d))
    return dtype.type(x.v[0].d if dtype.kind == "f" else x.v[0].i)


def _format(value: Any, spec: str) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(_format(item, "") for item in value) + (",)" if len(value) == 1 else ")")
    return format(value.item() if isinstance(value, np.generic) else value, spec) if spec else str(value)


def _put_together(nest: Any, leaves: Any) -> Any:
    return tuple(_put_together(part, leaves) for part in nest) if isinstance(nest, list) else next(leaves)


def _built(t: Any, leaves: Any, records: dict[str, Any]) -> Any:
    if t["kind"] in ("tuple", "record"):
        items = [_built(item, leaves, records) for item in t["items"]]
        return records[t["name"]](*items) if t["kind"] == "record" else tuple(items)
    found = next(leaves)
    return found[()] if t["kind"] == "scalar" else found
