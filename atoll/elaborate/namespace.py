"""What the names around a function mean: its closure, its module's globals, the language's built-ins, Python's.

Captured constants and functions are frozen when they are first used; `captures` remembers them, so that a later change is reported.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import difflib
import enum
import functools
import types as pytypes
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.core import ir
from atoll.elaborate import entities as en
from atoll.elaborate.builtins.names import (
    BUILTINS,
    CONSTANTS,
    INSTEAD,
    NUMPY_CONSTANTS,
    WORDS,
    BuiltinName,
    meaning,
    meaning_of_object,
)
from atoll.elaborate.captures import MISSING
from atoll.elaborate.numpy_names.names import NAMES, NUMPYS, SUBMODULES
from atoll.errors import NOWHERE, Span
from atoll.errors.misuse import kind_of
from atoll.sizes import Poly, poly
from atoll.types.dtypes import SCALAR_TYPES, by_numpy, weak_dtype
from atoll.types.objects import is_function
from atoll.types.records import record_of
from atoll.types.types import SCALARS, Array, Scalar, Type

if TYPE_CHECKING:
    from atoll.elaborate.elaborator import Elaborator

_MISSING = MISSING
_PYTHON_TYPES = {int: "i64", float: "f64", bool: "bool", complex: "c128"}


class Namespace:
    """The names visible from one Python function."""

    def __init__(self, fn: pytypes.FunctionType | None = None, names: dict[str, Any] | None = None) -> None:
        self.globals: dict[str, Any] = fn.__globals__ if fn is not None else (names or {})
        self.cells: dict[str, Any] = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)) if fn is not None else {}
        self.text = ""  # of the module, where names that are not bound yet may be defined further down
        self.defaults: dict[str, Any] = _defaults(fn) if fn is not None else {}
        # Names that stand in annotations only are not captured by Python, but it has evaluated the annotations.
        self.annotations: dict[str, Any] = {k: v for k, v in fn.__annotations__.items() if not isinstance(v, str)} if fn is not None else {}

    def python_value(self, name: str) -> Any:
        """The Python object a name means, or _MISSING."""
        if name in self.cells:
            try:
                return self.cells[name].cell_contents
            except ValueError:
                return _MISSING
        if name in self.globals:
            return self.globals[name]
        return _MISSING

    def lookup(self, el: Elaborator, name: str, span: Span) -> Any | None:
        """The entity a free name means, or None."""
        value = self.python_value(name)
        if value is not _MISSING:
            found = entity_of(el, value, name, span)
            if _can_change(value):
                names = None if name in self.cells else self.globals
                el.session.captures.add(self, name, lambda: self.python_value(name), value, names)
            return found
        if (name in BUILTINS or name in WORDS) and (name in self.cells or name in _defined(self.text)):
            return None  # the user's own, not bound yet
        if name in BUILTINS or name in WORDS:
            return builtin_entity(name)
        if name in SCALARS and name != "bool":
            return en.TypeRef(SCALARS[name])
        if name in CONSTANTS:
            return literal(CONSTANTS[name])
        if f"python.{name}" in NAMES:
            return en.Word(name, f"python.{name}")
        if hasattr(builtins, name):
            el.fail("E0109", span, name=name, help=INSTEAD.get(name))
        return None


@functools.lru_cache(maxsize=8)
def _defined(text: str) -> frozenset[str]:
    """The functions a module defines at its top level."""
    try:
        return frozenset(node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    except SyntaxError:  # a notebook's magic
        return frozenset()


def _defaults(fn: pytypes.FunctionType) -> dict[str, Any]:
    """Default values by parameter."""
    code, given = fn.__code__, fn.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    return {**dict(zip(names, given, strict=True)), **(fn.__kwdefaults__ or {})}


def _can_change(value: Any) -> bool:
    """Whether another value under the same name would make another program: sizes and modules are known by their names."""
    return not isinstance(value, (Poly, pytypes.ModuleType, BuiltinName)) and value is not None


def literal(value: bool | int | float | complex, span: Span = NOWHERE) -> en.Value:
    """A Python number: weak."""
    dtype = weak_dtype(value)
    known = poly(value) if isinstance(value, int) and not isinstance(value, bool) and value < 2**63 else None
    return en.Value(ir.Lit(value, type=Scalar(dtype), span=span), Scalar(dtype, weak=True), known)


def builtin_entity(name: str) -> en.Builtin:
    """A name of the language, or one with NumPy's meaning: `np.sum`, a bare `median`."""
    key = name.removeprefix("np.")
    return en.Word(name, key) if key in NAMES and name not in BUILTINS else en.Builtin(name)


def stands_for(value: Any) -> Any:
    """The function that an object stands for in a body (an operator of MADL does), else the object."""
    function = getattr(type(value), "__atoll_function__", None)
    return value if function is None else function(value)


