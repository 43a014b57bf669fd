"""Futhark files from Python.

    fut = at.futhark("prog.fut")        fut.main(x)         every entry point is an Atoll function like any other
"""

from __future__ import annotations

import dataclasses
import functools
import os
from pathlib import Path
from typing import Any

from atoll.core.check import Malformed, check
from atoll.deep import as_deep_as_needed
from atoll.elaborate.namespace import Namespace
from atoll.elaborate.signature import ParamInfo, Signature
from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import all_plain, plain
from atoll.function import Function, Options
from atoll.futhark import syntax as s
from atoll.futhark.entries import entry
from atoll.futhark.env import Binding
from atoll.futhark.modules import Modules
from atoll.futhark.parse import parse
from atoll.futhark.prelude import prelude
from atoll.surface import source as text


@plain
def futhark(path: str | os.PathLike[str] | None = None, *, source: str | None = None) -> Module:
    """The entry points of a .fut file, or of a text given with source=.

    >>> fut = futhark(source="entry twice [n] (xs: [n]f64) : [n]f64 = map (* 2) xs")
    >>> fut.twice.type
    'twice(xs: f64[n]) -> f64[n]'
    """
    if source is not None and not isinstance(source, str):
        fail("E1409", name="at.futhark", text=f"source= takes the text of a program, not {kind_of(source)}")
    if source is not None:
        return Module(source, "<futhark>", None)
    if not isinstance(path, (str, os.PathLike)):
        fail("E1409", name="at.futhark", text="takes the path of a .fut file, or source=text")
    file = Path(path)
    if not file.is_file():
        fail("E1409", name="at.futhark", text=f"there is no file {file}")
    try:
        read = file.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as problem:
        fail("E1409", name="at.futhark", text=f"{file} cannot be read: {problem}")
    return Module(read, str(file), file.parent)


@all_plain
class Module:
    """The entry points of a file, as attributes."""

    def __init__(self, program: str, name: str, folder: Path | None, also: frozenset[str] = frozenset(), tuning: dict[str, int] | None = None) -> None:
        self._name = name
        self._text = program, name, folder, also, tuple(sorted((tuning or {}).items()))
        self._made: dict[str, Function] = {}
        self._tuning = tuning or {}
        self._declarations: list[s.Dec] = []
        self._entries = checked(program, name, folder, also, self._declarations)

    def __getattr__(self, name: str) -> Function:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._entries:
            fail("E1409", name=self._name, text=f"has no entry point {name!r}; it has {', '.join(self._entries) or 'none'}")
        if name not in self._made:
            self._made[name] = made = _function(*self._entries[name], self._tuning)
            made.recipe = entry_of, (*self._text, name)
        return self._made[name]

    def __dir__(self) -> list[str]:
        return list(self._entries)

    def __iter__(self) -> Any:
        return (getattr(self, name) for name in self._entries)

    def __repr__(self) -> str:
        return f"<Futhark program {self._name}: {', '.join(self._entries)}>"


def entry_of(program: str, name: str, folder: Path | None, also: frozenset[str], tuning: tuple[tuple[str, int], ...], entry: str) -> Function:
    """An entry point of a text, as it is pickled. What the text imports is read where it is read again."""
    made: Function = getattr(_module(program, name, folder, also, tuning), entry)
    return made


@functools.lru_cache(maxsize=16)
def _module(program: str, name: str, folder: Path | None, also: frozenset[str], tuning: tuple[tuple[str, int], ...]) -> Module:
    return Module(program, name, folder, also, dict(tuning))


@as_deep_as_needed
def checked(program: str, name: str, folder: Path | None, also: frozenset[str] = frozenset(), into: list[s.Dec] | None = None) -> dict[str, tuple[s.Def, Binding]]:
    """The entry points of a text, type-checked; `also` are definitions that count as such. `into` gets the declarations."""
    checker = Modules(prelude())
    checker.folder, checker.also = folder, also
    decs = parse(program, name)
    checker.program(decs)
    if into is not None:
        into[:] = decs
    return {d.name: (d, binding) for d, binding in checker.entries}


@as_deep_as_needed
def _function(d: s.Def, binding: Binding, tuning: dict[str, int]) -> Function:
    core = entry(d, binding, tuning)
    try:
        check(core)
    except Malformed as problem:
        fail("E1408", d.span, what=f"a size that is only known inside a part of the program ({problem})")
    names = [sym.name for sym, _ in core.params]
    written = f"def {core.name}({', '.join(names)}):\n    return {core.name}\n"
    source, tree = text.parse_text(written, text.remember(written))
    signature = Signature(tuple(ParamInfo(n, t, None, False, d.span) for n, (_, t) in zip(names, core.params, strict=True)), None, core.sizes, ())
    made = Function(source, tree.body[0], Namespace(), Options(), signature)  # type: ignore[arg-type]
    made.surface = dataclasses.replace(made.surface, span=d.span)
    made.made = core
    made.__doc__ = f"{made.type}: an entry point of a Futhark program."
    return made
