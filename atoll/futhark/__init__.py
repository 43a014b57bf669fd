"""Futhark programs (.fut), elaborated to Atoll's core: `fut = at.futhark("prog.fut")`, `fut.main(x)`.

    lexer, grammar, parse    text to syntax, with lark; operators: chains by precedence
    ftypes, unify, env       types with sizes, their unification, what names mean
    type_exps ... modules    the type checker: type expressions, patterns, expressions, definitions, modules (functors by application)
    prelude                  what every program sees: builtin_types (in Futhark's notation), prelude.fut
    values, build, elaborate checked programs to core, by evaluation: functions are applied where they are called; loops, scalars, builtins
    entries, api             entry points as Atoll functions
    blocks, data, testing    test blocks; command: the `atoll` command on .fut files
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from atoll.errors.plain import plain


class _Package(ModuleType):
    """`at.futhark` is this package and the function that reads .fut files."""

    @plain
    def __call__(self, path: Any = None, *, source: str | None = None) -> Any:
        from atoll.futhark.api import futhark

        return futhark(path, source=source)


sys.modules[__name__].__class__ = _Package
