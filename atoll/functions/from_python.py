"""Functions given from Python: `integrate(f, 0.0, 1.0)` is compiled once for every f, which is then known and vanishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.errors import fail
from atoll.types.builtins.names import BuiltinName, meaning_of_object
from atoll.types.types import Fn

if TYPE_CHECKING:
    from atoll.function import Function


def takes_functions(f: Function) -> bool:
    """Generic only in the functions it takes."""
    return f.signature.is_generic and not f.signature.type_vars


def with_functions(f: Function, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Function, tuple[Any, ...]]:
    """The function with the functions among its arguments put in, and the other arguments."""
    from atoll.ad.api import make

    given = dict(zip((p.name for p in f.signature.params), f._arguments(args, keywords), strict=True))
    functions = {p.name: given.pop(p.name) for p in f.signature.params if isinstance(p.type, Fn)}
    for name, value in functions.items():
        if not _is_function(value):
            found = "a Python function" if callable(value) else f"a {type(value).__name__}"
            fail("E1125", fn=f.name, name=name, found=found)
    params = tuple(p for p in f.signature.params if p.name in given)

    def body(own: str, *names: str) -> str:
        called = dict(zip(functions, names, strict=True))
        return f"{own}({', '.join(called.get(p.name, p.name) for p in f.signature.params)})"

    key = ("given", *map(id, functions.values()))
    return make(f, key, f.name, params, body, *functions.values()), tuple(given.values())


def _is_function(value: Any) -> bool:
    from atoll.function import Function

    return isinstance(value, (Function, BuiltinName)) or meaning_of_object(value) is not None
