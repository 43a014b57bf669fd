"""What a distributed call is given: arrays that are elsewhere (Dask, zarr, xarray), NumPy arrays and numbers.

Where only shapes count, arrays that are elsewhere are stood in for by arrays of their shape and type that take no memory, so that every question a
plain call asks of its arguments is asked here too, and in the same words.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.errors import fail
from atoll.runtime.elsewhere import is_dask, is_xarray
from atoll.types.types import Record, Tuple, Type, shape_of

if TYPE_CHECKING:
    from atoll.function import Function

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def library(name: str, extra: str, what: str) -> Any:
    """A package that an extra brings."""
    try:
        return importlib.import_module(name)
    except ImportError:
        fail("E1202", name=what, package=name.partition(".")[0], extra=extra)


def bytes_of(what: Any, where: str) -> int:
    """2_000_000_000, "2GB", "512 MiB"."""
    if isinstance(what, (int, np.integer)) and not isinstance(what, bool) and what > 0:
        return int(what)
    if isinstance(what, str):
        text = what.strip().upper()
        number = text.rstrip("KMGTIB").strip()
        unit = text[len(number) :].strip() if number else ""
        try:
            value = float(number)
            if unit in _UNITS and 0 < value < 1e9:
                return max(1, int(value * _UNITS[unit]))
        except ValueError:
            pass
    fail("E0610", name=where, text=f"memory is a number of bytes or a text such as '2GB', not {what!r}", help=f'write {where}(memory="2GB")')


def words_of(n: float) -> str:
    """Bytes for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n < 1000:
            return f"{int(n)} bytes" if unit == "bytes" else f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} TB"


def is_elsewhere(x: Any) -> bool:
    """An array that is not in this process's memory, or not as NumPy's."""
    return not isinstance(x, (np.ndarray, np.generic)) and hasattr(x, "shape") and hasattr(x, "dtype")


def _stands_in(f: Function, name: str, x: Any) -> Any:
    shape = tuple(x.shape)
    if not shape and not is_dask(x):
        return np.asarray(x)[()]  # one number: it is at hand
    if any(isinstance(n, float) for n in shape):
        fail("E1203", fn=f.name, name=name)
    return np.broadcast_to(np.zeros((), x.dtype), tuple(map(int, shape)))


def stand_ins(f: Function, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with everything that is elsewhere stood in for."""

    def go(x: Any, name: str) -> Any:
        if is_elsewhere(x):
            return _stands_in(f, name, x)
        if isinstance(x, (tuple, list)):
            return type(x)(go(item, f"{name}[{k}]") for k, item in enumerate(x)) if not hasattr(x, "_fields") else x
        if dataclasses.is_dataclass(x) and not isinstance(x, type):
            return dataclasses.replace(x, **{d.name: go(getattr(x, d.name), f"{name}.{d.name}") for d in dataclasses.fields(x)})
        return x

    return tuple(go(x, p.name) for x, p in zip(args, f.signature.params, strict=True))


def refuse_late_integers(f: Function, flat: list[Any], names: list[str]) -> frozenset[int]:
    """The leaves that are one number of a Dask array: a float may come when the tasks run, what loops may depend on may not."""
    late = frozenset(k for k, x in enumerate(flat) if is_dask(x) and not x.shape)
    for k in sorted(late):
        if flat[k].dtype.kind not in "fc":
            fail("E1201", f.surface.span, name=f.name, reason=f"{names[k]} is one {flat[k].dtype} of a Dask array: what is computed may depend on it, and it is not here yet", help=f"give it as a number: {names[k]}.compute().item()")
    return late


def leaves(f: Function, args: tuple[Any, ...]) -> list[Any]:
    """The arguments taken apart, in the order of the leaves of the parameters."""

    def go(t: Type, x: Any) -> Iterator[Any]:
        elem = shape_of(t)[1]
        if isinstance(elem, Tuple):
            for item, part in zip(elem.items, x, strict=True):
                yield from go(item, part)
        elif isinstance(elem, Record):
            for item, field in zip(elem.items, elem.decl.fields, strict=True):
                yield from go(item, getattr(x, field))
        else:
            yield x

    return [leaf for (_, t), x in zip(f.core.params, args, strict=True) for leaf in go(t, x)]


__all__ = ["bytes_of", "is_dask", "is_elsewhere", "is_xarray", "leaves", "library", "refuse_late_integers", "stand_ins", "words_of"]
