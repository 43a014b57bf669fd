"""Local functions that take their arguments as they are given, as in Python.

An unannotated local function usually has the least ranks its body allows, and a call lifts it over further axes. A body that applies words of NumPy's to what it
is given means something else for every rank: `np.sum(c * c)`, `c / c.sum()` of a number are no use, of an array they are what NumPy does. Such a function is read
for the arguments of each call, and nothing is lifted; an annotation (`def g(c: f64)`) says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import lru_cache
from types import ModuleType
from typing import Any

from atoll.elaborate import entities as en
from atoll.elaborate.numpy_names.names import NAMES
from atoll.surface import syntax as s
from atoll.surface.names import binds, reads

Numpys = tuple[tuple[str, str], ...]
_OF_ARRAYS = frozenset("T mT shape size ndim".split())
METHODS_OF_ARRAYS = frozenset(
    """
    all any argmax argmin argpartition argsort choose compress cumprod cumsum diagonal dot fill flatten max mean min nonzero partition prod put
    ravel repeat reshape searchsorted sort squeeze std sum swapaxes take tolist trace transpose var view
    """.split()
)
OF_NUMBERS = frozenset(
    """
    add angle arctan2 around bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor
    clip conj conjugate copysign deg2rad degrees divide divmod equal fabs finfo fix float_power floor_divide fmax fmin fmod gcd greater
    greater_equal heaviside hypot iinfo imag invert isclose iscomplex iscomplexobj isneginf isposinf isreal isrealobj lcm ldexp left_shift less
    less_equal logaddexp logaddexp2 logical_and logical_not logical_or logical_xor maximum minimum mod modf multiply nan_to_num negative
    not_equal piecewise positive pow power rad2deg radians real reciprocal remainder right_shift rint round select sinc subtract true_divide
    where
    """.split()
)
"""Words that are the same of every element: nothing depends on the rank."""


def takes_as_given(fn: en.Closure, callers: tuple[en.Closure, ...] = ()) -> bool:
    """Whether what the body does, or a function that it calls, depends on the ranks of what it is given, by NumPy's rules."""
    if _depends_on_ranks(fn.params, fn.body, _numpys(fn)):
        return True
    called = (fn.captured.get(name) for name in _called(fn.params, fn.body))
    return any(isinstance(f, en.Closure) and f not in callers and takes_as_given(f, (*callers, fn)) for f in called)


@lru_cache(maxsize=4096)
def _depends_on_ranks(params: tuple[s.Param, ...], body: s.Expr | tuple[s.Stmt, ...], numpys: Numpys) -> bool:
    own = _own(params, body)
    return any(_is_of_arrays(node, own, dict(numpys)) for node in _nodes(body))


def _numpys(fn: en.Closure) -> Numpys:
    """Which of its names are numpy, whatever it was imported as, or one of numpy's modules or functions: what stands before their names in the table, or their own name there."""
    found = []
    for name in sorted({node.id for node in _nodes(fn.body) if isinstance(node, s.Name)}):
        value = fn.home.namespace.python_value(name)
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == "numpy":
            found.append((name, f"{value.__name__}.".removeprefix("numpy.")))
        elif getattr(value, "__module__", None) in ("numpy", "numpy.linalg", "numpy.fft"):
            found.append((name, f"{value.__module__}.{getattr(value, '__name__', name)}".removeprefix("numpy.")))
    return tuple(found)


@lru_cache(maxsize=4096)
def _called(params: tuple[s.Param, ...], body: s.Expr | tuple[s.Stmt, ...]) -> tuple[str, ...]:
    """Names that are called with what the function is given."""
    own = _own(params, body)
    calls = [node for node in _nodes(body) if isinstance(node, s.Call) and any(reads(arg) & own for arg in (*node.args, *(e for _, e in node.keywords)))]
    return tuple(call.fn.id for call in calls if isinstance(call.fn, s.Name))


def _own(params: tuple[s.Param, ...], body: s.Expr | tuple[s.Stmt, ...]) -> set[str]:
    """The parameters without annotations and what the body binds."""
    own = {p.name for p in params if p.annotation is None}
    return own | binds(body) if isinstance(body, tuple) else own


def _is_of_arrays(node: s.Node, own: set[str], numpys: dict[str, str]) -> bool:
    match node:
        case s.Attr(value, name) if name in _OF_ARRAYS:
            return bool(reads(value) & own)
        case s.Call(fn=s.Attr(value, name)) if not (reads(value) & own):
            dotted = _dotted(value, numpys)
            return dotted is not None and _is_given(node, own) and _is_of_ranks(f"{dotted}{name}")
        case s.Call(fn=s.Name(name)) if name in numpys and name not in own:
            return _is_given(node, own) and _is_of_ranks(numpys[name])
        case s.Call(fn=s.Attr(_, name)):
            return name in METHODS_OF_ARRAYS
    return False


def _is_given(call: s.Call, own: set[str]) -> bool:
    return any(reads(arg) & own for arg in (*call.args, *(e for _, e in call.keywords)))


def _is_of_ranks(key: str) -> bool:
    return key in NAMES and key not in OF_NUMBERS


def _dotted(node: s.Expr, numpys: dict[str, str]) -> str | None:
    """What stands before a name in the table of words: nothing for `np`, `linalg.` for `np.linalg`, `add.` for `np.add`"""
    if isinstance(node, s.Name):
        return numpys.get(node.id)
    inner = _dotted(node.value, numpys) if isinstance(node, s.Attr) else None
    return None if inner is None or not isinstance(node, s.Attr) else f"{inner}{node.name}."


def _nodes(part: Any) -> Iterator[s.Node]:
    if isinstance(part, s.Node):
        yield part
        for f in fields(part):
            yield from _nodes(getattr(part, f.name))
    elif isinstance(part, tuple):
        for item in part:
            yield from _nodes(item)
