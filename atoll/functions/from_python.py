"""Functions given from Python: `integrate(f, 0.0, 1.0)` is compiled once for every f, which is then known and vanishes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from atoll.elaborate.builtins.names import BuiltinName, meaning_of_object
from atoll.errors import fail
from atoll.sizes import Poly, Sym
from atoll.types.objects import is_function
from atoll.types.types import Array, Fn, map_sizes

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
    sizes: dict[Any, Poly] = {}
    for p in f.signature.params:
        if isinstance(p.type, Fn):
            _literal_sizes(p.type, functions[p.name], sizes)
    params = tuple(replace(p, type=map_sizes(p.type, lambda n: n.subst(sizes))) for p in f.signature.params if p.name in given)

    def body(own: str, *names: str) -> str:
        called = dict(zip(functions, names, strict=True))
        return f"{own}({', '.join(called.get(p.name, p.name) for p in f.signature.params)})"

    key = ("given", *map(id, functions.values()))
    left = tuple(n for n in f.signature.sizes if n not in sizes)
    return make(f, key, f.name, params, body, *functions.values(), sizes=left), tuple(given.values())


def _literal_sizes(declared: Fn, value: Any, sizes: dict[Any, Poly]) -> None:
    """A function of f64[3] given for one of f64[n]: n is 3 in this call."""
    signature = getattr(value, "signature", None)
    if signature is None or len(signature.params) != len(declared.params):
        return
    pairs = [*zip(declared.params, (p.type for p in signature.params), strict=True)]
    if signature.result is not None:
        pairs.append((declared.result, signature.result))
    for wanted, found in pairs:
        while isinstance(wanted, Array) and isinstance(found, Array):
            name = wanted.size.single()
            if isinstance(name, Sym) and found.size.const() is not None:
                sizes.setdefault(name, found.size)
            wanted, found = wanted.elem, found.elem


def _is_function(value: Any) -> bool:
    return is_function(value) or isinstance(value, BuiltinName) or meaning_of_object(value) is not None
