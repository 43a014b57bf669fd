"""Finding the text of a function: files, notebooks, the REPL, strings, and cells run under %%timeit."""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
import linecache
import os
import sys
import textwrap
import types
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NoReturn

from atoll.deep import as_deep_as_needed
from atoll.errors import Source, Span, fail

_texts = itertools.count(1)


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@as_deep_as_needed
def find(fn: types.FunctionType) -> tuple[Source, Definition]:
    """The source that holds the function, and its definition there."""
    code = fn.__code__
    for name, text, exact in _candidates(code, fn.__globals__):
        node = _locate(text, fn.__name__, code, exact)
        if node is not None:
            return Source(name, text), node
    fail("E0103", name=fn.__name__, file=code.co_filename)


def remember(text: str) -> str:
    """Register a text so that functions made from it can be found again; returns its file name."""
    name = f"<atoll source {next(_texts)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return name


def _candidates(code: types.CodeType, namespace: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Texts that may hold the function, and whether its line there must be the one the code object says."""
    filename = code.co_filename
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, namespace)
    if lines:
        yield filename, "".join(lines), True
        return
    if filename == "<stdin>":
        yield from _standard_input()
        yield from _typed(code.co_name)
    if filename == "<string>":
        yield from _command()
    for name, text in (*_running_cells(), *_recent_cells()):
        yield name, text, False


def _standard_input() -> Iterator[tuple[str, str, bool]]:
    """`python < file`: the file can be read once more without disturbing whoever reads it."""
    with contextlib.suppress(OSError, ValueError):
        number = sys.stdin.fileno()
        size = os.fstat(number).st_size
        if size and not os.isatty(number):
            yield "<stdin>", os.pread(number, size, 0).decode(errors="replace"), True


def _typed(name: str) -> Iterator[tuple[str, str, bool]]:
    """The REPL before Python 3.13 keeps no text, but readline remembers the lines: the newest block that defines the name."""
    readline = sys.modules.get("readline")
    if readline is None:
        return
    length = readline.get_current_history_length()
    lines = [readline.get_history_item(k) or "" for k in range(max(1, length - 2000), length + 1)]
    for start in reversed(range(len(lines))):
        if lines[start].lstrip().startswith(f"def {name}("):
            yield "<stdin>", textwrap.dedent("\n".join(lines[start:])) + "\n", False


def _command() -> Iterator[tuple[str, str, bool]]:
    """`python -c text`."""
    given = sys.orig_argv
    if "-c" in given[:-1]:
        yield "<string>", given[given.index("-c") + 1], True


def _running_cells() -> Iterator[tuple[str, str]]:
    """The cells that a magic (%%time) is running now: IPython passes it their text, and may not have it in its history."""
    frame = sys._getframe() if "IPython" in sys.modules else None
    while frame is not None:
        cell = frame.f_locals.get("cell") if frame.f_globals.get("__name__", "").startswith("IPython.") else None
        if isinstance(cell, str):
            yield "<cell>", cell
        frame = frame.f_back


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


@lru_cache(maxsize=64)
def _definitions(text: str) -> dict[str, list[Definition]] | None:
    """The functions of a text by name, lambdas too."""
    tree = _parse(text)
    if tree is None:
        return None
    found: dict[str, list[Definition]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found.setdefault("<lambda>" if isinstance(node, ast.Lambda) else node.name, []).append(node)
    return found


def _locate(text: str, name: str, code: types.CodeType, exact: bool) -> Definition | None:
    """The definition of this name with these parameters, on the line the code object says or, if not `exact`, the nearest one."""
    named = _definitions(text)
    if named is None:
        return None
    wanted = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found: list[tuple[int, Definition]] = []
    for node in named.get(name, ()):
        first = node.lineno if isinstance(node, ast.Lambda) else min([node.lineno, *(d.lineno for d in node.decorator_list)])
        if tuple(a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs) == wanted:
            found.append((abs(first - code.co_firstlineno), node))
    distance, nearest = min(found, key=lambda pair: pair[0]) if found else (0, None)
    return None if exact and distance else nearest


@as_deep_as_needed
def parse_text(text: str, name: str) -> tuple[Source, ast.Module]:
    """A text given with source=."""
    source = Source(name, text)
    if (place := text.find("\0")) >= 0:
        line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place) - 1
        fail("E0104", Span(source, line, column, line, column + 1), message="it has a null character", help="take the null character out")
    try:
        return source, ast.parse(text)
    except SyntaxError as error:
        _not_python(source, error)


@as_deep_as_needed
def compiled(source: Source, tree: ast.Module) -> CodeType:
    """What Python makes of a text; some of what it refuses it sees only here: `break` outside a loop, two parameters of one name."""
    try:
        return compile(tree, source.name, "exec", dont_inherit=True)
    except SyntaxError as error:
        _not_python(source, error)


def _not_python(source: Source, error: SyntaxError) -> NoReturn:
    line, column = error.lineno or 1, max(0, (error.offset or 1) - 1)
    fail("E0104", Span(source, line, column, line, column + 1), message=error.msg)


def unwrap(fn: Any) -> Any:
    """The plain function below decorators that keep __wrapped__."""
    return inspect.unwrap(fn) if callable(fn) else fn
