"""What pays, made small: thresholds and block sizes of the rewrites, so that blocks, rests and edges are met at the small sizes that are validated."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator

import atoll.loops.choices as choices

SMALL = {
    "recipes.wave": {"LANES": 4, "STREAMS": 4},
    "recipes.several_rounds": {"ENOUGH": 2},
    "recipes.tiles": {"LONG": 4, "SHORT": 3, "MANY": 2},
    "recipes.lanes": {"LEAST": 2, "ROW": 32},
    "recipes.across": {"ROUNDS": 4},
    "recipes.tall": {"ROWS": 2, "PARTS": 2},
    "idioms.first_best": {"BLOCK": 4, "SHORT": 2, "LONG": 8, "SHARED": 16},
    "recipes.pairwise": {"BLOCK": 4},
    "idioms.until": {"BLOCK": 4},
    "idioms.filters": {"BLOCK": 4},
    "idioms.privatise": {"BLOCK": 4, "FEW_BINS": 4, "PARTS": 2, "TURNS": 1},
    "idioms.scans": {"COMPARED": (2, 2), "LENGTH": 2, "CHUNK": 2, "CHUNKS": 4},
    "recipes.searches": {"BYTES": 16, "STEPS": 2},
    "recipes.stream": {"LEAST": 0, "LINE": 32},
    "recipes.rows": {"LONG": 8, "NEAR": 1 << 30},
}
CHOICES = choices.Choices(left=4)


@contextlib.contextmanager
def small_blocks() -> Iterator[None]:
    saved = []
    for name, constants in SMALL.items():
        module = importlib.import_module(f"atoll.loops.{name}")
        for constant, value in constants.items():
            saved.append((module, constant, getattr(module, constant)))  # one that is gone is an error: the table is kept true
            setattr(module, constant, value)
    try:
        yield
    finally:
        for module, constant, value in saved:
            setattr(module, constant, value)
