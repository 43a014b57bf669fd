"""Python values to Atoll values and back, with errors in the user's names.

Zero copies for C-contiguous arrays of the right dtype. Other layouts are accepted as they are by the interpreter; compiled code
gets a contiguous copy (documented in docs/reference.md). A wrong dtype, rank or kind is an error before any code runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from atoll.core import ir
from atoll.core.interpret_data import Data
from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.runtime.elsewhere import refuse_elsewhere
from atoll.types.dtypes import DType, by_numpy, fits
from atoll.types.types import Array, Index, Record, Scalar, Tuple, Type, Union, array, flatten, shape_of
from atoll.types.unions import has_data


class Donated:
    """An argument whose memory the called function may overwrite (at.donate)."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


_MOST_AXES = 64 if int(np.__version__.partition(".")[0]) >= 2 else 32  # of NumPy's arrays


def refuse_axes(fn: ir.Function) -> None:
    """Arrays that cross have no more axes than NumPy's arrays can have."""
    crossing = [(f"parameter {sym.name}", leaf) for sym, t in fn.params for _, leaf in flatten(t)]
    for what, leaf in [*crossing, *(("the result", leaf) for _, leaf in flatten(fn.result))]:
        if len(shape_of(leaf)[0]) > _MOST_AXES:
            fail("E0611", fn.span, name=fn.name, what=what, axes=len(shape_of(leaf)[0]))


