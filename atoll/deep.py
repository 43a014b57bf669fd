"""Work that recurses as deep as the user's program is nested: a sum of a thousand terms is a tree a thousand deep.

Every stage walks trees by calling itself, and Python stops that at a thousand calls. So a stage that meets this limit is run once more on a thread with a
large stack and a higher limit; what is nested deeper than that is an error with a code. Stages are pure, so running one again changes nothing.
"""

from __future__ import annotations

import contextvars
import ctypes
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from atoll.errors import fail

P = ParamSpec("P")
R = TypeVar("R")

_NAME = "atoll deep"
_STACK = 1 << 30  # of addresses; memory is used as far as it is reached
_CALLS = 150_000


def on_deep_stack(f: Callable[[], R]) -> R:
    """f() with room for deep recursion."""
    if threading.current_thread().name == _NAME:
        return f()
    outcome: list[tuple[bool, Any]] = []
    context = contextvars.copy_context()
    done = threading.Event()

    def work() -> None:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _CALLS))
        try:
            outcome.append((True, context.run(f)))
        except BaseException as error:  # noqa: BLE001  handed to the caller's thread
            outcome.append((False, error))
        finally:
            sys.setrecursionlimit(limit)
            done.set()

    size = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=work, name=_NAME, daemon=True)
        thread.start()
    finally:
        threading.stack_size(size)
    _wait(thread, done)
    fine, value = outcome[0]
    if not fine:
        raise value
    return value  # type: ignore[no-any-return]


def _wait(thread: threading.Thread, done: threading.Event) -> None:
    """Until it is done; what interrupts the waiting thread (Ctrl-C) interrupts the work. (A join that is interrupted takes the thread for ended.)"""
    while not done.is_set():
        try:
            done.wait()
        except BaseException as stop:  # noqa: BLE001  whatever it is, the work ends with it
            assert thread.ident is not None
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(type(stop)))
    thread.join()


def as_deep_as_needed(stage: Callable[P, R]) -> Callable[P, R]:
    """The same function, run again with more room where the program is nested deeper than Python's own limit."""

    @functools.wraps(stage)
    def run(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return stage(*args, **keywords)
        except RecursionError:
            if threading.current_thread().name == _NAME:
                raise
        try:
            return on_deep_stack(lambda: stage(*args, **keywords))
        except RecursionError:
            pass
        fail("E0129")

    return run