def is_module(value: Any) -> bool:
    """Whether an object is a place to look names up in: a module of Python, the operators of a .madl file, what holds settings."""
    return isinstance(value, pytypes.ModuleType) or getattr(type(value), "__atoll_module__", False) or holds_settings(value)


def holds_settings(value: Any) -> bool:
    """`Config.rate`, `Color.RED.value`: a class of constants, an enumeration's member, an instance of a dataclass, a namespace."""
    if isinstance(value, type):
        own = record_of(value) is not None or value in _PYTHON_TYPES or issubclass(value, np.generic)
        return not own and meaning_of_object(value) is None and value.__module__ != "builtins"
    if isinstance(value, (enum.Enum, pytypes.SimpleNamespace)) or type(value).__module__ == "argparse":
        return True
    return dataclasses.is_dataclass(value) and not isinstance(value, Type)


def setting(el: Elaborator, held: en.Settings, name: str, span: Span) -> Any:
    """`Config.rate`: captured by value, as a global is."""
    holder, called = held.holder, f"{held.name}.{name}"
    value = getattr(holder, name, _MISSING)
    if value is _MISSING:
        close = difflib.get_close_matches(name, dir(holder), 1, 0.7)
        el.fail("E0230", span, name=name, found=held.name, help=f"did you mean {held.name}.{close[0]}?" if close else f"{held.name} has no {name}")
    meant = entity_of(el, value, called, span)
    if _can_change(value):
        el.session.captures.add(holder, called, lambda: getattr(holder, name, _MISSING), value)
    return meant


def settled(el: Elaborator, found: Any, span: Span) -> Any:
    """A name that is used as it is, not to look something up in: a member of an enumeration of integers is that integer."""
    if not isinstance(found, en.Settings):
        return found
    value, name = found.holder, found.name
    if isinstance(value, (int, np.integer)):
        return literal(int(value), span)
    if isinstance(value, type):
        iterates = value.__module__ in ("itertools", "functools", "collections", "_collections")
        help_ = "write loops and comprehensions: [f(u, v) for u in x for v in y]" if iterates else "declare a record with @at.record"
        el.fail("E0106", span, name=name, found=f"the class {value.__name__}", help=help_)
    if isinstance(value, enum.Enum):
        el.fail("E0106", span, name=name, found="a member of an enumeration", help=f"write {name}.value, or make it an enum.IntEnum")
    fields = [key for key in vars(value) if not key.startswith("_")] if hasattr(value, "__dict__") else []
    el.fail("E0106", span, name=name, found=kind_of(value), help=f"take its parts, such as {name}.{fields[0]}" if fields else "pass it as an argument")


def entity_of(el: Elaborator, value: Any, name: str, span: Span) -> Any:
    """What a Python object means in a body."""
    value = stands_for(value)
    if is_function(value):
        return en.FnRef(value)
    if isinstance(value, BuiltinName):
        return builtin_entity(value.__name__)
    if isinstance(value, Poly):
        return el.size_value(el.session.local_size(el, value, span), span)
    if isinstance(value, Type):
        return en.TypeRef(value)
    if holds_settings(value):
        return en.Settings(value, name)
    if is_module(value):
        return en.Module(value)
    if isinstance(value, type):
        return _class_entity(el, value, name, span)
    if value is None:
        return en.NoneEntity()
    if isinstance(value, str):
        return en.TextValue((value,))
    found = meaning_of_object(value)
    if found is not None:
        return builtin_entity(found)
    constant = _constant(el, value, name, span)
    if constant is not None:
        return constant
    if isinstance(value, pytypes.FunctionType):
        el.fail("E0106", span, name=name, found="a plain Python function", help=f"decorate {name} with @at.fn")
    if isinstance(value, list) and value and all(callable(item) for item in value):
        el.fail("E0106", span, name=name, found="a list of functions", help=f"make it a tuple: {name} = tuple({name})")
    if isinstance(value, list):
        el.fail("E0106", span, name=name, found="a list", help=f"make it an array: {name} = np.array({name})")
    if isinstance(value, dict):
        el.fail("E0106", span, name=name, found="a dictionary", help="use a record (@at.record), or pass the values")
    el.fail("E0106", span, name=name, found=kind_of(value), help="pass it as an argument")


def _class_entity(el: Elaborator, value: type, name: str, span: Span) -> Any:
    decl = record_of(value)
    if decl is not None:
        return en.TypeRef(value)
    if value in _PYTHON_TYPES:
        return en.TypeRef(SCALARS[_PYTHON_TYPES[value]])
    if issubclass(value, np.generic) and value.__name__ in SCALAR_TYPES:
        return en.TypeRef(SCALARS[SCALAR_TYPES[value.__name__]])
    found = meaning_of_object(value)  # zip, map, filter, range are classes
    if found is not None:
        return builtin_entity(found)
    el.fail("E0106", span, name=name, found=f"the class {value.__name__}", help="pass numbers and arrays as arguments")