def from_python(fn: ir.Function, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as Atoll values."""
    values = tuple(convert(fn.name, sym.name, t, arg) for (sym, t), arg in zip(fn.params, args, strict=True))
    if any(has_data(t) for _, t in fn.params):
        from atoll.runtime.measure import measure_values

        measure_values(fn, values)
    return values


def quick_leaves(fn: ir.Function, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The leaves when only structure and layout are out of the ordinary: tuples taken apart, arrays made contiguous."""
    leaves: list[Any] = []
    try:
        for (_, t), arg in zip(fn.params, args, strict=True):
            if not _take_apart(shape_of(t)[1], arg, leaves):
                return None
    except MemoryError:
        return None
    return tuple(leaves)


def _take_apart(elem: Type, arg: Any, leaves: list[Any]) -> bool:
    if isinstance(arg, Donated):
        arg = arg.value
    if isinstance(elem, Tuple):
        return type(arg) in (tuple, list) and len(arg) == len(elem.items) and all(map(_take_apart, _inner(elem), arg, [leaves] * len(arg)))
    if isinstance(elem, Record):
        if elem.decl.cls is None or type(arg) is not elem.decl.cls:
            return False
        return all(_take_apart(t, getattr(arg, name), leaves) for t, name in zip(_inner(elem), elem.decl.fields, strict=True))
    if type(arg) is np.ndarray and not arg.flags.c_contiguous and arg.ndim:
        arg = np.ascontiguousarray(arg)
    leaves.append(arg)
    return True


def _inner(elem: Tuple | Record) -> list[Type]:
    return [shape_of(item)[1] for item in elem.items]


def convert(fn: str, name: str, t: Type, arg: Any) -> Any:
    """One argument as an Atoll value."""
    if isinstance(arg, Donated):
        arg = arg.value
    if not isinstance(arg, (np.ndarray, np.generic, int, float, tuple, list)):
        refuse_elsewhere(fn, name, arg)
    if isinstance(t, (Scalar, Index)):
        return _scalar(fn, name, t, arg)
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        items = [array(item, sizes) for item in elem.items]
        return _parts(fn, name, elem, items, arg)
    if isinstance(t, Union):
        from atoll.runtime.data import to_data

        return to_data(fn, name, t, arg)
    if isinstance(elem, (Scalar, Index)):
        return _array(fn, name, len(sizes), elem.dtype, arg, t)
    fail("E0602", fn=fn, name=name, expected=repr(t), found=type(arg).__name__)


def _parts(fn: str, name: str, elem: Tuple | Record, items: list[Type], arg: Any) -> tuple[Any, ...]:
    if isinstance(elem, Record):
        if elem.decl.cls is None or not isinstance(arg, elem.decl.cls):
            fail("E0602", fn=fn, name=name, expected=elem.decl.name, found=type(arg).__name__)
        values = [getattr(arg, f) for f in elem.decl.fields]
        return tuple(convert(fn, f"{name}.{f}", t, x) for f, t, x in zip(elem.decl.fields, items, values, strict=True))
    if not isinstance(arg, (tuple, list)) or len(arg) != len(items):
        found = f"{kind_of(arg)} of {len(arg)}" if isinstance(arg, (tuple, list)) else kind_of(arg)
        fail("E0602", fn=fn, name=name, expected=f"a tuple of {len(items)}", found=found)
    return tuple(convert(fn, f"{name}[{k}]", t, x) for k, (t, x) in enumerate(zip(items, arg, strict=True)))


def _scalar(fn: str, name: str, t: Scalar | Index, arg: Any) -> Any:
    dtype = t.dtype
    if isinstance(arg, np.ndarray) and arg.ndim == 0:
        arg = arg[()]
    if isinstance(arg, np.generic):
        if arg.dtype != dtype.numpy:
            fail("E0603", fn=fn, name=name, expected=dtype.name, found=_dtype_words(arg.dtype), to=dtype.spelled)
        return arg
    if isinstance(arg, (bool, int, float, complex)):
        if not fits(arg, dtype) or (isinstance(arg, bool) != (dtype.kind == "b")):
            fail("E0607", fn=fn, name=name, value=_short(arg), dtype=repr(t), help=_what_fits(name, t, arg))
        return dtype.numpy.type(arg)
    if hasattr(arg, "__array__") and isinstance(found := _asked(arg), np.generic):
        return _scalar(fn, name, t, found)
    fail("E0602", fn=fn, name=name, expected=repr(t), found=kind_of(arg))


def _asked(arg: Any) -> Any:
    """What a foreign object says it is as an array of no axes; None where it says nothing that can be used."""
    try:
        return np.asarray(arg)[()]
    except Exception:  # noqa: BLE001  whatever it raises, it is not usable here
        return None


def _what_fits(name: str, t: Scalar | Index, arg: Any) -> str | None:
    """What to pass instead of a number of another kind."""
    dtype = t.dtype
    if isinstance(t, Index) and not isinstance(arg, bool) and not (isinstance(arg, float) and arg.is_integer()):
        return f"pass an index: an int that is at least 0 and below {t.size}"
    if dtype.kind == "b":
        return f"pass True or False, for example {name}={bool(arg)}" if arg in (0, 1) else f"pass a bool: {name} != 0"
    if isinstance(arg, bool):
        return f"pass a number: {int(arg)}"
    if dtype.is_integer and isinstance(arg, float):
        return f"pass an int: {int(arg)}" if arg.is_integer() else "round it first, or declare a float: f64"
    return None


def _array(fn: str, name: str, rank: int, dtype: DType, arg: Any, t: Type) -> Any:
    value = as_array(fn, name, arg, t)
    if value.dtype != dtype.numpy:
        if value.dtype == dtype.numpy.newbyteorder("S") and value.dtype.itemsize > 1:
            try:
                value = value.astype(dtype.numpy)
            except MemoryError:
                fail("E0713", name=fn)
        else:
            fail("E0603", fn=fn, name=name, expected=dtype.name, found=_dtype_words(value.dtype), to=dtype.spelled, help=_to_numbers(name, value.dtype, dtype, arg))
    if value.ndim != rank:
        fail("E0608", fn=fn, name=name, expected=f"{rank} {'axis' if rank == 1 else 'axes'}", found=value.ndim, shown=repr(t))
    return value


def _to_numbers(name: str, found: Any, wanted: DType, arg: Any) -> str | None:
    """What to do with an array of something that is no number; None where NumPy's conversion will do."""
    if type(arg).__module__.partition(".")[0] == "torch":
        return f"convert it: {name}.to(torch.{wanted.numpy_name})"
    if found.kind in "SU":
        return f"texts are bytes here: np.frombuffer({name}[0].encode(), np.uint8), declared u8[n]; or number them first: np.unique({name}, return_inverse=True)[1]"
    if found.kind in "mM":
        return f"times are counted: {name}.astype('{found.str[1:]}').view(np.int64), declared i64[n], or a difference divided by np.timedelta64(1, 's')"
    if found.kind == "O":
        return f"its elements are Python objects; make numbers of them: np.array([...], dtype={wanted.spelled}), or pd.to_numeric for a column"
    return None


def _foreign(name: str, arg: Any) -> str | None:
    """What to do with an array of another library that cannot be read as it is."""
    where = type(arg).__module__.partition(".")[0]
    if where == "torch":
        if getattr(arg, "requires_grad", False):
            return f"it is part of a graph of torch: pass {name}.detach(), or use at.torch(f), which torch differentiates"
        if getattr(getattr(arg, "device", None), "type", "cpu") != "cpu":
            return f"it is on another device: pass {name}.cpu()"
        return f"NumPy has no {str(getattr(arg, 'dtype', '')).replace('torch.', '')}: pass {name}.float()"
    if where == "jax" and "Tracer" in type(arg).__name__:
        return "JAX is tracing here and has no numbers yet: call it outside of jax.jit and jax.grad, or use at.jax(f), which JAX can trace and differentiate"
    return None


def as_array(fn: str, name: str, arg: Any, t: Type | None = None) -> Any:
    """Any array on the host as a plain ndarray, without a copy."""
    if type(arg) is np.ndarray:
        return arg
    expected = repr(t) if t is not None else "an array"
    if isinstance(arg, np.ma.MaskedArray):
        fail("E0602", fn=fn, name=name, expected=expected, found="a masked array", help=f"choose what stands for masked elements: {name}.filled(0)")
    if isinstance(arg, (list, tuple, range, set, frozenset, Iterator)):
        elem = shape_of(t)[1] if t is not None else None
        dtype = f", dtype={elem.dtype.spelled}" if isinstance(elem, (Scalar, Index)) else ""
        fail("E0602", fn=fn, name=name, expected=expected, found=kind_of(arg), help=f"make it an array: np.array({name if isinstance(arg, (list, tuple, range)) else f'list({name})'}{dtype})")
    try:
        if isinstance(arg, np.ndarray) or hasattr(arg, "__array_interface__") or hasattr(arg, "__array__"):
            return np.asarray(arg)
        if hasattr(arg, "__dlpack__"):
            return np.from_dlpack(arg)
        memory = memoryview(arg)
        return np.asarray(memory)
    except Exception:  # noqa: BLE001  whatever the foreign object raises, it is not usable here
        fail("E0602", fn=fn, name=name, expected=expected, found=kind_of(arg), help=_foreign(name, arg))


def _short(number: Any) -> str:
    """A number as a message shows it."""
    text = repr(number) if not isinstance(number, int) or abs(number) < 10**30 else f"{number:.3e}" if abs(number) < 10**300 else "a huge number"
    return text


def _dtype_words(dtype: Any) -> str:
    known = by_numpy(dtype)
    return known.name if known is not None else str(dtype)


def to_python(t: Type, value: Any) -> Any:
    """An Atoll value as a user sees it: arrays, NumPy scalars, tuples, record instances."""
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        items = [to_python(array(item, sizes), part) for item, part in zip(elem.items, value, strict=True)]
        if isinstance(elem, Record) and elem.decl.cls is not None:
            return _instance(elem, items)
        return tuple(items)
    if isinstance(t, Union) and isinstance(value, Data):
        from atoll.runtime.data import from_data

        return from_data(t, value)
    return value


def _instance(t: Record, items: list[Any]) -> Any:
    assert t.decl.cls is not None and dataclasses.is_dataclass(t.decl.cls)
    return t.decl.cls(*items)


def result_to_python(t: Type, value: Any) -> Any:
    """Results own their memory: the interpreter may have handed out a view of an argument."""
    return to_python(t, _owned(value))


def _owned(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_owned(item) for item in value)
    if isinstance(value, np.ndarray):
        return np.array(value, order="C", copy=True)
    return value


__all__ = ["Array", "as_array", "convert", "from_python", "quick_leaves", "result_to_python", "to_python"]
