"""Functions of generated C: equal ones are one, and large programs are several files.

A unit is what is made of one loop: a function, perhaps with the functions that call it for each piece. Two units whose texts differ only in names of
variables, which are parameters or declared inside, are one unit: the layers of a network are the same loops over other arrays. Texts are compared with
every such name replaced by the place where it first stands; what a text takes from outside (functions, constants, fields of structs) stays.

C compilers need more than linear time for a function and use one core for a file. Units go to files by a formula of their texts, never of
the machine: then every machine makes the same code of a program. Every unit is closed to other functions (`noipa`), so it does not matter which file it is in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from atoll.backends.c.c_names import RESERVED
from atoll.origins import plain

_PART = 60_000  # characters of C in a file
_MOST = 8  # files
_NAME = re.compile(r"(?<![\w.])([A-Za-z_]\w*)")  # not in a number, and no field of a struct
_FIXED = ("at_", "AT_", "atoll_")
_OF_HOST = ("at", "at_rt")  # structs whose fields have fixed names


@dataclass
class Units:
    """The units of a program in the order they are defined, each once."""

    fixed: frozenset[str]  # names at file level: constant arrays
    texts: list[str] = field(default_factory=list)
    known: dict[tuple[str, ...], str] = field(default_factory=dict)

    def add(self, name: str, text: str) -> str:
        """A unit whose functions are called `name`, `name_all` and so on: the name to call, which is that of an equal unit if there is one."""
        key = shape(plain(text), name, self.fixed)
        if key not in self.known:
            self.known[key] = name
            self.texts.append(text)
        return self.known[key]


def shape(text: str, own: str, fixed: frozenset[str]) -> tuple[str, ...]:
    """A text without the names of its variables and without its own."""
    names: dict[str, str] = {}
    found = _NAME.split(" ".join(text.split()))  # what stands between names, and names, in turn
    for k in range(1, len(found), 2):
        word = found[k]
        if word in names:  # a field of a host's struct may be called like a variable
            if not _stays_here(found, k):
                found[k] = names[word]
        elif word == own or word.startswith(own + "_"):
            found[k] = "#" + word[len(own) :]
        elif not (word in RESERVED or word in fixed or word.startswith(_FIXED) or _stays_here(found, k)):
            found[k] = names[word] = f"${len(names)}"
    return tuple(found)


def _stays_here(found: list[str], k: int) -> bool:
    """A name that is called, jumped to, after a # or a field of the host's."""
    before = found[k - 1]
    if found[k + 1].startswith(("(", " (")) or before.endswith("#"):
        return True
    return (before == " " and found[k - 2] == "goto") or (before == "->" and found[k - 2] in _OF_HOST)


def parts(texts: Sequence[str], most: int = _PART, beside: int = 0) -> list[list[str]]:
    """Units by file: as few as keep files short, of about the same length. `beside`: characters that are in the first file already."""
    total = sum(map(len, texts)) + beside
    count = min(_MOST, max(1, round(total / most)))
    found: list[list[str]] = [[] for _ in range(count)]
    lengths = [beside] + [0] * (count - 1)
    for text in sorted(texts, key=len, reverse=True):
        shortest = lengths.index(min(lengths))
        found[shortest].append(text)
        lengths[shortest] += len(text)
    return [found[0], *(part for part in found[1:] if part)] if beside else [part for part in found if part]


_TYPEDEF = re.compile(r"^typedef struct .*\n", re.M)
_HEAD = re.compile(r"^(AT_PIECE .*\)) \{$", re.M)


def shared(texts: Sequence[str]) -> str:
    """What files must know of each other's units: structs and heads."""
    lines = [line.rstrip("\n") for text in texts for line in _TYPEDEF.findall(text)]
    lines += [f"{head};" for text in texts for head in _HEAD.findall(text)]
    return "\n".join(lines)


def without_structs(text: str) -> str:
    return _TYPEDEF.sub("", text)
