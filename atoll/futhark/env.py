"""What names mean: bindings of values with their schemes, types, modules and module types."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import Any, NoReturn

from atoll.errors import Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.ftypes import INTS, NUMBERS, PRIMS, Con, Dim, DVar, Fun, TVar, Type, map_dim, map_type, prune, replaced

KINDS = {"num": NUMBERS, "int": INTS, "bits": (*INTS, "bool"), "prim": PRIMS}


def feature(span: Span, what: str) -> NoReturn:
    """A construct that is read but not supported."""
    fail("E1408", span, what=what)


@dataclass(slots=True, eq=False)
class Binding:
    """A name of a value. `kind`: local, def, builtin, alias (of a member seen through a module type), size, abstract."""

    name: str
    type: Type
    kind: str = "local"
    types: tuple[Con, ...] = ()  # what its scheme is general in
    sizes: tuple[Binding, ...] = ()
    level: int = 0
    node: Any = field(default=None, repr=False)  # the Def or LetFun
    target: Any = field(default=None, repr=False)  # of an alias: the Use it stands for; of a size that calls make: what it is inside the function's type
    attrs: Any = field(default=None, repr=False)
    declared: bool = False  # a size parameter, not a size that a value made
    born: int = 0  # when a size that a value made came about; -1: of a function, when it is called

    def __repr__(self) -> str:
        return f"<{self.name}>"


@dataclass(slots=True, eq=False)
class Use:
    """A name used: its scheme at these types and sizes."""

    binding: Binding
    types: dict[int, Type]  # by the identity of the Con
    sizes: dict[int, Dim]  # by the identity of the size's binding
    type: Type


@dataclass(slots=True, eq=False)
class TypeAbbr:
    """type name params = type; abstract types are `Con`s."""

    name: str
    params: tuple[Any, ...]  # Con or Binding (a size)
    type: Type
    anonymous: tuple[Any, ...] = ()  # sizes written []: new for every use
    lifted: str = ""
    diet: Any = None


@dataclass(slots=True, eq=False)
class Functor:
    name: str | None
    param: s.SigExp
    result: s.SigExp | None
    body: Any  # ModExp, or None for one of a module type
    env: Env
    abstract_result: s.SigExp | None = None


Module = Any  # Env | Functor


@dataclass(slots=True, eq=False)
class Sig:
    """A module type with the names it sees."""

    exp: s.SigExp
    env: Env


class Env:
    def __init__(self, parent: Env | None = None) -> None:
        self.parent = parent
        self.values: dict[str, Binding] = {}
        self.types: dict[str, TypeAbbr] = {}
        self.mods: dict[str, Module] = {}
        self.sigs: dict[str, Sig] = {}
        self.hidden: set[tuple[str, str]] = set()

    def find(self, space: str, name: str) -> Any:
        env: Env | None = self
        while env is not None:
            found = getattr(env, space).get(name)
            if found is not None:
                return found
            env = env.parent
        return None

    def near(self, space: str, name: str, within: str = "") -> str | None:
        """A help for a name that is not there: one that is written almost like it; `within` is the module's name with its dot."""
        names: set[str] = set()
        env: Env | None = self
        while env is not None:
            names.update(k for k in getattr(env, space) if (space, k) not in env.hidden and not k.startswith("builtin_"))
            env = None if within else env.parent
        close = difflib.get_close_matches(name, sorted(names), 1, 0.75)
        return f"did you mean {within}{close[0]}?" if close else None

    def open(self, other: Env) -> None:
        for space in ("values", "types", "mods", "sigs"):
            getattr(self, space).update({k: v for k, v in getattr(other, space).items() if (space, k) not in other.hidden})

    def qualified(self, space: str, name: s.Name, span: Span, what: str) -> Any:
        env: Any = self
        for k, part in enumerate(name[:-1]):
            env = env.find("mods", part) if k == 0 else env.mods.get(part)
            if not isinstance(env, Env):
                fail("E1402", span, what="module" if env is None else "non-parametric module", name=".".join(name[: k + 1]))
        last = name[-1]
        if len(name) == 1:
            found = env.find(space, last)
        else:
            found = getattr(env, space).get(last) if (space, last) not in env.hidden else None
        if found is None:
            fail("E1402", span, what=what, name=".".join(name), help=env.near(space, last, "".join(f"{part}." for part in name[:-1])))
        return found


def substitute(t: Type, types: dict[int, Type], sizes: dict[int, Dim]) -> Type:
    """t with type parameters and sizes replaced, by the identity of their Cons and bindings."""
    if not types and not sizes:
        return t

    def on_type(x: Type) -> Type | None:
        return types.get(id(x)) if isinstance(x, Con) and not x.args else None

    return map_type(t, on_type, lambda d: map_dim(d, lambda x: replaced(x, sizes)))


def instantiate(binding: Binding, level: int, span: Span) -> Use:
    if not binding.types and not binding.sizes:
        return Use(binding, {}, {}, binding.type)
    types: dict[int, Type] = {}
    for con in binding.types:
        types[id(con)] = TVar(level, kinds=KINDS.get(con.kind), unlifted=con.kind != "lifted", sized=con.kind == "type", span=span)
    sizes: dict[int, Dim] = {id(b): DVar(level, of_use=True) for b in binding.sizes}
    return Use(binding, types, sizes, substitute(binding.type, types, sizes))


def arrows(t: Type) -> tuple[list[Fun], Type]:
    """The parameters of a curried function, and its result."""
    found = []
    t = prune(t)
    while isinstance(t, Fun):
        found.append(t)
        t = prune(t.result)
    return found, t
