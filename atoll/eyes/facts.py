"""What is known about the text of a file: its functions, the type of every expression, what was inserted, what is wrong and how to mend it.

Plain data (dicts, lists, texts), so that it goes through a pipe: `worker.py` makes it in a process of its own, editors and the explorer show it. Places are
[line, column, end line, end column]: lines from 1, columns in characters from 0. Only what defines something is run of a Python file: imports, assignments,
functions, classes. One wrong function does not hide the others.

After an edit most of a file is as it was: a function whose text, place and mentioned names are the same is not read again, and `first` says which function is
looked at before the others, which `rest` then tells.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import io
import linecache
import re
import sys
import time
import traceback
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from atoll.errors import Error, Span
from atoll.eyes.looked import Looked
from atoll.function import CHECK_LATER, Function
from atoll.madl.typing import show_type
from atoll.sizes import Poly

Data = dict[str, Any]

_DEFINES = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.FunctionDef, ast.ClassDef, ast.Try)


@dataclass(frozen=True)
class Made:
    """A definition as it was when it was read: its text, the values of the names in it, and the function it made."""

    text: str
    names: dict[str, Any]
    function: Function


@dataclass
class File:
    """A file that was read: its functions by name, in the order of the text, and the errors met on the way."""

    path: str
    text: str
    functions: dict[str, Function] = field(default_factory=dict)
    schedules: dict[str, tuple[Any, list[int]]] = field(default_factory=dict)  # with the lines of their steps
    problems: list[Data] = field(default_factory=list)
    made: dict[tuple[str, int], Made] = field(default_factory=dict)  # by name and line, for the next look
    lines: dict[str, int] = field(default_factory=dict)  # where functions are given their names
    definitions: list[Data] = field(default_factory=list)  # of files of MADL and Futhark, which are known as a whole
    bound: frozenset[str] = frozenset()  # names that its statements give values to
    looked: dict[str, Looked] = field(default_factory=dict)
    known: dict[str, tuple[Data, list[Data]]] = field(default_factory=dict)  # facts and problems of its functions

    def at(self, name: str) -> Looked:
        """What is known about one of its functions."""
        if name not in self.looked:
            self.looked[name] = Looked(self.functions[name])
        return self.looked[name]


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


def _other_problem(error: BaseException, node: ast.stmt | None, file: File) -> Data:
    """What Python says about a file: at the word it is about, where that is known, else at the line."""
    lines, edits, help = file.text.split("\n"), [], ""
    if isinstance(error, SyntaxError) or node is None:
        line, start = getattr(error, "lineno", None) or 1, max(0, (getattr(error, "offset", None) or 1) - 1)
        end = max(0, (getattr(error, "end_offset", None) or 0) - 1) if getattr(error, "end_lineno", None) == line else 0
        text, code = str(getattr(error, "msg", None) or error), "syntax"
    else:
        here = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file.path and f.lineno]
        line, start, end, code = here[-1] if here else node.lineno, 0, 0, "python"
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    whole = lines[line - 1].rstrip() if line <= len(lines) else ""
    if isinstance(error, NameError) and error.name:
        word = re.search(rf"\b{re.escape(error.name)}\b", whole)
        start, end = word.span() if word else (start, end)
        if isinstance(node, ast.FunctionDef) and _is_size(error.name, node):
            help, first = f'declare it: {error.name} = at.sizes("{error.name}")', min([node.lineno, *(d.lineno for d in node.decorator_list)])
            edits = [{"place": [first, 0, first, 0], "text": f'{error.name} = at.sizes("{error.name}")\n\n'}]
    start = start or len(whole) - len(whole.lstrip())
    return {"code": code, "message": text[:400], "notes": [], "help": help, "place": [line, start, line, max(start, end) if end > start else max(start, len(whole))], "edits": edits, "text": f"{file.path}:{line}: {text[:400]}" + (f"\n   help: {help}" if help else "")}


def _is_size(name: str, node: ast.FunctionDef) -> bool:
    """Whether a name stands between the brackets of a type in the head of a function."""
    types = [a.annotation for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)] + [node.returns]
    brackets = [x.slice for t in types if t is not None for x in ast.walk(t) if isinstance(x, ast.Subscript)]
    return any(isinstance(x, ast.Name) and x.id == name for part in brackets for x in ast.walk(part))


def read(path: str, text: str, before: File | None = None) -> File:
    """Run what a Python text defines, statement by statement; what is as it was `before` is taken from there."""
    file = File(path, text)
    try:
        tree = ast.parse(text, path)
    except (SyntaxError, ValueError) as error:  # ValueError: a null character
        file.problems.append(_other_problem(error, None, file))
        return file
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    module = types.ModuleType("atoll_looked_at")
    module.__file__ = path
    file.bound = frozenset(name for node in tree.body for name in _bound(node))
    later = any(isinstance(x, ast.ImportFrom) and x.module == "__future__" and any(a.name == "annotations" for a in x.names) for x in tree.body)
    with _as_module(module, path):
        for node in tree.body:
            if _defines(node):
                _run(file, node, module, before, __future__.annotations.compiler_flag if later else 0)
    if before is not None:
        file.looked = {name: kept for name, kept in before.looked.items() if file.functions.get(name) is kept.f}
        file.known = {name: kept for name, kept in before.known.items() if name in file.looked}
    return file


def _defines(node: ast.stmt) -> bool:
    """Whether a statement of the top level gives names values, and does nothing else: one that chooses between such statements or repeats them, too."""
    if isinstance(node, (ast.If, ast.For)):
        return all(map(_defines, [*node.body, *node.orelse]))
    if isinstance(node, ast.With):
        return all(map(_defines, node.body))
    return isinstance(node, (*_DEFINES, ast.Pass))


def _run(file: File, node: ast.stmt, module: types.ModuleType, before: File | None, flags: int) -> None:
    mentioned: dict[str, Any] = {}
    if isinstance(node, ast.FunctionDef):
        mentioned = {x.id: module.__dict__.get(x.id, _MISSING) for x in ast.walk(node) if isinstance(x, ast.Name)}
        found = _as_before(file, node, mentioned, before)
        if found is not None:
            module.__dict__[node.name] = found.function
            file.made[node.name, node.lineno] = found
            file.functions.pop(node.name, None)
            file.functions[node.name] = found.function
            return
    right = len(file.problems)
    try:
        exec(compile(ast.Module([node], []), file.path, "exec", flags, dont_inherit=True), module.__dict__)  # noqa: S102  the user's own file
    except Error as error:
        file.problems.append(problem(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a file does when it is read is told, not suffered
        file.problems.append(_other_problem(error, node, file))
    for name in _bound(node):
        value = module.__dict__.get(name)
        schedules = sys.modules.get("atoll.schedule.api")  # a file that makes one has imported it; others start sooner without
        if schedules is not None and isinstance(value, schedules.Schedule):
            file.schedules[name] = (value, _lines_of_steps(file.schedules.get(name), node, value))
        if isinstance(value, Function):
            file.functions.pop(name, None)
            file.functions[name] = value
            file.lines[name] = node.lineno
            if isinstance(node, ast.FunctionDef) and len(file.problems) == right and not _looks_ahead(mentioned, file.bound):
                file.made[name, node.lineno] = Made(_written(file.text, node), mentioned, value)


_MISSING = object()


def _as_before(file: File, node: ast.FunctionDef, mentioned: dict[str, Any], before: File | None) -> Made | None:
    """The definition of the look before, when its text, its place and all it mentions are what they were."""
    found = before.made.get((node.name, node.lineno)) if before is not None else None
    if found is None or found.text != _written(file.text, node) or found.names.keys() != mentioned.keys() or _looks_ahead(mentioned, file.bound):
        return None
    return found if all(_same(value, found.names[name]) for name, value in mentioned.items()) else None


def _looks_ahead(mentioned: dict[str, Any], bound: frozenset[str]) -> bool:
    """Whether a definition uses what stands further down."""
    return any(value is _MISSING and name in bound for name, value in mentioned.items())


def _written(text: str, node: ast.FunctionDef) -> str:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return "\n".join(text.split("\n")[first - 1 : node.end_lineno])


def _same(a: Any, b: Any) -> bool:
    """Whether a name means what it meant."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, (bool, int, float, complex, str, np.generic, Poly)) and repr(a) == repr(b)


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
    inside = [x for x in ast.walk(node) if isinstance(x, (ast.FunctionDef, ast.ClassDef))]  # of a choice
    return [x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)] + [x.name for x in inside]


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
    file = read_file(path, text)
    return file, told(file)


