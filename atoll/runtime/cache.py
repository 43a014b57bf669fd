"""Compiled programs on disk, by content. Safe to delete, to share between processes, to find damaged or read-only.

An entry is a folder named by its key: `program.so`, `program.c`, `meta.json`. It is built beside and renamed into place, so a reader sees
a whole entry or none; two processes that build the same entry do the same work and the first rename wins. A folder that cannot
be written (a read-only home) is still read; what is built then lives in a temporary folder until the process ends.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_LEFT_OVER = 24 * 3600.0  # seconds after which a folder that was never finished is thrown away


class Cache:
    """`at.cache`: `dir`, `stats()`, `clear()`."""

    def __init__(self) -> None:
        self._wanted: Path | object | None = self  # nothing was asked for yet
        self._dir: Path | None = None
        self._fixed: Path | None = None  # a folder that can be read but not written
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._after_fork)
        self.hits = self.misses = self.damaged = 0

    @property
    def dir(self) -> Path:
        """The cache's folder: ATOLL_CACHE_DIR, else the user's cache folder, else a private temporary one."""
        wanted = _wanted()
        if self._wanted != wanted:
            with self._lock:
                writable = wanted is not None and _writable(wanted)
                self._dir = wanted if writable and wanted is not None else _temporary()
                self._fixed = None if writable else wanted
                self._wanted = wanted
        assert self._dir is not None
        return self._dir

    def _after_fork(self) -> None:
        self._lock = threading.Lock()

    def stats(self) -> dict[str, Any]:
        """How often something was found, built or damaged in this process, and what is on disk."""
        entries = list(self.dir.glob("*/meta.json"))
        size = 0
        for entry in entries:
            with contextlib.suppress(OSError):  # another process may be clearing
                size += sum(f.stat().st_size for f in entry.parent.iterdir())
        return {
            "hits": self.hits,
            "misses": self.misses,
            "damaged": self.damaged,
            "entries": len(entries),
            "bytes": size,
            "dir": str(self.dir),
        }

    def clear(self) -> None:
        """Remove every entry."""
        for entry in self.dir.glob("*"):
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)

    def find(self, key: str) -> tuple[Path, dict[str, Any]] | None:
        """The entry with this key, if it is whole."""
        for folder in (self.dir, self._fixed):
            if folder is None:
                continue
            try:
                return _read(folder / key, key)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (ValueError, OSError):
                self.damaged += 1
                shutil.rmtree(folder / key, ignore_errors=True)
        return None

    def get(self, key: str, build: Callable[[Path], dict[str, Any]]) -> tuple[Path, dict[str, Any]]:
        """The entry with this key, built by `build(folder)` when there is none."""
        found = self.find(key)
        if found is not None:
            self.hits += 1
            return found
        self.misses += 1
        for attempt in (1, 2):
            folder = self._new_folder(key)
            try:
                return self._build(key, folder, build)
            except Exception:
                if folder.exists() or attempt == 2:  # otherwise another process cleared the cache under our hands
                    raise
        raise AssertionError

    def _new_folder(self, key: str) -> Path:
        """A folder to build in. A cache that stopped being writable is given up for a temporary one."""
        try:
            self.dir.mkdir(parents=True, exist_ok=True)
            self._sweep()
            return Path(tempfile.mkdtemp(prefix=f".{key[:8]}-", dir=self.dir))
        except OSError:
            self._fixed, self._dir = self._dir, _temporary()
            return Path(tempfile.mkdtemp(prefix=f".{key[:8]}-", dir=self._dir))

    def _sweep(self) -> None:
        """Remove what processes that were killed have left half built."""
        for folder in self.dir.glob(".*-*"):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > _LEFT_OVER:
                    shutil.rmtree(folder, ignore_errors=True)

    def _build(self, key: str, folder: Path, build: Callable[[Path], dict[str, Any]]) -> tuple[Path, dict[str, Any]]:
        try:
            meta = build(folder)
            library = folder / "program.so"
            meta = {**meta, "key": key, "size": library.stat().st_size, "hash": _hash(library)}
            (folder / "meta.json").write_text(json.dumps(meta))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        with contextlib.suppress(OSError):  # another process was quicker
            folder.rename(self.dir / key)
        found = self.find(key)
        if found is None:  # somebody cleared the cache, or something is in the way: use ours where it is
            return library, meta
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
        return found


def _read(entry: Path, key: str) -> tuple[Path, dict[str, Any]]:
    """An entry that is what it says it is; FileNotFoundError when there is none, ValueError when it is damaged."""
    meta = json.loads((entry / "meta.json").read_text())
    library = entry / "program.so"
    if not isinstance(meta, dict) or meta.get("key") != key:
        raise ValueError
    if not library.exists() or meta.get("size") != library.stat().st_size or meta.get("hash") != _hash(library):
        raise ValueError
    return library, meta


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _writable(path: Path) -> bool:
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


def _wanted() -> Path | None:
    """Where the cache should be, or None when there is no home."""
    given = os.environ.get("ATOLL_CACHE_DIR")
    try:
        if given:
            return Path(given).expanduser()
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "atoll"
    except RuntimeError:
        return None


def _temporary() -> Path:
    """A folder of this process alone, gone when it ends."""
    made, owner = Path(tempfile.mkdtemp(prefix="atoll-cache-")), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not when a forked child ends
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)
    return made


cache = Cache()
