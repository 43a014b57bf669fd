"""A word on stderr while a program is compiled, when that takes longer than a second and someone is looking: a terminal or a notebook."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_SOON = 1.0  # seconds nobody is told about
_EVERY = 1.0


@contextmanager
def told(name: str) -> Iterator[None]:
    """While `name` is compiled."""
    kind = _reader()
    if kind is None:
        yield
        return
    done, start = threading.Event(), time.monotonic()
    talker = threading.Thread(target=_talk, args=(name, kind, done, start), daemon=True)
    talker.start()
    try:
        yield
    finally:
        done.set()
        talker.join()


def _talk(name: str, kind: str, done: threading.Event, start: float) -> None:
    shown = False
    while not done.wait(_SOON if not shown else _EVERY):
        text = f"atoll: compiling {name}, {time.monotonic() - start:.0f} s"
        if kind == "notebook" and shown:
            continue  # a line once; cells keep what was printed
        _say(f"\r\033[K{text}" if kind == "terminal" else f"{text} so far\n")
        shown = True
    if shown:
        took = f"atoll: compiled {name} in {time.monotonic() - start:.1f} s; the next process finds it in the cache"
        _say("\r\033[K" if kind == "terminal" else f"{took}\n")


def _say(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # closed, or none
        pass


def _reader() -> str | None:
    """Who reads stderr."""
    try:
        if sys.stderr.isatty():
            return "terminal"
    except (AttributeError, ValueError):
        return None
    return "notebook" if "ipykernel" in sys.modules and "ipykernel" in type(sys.stderr).__module__ else None


__all__ = ["told"]
