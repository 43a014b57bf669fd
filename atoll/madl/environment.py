"""Names in force, and which names a scope defines.

Variables, sizes, types and places have names of their own. All variables of a scope are known before any of its expressions is read, because
equations have no order; `defined_names` finds them. Undeclared names 'x belong to the operator they are written in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from atoll.errors import Span
from atoll.madl import syntax as s
from atoll.madl.graph import Scope, Wire
from atoll.sizes import Poly
from atoll.types.types import Type


@dataclass
class Metas:
    """What 'x stands for in one operator."""

    sizes: dict[str, Poly] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    places: dict[str, Wire] = field(default_factory=dict)


@dataclass(eq=False)
class Env:
    """The names visible at one point. `scope` is where wires made here live, `level` how deep sizes made here are."""

    scope: Scope
    level: int
    parent: Env | None = None
    metas: Metas = field(default_factory=Metas)
    variables: dict[str, Wire] = field(default_factory=dict)
    sizes: dict[str, Poly] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    indices: dict[str, Poly] = field(default_factory=dict)
    placing: bool = False  # inside `at`: expressions say where, not what
    path: tuple[Any, ...] = ()  # which inlined calls we are in
    root: bool = False  # the outermost names of an operator
    exports: dict[str, Wire] = field(default_factory=dict)  # in a branch: names that go on outside

    def inner(self, scope: Scope, level: int | None = None, **changes: Any) -> Env:
        return Env(
            scope, scope.depth if level is None else level, self, self.metas, path=self.path, placing=self.placing, **changes
        )

    def variable(self, name: str) -> Wire | None:
        here: Env | None = self
        while here is not None:
            if name in here.variables:
                return here.variables[name]
            here = here.parent
        return None

    def size(self, name: str) -> Poly | None:
        here: Env | None = self
        while here is not None:
            if name in here.sizes:
                return here.sizes[name]
            here = here.parent
        return None

    def type(self, name: str) -> Type | None:
        here: Env | None = self
        while here is not None:
            if name in here.types:
                return here.types[name]
            here = here.parent
        return None

    def outermost(self) -> Env:
        """The outermost names of the operator this is written in."""
        here = self
        while not here.root and here.parent is not None:
            here = here.parent
        return here

    def inside(self, other: Env) -> bool:
        here: Env | None = self
        while here is not None:
            if here is other:
                return True
            here = here.parent
        return False


Names = dict[str, Span]


def pattern_names(pattern: Any, found: Names | None = None) -> Names:
    """The variables a pattern defines."""
    found = {} if found is None else found
    match pattern:
        case s.Variable(name):
            found.setdefault(name, pattern.span)
        case s.Group(parts):
            for part in parts:
                pattern_names(part, found)
        case s.Alias(arg, other):
            pattern_names(arg, found)
            pattern_names(other, found)
        case s.Equation(left, _):
            pattern_names(left, found)
        case s.Apply() | s.ArrayOf() | s.TupleOf() | s.Typed() | s.Located() | s.Initial() | s.Aggregate() | s.Accumulate():
            pattern_names(pattern.arg, found)
    return found


def alias_names(expr: Any, found: Names | None = None) -> Names:
    """The variables that `as` and nested equations define inside an expression, nested scopes left out."""
    found = {} if found is None else found
    if isinstance(expr, s.Alias):
        pattern_names(expr.pattern, found)
    if isinstance(expr, s.Equation):
        pattern_names(expr.pattern, found)
    if isinstance(expr, (s.Forward, s.Block, s.Branch, s.Match)):
        return found
    for child in s.children(expr):
        alias_names(child, found)
    return found


def defined_names(statements: Iterable[s.Expr]) -> Names:
    """The variables a body defines, with where."""
    found: Names = {}
    for statement in statements:
        _defined(statement, found)
    return found


def _defined(statement: Any, found: Names) -> None:
    match statement:
        case s.Equation(pattern, value):
            pattern_names(pattern, found)
            _defined(value, found)
        case s.Forward(levels=levels):
            for level in levels:
                _result_names(level.results, found)
        case s.Block(interface, _, _):
            _result_names(interface.results, found)
        case s.Branch(_, then, orelse):
            other = defined_names(orelse)
            for name, span in defined_names(then).items():
                if name in other:
                    found.setdefault(name, span)
        case s.Match(_, cases):
            first, *others = [defined_names(case.body) for case in cases]
            for name, span in first.items():
                if all(name in other for other in others):
                    found.setdefault(name, span)
        case _:
            alias_names(statement, found)


def _result_names(results: Iterable[s.Clause], found: Names) -> None:
    for clause in results:
        if clause.left is not None:
            pattern_names(clause.left, found)


def used_variables(expr: Any) -> set[str]:
    """The variables an expression mentions."""
    return {node.name for node in s.walk(expr) if isinstance(node, s.Variable)}