def read_file(path: str, text: str, before: File | None = None) -> File:
    """A file of any of the three kinds."""
    if path.endswith(".madl"):
        return _read_madl(path, text)
    if path.endswith(".fut"):
        return _read_futhark(path, text)
    return read(path, text, before)


def told(file: File, first: str | None = None, seconds: float | None = None) -> Data:
    """What is known about the functions of a file, and what is wrong with them; with `first`, of that function (or of the first there is), and of others their names;
    with `seconds`, of as many as can be looked at in so much processor time."""
    found, problems = list(file.definitions), list(file.problems)
    only = None if first is None else first if first in file.functions else next(iter(file.functions), None)
    until = None if seconds is None else time.process_time() + seconds
    for name, f in () if file.definitions else file.functions.items():
        late = until is not None and time.process_time() > until and name not in file.known
        if late or only not in (None, name):
            found.append({**_nothing(name, f), "later": True})
            continue
        facts, wrong = _known(file, name, f)
        found.append(facts)
        problems += wrong
    for name, (schedule, lines) in file.schedules.items():
        steps = [min(lines, default=1), 0, max(lines, default=1), 0]
        found.append({"name": name, "place": steps, "type": repr(schedule), "types": [], "inserted": [], "explained": [], "result": "", "schedule": True})
    return {"functions": found, "problems": _once(problems)}


