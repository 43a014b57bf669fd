"""What a name means while ranks are read: a value with a rank type, or something known now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Union

from atoll.elaborate.ranks.kinds import RankType
from atoll.elaborate.ranks.schemes import Scheme
from atoll.errors import Span
from atoll.surface import syntax as s


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A run-time value, or a function that was bound to a parameter."""

    type: RankType


@dataclass(frozen=True, slots=True)
class Builtin:
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Another Atoll function: its scheme and the names of its parameters."""

    name: str
    scheme: Scheme
    params: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Constructor:
    """A type used as a function; `type` is a Python object (a scalar type, a record class)."""

    type: Any


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    module: Any


@dataclass(eq=False, slots=True)
class Local:
    """A local function or a lambda with a name. `env` is what its free names meant at the `def`."""

    name: str
    params: tuple[s.Param, ...]
    body: s.Expr | tuple[s.Stmt, ...]
    env: Env
    span: Span
    result: s.Expr | None = None
    outside: Any = None  # the Names of the text it stands in, where that is another than the one being read
    schemes: dict[object, Scheme] = field(default_factory=dict)
    not_alone: set[object] = field(default_factory=set)  # it was read, and has no type without its uses


@dataclass(frozen=True, slots=True)
class Nothing:
    """None, a text, a name nobody has bound: whatever has no rank."""


@dataclass(frozen=True, slots=True)
class Unset:
    """A name that has no value yet, and will have the rank of what it becomes."""


Entity = Union[Known, Builtin, Named, Constructor, Module, Local, Nothing, Unset]


class Env:
    """Names of a body, then those around it."""

    __slots__ = ("names", "outer")

    def __init__(self, names: dict[str, Entity] | None = None, outer: Callable[[str], Entity | None] | None = None) -> None:
        self.names: dict[str, Entity] = names if names is not None else {}
        self.outer = outer

    def get(self, name: str) -> Entity | None:
        found = self.names.get(name)
        if found is None and self.outer is not None:
            return self.outer(name)
        return found

    def copy(self) -> Env:
        return Env(dict(self.names), self.outer)
