"""Compiled programs on disk, by content. Safe to delete, to share between processes, to find damaged or read-only.

An entry is a folder named by its key: `program.so`, `program.c`, `meta.json`, which holds a hash of all of it. It is built beside and renamed into place, so a
reader sees a whole entry or none; two processes that build the same entry do the same work and the first rename wins. A folder that cannot
be written (a read-only home) is still read; what is built then lives in a temporary folder until the process ends.

Nothing is deleted but what has a name this file gives, in a folder that carries its mark: entries when they are cleared, damaged or the oldest of too many bytes, and
what was never finished. Who can write here can run code as the user, so the folder is the user's alone, or is refused.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from atoll.errors import fail
from atoll.errors.plain import all_plain

_MARK = ".atoll-cache"
_MARK_TEXT = "Compiled programs, made by Atoll. Entries (folders named by 64 digits) may be deleted at any time.\n"
_ENTRY = re.compile(r"[0-9a-f]{64}")
_UNFINISHED = re.compile(r"\.atoll-[0-9a-f]{8}-[A-Za-z0-9_]+")
_FILES = ("program.so", "program.c", "meta.json")
_LEFT_OVER = 24 * 3600.0  # seconds after which a folder that was never finished is thrown away
_LOOK = 600.0  # seconds between two looks at what is too much
_USED = 3600.0  # seconds after which a use is written down again
_MOST = 2048  # megabytes kept; ATOLL_CACHE_SIZE is another number of them
_TRIES = 4

T = TypeVar("T")


@all_plain
class Cache:
    """`at.cache`: `dir`, `stats()`, `clear()`."""

    def __init__(self) -> None:
        self._wanted: Path | object | None = self  # nothing was asked for yet
        self._dir: Path | None = None
        self._fixed: Path | None = None  # a folder that can be read but not written
        self._lock = threading.Lock()
        self._built = 0  # bytes since the last look at what is too much
        os.register_at_fork(after_in_child=self._after_fork)
        self.hits = self.misses = self.damaged = 0

    @property
    def dir(self) -> Path:
        """The cache's folder: ATOLL_CACHE_DIR, else the user's cache folder, else a private temporary one."""
        return self._folder()

    def _folder(self) -> Path:
        wanted = _wanted()
        if self._wanted != wanted:
            with self._lock:
                writable = wanted is not None and _writable(wanted)
                if wanted is not None and wanted.is_dir():
                    _check_owner(wanted)
                self._dir = wanted if writable and wanted is not None else _temporary()
                self._fixed = None if writable else wanted
                self._wanted = wanted
                if writable:
                    _mark(self._dir)
        assert self._dir is not None
        return self._dir

    def _after_fork(self) -> None:
        self._lock = threading.Lock()

    def stats(self) -> dict[str, Any]:
        """How often something was found, built or damaged in this process, and what is on disk."""
        entries = [entry for entry in _names(self._folder(), _ENTRY) if (entry / "meta.json").exists()]
        return {
            "hits": self.hits,
            "misses": self.misses,
            "damaged": self.damaged,
            "entries": len(entries),
            "bytes": sum(map(_size, entries)),
            "dir": str(self._folder()),
        }

    def clear(self) -> None:
        """Remove every entry."""
        for entry in _names(self._folder(), _ENTRY):
            _remove(entry)
        self._sweep()

    def find(self, key: str) -> tuple[Path, dict[str, Any]] | None:
        """The entry with this key, if it is whole."""
        for folder in (self._folder(), self._fixed):
            if folder is None:
                continue
            try:
                return _read(folder / key, key)
            except (FileNotFoundError, NotADirectoryError):
                if (folder / key / "meta.json").exists():  # else there is none, or another process is clearing
                    self._throw_away(folder / key)
            except (ValueError, OSError, RecursionError):
                self._throw_away(folder / key)
        return None

    def _throw_away(self, entry: Path) -> None:
        self.damaged += 1
        _remove(entry)

    def get(self, key: str, build: Callable[[Path], dict[str, Any]], counted: bool = True) -> tuple[Path, dict[str, Any]]:
        """The entry with this key, built by `build(folder)` when there is none. What the compiler is tried with is not counted."""
        found = self.find(key)
        if found is not None:
            self.hits += counted
            return found
        self.misses += counted
        for attempt in range(_TRIES):
            folder = self._new_folder(key, private=attempt == _TRIES - 1)
            try:
                return self._build(key, folder, build)
            except Exception:
                if folder.exists() or attempt == _TRIES - 1:  # otherwise somebody deleted the folder under our hands
                    raise
        raise AssertionError

    def use(self, key: str, build: Callable[[Path], dict[str, Any]], load: Callable[[Path], T]) -> tuple[T, Path, dict[str, Any]]:
        """What `load` makes of an entry's library, its path and what is remembered of it. An entry that goes away before it is loaded is built again."""
        for attempt in range(_TRIES):
            path, meta = self.get(key, build)
            try:
                return load(path), path, meta
            except Exception:
                if path.exists() or attempt == _TRIES - 1:
                    raise
        raise AssertionError

    def _new_folder(self, key: str, private: bool = False) -> Path:
        """A folder to build in. A cache that stopped being writable is given up for a temporary one."""
        prefix = f".atoll-{key[:8]}-"
        if private:
            return Path(tempfile.mkdtemp(prefix=prefix, dir=_temporary()))
        try:
            _make(self._folder())
            _mark(self._folder())
            self._look()
            return Path(tempfile.mkdtemp(prefix=prefix, dir=self._folder()))
        except OSError:
            self._fixed, self._dir = self._dir, _temporary()
            return Path(tempfile.mkdtemp(prefix=prefix, dir=self._dir))

    def _look(self) -> None:
        """Now and then: remove what is left over, and the oldest of what is too much."""
        most = _most_bytes()
        mark = self._folder() / _MARK
        with contextlib.suppress(OSError):
            if time.time() - mark.stat().st_mtime < _LOOK and self._built < most // 16:
                return
            os.utime(mark)
        self._built = 0
        self._sweep()
        sizes = {entry: _size(entry) for entry in _names(self._folder(), _ENTRY)}
        total = sum(sizes.values())
        for entry in sorted(sizes, key=_last_used):
            if total <= most:
                break
            _remove(entry)
            total -= sizes[entry]

    def _sweep(self) -> None:
        """Remove what processes that were killed have left half built."""
        for folder in _names(self._folder(), _UNFINISHED):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > _LEFT_OVER:
                    shutil.rmtree(folder, ignore_errors=True)

    def _build(self, key: str, folder: Path, build: Callable[[Path], dict[str, Any]]) -> tuple[Path, dict[str, Any]]:
        try:
            library = folder / "program.so"
            meta = {**build(folder), "key": key}
            meta["files"] = {name: _hash(folder / name) for name in _FILES[:2] if (folder / name).exists()}
            library.stat()
            meta = json.loads(_text(meta))  # what others will read
            (folder / "meta.json").write_bytes(_text({**meta, "whole": _whole(meta)}))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._built += _size(folder)
        with contextlib.suppress(OSError):  # another process was quicker
            folder.rename(self._folder() / key)
        found = self.find(key)
        if found is None:  # somebody cleared the cache, or something is in the way: use ours where it is
            if not library.exists():
                raise FileNotFoundError(library)
            _at_exit(folder)
            return library, meta
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
        return found