def _nothing(name: str, f: Function) -> Data:
    return {"name": name, "place": place(f.surface.span), "type": "", "types": [], "inserted": [], "explained": [], "result": ""}


def _known(file: File, name: str, f: Function) -> tuple[Data, list[Data]]:
    """The facts about a function, and the problem with it; found out once."""
    if name not in file.known:
        try:
            file.known[name] = function_facts(name, file.at(name), file.path), []
        except Error as error:
            here = problem(error)
            if f.surface.span.source.name != file.path and error.span.source.name != file.path:  # of a derivative: where it is made
                line = file.lines.get(name, 1)
                here["place"] = [line, 0, line, len((file.text.split("\n") + [""] * line)[line - 1].rstrip())]
            file.known[name] = {**_nothing(name, f), "wrong": True}, [here]
    return file.known[name]


def _once(problems: list[Data]) -> list[Data]:
    """A function that is called by wrong ones is wrong in one place."""
    return list({(p["code"], *p["place"], p["message"]): p for p in problems}.values())


def function_facts(name: str, looked: Looked, path: str) -> Data:
    f = looked.f
    f.check()
    own = f.surface.span.source.name == path
    ex = looked.explained
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
        "shows": "" if f.signature.is_generic or not own else "loops",  # what can be looked at above it
    }


def _read_futhark(path: str, text: str) -> File:
    """A file of Futhark: its definitions with the types of their names, its entry points as functions, and what is wrong."""
    from atoll.futhark.api import Module
    from atoll.futhark.hover import definitions

    file = File(path, text)
    found = file.definitions
    try:
        module = Module(text, path, Path(path).parent)
        for name, span, shown, types in definitions(module._declarations):
            found.append({"name": name, "place": place(span), "type": shown, "types": [[*place(at), of] for at, of in types], "inserted": [], "explained": [], "result": ""})
        for name in dir(module):
            file.functions[name] = getattr(module, name)
            for each in found:
                if each["name"] == name:
                    each["shows"] = "loops"
                    each["sizes"] = [size.name for size in file.functions[name].core.sizes]
    except Error as error:
        file.problems.append(problem(error))
    return file


def _read_madl(path: str, text: str) -> File:
    """A file of MADL: its operators, and what is wrong with them."""
    from atoll.madl.api import Module
    from atoll.madl.library import Library

    file = File(path, text)
    wrong: list[Error] = []
    found = file.definitions
    try:
        module = Module(Library(text, path, Path(path).parent, False, problems=wrong), Path(path).stem)
        for name in module:
            operator = getattr(module, name)
            shown = "" if operator.recursive else str(operator.type)
            found.append({"name": name, "place": _madl_place(text, name), "type": f"{name} : {shown}" if shown else name, "types": _madl_types(operator, path), "inserted": [], "explained": [], "result": "", "shows": "loops"})
    except Error as error:
        wrong.append(error)
    file.problems += [problem(e) for e in wrong]
    return file


def _madl_types(operator: Any, path: str) -> list[Any]:
    """The names of an operator and the types of their flows, where they are written."""
    if operator.recursive:
        return []

    graph = operator.compiled.graph
    named = [w for w in graph.wires if w.name is not None and w.span.line and w.span.source.name == path]
    return sorted([*place(w.span), f"{w.name} : {show_type(w.type, graph.size_names)}"] for w in named)


def _madl_place(text: str, name: str) -> list[int]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace("(", " ").split()
        if name in words[:4] and words[0] in ("let", "node", "op", "operator", "fun"):
            return [number, 0, number, len(line)]
    return [1, 0, 1, 0]
