"""Errors reach the user without the frames of the compiler, but the one that raises them again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import ParamSpec, TypeVar

from atoll.errors.base import Error, make

P = ParamSpec("P")
R = TypeVar("R")


def plain(asked: Callable[P, R]) -> Callable[P, R]:
    """The same function; what happened inside is not the user's business."""

    @functools.wraps(asked)
    def run(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return asked(*args, **keywords)
        except Error as error:
            raise error.with_traceback(None) from None

    return run


def guarded(asked: Callable[P, R]) -> Callable[P, R]:
    """`plain`, for what only looks at its arguments: one that breaks it (its methods raise, it is far too large) is told as wrong (E0610)."""

    @functools.wraps(asked)
    def run(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return asked(*args, **keywords)
        except Error as error:
            raise error.with_traceback(None) from None
        except Exception as error:  # noqa: BLE001  methods of what was given may raise anything
            trace = error.__traceback__
            if isinstance(error, TypeError) and trace is not None and trace.tb_next is None:  # Python's own: too many arguments, or too few
                raise error.with_traceback(None) from None
            raise _misused(asked.__qualname__, error).with_traceback(None) from None

    return run


def _misused(name: str, error: Exception) -> Error:
    lines = str(error).splitlines() or [""]
    reason = f"{type(error).__name__}: {lines[0][:200]}" if lines[0] else type(error).__name__
    return make("E0610", name=name, text=f"cannot be asked with these arguments ({reason})", help="see docs/reference.md for what it takes")


C = TypeVar("C", bound=type)


def all_guarded(cls: C) -> C:
    """A class whose public methods are all guarded."""
    for name, method in list(vars(cls).items()):
        if not name.startswith("_") and isinstance(method, FunctionType):
            setattr(cls, name, guarded(method))
    return cls
