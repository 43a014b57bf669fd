"""What is known about the text of a file: its functions, the type of every expression, what was inserted, what is wrong and how to mend it.

Plain data (dicts, lists, texts), so that it goes through a pipe: `worker.py` makes it in a process of its own, editors and the explorer show it. Places are
[line, column, end line, end column]: lines from 1, columns in characters from 0. Only what defines something is run of a Python file: imports, assignments,
functions, classes. One wrong function does not hide the others.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atoll.errors import Error, Span
from atoll.function import CHECK_LATER, Function

Data = dict[str, Any]

_DEFINES = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Try)


@dataclass
class File:
    """A file that was read: its functions by name, in the order of the text, and the errors met on the way."""

    path: str
    text: str
    functions: dict[str, Function] = field(default_factory=dict)
    schedules: dict[str, tuple[Any, list[int]]] = field(default_factory=dict)  # with the lines of their steps
    problems: list[Data] = field(default_factory=list)


def place(span: Span) -> list[int]:
    """A span in characters."""

    def column(line: int, at: int) -> int:
        text = span.source.line(line)
        return at if text is None else len(text.encode()[:at].decode(errors="replace"))

    return [span.line, column(span.line, span.column), span.end_line, column(span.end_line, span.end_column)]


def problem(error: Error) -> Data:
    """An error as data: its first line, its suggestion, the edits that follow it."""
    first, *rest = error.message.split("\n")
    notes = [line.strip() for line in rest if line.strip().startswith(("expected:", "found:", "note:"))]
    edits = [{"place": place(e.span), "text": e.text} for e in error.edits]
    return {
        "code": error.code,
        "message": first.partition(": ")[2] or first,
        "notes": notes,
        "help": error.help,
        "place": place(error.span) if error.span.line else [1, 0, 1, 0],
        "edits": edits,
        "text": str(error),
    }


def _other_problem(error: BaseException, line: int, code: str = "") -> Data:
    text = f"{type(error).__name__}: {error}" if not isinstance(error, SyntaxError) else str(error.msg)
    return {"code": code, "message": text[:400], "notes": [], "help": "", "place": [line, 0, line, 0], "edits": [], "text": text[:400]}


def read(path: str, text: str) -> File:
    """Run what a Python text defines, statement by statement."""
    file = File(path, text)
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        file.problems.append(_other_problem(error, error.lineno or 1, "syntax"))
        return file
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    module = types.ModuleType("atoll_looked_at")
    module.__file__ = path
    with _as_module(module, path):
        for node in tree.body:
            if isinstance(node, _DEFINES):
                _run(file, node, module)
    return file


def _run(file: File, node: ast.stmt, module: types.ModuleType) -> None:
    try:
        exec(compile(ast.Module([node], []), file.path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  the user's own file
    except Error as error:
        file.problems.append(problem(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a file does when it is read is told, not suffered
        file.problems.append(_other_problem(error, node.lineno, "python"))
    for name in _bound(node):
        value = module.__dict__.get(name)
        schedules = sys.modules.get("atoll.schedule.api")  # a file that makes one has imported it; others start sooner without
        if schedules is not None and isinstance(value, schedules.Schedule):
            file.schedules[name] = (value, _lines_of_steps(file.schedules.get(name), node, value))
        if isinstance(value, Function):
            file.functions.pop(name, None)
            file.functions[name] = value


def _lines_of_steps(before: tuple[Any, list[int]] | None, node: ast.stmt, schedule: Any) -> list[int]:
    """The line of each step: where its method is called in the statement; steps of statements before stay where they were."""
    calls = [x.func for x in ast.walk(node) if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute)]
    lines = [x.end_lineno or node.lineno for x in sorted(calls, key=lambda x: (x.end_lineno or 0, x.end_col_offset or 0)) if hasattr(schedule, x.attr)]
    earlier = before[1] if before is not None and len(before[1]) <= len(schedule.steps) else []
    own = len(schedule.steps) - len(earlier)
    return [*earlier, *(lines[-own:] if 0 < own <= len(lines) else [node.lineno] * own)]


def _bound(node: ast.stmt) -> list[str]:
    """The names a statement of the top level gives values to."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    return [x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)]


