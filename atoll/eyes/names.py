"""Names in a Python text, found by its syntax alone, so also while it does not compile: where one is defined, and every place of a size."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A stretch of one line: line from 1, columns in characters from 0."""

    line: int
    column: int
    end: int


class Text:
    """A text and its syntax tree; where it is broken, what is before the broken line."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.tree = _parse(text)

    def spot(self, node: ast.expr | ast.arg, length: int) -> Spot:
        line = self.lines[node.lineno - 1]
        column = len(line.encode()[: node.col_offset].decode(errors="replace"))
        return Spot(node.lineno, column, column + length)

    def name_at(self, line: int, column: int) -> str | None:
        """The name under a place."""
        if not 0 < line <= len(self.lines):
            return None
        for found in re.finditer(r"[^\W\d]\w*", self.lines[line - 1]):
            if found.start() <= column <= found.end():
                return found[0]
        return None

    def function_at(self, line: int) -> ast.FunctionDef | None:
        """The outermost function around a line."""
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or node.lineno):
                return node
        return None

    def definition(self, line: int, column: int) -> Spot | None:
        """Where the name under a place is bound: in the function around it, else in the module."""
        name = self.name_at(line, column)
        if name is None:
            return None
        around = self.function_at(line)
        if around is not None:
            inside = self._binding(around, name)
            if inside is not None:
                return inside
        for node in self.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                if node.name == name:
                    at = self.lines[node.lineno - 1].find(name)
                    return Spot(node.lineno, max(0, at), max(0, at) + len(name))
            elif (found := self._binding(node, name)) is not None:
                return found
        return None

    def _binding(self, around: ast.AST, name: str) -> Spot | None:
        found: list[Spot] = []
        for node in ast.walk(around):
            if (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)) or (isinstance(node, ast.arg) and node.arg == name):
                found.append(self.spot(node, len(name)))
        return min(found, default=None)

    # -- sizes

    def sizes(self) -> dict[str, ast.Assign]:
        """Sizes and the assignments that declare them: n, m = at.sizes("n m")."""
        found: dict[str, ast.Assign] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _called(node.value) in ("sizes", "some"):
                for target in ast.walk(node.targets[0]):
                    if isinstance(target, ast.Name):
                        found[target.id] = node
        return found

    def places_of_size(self, name: str) -> list[Spot]:
        """Every place of a size: its name, the word in the text that declares it, its uses where no function binds the name itself."""
        declared = self.sizes().get(name)
        if declared is None:
            return []
        found: set[Spot] = set()
        assert isinstance(declared.value, ast.Call)
        for arg in declared.value.args:
            if isinstance(arg, ast.Constant) and isinstance(arg.value, str):
                start = self.spot(arg, 1)
                line = self.lines[start.line - 1]
                word = re.compile(rf"\b{re.escape(name)}\b").search(line, start.column)
                if word is not None:
                    found.add(Spot(start.line, word.start(), word.end()))
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and self._binding(node, name) is not None:
                continue
            for x in ast.walk(node):
                if isinstance(x, ast.Name) and x.id == name:
                    found.add(self.spot(x, len(name)))
        return sorted(found)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""


def _parse(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        lines = text.splitlines()
        for end in range(min((error.lineno or 1) - 1, len(lines)), 0, -1):
            try:
                return ast.parse("\n".join(lines[:end]))
            except SyntaxError:
                continue
        return ast.Module([], [])
