"""What a program has captured: constants and functions of the Python around it, frozen when they were read.

A compiled program holds their values, so a later change must be reported and not ignored. Numbers and functions are the same when they
are the same object or the same bits; arrays are compared by content, because they can be written in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

MISSING = object()


@dataclass(frozen=True, slots=True)
class Capture:
    """A name, how to read it again, and what it was."""

    name: str
    read: Callable[[], Any]
    value: Any

    def changed(self) -> bool:
        now = self.read()
        if now is self.value and not isinstance(now, (np.ndarray, tuple)):
            return False
        return not _same(now, self.value)


class Captures:
    """The captures of one program, all the functions it calls included."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], Capture] = {}
        self._holders: list[object] = []  # kept alive, so that an id names one of them
        self._plain: list[tuple[dict[str, Any], str, Any]] = []  # globals that can only change by being bound anew
        self._other: list[Capture] = []

    def add(self, holder: object, name: str, read: Callable[[], Any], value: Any, names: dict[str, Any] | None = None) -> None:
        """Remember what `name` of `holder` is now; arrays are copied. `names` is the dictionary it is in, if it is a global."""
        key = (id(holder), name)
        if key in self._found:
            return
        self._found[key] = found = Capture(name, read, _frozen(value))
        self._holders.append(holder)
        if names is not None and not isinstance(value, (np.ndarray, tuple)):
            self._plain.append((names, name, value))
        else:
            self._other.append(found)

    def take(self, other: Captures) -> None:
        """What another program captured is captured here, too."""
        new = [key for key in other._found if key not in self._found]
        self._found |= {key: other._found[key] for key in new}
        if new:
            self._holders += other._holders
            kept = {(id(names), name) for names, name, _ in self._plain}
            self._plain += [row for row in other._plain if (id(row[0]), row[1]) not in kept]
            self._other += [c for c in other._other if all(c is not mine for mine in self._other)]

    def same(self) -> bool:
        """Quickly: nothing was bound anew or written. False may still be no change."""
        for names, name, value in self._plain:
            if names.get(name, MISSING) is not value:
                return False
        for capture in self._other:
            if capture.changed():
                return False
        return True

    def __bool__(self) -> bool:
        return bool(self._found)

    def changed(self) -> Capture | None:
        """The first capture that has another value now, or None."""
        return next((c for c in self._found.values() if c.changed()), None)


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    return tuple(map(_frozen, value)) if isinstance(value, tuple) else value


def _same(a: Any, b: Any) -> bool:
    """Equal as constants of a program: 1 is not True, 0.0 is not -0.0, NaN is NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return bool(np.array_equal(_bits(a), _bits(b)))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, complex):
        return _same(a.real, b.real) and _same(a.imag, b.imag)
    if isinstance(a, float):
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    if isinstance(a, np.generic):
        return bool(a.tobytes() == b.tobytes())
    return a is b or bool(a == b)


def _bits(a: Any) -> Any:
    return np.ascontiguousarray(a).reshape(-1).view(np.uint8)
