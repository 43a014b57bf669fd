"""What a binary depends on, as one key: what it is made of, this Atoll, the compiler with every option, the processor."""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

from atoll.runtime.probes import mending
from atoll.runtime.toolchain import compiler, target

_SOURCES = (".py", ".c", ".h", ".txt")


@functools.cache
def atoll_itself() -> str:
    """What this Atoll is: the text of its files."""
    root = str(Path(__file__).parents[1])
    found = hashlib.sha256()
    for folder, below, names in os.walk(root):
        below[:] = sorted(x for x in below if x != "__pycache__")
        for name in sorted(x for x in names if x.endswith(_SOURCES)):
            path = os.path.join(folder, name)
            with open(path, "rb", buffering=0) as file:
                data = file.read()
            found.update(f"{path[len(root) :]}:{len(data)}\0".encode(errors="surrogatepass"))
            found.update(data)
    return found.hexdigest()


def build_key(*parts: str, optimise: str = "3", extra: list[str] | None = None) -> str:
    """The key of what this Atoll makes from these parts with these options."""
    return text_key(atoll_itself(), *parts, optimise=optimise, extra=extra)


def text_key(*parts: str, optimise: str = "3", extra: list[str] | None = None) -> str:
    """The key of C whose whole text is among these parts."""
    cc = compiler()
    everything = [*parts, "\0", cc.identity, *cc.flags(optimise), "\0", *(extra or []), "\0", *mending(cc, optimise), "\0", target()]
    return hashlib.sha256("\0".join(everything).encode(errors="surrogatepass")).hexdigest()
