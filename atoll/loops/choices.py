"""What the compiler decides for a function, and the file that pins it.

`atoll tune FILE:FUNCTION --size n=...` measures and writes FILE with the ending .tune beside FILE; a person can read and change it:

    [blur]
    grain = 65536
    jam = 4
    plan.bx = store

A function that is not in the file, or a choice that is not under its name, is decided as usual. Deleting the file changes speed, never values
beyond the order of additions.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from atoll.errors import Span
from atoll.loops.tune_file import Section, check_names, read, write, wrong


@dataclass(frozen=True, slots=True)
class Choices:
    """Numbers are sizes (1 or 0: not at all), the rest is on or off."""

    grain: int = 32768  # operations in a piece of a parallel loop
    products: bool = True  # contractions by the matrix kernel
    follow: bool = True  # what follows a product joined to it
    private: bool = True  # histograms in private copies
    tall: bool = True  # sums along the first axis in parts
    scans: bool = True  # scans in runs
    first_best: bool = True  # argmin and argmax in two steps
    unroll: int = 9  # loops of at most so many rounds are written out
    checks: bool = True  # checks made before loops
    interior: bool = True  # ranges cut where tests change
    rounds: int = 4  # of an elimination at a time
    left: int = 16  # rounds of a loop that looks back at a time
    pieces: bool = True  # loops in order whose rounds are independent in pieces for threads
    jam: int = 8  # rounds of a sum into memory at a time
    overlap: int = 4  # rows of a stencil at a time
    across: bool = True  # sums of neighbours in the lanes of vectors
    rows: bool = True  # sums of several rows that share what they read
    carry: bool = True  # what a round leaves to the next in variables
    wave: bool = True  # rows of a table that wait for each other many at a time, each a step behind
    lanes: bool = True  # recurrences of independent rounds in the lanes of vectors
    until: bool = True  # any and all in blocks, until they are known
    tiles: bool = True  # loops where rows meet columns in tiles
    place: bool = True  # rows made where they are kept
    stream: bool = True  # large results past the caches
    plan: tuple[tuple[str, str], ...] = ()  # what becomes of values, by their names: store, once or inline (plan/override.py)

    def changed(self) -> dict[str, Any]:
        """What is not as usual."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}


USUAL = Choices()
ALTERNATIVES: dict[str, tuple[Any, ...]] = {
    "grain": (8192, 131072, 524288),
    "products": (False,),
    "follow": (False,),
    "private": (False,),
    "tall": (False,),
    "scans": (False,),
    "first_best": (False,),
    "unroll": (0, 4),
    "checks": (False,),
    "interior": (False,),
    "rounds": (1, 2, 8),
    "left": (1, 8, 32),
    "pieces": (False,),
    "jam": (1, 4, 16),
    "overlap": (1, 2, 8),
    "across": (False,),
    "rows": (False,),
    "stream": (False,),
    "carry": (False,),
    "wave": (False,),
    "lanes": (False,),
    "until": (False,),
    "tiles": (False,),
    "place": (False,),
}
MOST = 1 << 40  # the greatest number a choice can have
_HEAD = "# Written by `atoll tune`: what the compiler decides for these functions. docs/performance.md says what each word means.\n"


def file_of(source: str) -> Path | None:
    """Where the choices of a source file are pinned."""
    path = Path(source)
    return path.with_suffix(".tune") if path.suffix == ".py" else None


def pinned(source: str, name: str) -> Choices:
    """The choices for a function of a source file. All of the file is looked at, so that nothing in it is ignored."""
    path = file_of(source)
    if path is None or not path.is_file():
        return USUAL
    sections = read(path)
    check_names(path, source, sections)
    made = {function: _choices(path, function, section) for function, section in sections.items()}
    return made.get(name, USUAL)


def _choices(path: Path, name: str, section: Section) -> Choices:
    known = {f.name: f.default for f in fields(Choices) if f.name != "plan"}
    found: dict[str, Any] = {}
    plan: list[tuple[str, str]] = []
    for key, text in section.values.items():
        if key.startswith("plan."):
            plan.append((key.removeprefix("plan."), text))
            continue
        span = section.spans[key]
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            wrong(path, f"{key} is no choice", span, f"did you mean {near[0]}?" if near else f"choose among {', '.join(known)}, or write plan.{key} for a value")
        found[key] = _value(path, key, text, isinstance(known[key], bool), span)
    return replace(USUAL, plan=tuple(sorted(plan)), **found)


def _value(path: Path, key: str, text: str, switch: bool, span: Span) -> Any:
    if switch and text.lower() in ("on", "off"):
        return text.lower() == "on"
    least = 0 if key == "unroll" else 1  # others count rounds at a time, or work
    if not switch and text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= MOST:
        return int(text)
    better = f"{key} = on or {key} = off" if switch else f"a whole number from {least} to {MOST}, as in {key} = {getattr(USUAL, key)}"
    wrong(path, f"{key} is {text if len(text) < 60 else text[:50] + '...'}", span, f"write {better}")


def pin(source: str, name: str, choices: Choices) -> Path | None:
    """Write the choices of a function; None when there is nowhere to write them."""
    path = file_of(source)
    if path is None:
        return None
    sections = {function: dict(section.values) for function, section in read(path).items()} if path.is_file() else {}
    changed = choices.changed()
    plan = {f"plan.{value}": word for value, word in changed.pop("plan", ())}
    sections[name] = {key: ("on" if value else "off") if isinstance(value, bool) else str(value) for key, value in changed.items()} | plan
    write(path, _HEAD, sections)
    return path
