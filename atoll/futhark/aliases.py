"""What values alias: sets of variables and of their parts, and what expressions and written types mention."""

from __future__ import annotations

from typing import Any

from atoll.errors import Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.env import Binding
from atoll.futhark.ftypes import Arr, Fun, Prim, Rec, Sum, TVar, Type, map_type, prune
from atoll.futhark.patterns import bound

Key = tuple[Any, ...]  # a variable, by the identity of its binding, and the way to a part of it
Alias = Any  # frozenset of keys, or a dict of Alias by field
NONE: frozenset[Key] = frozenset()


def flat(a: Alias) -> frozenset[Key]:
    if isinstance(a, dict):
        return frozenset().union(*(flat(x) for x in a.values())) if a else NONE
    return a  # type: ignore[no-any-return]


def joined(a: Alias, b: Alias) -> Alias:
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return {k: joined(a[k], b[k]) for k in a}
    return flat(a) | flat(b)


def is_plain(t: Type | None) -> bool:
    """A type whose values alias nothing: numbers, and records of them."""
    if t is None:
        return False
    t = prune(t)
    match t:
        case Prim():
            return True
        case Rec(fields):
            return all(is_plain(x) for x in fields.values())
        case Sum(cases):
            return all(is_plain(x) for xs in cases.values() for x in xs)
        case TVar(kinds=kinds):
            return kinds is not None
    return False


def of_type(a: Alias, t: Type | None) -> Alias:
    """Aliases of a value of a type: its numbers have none."""
    if is_plain(t):
        return NONE
    known = prune(t) if t is not None else None
    if isinstance(known, Rec):
        return {f: of_type(a[f] if isinstance(a, dict) and f in a else flat(a), x) for f, x in known.fields.items()}
    return a


def has_array(t: Type) -> bool:
    """Whether arrays are parts of a type; an abstract type may have some, but nothing can be done to them."""
    found = []

    def on_type(x: Type) -> Type | None:
        if isinstance(x, Arr):
            found.append(x)
        return None

    map_type(t, on_type, lambda d: d)
    return bool(found)


def without(a: Alias, keys: set[Key]) -> Alias:
    if isinstance(a, dict):
        return {k: without(x, keys) for k, x in a.items()}
    return a - keys


def declared_unique(p: Any) -> set[int]:
    match p:
        case s.PTyped(inner, s.TUnique()):
            return {id(b) for b in bound(inner)}
        case s.PTyped(inner) | s.PAttr(inner):
            return declared_unique(inner)
        case s.PRecord(fields):
            return {key for _, sub in fields for key in declared_unique(sub)}
    return set()


def gives_unique(wanted: Type, arg: Any, span: Span) -> None:
    """A function whose result must be unique is not one whose result may be anybody's."""
    want, have = prune(wanted), prune(arg.ty) if arg.ty is not None else None
    named = isinstance(arg, s.Var) and arg.info.binding.kind in ("def", "local", "function")
    while named and isinstance(want, Fun) and isinstance(have, Fun):
        if want.fresh is True and have.fresh is False and has_array(have.result) and not isinstance(prune(have.result), Fun):
            fail("E1405", span, what=f'The result of "{arg.info.binding.name}" must be unique here, but it may alias something else')
        want, have = prune(want.result), prune(have.result)


def parts_of(t: Any) -> list[Any]:
    """A written type and the types inside it."""
    from dataclasses import fields, is_dataclass

    found, todo = [], [t]
    while todo:
        x = todo.pop()
        if isinstance(x, (list, tuple)):
            todo += x
        elif is_dataclass(x):
            found.append(x)
            todo += [getattr(x, f.name) for f in fields(x) if f.name not in s.CHECKED]
    return found


def mentioned(e: Any) -> set[int]:
    return {id(b) for b in variables(e)}


def variables(e: Any) -> list[Binding]:
    """The variables an expression mentions."""
    from dataclasses import fields

    found: list[Binding] = []
    todo: list[Any] = [e]
    while todo:
        x = todo.pop()
        if isinstance(x, s.Var) and x.info is not None:
            found.append(x.info.binding)
        if isinstance(x, s.LetWith):
            found.append(x.info[0].binding)
        if isinstance(x, (s.Node, s.Dim)):
            todo += [getattr(x, f.name) for f in fields(x) if f.name not in (*s.CHECKED, "type", "result")]
        elif isinstance(x, (list, tuple)):
            todo += x
    return found
