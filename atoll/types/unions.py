"""Unions: `T = A | B` over records, possibly recursive through fields written as strings, possibly with None as a case.

    @at.record class Nil: pass
    @at.record class Cons: head: a; tail: "List"
    List = Nil | Cons            a = at.types("a"): List[i64] puts i64 for a; List alone means List[a]

The same records make the same union wherever `|` is written. A declaration has parameters: the type variables and the sizes its
fields mention, in order of appearance, through every union they mention. A field's size made with at.some is the value's own: it is
not a parameter, and `match` opens it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from atoll.errors import fail
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.declare import is_some
from atoll.types.objects import type_of_object
from atoll.types.records import Around, field_types, record_of
from atoll.types.types import (
    Array,
    Fn,
    Own,
    Record,
    RecordDecl,
    Tuple,
    Type,
    Union,
    Var,
    map_sizes,
    sizes_in,
    subst_sizes,
    subst_types,
    type_vars,
)

NONE = RecordDecl("None", (), None, "None")
"""None as a case: no fields."""

_UNIONS: dict[frozenset[Any], UnionDecl] = {}


@dataclass(frozen=True, slots=True)
class PythonForm:
    """How a library type looks to Python (std/). `expand` makes instances of its records from the Python form, `finish` the other way round.
    `column`: the empty case and that of a first element and the rest, of a type that is a list in Python; lists of numbers cross as whole columns."""

    expand: Callable[[Any], Any]
    finish: Callable[[Any], Any]
    column: tuple[Any, Any] | None = None


class UnionDecl:
    """The cases of a union: classes of records, and None."""

    __slots__ = ("members", "around", "python", "_name", "_params")

    def __init__(self, members: tuple[Any, ...], around: Around) -> None:
        self.members, self.around = members, around
        self.python: PythonForm | None = None
        self._name: str | None = None
        self._params: tuple[tuple[str, ...], tuple[Sym, ...]] | None = None

    def __repr__(self) -> str:
        """The name the user gave it, else its cases."""
        if self._name is None:
            names = (n for n, v in self.around.names().items() if isinstance(v, Union) and v.decl is self and v.types is None)
            self._name = next(names, None)
        return self._name or " | ".join(d.name for d in self.decls)

    @property
    def named(self) -> bool:
        """Whether the user gave it a name."""
        return repr(self) != " | ".join(d.name for d in self.decls)

    @property
    def decls(self) -> tuple[RecordDecl, ...]:
        return tuple(NONE if m is None else m.__atoll_record__ for m in self.members)

    @property
    def params(self) -> tuple[tuple[str, ...], tuple[Sym, ...]]:
        """Type variables and sizes, in order of appearance."""
        if self._params is None:
            types: dict[str, None] = {}
            sizes: dict[Sym, None] = {}
            _collect(self, set(), types, sizes)
            self._params = tuple(types), tuple(sizes)
        return self._params

    def position(self, decl: RecordDecl) -> int | None:
        """Which case a record is."""
        return next((k for k, d in enumerate(self.decls) if d == decl), None)

    def member(self, t: Union, k: int) -> Record:
        """Case k of the union type t, its fields with t's types and sizes."""
        if self.members[k] is None:
            return Record(NONE, ())
        types, sizes = self.params
        assert t.types is not None and t.sizes is not None
        of_types = dict(zip(types, t.types, strict=True))
        of_sizes: dict[Atom, Poly] = dict(zip(sizes, t.sizes, strict=True))
        items = tuple(subst_types(subst_sizes(normal(f), of_sizes), of_types) for f in field_types(self.members[k]))
        return Record(self.decls[k], items)


def union(*parts: Any) -> Any:
    """The union of records, unions and None."""
    members: dict[Any, None] = {}
    for part in parts:
        if isinstance(part, Union):
            members.update(dict.fromkeys(part.decl.members))
        elif part is None or part == ():
            members[None] = None
        elif record_of(part) is not None:
            members[part] = None
        else:
            fail("E1103", found=getattr(part, "__name__", repr(part)))
    key = frozenset(members)
    if key not in _UNIONS:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("atoll.types.", "atoll.elaborate.", "atoll.errors.")):
            frame = frame.f_back
        _UNIONS[key] = UnionDecl(tuple(members), Around(frame))
    return Union(_UNIONS[key])


def unions_of(decl: RecordDecl) -> list[UnionDecl]:
    """The unions with more than one case a record is a case of; A | B on the way to A | B | C only if it has a name of its own."""
    found = [u for u in _UNIONS.values() if len(u.members) > 1 and u.position(decl) is not None]
    return [u for u in found if u.named or not any(set(u.members) < set(other.members) for other in found)]


