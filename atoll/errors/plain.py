"""What users call: errors reach them without the frames of the compiler, but the one that raises them again.

    plain      a public function or method; `all_plain` makes those of a class so
    calling    the same, for one that calls what it is given: errors of that are the user's, and go through as they are

What comes out of the outermost of them is an error of Atoll, or Python's own about the number of arguments. One that was raised by a method of what
was given, or comes of an argument that is not what the function takes, says so (E0610); one that nobody foresaw is a bug of ours and is told as one (E0899; ATOLL_DEBUG=1 shows where it happened).
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from types import FrameType, FunctionType, TracebackType
from typing import Any, ParamSpec, TypeVar

from atoll.errors.base import Error, make
from atoll.errors.fitting import arity, misfit

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

_OURS = str(Path(__file__).parents[1]) + os.sep
_PYTHON = tuple({path + os.sep for name in ("stdlib", "platstdlib") if (path := sysconfig.get_path(name))})
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\](\w+)")
_USED = ("numpy", "lark", "highspy", "rich")  # packages that we call
_inside: ContextVar[bool] = ContextVar("inside", default=False)


def plain(asked: Callable[P, R]) -> Callable[P, R]:
    """The same function; what happens inside is not the user's business."""
    return _outermost(asked, False)


def calling(asked: Callable[P, R]) -> Callable[P, R]:
    """`plain`, for a function that calls one it is given."""
    return _outermost(asked, True)


def all_plain(cls: C) -> C:
    """A class whose public methods and properties, and its `[]` and `()`, are all plain."""
    for name, value in list(vars(cls).items()):
        if name.startswith("_") and name not in ("__call__", "__getitem__"):
            continue
        if isinstance(value, FunctionType) and not is_plain(value):
            setattr(cls, name, plain(value))
        elif isinstance(value, property) and value.fget is not None and not is_plain(value.fget):
            setattr(cls, name, property(plain(value.fget), value.fset, value.fdel, value.__doc__))
    return cls


def is_plain(f: Any) -> bool:
    """Is it what a decorator of this file made?"""
    code = getattr(f, "__code__", None)
    return code is not None and code.co_filename == __file__


def asking_frame() -> FrameType:
    """The frame that called the function that asks, which may be plain."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename == __file__ and frame.f_back is not None:
        frame = frame.f_back
    return frame


@contextlib.contextmanager
def users_code() -> Iterator[None]:
    """While a text of the user's runs: what it asks of us is asked by the user, and is told as to any other."""
    token = _inside.set(False)
    try:
        yield
    finally:
        _inside.reset(token)


def _outermost(asked: Callable[P, R], calls: bool) -> Callable[P, R]:
    @functools.wraps(asked)
    def run(*args: P.args, **keywords: P.kwargs) -> R:
        if _inside.get():  # what is asked by ourselves: we see our own errors as they are
            return asked(*args, **keywords)
        try:
            token = _inside.set(True)
        except MemoryError:  # which may have set it all the same; it must not stay
            _inside.set(False)
            raise
        try:
            return asked(*args, **keywords)
        except Exception as error:  # noqa: BLE001  whatever it is
            told, cause = _told(error, asked, args, keywords, calls)
        finally:
            try:
                _inside.reset(token)
            except MemoryError:
                _inside.set(False)
        raise told from cause

    return run


def of_call(error: Exception) -> Exception:
    """What the call path of C raises in the place of this. A program that prints calls what the user may have put in the place of sys.stdout."""
    if _inside.get():
        return error
    told, cause = _told(error, None, (), {}, True)
    told.__cause__, told.__suppress_context__ = cause, True
    return told


def _name(asked: Callable[..., Any]) -> str:
    """What a user calls it: the classes that at.Function is made of are nobody's business."""
    first, dot, rest = asked.__qualname__.partition(".")
    return f"Function.{rest}" if dot and first in ("Beyond", "Looking") else asked.__qualname__


def _told(
    error: Exception, asked: Callable[..., Any] | None, args: tuple[Any, ...], keywords: dict[str, Any], calls: bool
) -> tuple[Exception, BaseException | None]:
    """What the user is told of an error, and what that came from."""
    trace = error.__traceback__
    theirs = _theirs(trace)
    if _is_no_memory(error):
        return make("E0713", name="the call" if asked is None else _name(asked)).with_traceback(theirs), None
    called = theirs is not None or _called_by(asked, trace) or _said(error)
    if calls and not isinstance(error, Error) and called and not (asked and misfit(asked, args, keywords)):
        return error.with_traceback(theirs), error.__cause__
    if isinstance(error, (Error, Warning, MemoryError, BrokenPipeError)):
        return error.with_traceback(theirs), None
    if isinstance(error, TypeError) and asked is not None and (text := arity(asked, args, keywords)) is not None:
        return TypeError(text), None
    if isinstance(error, RecursionError):
        return make("E0129"), None
    lines = str(error).splitlines() or [""]
    reason = f"{type(error).__name__}: {lines[0][:200]}" if lines[0] else type(error).__name__
    name = "the call" if asked is None else _name(asked)
    text = misfit(asked, args, keywords) if asked is not None else None
    if theirs is not None or text is not None:
        error.__context__ = None
        text = text or f"cannot be asked with these arguments ({reason})"
        return make("E0610", name=name, text=text, help="see docs/reference.md for what it takes"), error.with_traceback(theirs) if theirs is not None else None
    if isinstance(error, OSError):
        return make("E0833", name=name, reason=reason), None
    return make("E0899", name=name, reason=reason), error if os.environ.get("ATOLL_DEBUG") == "1" else None


_WITHOUT_REASON = ("without exception set", "without setting an exception", "with an exception set", "NULL object passed")


def _is_no_memory(error: BaseException | None) -> bool:
    """Python, NumPy and ctypes say in other words that they had no memory for a small object of their own: an error that nobody set, or one of an argument."""
    if isinstance(error, SystemError):
        return any(text in str(error) for text in _WITHOUT_REASON) or isinstance(error.__cause__ or error.__context__, MemoryError)
    return type(error).__name__ == "ArgumentError" and "MemoryError" in str(error)


def say(text: str) -> None:
    """Print a line of a program. What sys.stdout cannot take (a letter in ASCII, anything when it is closed) is told as Python's own print tells it."""
    print(text)


def _said(error: Exception) -> bool:
    """Is it what `say` tells? A full disk is one of the operating system's refusals."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return isinstance(error, ValueError) and trace is not None and trace.tb_frame.f_code is say.__code__


def _called_by(asked: Any, trace: TracebackType | None) -> bool:
    """Was the error raised where what was given is called, by something that leaves no frame?"""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and asked is not None and trace.tb_frame.f_code.co_filename == asked.__code__.co_filename


def _theirs(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that is the user's: neither our frames nor those of the libraries that we call."""
    found = []
    while trace is not None:
        if not _of_ours(trace.tb_frame.f_code.co_filename):
            found.append(trace)
        trace = trace.tb_next
    made: TracebackType | None = None
    for each in reversed(found):
        made = TracebackType(made, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return made


def _of_ours(file: str) -> bool:
    package = _INSTALLED.search(file)
    if file.startswith(_OURS) or (package is not None and package[1] in _USED):
        return True
    return package is None and file.startswith((*_PYTHON, "<frozen"))
