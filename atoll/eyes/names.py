"""Names in a text, so also while it does not compile: where one is defined, and every place of a size. Of a Python text they are found by its syntax alone, of MADL and
Futhark by what was last known about their definitions (facts.py) and the words of their lines."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any


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

    def axes_of_size(self, name: str, line: int) -> str | None:
        """What a size is in the function around a line: the axes of parameters that have it."""
        if name not in self.sizes():
            return None
        around = self.function_at(line)
        found = []
        for arg in (*around.args.posonlyargs, *around.args.args, *around.args.kwonlyargs) if around is not None else ():
            if isinstance(arg.annotation, ast.Subscript):
                axes = arg.annotation.slice.elts if isinstance(arg.annotation.slice, ast.Tuple) else [arg.annotation.slice]
                found += [f"axis {k} of {arg.arg}" + ("" if isinstance(axis, ast.Name) else f" is {ast.unparse(axis)}") for k, axis in enumerate(axes) if any(isinstance(x, ast.Name) and x.id == name for x in ast.walk(axis))]
        return f"size {name}" + (": " + ", ".join(found) if found else "")

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


class Words:
    """A text of MADL or Futhark: its words, and what is known about its definitions."""

    def __init__(self, text: str, functions: list[dict[str, Any]], futhark: bool) -> None:
        self.lines, self.futhark = text.splitlines(), futhark
        self.functions = sorted((f for f in functions if f["place"]), key=lambda f: f["place"][0])

    def name_at(self, line: int, column: int) -> str | None:
        if not 0 < line <= len(self.lines) or column > len(self._code(line)):
            return None
        return next((w[0] for w in re.finditer(r"[^\W\d][\w']*", self.lines[line - 1]) if w.start() <= column <= w.end()), None)

    def _code(self, line: int) -> str:
        """A line without its comment."""
        return re.split("--" if self.futhark else "//", self.lines[line - 1], maxsplit=1)[0]

    def around(self, line: int) -> tuple[dict[str, Any] | None, range]:
        """The definition a line belongs to, and its lines."""
        starts = [f["place"][0] for f in self.functions]
        last = [f for f in self.functions if f["place"][0] <= line]
        if not last:
            return None, range(0)
        first = last[-1]["place"][0]
        return last[-1], range(first, min([s for s in starts if s > first], default=len(self.lines) + 1))

    def definition(self, line: int, column: int) -> Spot | None:
        """Where a name of the definition around is first written with its type, else the definition of that name."""
        name = self.name_at(line, column)
        inside, lines = self.around(line)
        for at in lines if self.futhark and name is not None else ():
            bound = re.search(rf"\b(?:let|def|entry)\s+({re.escape(name or '')})(?![\w'])", self._code(at))
            if bound is not None:
                return Spot(at, bound.start(1), bound.end(1))
        for at, start, _, end, shown in sorted(inside["types"]) if inside is not None else ():
            if name is not None and shown.startswith(f"{name} :"):
                return Spot(at, start, min(end, start + len(name)) if end > start else start + len(name))
        for f in self.functions:
            if f["name"] == name:
                at = f["place"][0]
                word = re.search(rf"\b{re.escape(f['name'])}\b", self.lines[at - 1])
                return Spot(at, word.start(), word.end()) if word else None
        return None

    def type_of(self, name: str, line: int) -> str | None:
        """The type of a name of the definition around, where no type stands at its place."""
        inside, _ = self.around(line)
        return next((t[4] for t in inside["types"] if t[4].startswith(f"{name} :")), None) if inside is not None else None

    def places_of_size(self, name: str, line: int) -> list[Spot]:
        """Every place of a size in the definition around: those that its head declares, [n] of Futhark and <<n>> or size n of MADL."""
        inside, lines = self.around(line)
        whole = "\n".join(self._code(k) for k in lines)
        quoted = re.escape(name)
        declared = rf"\[{quoted}\]" if self.futhark else rf"<<[^>]*\b{quoted}\b[^>]*>>|\bsize\s[^.]*\b{quoted}\b|\[{quoted}\]"
        if inside is None or not re.search(declared, whole):
            return []
        return [Spot(k, w.start(), w.end()) for k in lines for w in re.finditer(rf"(?<![\w.'])({quoted})(?![\w'])", self._code(k))]


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
