"""Files for the user: nothing is lost by writing them. What Atoll did not write is not written over unless asked for, and never through a link."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from atoll.errors import fail
from atoll.errors.misuse import kind_of

_OWN = "enerated by Atoll"


def write_files(folder: object, texts: dict[str, str], overwrite: bool = False) -> list[Path]:
    """Write files into a folder; returns their paths. Either all may be written or none is."""
    place = check_place(folder, list(texts), overwrite)
    try:
        for name, text in texts.items():
            _write(place / name, text)
    except OSError as error:
        fail("E0832", path=place, reason=error.strerror or str(error))
    return [place / name for name in texts]


def check_place(folder: object, names: list[str], overwrite: bool = False) -> Path:
    """A folder for files of these names, none of which is the user's own."""
    try:
        given = os.fspath(folder)  # type: ignore[call-overload]
    except Exception:  # noqa: BLE001  it is no path, or its own method raises
        given = None
    if not isinstance(given, str) or "\0" in given or not given:
        found = repr(given)[:100] if isinstance(given, str) else kind_of(folder)
        fail("E0610", name="export_c", text=f"takes a folder, not {found}", help='write f.export_c("out")')
    if not isinstance(overwrite, bool):
        fail("E0610", name="export_c", text=f"overwrite= takes True or False, not {kind_of(overwrite)}", help="write overwrite=True")
    place = Path(given)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            reason = _in_the_way(place / name)
            if reason and not (overwrite and reason != "is a folder"):
                fail("E0831", path=place / name, reason=reason)
    except OSError as error:
        fail("E0832", path=place, reason=error.strerror or str(error))
    return place


def _in_the_way(path: Path) -> str:
    if path.is_symlink():
        return "is a link"
    if path.is_dir():
        return "is a folder"
    if not path.exists():
        return ""
    with path.open("rb") as file:
        first = file.readline(1000)
    return "" if path.is_file() and _OWN.encode() in first else "was not written by Atoll"


def _write(path: Path, text: str) -> None:
    """Beside, then renamed: a link is replaced, not followed, and nobody sees half a file."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=".atoll-")
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0o077)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
