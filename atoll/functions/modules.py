"""Separate compilation: `atoll build --module queue.py` makes queue.o and queue.atoi; `at.module("queue.atoi")` uses them.

Every function of the file with one type is compiled and exported under a C name; generic and second-order functions stay as text in the
interface and are compiled where they are used. A call of an exported function is an operator that takes its arguments (extern.py): nothing
about a module's inside is known outside, so modules compiled with different passes link, and a module can be rebuilt alone while the types in
its interface stay.

What is refused when a module is loaded: an interface whose source has changed since (with the type that changed, if one did), and an
interface built against another version of a module it uses (with both types).
"""

from __future__ import annotations

import ast
import sys
import types as pytypes
from pathlib import Path
from typing import Any

from atoll.core import ir as core
from atoll.elaborate.namespace import Namespace
from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import calling
from atoll.function import Function, Options
from atoll.functions import interface, ir
from atoll.functions.from_core import Translator
from atoll.functions.kernels import leaf_rep, leaf_types
from atoll.functions.native_text import generate_module
from atoll.functions.pipeline import SELECTIONS, compile_away
from atoll.functions.program import c_flags, externs
from atoll.runtime.arguments import from_python, to_python
from atoll.runtime.program import _print_to_json
from atoll.runtime.toolchain import compile_c
from atoll.sizes import Sym
from atoll.surface import source as text

_loaded: dict[Path, tuple[Unit, pytypes.ModuleType]] = {}


# -- building


def build_module(path: Path | str, folder: Path | str = ".", selection: str = "default", optimise: str = "3") -> list[Path]:
    """Compile a Python file's functions to an object and an interface file in `folder`; returns the two paths."""
    path, folder = Path(path), Path(folder)
    module_text = path.read_text()
    namespace = _run(path, module_text)
    functions = _exported(namespace)
    if not functions:
        fail("E1120", name=path.name, reason="it has no function with one type")
    name = path.stem
    cores = [f.core for f in functions.values()]
    translator = Translator()
    program = compile_away(translator.module(cores), SELECTIONS[selection])
    symbols = [f"at_m_{_c_name(name)}_{_c_name(f)}" for f in functions]
    uses = externs(cores)
    generated = generate_module(program, [(s, _signature(c)) for s, c in zip(symbols, cores, strict=True)], _c_name(name))
    folder.mkdir(parents=True, exist_ok=True)
    c_file, object_file, out = folder / f"{name}.c", folder / f"{name}.o", folder / f"{name}{interface.SUFFIX}"
    c_file.write_text(generated.text)
    compile_c(c_file, object_file, optimise, ["-c", *c_flags()])
    c_file.unlink()
    interface.write(
        out,
        {
            "module": name,
            "source": str(path.resolve()),
            "source_hash": interface.digest(module_text),
            "selection": selection,
            "object": object_file.name,
            "object_hash": interface.digest(object_file.read_bytes().hex()),
            "functions": {f: _entry(fn, c, s) for (f, fn), c, s in zip(functions.items(), cores, symbols, strict=True)},
            "data": interface.declarations([t for c in cores for t in (*(t for _, t in c.params), c.result)]),
            "uses": {unit.path.name: unit.facts() for unit in uses},
            "sites": [interface.site_with_text(s, k) for s, k in zip(generated.sites, generated.kinds, strict=True)],
            "prints": [_print_to_json(p) for p in generated.prints],
            "stub": _stub(module_text, functions),
        },
    )
    return [object_file, out]


def _c_name(name: str) -> str:
    """A part of a symbol: letters and digits of ASCII, anything else by its number."""
    return "".join(c if c.isascii() and c.isalnum() else "_" if c == "_" else f"_{ord(c):x}_" for c in name)


def _run(path: Path, module_text: str) -> dict[str, Any]:
    """What a file's names are after Python has run it."""
    _, tree = text.parse_text(module_text, str(path))
    made = _python_module(path.stem, str(path))
    sys.path.insert(0, str(path.resolve().parent))
    try:
        exec(compile(tree, str(path), "exec", dont_inherit=True), made.__dict__)  # noqa: S102  the user's own file
    finally:
        sys.path.pop(0)
    return made.__dict__


def _python_module(name: str, file: str) -> pytypes.ModuleType:
    """An empty module; dataclasses look for the one they are made in."""
    made = pytypes.ModuleType(f"<atoll module {name}>")
    made.__file__ = file
    sys.modules[made.__name__] = made
    return made


def _exported(namespace: dict[str, Any]) -> dict[str, Function]:
    """Functions this file defines that have one type."""
    found = {}
    for name, f in namespace.items():
        if isinstance(f, Function) and f.name == name and f.external is None and f.__module__ == namespace["__name__"] and not f.signature.is_generic:
            found[name] = f
    return found


def _signature(c: core.Function) -> tuple[tuple[ir.Rep, ...], tuple[ir.Rep, ...]]:
    """How the parameters and results of a function are held."""
    params = (*(ir.INT for _ in c.sizes), *(leaf_rep(leaf) for _, t in c.params for leaf in leaf_types(t)))
    return params, tuple(leaf_rep(leaf) for leaf in leaf_types(c.result))


def _entry(fn: Function, c: core.Function, symbol: str) -> dict[str, Any]:
    params, results = _signature(c)
    return {"type": fn.type, "symbol": symbol, "params": params, "results": results}


