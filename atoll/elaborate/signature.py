"""The declared type of a function: parameters, result, the sizes that occur, in the user's own symbols."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from atoll.elaborate.annotations import type_expr
from atoll.elaborate.blanks import Blank, blanks
from atoll.elaborate.builtins.names import BUILTINS, BuiltinName
from atoll.elaborate.namespace import _MISSING, Namespace
from atoll.elaborate.ranks.names import number_variables
from atoll.errors import Error, Span, fail
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.declare import is_some, size_symbol
from atoll.surface import syntax as s
from atoll.surface.show import children
from atoll.types.objects import FnMaker, IndexMaker, OwnMaker, TupleMaker, type_of_object
from atoll.types.types import SCALARS, Fn, Index, Own, Scalar, Type, sizes_in, subst_sizes, type_vars
from atoll.types.unions import normal


@dataclass(frozen=True, slots=True)
class ParamInfo:
    name: str
    type: Type
    default: s.Expr | None
    owned: bool
    span: Span
    given: str = "either"  # or by "position" only, by "name" only


@dataclass(frozen=True, slots=True)
class Signature:
    params: tuple[ParamInfo, ...]
    result: Type | None
    sizes: tuple[Sym, ...]  # bound from arguments, in order of appearance
    type_vars: tuple[str, ...]
    blanks: tuple[Sym, ...] = ()  # sizes written `_`, found by inference (elaborate/blanks.py)

    @property
    def is_generic(self) -> bool:
        return bool(self.type_vars) or any(isinstance(p.type, Fn) for p in self.params)

    def integer_params(self) -> dict[str, ParamInfo]:
        """Parameters that can be sizes."""
        return {p.name: p for p in self.params if isinstance(p.type, Index) or p.type == SCALARS["i64"]}


def read_signature(fn: s.Function, namespace: Namespace) -> Signature:
    """The signature of a top-level function; every parameter must be annotated."""
    names = {p.name for p in fn.params}
    params = []
    for p in fn.params:
        if p.annotation is None:
            fail("E0118", p.span, name=p.name, where=fn.name)
        t = _declared(p.name, p.annotation, namespace, names, fn.name)
        owned = isinstance(t, Own)
        inner = t.inner if isinstance(t, Own) else t
        params.append(ParamInfo(p.name, inner, p.default, owned, p.span, p.given))
    if isinstance(fn.result, s.NoneValue):
        fail("E0211", fn.result.span, text="None", where=fn.name, help="every function returns a value: write its type, or leave -> out")
    result = None if fn.result is None else _declared("return", fn.result, namespace, names, fn.name)
    integers = {p.name for p in params if isinstance(p.type, (Scalar, Index)) and p.type.dtype.name == "i64"}
    found: dict[Sym, None] = {}
    seen: set[str] = set()
    for info, p in zip(params, fn.params, strict=True):
        seen.add(info.name)
        written = _as_written(p.annotation)
        for size in sizes_in(info.type):
            late = [repr(leaf) for leaf in size.leaves() if repr(leaf) in integers - seen]
            if late:
                fail("E0313", p.span, name=late[0], where=fn.name)
            for leaf in sorted(size.leaves(), key=written):
                if isinstance(leaf, Sym) and leaf.name not in integers and not is_some(leaf) and not isinstance(leaf, Blank):
                    found[leaf] = None
    generic = tuple(dict.fromkeys(name for p in params for name in type_vars(p.type)))
    open_ = blanks([p.type for p in params] + ([result] if result is not None else []))
    return Signature(tuple(params), result, tuple(found), generic, open_)


def _as_written(annotation: s.Expr | None) -> Callable[[Atom], tuple[int, str]]:
    """Symbols in the order in which their names stand in a type, then by name.

    Sizes are known by name everywhere, so the order in which they were made says which modules were imported before.
    """
    names: dict[str, int] = {}
    todo: list[Any] = [annotation]
    while todo:
        node = todo.pop()
        if isinstance(node, s.Name):
            names.setdefault(node.id, len(names))
        todo += reversed(children(node))
    return lambda leaf: (names.get(repr(leaf), len(names)), repr(leaf))


def _declared(name: str, node: s.Expr, namespace: Namespace, params: set[str], where: str) -> Type:
    """The type an annotation denotes: by its text, or, where a name in it is local to the function around, by its value."""
    try:
        return type_expr(node, _lookup(namespace, params, where), where)
    except Error as error:
        if error.code != "E0119" or name not in namespace.annotations:
            raise
        try:
            return normal(type_of_object(namespace.annotations[name]))
        except LookupError:
            fail("E0211", node.span, text=node.span.text(), where=where)


def _lookup(namespace: Namespace, params: set[str], where: str) -> Any:
    def look(name: str, span: Span) -> Any:
        if name == "_":
            return poly(Blank())
        value = namespace.python_value(name)
        if value is not _MISSING:
            return value
        found = type_name(name)
        if found is not None:
            return found
        if name in params:
            return poly(size_symbol(name))
        if hasattr(builtins, name):
            fail("E0211", span, text=name, where=where)
        fail("E0119", span, name=name, where=where)

    return look


def type_name(name: str) -> Any | None:
    """A name the language gives to types."""
    if name in SCALARS:
        return SCALARS[name]
    special: dict[str, Any] = {
        "bool_": SCALARS["bool"],
        "idx": IndexMaker(),
        "Tuple": TupleMaker(),
        "tuple": TupleMaker(),
        "Fn": FnMaker(),
        "own": OwnMaker(),
        "int": SCALARS["i64"],
        "float": SCALARS["f64"],
        "complex": SCALARS["c128"],
    }
    if name in special:
        return special[name]
    return BuiltinName(name) if name in BUILTINS else None


def show_signature(name: str, signature: Signature, result: Type | None) -> str:
    """`matmul(a: f32[n, k], b: f32[k, m]) -> f32[n, m]`"""
    own: dict[Atom, Poly] = {sym: poly(Sym(sym.name)) for sym in (*signature.sizes, *map(size_symbol, signature.integer_params()))}  # numbered in the order of this function
    types = [subst_sizes(p.type, own) for p in signature.params]
    params = ", ".join(f"{p.name}: {Own(t) if p.owned else t!r}" for p, t in zip(signature.params, types, strict=True))
    return f"{name}({params})" + (f" -> {subst_sizes(result, own)!r}" if result is not None else "")


def constraints(fn: Any) -> str:
    """` where a: number` for the type variables of a generic function that meet arithmetic."""
    from atoll.elaborate.session import Session

    found = number_variables(Session(), fn)
    shown = [f"{name}: number" for name in fn.signature.type_vars if name in found]
    return f" where {', '.join(shown)}" if shown else ""
