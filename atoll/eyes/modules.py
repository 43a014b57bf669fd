"""Files that a looked-at file imports: they are read again when they change on disk, as a new Python would."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path


class Others:
    """The modules that looking at files has imported, with the state of their files."""

    def __init__(self) -> None:
        self.stamps: dict[str, tuple[int, int]] = {}

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Modules imported meanwhile are the user's, unless they are installed ones."""
        before = set(sys.modules)
        try:
            yield
        finally:
            for name in set(sys.modules) - before:
                path = getattr(sys.modules[name], "__file__", None)
                if isinstance(path, str) and _is_own(path):
                    self.stamps[name] = _stamp(path)

    def changed(self) -> bool:
        """Whether a file of theirs is not what it was; then all of them are forgotten, since they may use each other."""
        loaded = {name: getattr(sys.modules.get(name), "__file__", None) for name in self.stamps}
        if all(isinstance(path, str) and _stamp(path) == self.stamps[name] for name, path in loaded.items()):
            return False
        for name in self.stamps:
            sys.modules.pop(name, None)
        self.stamps.clear()
        return True


def _is_own(path: str) -> bool:
    installed = ("site-packages", "dist-packages", os.path.dirname(os.__file__))
    return path.endswith(".py") and not any(part in path for part in installed) and Path(__file__).resolve().parents[1] not in Path(path).resolve().parents


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