def subscript(t: Type, items: Any) -> Type:
    """`T[n]` is an array of T, `T[i64]` puts i64 for T's type variable."""
    given = items if isinstance(items, tuple) else (items,)
    if all(isinstance(i, (Poly, int)) for i in given):
        result = t
        for n in reversed(given):
            result = Array(result, poly(n))
        return result
    types = tuple(map(type_of_object, given))
    if isinstance(t, Union):
        return Union(t.decl, types)
    names = _type_names(t)
    if len(names) == 1 and len(types) > 1:
        types = (Tuple(types),)
    if len(names) != len(types):
        fail("E1104", name=repr(t), expected=len(names), found=len(types))
    return subst_types(t, dict(zip(names, types, strict=True)))


def _type_names(t: Type) -> list[str]:
    return type_vars(t)


def parts(t: Type) -> tuple[Type, ...]:
    match t:
        case Array(elem):
            return (elem,)
        case Tuple(items) | Record(_, items):
            return items
        case Fn(params, result):
            return (*params, result)
        case Own(inner):
            return (inner,)
    return ()


def _collect(decl: UnionDecl, seen: set[UnionDecl], types: dict[str, None], sizes: dict[Sym, None]) -> None:
    """The parameters of a declaration: what its fields mention, through unions mentioned without arguments."""
    seen.add(decl)

    def walk(t: Type) -> None:
        if isinstance(t, Var):
            types[t.name] = None
        elif isinstance(t, Union):
            for a in t.types or ():
                walk(a)
            if t.types is None and t.decl not in seen:
                _collect(t.decl, seen, types, sizes)
        else:
            own = [t.size] if isinstance(t, Array) else list(sizes_in(t)) if not parts(t) else []
            for p in own:
                for leaf in p.leaves():
                    if isinstance(leaf, Sym) and not is_some(leaf):
                        sizes[leaf] = None
            for part in parts(t):
                walk(part)

    for m in decl.members:
        if m is not None:
            for f in field_types(m):
                walk(f)


def normal(t: Type) -> Type:
    """t with the arguments of its unions written out."""
    match t:
        case Union(decl, types, sizes):
            names, own = decl.params
            if types is not None and len(names) == 1 and len(types) > 1:
                types = (Tuple(types),)  # List[(i64, f64)]: Python does not tell it from List[i64, f64]
            if types is not None and len(types) != len(names):
                fail("E1104", name=repr(decl), expected=len(names), found=len(types))
            given = tuple(map(normal, types)) if types is not None else tuple(Var(n) for n in names)
            return Union(decl, given, sizes if sizes is not None else tuple(poly(s) for s in own))
        case Array(elem, size):
            return Array(normal(elem), size)
        case Tuple(items):
            return Tuple(tuple(map(normal, items)))
        case Record(record, items):
            return Record(record, tuple(map(normal, items)))
        case Fn(params, result):
            return Fn(tuple(map(normal, params)), normal(result))
        case Own(inner):
            return Own(normal(inner))
    return t


def hides_sizes(t: Type) -> bool:
    """The type has sizes made with at.some."""
    return any(is_some(leaf) for size in sizes_in(t) for leaf in size.leaves())


def own_sizes(t: Type) -> list[Sym]:
    """The sizes made with at.some that a type mentions, in order."""
    found: dict[Sym, None] = {}
    for size in sizes_in(t):
        for leaf in size.leaves():
            if isinstance(leaf, Sym) and is_some(leaf):
                found[leaf] = None
    return list(found)


def has_data(t: Type) -> bool:
    """The type mentions a union or a function: its values are more than arrays of numbers."""
    return isinstance(t, (Union, Fn)) or any(map(has_data, parts(t)))


def reaches(t: Type, wanted: UnionDecl) -> bool:
    """Values of this type can contain values of that union."""
    seen: set[UnionDecl] = set()

    def walk(t: Type) -> bool:
        if isinstance(t, Union):
            if t.decl is wanted or any(map(walk, t.types or ())):
                return True
            if t.decl in seen:
                return False
            seen.add(t.decl)
            return any(walk(f) for m in t.decl.members if m is not None for f in field_types(m))
        return any(map(walk, parts(t)))

    return walk(t)


def type_key(t: Type) -> object:
    """What two types must share to be the same without their sizes; declarations count by identity, not by name."""
    bare = map_sizes(t, lambda p: Poly({}))
    return _key(bare)


def _key(t: Type) -> object:
    if isinstance(t, Union):
        return ("union", id(t.decl), tuple(map(_key, t.types or ())))
    if isinstance(t, Record):
        return ("record", id(t.decl.cls), t.decl.name, tuple(map(_key, t.items)))
    inner = parts(t)
    return (type(t).__name__, tuple(map(_key, inner))) if inner else repr(t)