def _read(entry: Path, key: str) -> tuple[Path, dict[str, Any]]:
    """An entry that is what it says it is; FileNotFoundError when there is none, ValueError when it is damaged."""
    meta = json.loads((entry / "meta.json").read_bytes())
    if not isinstance(meta, dict) or meta.get("key") != key or meta.pop("whole", None) != _whole(meta):
        raise ValueError
    if "program.so" not in meta["files"] or any(_hash(entry / name) != found for name, found in meta["files"].items()):
        raise ValueError
    for path in (entry, entry / "program.so"):
        if path.stat().st_uid not in _trusted():
            raise ValueError
    with contextlib.suppress(OSError):
        if time.time() - _last_used(entry) > _USED:
            os.utime(entry / "meta.json")
    return entry / "program.so", meta


def _whole(meta: dict[str, Any]) -> str:
    """A hash of everything that is remembered of an entry, the hashes of its files among it."""
    return hashlib.sha256(_text(meta, in_order=True)).hexdigest()


def _text(meta: dict[str, Any], in_order: bool = False) -> bytes:
    """As JSON that gives the same texts when it is read. Halves of surrogate pairs stand as they are: two escapes of such halves would be read as one character."""
    return json.dumps(meta, sort_keys=in_order, ensure_ascii=False).encode(errors="surrogatepass")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _last_used(entry: Path) -> float:
    try:
        return (entry / "meta.json").stat().st_mtime
    except OSError:
        return 0.0


