"""What pays, made small: thresholds and block sizes of the rewrites, so that blocks, rests and edges are met at the small sizes that are validated."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from atoll.loops import choices, profit

SMALL = {
    "WAVE_LANES": 4, "WAVE_STREAMS": 4,
    "ELIMINATION_ROWS": 2,
    "TILE_LONG": 4, "TILE_SHORT": 3, "MANY_ROWS": 2,
    "LANE_ROUNDS": 2, "LANE_ROW": 32,
    "SUMMED": 4,
    "PART_ROWS": 2, "PARTS": 2,
    "FOUND_BLOCK": 4, "BEST_SHORT": 2, "BEST_BLOCK": 8, "BEST_SHARED": 16,
    "ANSWER_BLOCK": 4,
    "FILTER_BLOCK": 4,
    "CHECKED": 4, "FEW_BINS": 4, "TURNS": 1,
    "COMPARED_RUNS": 2, "COMPARED_LENGTH": 2, "SCAN_CHUNK": 2, "SCAN_CHUNKS": 4,
    "SEARCH_BYTES": 16, "SEARCH_STEPS": 2,
    "STREAM_LEAST": 0, "STREAM_LINE": 32,
    "LONG_ROW": 8, "NEAR": 1 << 30,
}  # fmt: skip
CHOICES = choices.Choices(left=4)


@contextlib.contextmanager
def small_blocks() -> Iterator[None]:
    saved = {name: getattr(profit, name) for name in SMALL}  # one that is gone is an error: the table is kept true
    for name, value in SMALL.items():
        setattr(profit, name, value)
    try:
        yield
    finally:
        for name, value in saved.items():
            setattr(profit, name, value)
