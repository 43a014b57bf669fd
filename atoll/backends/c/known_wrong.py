"""What C compilers are known to get wrong, each a small program (runtime/native/probes) with the options that make it right in its head. runtime/probes.py tries them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parents[2] / "runtime" / "native" / "probes"


@dataclass(frozen=True, slots=True)
class Probe:
    """A program that a compiler may get wrong."""

    name: str
    what: str
    without: tuple[str, ...]  # options that make it right
    text: str


@functools.cache
def probes() -> tuple[Probe, ...]:
    """The programs, in the order of their names."""
    found = []
    for path in sorted(_FOLDER.glob("*.c")):
        text = path.read_text()
        first, second = text.split("\n")[:2]
        found.append(Probe(path.stem, first.partition(": ")[2], tuple(second.partition("without: ")[2].split()), text))
    return tuple(found)
