"""Every fuzzer of the repository under one roof: `make fuzz-all`.

    python -m tests.hunt --seconds 300                     all classes, on all cores
    python -m tests.hunt --only rewrites,general --from 7000
    python -m tests.hunt --only madl --seeds 12,           one program again

A class is a function `hunt(seeds) -> Iterator[Hunted]`, named in `classes.py`: it makes the program of each seed, runs it and says what came of it. It may end its process, or never
end: every slice of seeds runs in a process of its own. To add a fuzzer, write such a function and name it there.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hunted:
    """What became of a seed's program. `kind` is a word that is counted; a failure has `detail`, the small program and what was seen. A program that is right
    but costs more than its bound is `dear`: it is told of, and is no failure."""

    seed: int
    kind: str
    failed: bool = False
    detail: str = ""
    dear: bool = False
