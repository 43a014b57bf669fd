"""Compiled programs on disk, by content. Safe to delete, to share between processes, to find damaged or read-only.

An entry is a folder named by its key: `program.so`, `program.c`, `meta.json`. It is built beside and renamed into place, so a reader sees
a whole entry or none; two processes that build the same entry do the same work and the first rename wins.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

_FILES = ("program.so", "meta.json")


class Cache:
    """`at.cache`: `dir`, `stats()`, `clear()`."""

    def __init__(self) -> None:
        self._dir: Path | None = None
        self._lock = threading.Lock()
        self.hits = self.misses = self.damaged = 0

    @property
    def dir(self) -> Path:
        """The cache's folder: ATOLL_CACHE_DIR, else the user's cache folder, else a private temporary one."""
        wanted = os.environ.get("ATOLL_CACHE_DIR")
        if wanted:
            chosen = Path(wanted).expanduser()
            if self._dir != chosen:
                self._dir = chosen if _writable(chosen) else _temporary()
            return self._dir
        if self._dir is None:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "atoll"
            self._dir = base if _writable(base) else _temporary()
        return self._dir

    def stats(self) -> dict[str, Any]:
        """How often something was found, built or damaged in this process, and what is on disk."""
        entries = [p for p in self.dir.glob("*/program.so")]
        size = sum(f.stat().st_size for p in entries for f in p.parent.iterdir())
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
        entry = self.dir / key
        try:
            meta = json.loads((entry / "meta.json").read_text())
            library = entry / "program.so"
            if meta.get("key") != key or meta.get("size") != library.stat().st_size or meta.get("hash") != _hash(library):
                raise ValueError
        except FileNotFoundError:
            return None
        except (ValueError, OSError):
            self.damaged += 1
            shutil.rmtree(entry, ignore_errors=True)
            return None
        return library, meta

    def get(self, key: str, build: Callable[[Path], dict[str, Any]]) -> tuple[Path, dict[str, Any]]:
        """The entry with this key, built by `build(folder)` when there is none."""
        found = self.find(key)
        if found is not None:
            self.hits += 1
            return found
        self.misses += 1
        self.dir.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{key[:8]}-", dir=self.dir))
        try:
            meta = build(folder)
            library = folder / "program.so"
            meta = {**meta, "key": key, "size": library.stat().st_size, "hash": _hash(library)}
            (folder / "meta.json").write_text(json.dumps(meta))
            with contextlib.suppress(OSError):
                folder.rename(self.dir / key)
            found = self.find(key)
            if found is not None:
                return found
            # someone else's damaged entry is in the way: use ours where it is
            return library, meta
        finally:
            if folder.exists() and (self.dir / key / "program.so").exists():
                shutil.rmtree(folder, ignore_errors=True)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _writable(path: Path) -> bool:
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


def _temporary() -> Path:
    return Path(tempfile.mkdtemp(prefix="atoll-cache-"))


cache = Cache()