def _size(entry: Path) -> int:
    size = 0
    with contextlib.suppress(OSError):  # another process may be clearing
        size = sum(f.stat().st_size for f in entry.iterdir())
    return size


def _names(folder: Path, form: re.Pattern[str]) -> list[Path]:
    """The folders in a marked folder whose names are ours and have this form; links are none."""
    try:
        if not (folder / _MARK).is_file():
            return []
        with os.scandir(folder) as found:
            return [Path(x.path) for x in found if form.fullmatch(x.name) and x.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _remove(entry: Path) -> None:
    """Delete an entry: its own files, and the folder if nothing else is in it. What it says it is goes first, so that nobody finds a part."""
    for name in reversed(_FILES):
        path = entry / name
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()
    with contextlib.suppress(OSError):
        entry.rmdir()


def _most_bytes() -> int:
    text = os.environ.get("ATOLL_CACHE_SIZE", "")
    if not text:
        return _MOST << 20
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        fail("E0826", name="ATOLL_CACHE_SIZE", given=text[:100], what="a number of megabytes", least=0)
    return int(text) << 20


def _trusted() -> tuple[int, int]:
    return os.geteuid(), 0


def _check_owner(folder: Path) -> None:
    """Refuse a folder that others own or can write in."""
    found = folder.stat()
    if found.st_uid not in _trusted():
        fail("E0830", path=folder, reason=f"it belongs to another user ({found.st_uid})", remedy="set ATOLL_CACHE_DIR to a folder of your own")
    if stat.S_IMODE(found.st_mode) & 0o022:
        reason = f"others can write in it (mode {stat.S_IMODE(found.st_mode):o})"
        fail("E0830", path=folder, reason=reason, remedy=f"empty it if you do not know what is in it, then chmod 700 '{folder}', or set ATOLL_CACHE_DIR to another folder")


def _make(folder: Path) -> None:
    """A folder that is the user's alone, and so are those above it that were missing."""
    for above in reversed([folder, *folder.parents]):
        if not above.is_dir():
            above.mkdir(mode=0o700, exist_ok=True)


def _mark(folder: Path) -> None:
    mark = folder / _MARK
    with contextlib.suppress(OSError):
        if not mark.exists():
            mark.write_text(_MARK_TEXT)


def _writable(path: Path) -> bool:
    try:
        _make(path)
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


def _wanted() -> Path | None:
    """Where the cache should be, or None when there is no home."""
    given = os.environ.get("ATOLL_CACHE_DIR")
    try:
        if given:
            return Path(given).expanduser().absolute()
        return (Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "atoll").absolute()
    except (RuntimeError, OSError):  # no home; a working folder that is gone
        return None


def _temporary() -> Path:
    """A folder of this process alone, gone when it ends."""
    made = Path(tempfile.mkdtemp(prefix="atoll-cache-"))
    _mark(made)
    _at_exit(made)
    return made


def _at_exit(folder: Path) -> None:
    """Remove a folder when this process ends."""
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not when a forked child ends
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)


cache = Cache()
