"""The plugin for mypy: `plugins = ["atoll.mypy_plugin"]` under [tool.mypy].

The body of an Atoll function is not Python, nor are its annotations Python's types: sizes are values there. So mypy is shown each of them as a function of Any that returns Any, and
the fields of records, and annotations of other variables that name Atoll types, as Any. What stands around, where arrays are made and functions are called, is checked as it is.
This happens when a file has been parsed, before anything is analysed.
"""

from __future__ import annotations

from collections.abc import Iterator

from mypy.nodes import (
    AssignmentStmt,
    Block,
    CallExpr,
    ClassDef,
    Decorator,
    Expression,
    FuncDef,
    ImportAll,
    ImportFrom,
    MemberExpr,
    MypyFile,
    NameExpr,
    PassStmt,
    Statement,
)
from mypy.nodes import Import as ImportModule
from mypy.plugin import Plugin
from mypy.types import AnyType, CallableType, TypeOfAny

DECORATORS = ("fn", "record")
METHODS = ("def_vjp", "def_jvp")  # @f.def_vjp


class Names:
    """What `at` and `fn` are called in a file."""

    def __init__(self, file: MypyFile) -> None:
        self.modules: set[str] = set()
        self.names: dict[str, str] = {}
        for node in file.imports:
            if isinstance(node, ImportModule):
                self.modules |= {as_name or name for name, as_name in node.ids if name == "atoll"}
            elif isinstance(node, ImportFrom) and node.id == "atoll":
                self.names |= {as_name or name: name for name, as_name in node.names}
            elif isinstance(node, ImportAll) and node.id == "atoll":
                self.names |= {name: name for name in DECORATORS}

    def __bool__(self) -> bool:
        return bool(self.modules or self.names)

    def meaning(self, e: Expression) -> str:
        """fn, record or def_vjp where a decorator is one of them."""
        if isinstance(e, CallExpr):
            e = e.callee
        if isinstance(e, MemberExpr):
            if isinstance(e.expr, NameExpr) and e.expr.name in self.modules:
                return e.name
            return e.name if e.name in METHODS else ""
        return self.names.get(e.name, "") if isinstance(e, NameExpr) else ""


class AtollPlugin(Plugin):
    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        names = Names(file)
        if names:
            for statement in list(_statements(file.defs)):
                _show(statement, names)
        return []


def _statements(body: list[Statement]) -> Iterator[Statement]:
    """The statements of a file at any depth, but for those in functions of Atoll's."""
    for statement in body:
        yield statement
        for name in ("defs", "body", "else_body", "finally_body"):
            inner = getattr(statement, name, None)
            for block in inner if isinstance(inner, list) else [inner]:
                if isinstance(block, Block):
                    yield from _statements(block.body)
        function = statement.func if isinstance(statement, Decorator) else statement
        if isinstance(function, FuncDef):
            yield from _statements(function.body.body)


def _show(statement: Statement, names: Names) -> None:
    if isinstance(statement, Decorator) and any(names.meaning(d) in ("fn", *METHODS) for d in statement.decorators):
        _plain(statement.func)
    elif isinstance(statement, ClassDef) and any(names.meaning(d) == "record" for d in statement.decorators):
        for inner in statement.defs.body:
            if isinstance(inner, AssignmentStmt) and inner.unanalyzed_type is not None:
                inner.type = inner.unanalyzed_type = AnyType(TypeOfAny.explicit)


def _plain(function: FuncDef) -> None:
    """A function of Any without a body to look into."""
    old = function.unanalyzed_type
    anything = AnyType(TypeOfAny.explicit)
    if isinstance(old, CallableType):
        function.type = function.unanalyzed_type = old.copy_modified(arg_types=[anything] * len(old.arg_types), ret_type=anything)
    for argument in function.arguments:
        if argument.type_annotation is not None:
            argument.type_annotation = anything
        argument.variable.type = None
    passing = PassStmt()
    passing.set_line(function.body)
    function.body.body = [passing]


def plugin(version: str) -> type[Plugin]:
    """What mypy asks for."""
    return AtollPlugin