@contextlib.contextmanager
def _as_module(module: types.ModuleType, path: str) -> Iterator[None]:
    """While the file is run: it is a module, its folder is looked in for others, and what it prints is nobody's."""
    folder = str(Path(path).resolve().parent)
    sys.modules[module.__name__] = module
    sys.path.insert(0, folder)
    later = CHECK_LATER.set(True)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        CHECK_LATER.reset(later)
        sys.modules.pop(module.__name__, None)
        if folder in sys.path:
            sys.path.remove(folder)


def look(path: str, text: str) -> tuple[File, Data]:
    """Everything the front end knows about a file. Nothing is compiled."""
    if path.endswith(".madl"):
        return _look_madl(path, text)
    if path.endswith(".fut"):
        return _look_futhark(path, text)
    file = read(path, text)
    found = []
    for name, f in file.functions.items():
        try:
            found.append(_function(name, f, path))
        except Error as error:
            if f.surface.span.source.name == path or error.span.source.name == path:
                file.problems.append(problem(error))
            found.append({"name": name, "place": place(f.surface.span), "type": "", "types": [], "inserted": [], "explained": [], "result": "", "wrong": True})
    for name, (schedule, lines) in file.schedules.items():
        first = [min(lines, default=1), 0, max(lines, default=1), 0]
        found.append({"name": name, "place": first, "type": repr(schedule), "types": [], "inserted": [], "explained": [], "result": "", "schedule": True})
    return file, {"functions": found, "problems": _once(file.problems)}


def _once(problems: list[Data]) -> list[Data]:
    """A function that is called by wrong ones is wrong in one place."""
    return list({(p["code"], *p["place"], p["message"]): p for p in problems}.values())


def _function(name: str, f: Function, path: str) -> Data:
    from atoll.types.explain import explained

    _ = f.type if not f.signature.is_generic else ""  # what is wrong with it is told now
    own = f.surface.span.source.name == path
    ex = explained(f)
    declared = f.signature.result is not None
    return {
        "name": name,
        "place": place(f.surface.span) if own else [1, 0, 1, 0],
        "type": f.type,
        "result": "" if declared else ex.result,
        "types": [[*place(span), shown] for span, shown in ex.types] if own else [],
        "inserted": [[*place(span), shown] for span, shown in ex.inserted] if own else [],
        "explained": [[line, [span.line] if own else []] for line, span in ex.lines],
        "generic": f.signature.is_generic,
        "derived": not own,
        "sizes": [] if f.signature.is_generic else [s.name for s in f.core.sizes],
    }


def _look_futhark(path: str, text: str) -> tuple[File, Data]:
    """A file of Futhark: its definitions with the types of their names, its entry points as functions, and what is wrong."""
    from atoll.futhark.api import Module
    from atoll.futhark.hover import definitions

    file = File(path, text)
    found = []
    try:
        module = Module(text, path, Path(path).parent)
        for name, span, shown, types in definitions(module._declarations):
            found.append({"name": name, "place": place(span), "type": shown, "types": [[*place(at), of] for at, of in types], "inserted": [], "explained": [], "result": ""})
        for name in dir(module):
            file.functions[name] = getattr(module, name)
            for each in found:
                if each["name"] == name:
                    each["sizes"] = [size.name for size in file.functions[name].core.sizes]
    except Error as error:
        file.problems.append(problem(error))
    return file, {"functions": found, "problems": _once(file.problems)}


def _look_madl(path: str, text: str) -> tuple[File, Data]:
    """A file of MADL: its operators, and what is wrong with them."""
    from atoll.madl.api import Module
    from atoll.madl.library import Library

    file = File(path, text)
    wrong: list[Error] = []
    found = []
    try:
        module = Module(Library(text, path, Path(path).parent, False, problems=wrong), Path(path).stem)
        for name in module:
            operator = getattr(module, name)
            shown = "" if operator.recursive else str(operator.type)
            found.append({"name": name, "place": _madl_place(text, name), "type": f"{name} : {shown}" if shown else name, "types": [], "inserted": [], "explained": [], "result": ""})
    except Error as error:
        wrong.append(error)
    file.problems += [problem(e) for e in wrong]
    return file, {"functions": found, "problems": _once(file.problems)}


def _madl_place(text: str, name: str) -> list[int]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace("(", " ").split()
        if name in words[:4] and words[0] in ("let", "node", "op", "operator", "fun"):
            return [number, 0, number, len(line)]
    return [1, 0, 1, 0]