def _stub(module_text: str, functions: dict[str, Function]) -> str:
    """The module's text with the bodies of compiled functions left out."""
    kept: list[ast.stmt] = []
    for node in ast.parse(module_text).body:
        match node:
            case ast.FunctionDef(name=name) if name in functions:
                doc = ast.get_docstring(node)
                node.body = [ast.Expr(ast.Constant(doc or "Compiled."))]
                node.decorator_list = [ast.Name("compiled")]
                if node.returns is None:
                    node.returns = ast.Constant(repr(functions[name].core.result))
            case ast.If():
                continue
        kept.append(node)
    return ast.unparse(ast.fix_missing_locations(ast.Module(kept, [])))


# -- using


class Unit:
    """A module that was compiled before."""

    def __init__(self, path: Path, contents: dict[str, Any]) -> None:
        self.path, self.contents = path, contents
        self.name: str = contents["module"]
        self.object = path.parent / contents["object"]
        self.sites = [interface.site_from_text(s) for s in contents["sites"]]
        self.prints: list[Any] = contents["prints"]
        self.digest = interface.digest(path.read_text())
        self.used: list[Unit] = []

    def __repr__(self) -> str:
        return f"module {self.name} {self.digest}"

    def function(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.contents["functions"][name]
        return found

    def facts(self) -> dict[str, Any]:
        """What a module that uses this one was compiled for."""
        return {"functions": {f: row["type"] for f, row in self.contents["functions"].items()}, "data": self.contents["data"]}

    def run(self, name: str, values: tuple[Any, ...]) -> Any:
        """A function of the module on the interpreter's values: its code is all there is."""
        module = load_module(self.path)
        fn: Function = getattr(module, name)
        given = [to_python(t, x) for (_, t), x in zip(fn.core.params, values, strict=True)]
        return from_python(_taking(fn.core), (fn(*given),))[0]


def _taking(c: core.Function) -> core.Function:
    """A function whose parameter is another's result: it says how that is read from Python."""
    return core.Function(c.name, c.sizes, ((Sym("result"), c.result),), c.result)


@calling
def load_module(path: Path | str) -> pytypes.ModuleType:
    """A module compiled by `atoll build --module`, as a Python module of its functions and types. Also called at.module."""
    if not isinstance(path, (str, Path)):
        fail("E0610", name="at.module", text=f"takes the path of an interface, not {kind_of(path)}", help='write at.module("queue.atoi")')
    found = _find(Path(path))
    contents = interface.read(found)
    _check_source(found, contents)
    unit = Unit(found, contents)
    if found in _loaded and _loaded[found][0].digest == unit.digest:
        unit, module = _loaded[found]
        _check_uses(unit)
        return module
    if not unit.object.exists() or interface.digest(unit.object.read_bytes().hex()) != contents["object_hash"]:
        fail("E1119", path=unit.object, reason="it is not the object this interface was built with")
    module = _python_module(unit.name, str(found))
    name = text.remember(contents["stub"])
    module.__dict__["compiled"] = lambda f: _compiled(f, unit)
    _, tree = text.parse_text(contents["stub"], name)
    exec(compile(tree, name, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  the user's own declarations
    _check_uses(unit)
    _loaded[found] = (unit, module)
    return module


module = load_module


def _find(path: Path) -> Path:
    """Absolute, beside the file that asks for it, or from the current folder."""
    places = [path]
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in (__name__, "atoll.errors.plain"):
        frame = frame.f_back
    caller = frame.f_globals.get("__file__") if frame is not None else None
    if caller is not None and not path.is_absolute():
        places = [Path(caller).parent / path, Path(caller).parent / path.name, path]
    return next((p.resolve() for p in places if p.exists()), path)


def _compiled(f: Any, unit: Unit) -> Function:
    """The decorator of compiled functions in a stub."""
    source, node = text.find(f)
    assert isinstance(node, ast.FunctionDef)
    made = Function(source, node, Namespace(f), Options())
    made.external, made.returns_function = unit, False
    made.__module__ = unit.name
    return made


def _check_source(path: Path, contents: dict[str, Any]) -> None:
    """A source that changed after the module was built: the type that differs, else that it changed."""
    source = Path(contents["source"])
    if not source.exists() or interface.digest(source.read_text()) == contents["source_hash"]:
        return
    now = _run(source, source.read_text())
    for name, row in contents["functions"].items():
        f = now.get(name)
        found = f.type if isinstance(f, Function) else "no function any more"
        if found != row["type"]:
            fail("E1117", module=contents["module"], name=name, found=found, expected=row["type"])
    data = interface.declarations([t for f in _exported(now).values() for t in (*(t for _, t in f.core.params), f.core.result)])
    for name, expected in contents["data"].items():
        if data.get(name) != expected:
            fail("E1117", module=contents["module"], name=name, found=data.get(name, "no type any more"), expected=expected)
    fail("E1119", path=path, reason=f"{source.name} has changed since it was built")


def _check_uses(unit: Unit) -> None:
    """The modules a module uses are still what it was compiled for."""
    unit.used = []
    for file, facts in unit.contents["uses"].items():
        used = load_module(_find(unit.path.parent / file))
        found = next(f.external for f in used.__dict__.values() if isinstance(f, Function) and f.external is not None)
        assert isinstance(found, Unit)
        unit.used.append(found)
        now = found.facts()
        for kind in ("functions", "data"):
            for name, expected in facts[kind].items():
                if now[kind].get(name) != expected:
                    other = now[kind].get(name, "nothing of that name")
                    fail("E1118", module=unit.name, name=name, expected=expected, other=found.name, found=other)


def all_units(units: list[Unit]) -> list[Unit]:
    """With those they use."""
    found: dict[Path, Unit] = {}
    todo = list(units)
    while todo:
        u = todo.pop(0)
        if u.path not in found:
            found[u.path] = u
            todo += u.used
    return list(found.values())


__all__ = ["Unit", "all_units", "build_module", "load_module", "module"]