def _constant(el: Elaborator, value: Any, name: str, span: Span) -> Any | None:
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            el.fail("E0212", span, value=value, dtype="i64")
        return literal(value, span)
    if isinstance(value, (np.ndarray, np.generic)) and (stored := by_numpy(value.dtype.newbyteorder("="))) is not None and stored.is_storage:
        value = value.astype(np.float32)  # what is stored short is an f32 when it is read
    if isinstance(value, np.generic) and (dtype := by_numpy(value.dtype)) is not None:
        t = Scalar(dtype)
        number = value.item()
        return en.Value(ir.Lit(number, type=t, span=span), t, poly(number) if dtype.name == "i64" else None)
    if isinstance(value, np.ma.MaskedArray):
        el.fail("E0106", span, name=name, found="a masked array", help=f"choose what stands for masked elements before: {name} = {name}.filled(0)")
    if isinstance(value, np.ndarray):
        dtype = by_numpy(value.dtype.newbyteorder("="))
        if dtype is None:
            el.fail("E0106", span, name=name, found=f"an array of {value.dtype}", help="convert it to a type of Atoll")
        t2: Type = Scalar(dtype)
        for n in reversed(value.shape):
            t2 = Array(t2, poly(n))
        frozen = np.array(value, dtype=dtype.numpy, order="C", copy=True)
        if value.ndim == 0:
            return en.Value(ir.Lit(frozen.item(), type=t2, span=span), t2)
        return en.Value(ir.ConstArray(frozen, type=t2, span=span), t2)
    if isinstance(value, tuple):
        parts = [entity_of(el, item, name, span) for item in value]
        if all(isinstance(p, en.Value) for p in parts):
            from atoll.elaborate.coerce import make_tuple

            return make_tuple(parts, None, span)
        return en.TupleEntity(tuple(parts))
    return None


def numpy_attribute(el: Elaborator, module: Any, name: str, span: Span) -> Any:
    """`np.name`, `np.linalg.name`: a name with NumPy's meaning, or what to write instead."""
    from atoll.elaborate.numpy_names.refused import instead

    where = module.__name__
    key = f"{where}.{name}".removeprefix("numpy.")
    if key in NAMES:
        return en.Word(f"np.{key}", key)
    if key in SUBMODULES and isinstance(getattr(module, name, None), pytypes.ModuleType):
        return en.Module(getattr(module, name))
    el.fail("E0108", span, module=where, name=name, help=instead(key, module, name))


def attribute(el: Elaborator, module: Any, name: str, span: Span) -> Any:
    """`module.name` for math, numpy, operator and atoll itself."""
    where = module.__name__
    if where == "atoll" or where.startswith("atoll."):
        found = getattr(module, name, None)
        if found is not None:
            return entity_of(el, found, f"{where}.{name}", span)
    elif where in ("math", "numpy", "operator"):
        if name in CONSTANTS or name in ("pi", "e", "inf", "nan"):
            return literal(CONSTANTS[name], span)
        if where == "numpy" and name in NUMPY_CONSTANTS:
            return literal(NUMPY_CONSTANTS[name], span)
        if where == "numpy" and name in SCALAR_TYPES:
            return en.TypeRef(SCALARS[SCALAR_TYPES[name]])
        if where == "numpy" and isinstance(named := getattr(module, name, None), type) and issubclass(named, np.generic) and named.__name__ in SCALAR_TYPES:
            return en.TypeRef(SCALARS[SCALAR_TYPES[named.__name__]])  # np.intp, np.double
        if where == "numpy" and name == "newaxis":
            return en.NoneEntity()
        mapped = meaning(where, name)
        own = (where == "numpy" and name in NUMPYS) or f"{where}.{name}" in NAMES
        if mapped is not None and not own:
            return en.Builtin(mapped)
        if where == "numpy":
            return numpy_attribute(el, module, name, span)
        if f"{where}.{name}" in NAMES:
            return en.Word(f"{where}.{name}", f"{where}.{name}")
    elif where in ("numpy.linalg", "numpy.fft"):
        return numpy_attribute(el, module, name, span)
    else:
        value = getattr(module, name, _MISSING)
        if value is not _MISSING:
            meant = entity_of(el, value, f"{where}.{name}", span)
            if _can_change(value):
                el.session.captures.add(module, f"{where}.{name}", lambda: getattr(module, name, _MISSING), value)
            return meant
    el.fail("E0108", span, module=where, name=name, help=INSTEAD.get(name))
