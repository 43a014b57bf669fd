"""Finding the text of a function: files, notebooks, the REPL, strings, and cells run under %%timeit."""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import sys
import types
from functools import lru_cache
from typing import Any

from atoll.errors import Source, Span, fail

_texts = itertools.count(1)


def find(fn: types.FunctionType) -> tuple[Source, ast.FunctionDef]:
    """The source that holds the function, and its definition there."""
    code = fn.__code__
    for name, text in _candidates(code.co_filename, fn.__globals__):
        node = _locate(text, fn.__name__, code)
        if node is not None:
            return Source(name, text), node
    fail("E0103", name=fn.__name__, file=code.co_filename)


def remember(text: str) -> str:
    """Register a text so that functions made from it can be found again; returns its file name."""
    name = f"<atoll source {next(_texts)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return name


def _candidates(filename: str, namespace: dict[str, Any]) -> list[tuple[str, str]]:
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, namespace)
    if lines:
        return [(filename, "".join(lines))]
    return _recent_cells()


def _recent_cells() -> list[tuple[str, str]]:
    """The newest IPython cells, for code run by a cell magic, which IPython compiles under a name of its own."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return []
    cells = [cell for cell in reversed(shell.history_manager.input_hist_raw[-20:]) if cell]
    found: list[tuple[str, str]] = []
    for cell in cells:
        lines = cell.splitlines(keepends=True)
        if lines and lines[0].startswith("%%"):
            lines = lines[1:]
        found.append((f"<cell {len(found) + 1} back>", "".join(lines)))
    return found


@lru_cache(maxsize=64)
def _parse(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _locate(text: str, name: str, code: types.CodeType) -> ast.FunctionDef | None:
    """The definition of this name with these parameters, on the line the code object says or the nearest one."""
    tree = _parse(text)
    if tree is None:
        return None
    wanted = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found: list[tuple[int, ast.FunctionDef]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            params = tuple(a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs)
            if params == wanted:
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                found.append((abs(first - code.co_firstlineno), node))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def parse_text(text: str, name: str) -> tuple[Source, ast.Module]:
    """A text given with source=."""
    source = Source(name, text)
    try:
        return source, ast.parse(text)
    except SyntaxError as error:
        line, column = error.lineno or 1, max(0, (error.offset or 1) - 1)
        fail("E0104", Span(source, line, column, line, column + 1), message=error.msg)


def unwrap(fn: Any) -> Any:
    """The plain function below decorators that keep __wrapped__."""
    return inspect.unwrap(fn) if callable(fn) else fn
