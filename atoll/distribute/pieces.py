"""How a loop is cut into pieces, in Python as in C (`at_piece` of backends/c/prelude.py, `all_pieces` of backends/c/piece_text.py).

Which sums are added up before which is part of what a program means (docs/distribution.md), so whoever runs a part of a loop cuts it where
one machine would. tests/distribute/test_pieces.py holds both against each other.
"""

from __future__ import annotations

from atoll.loops import ir as lp

LITTLE = 65536  # operations that are not worth pieces


def piece_length(extent: int, work: int, grain: int, align: int, most: int) -> int:
    piece = grain // work if 0 < work < grain else 1
    piece = max(piece, -(-extent // most))
    return -(-piece // align) * align


def pieces(chunk: lp.Chunks, extent: int, work: int) -> list[tuple[int, int]]:
    """The ranges that one machine gives to its threads."""
    if extent <= 0:
        return []
    most = chunk.most
    if chunk.rows:
        most = 16 if extent < 16 * chunk.rows else extent // chunk.rows if extent < chunk.most * chunk.rows else chunk.most
    length = piece_length(extent, work, chunk.grain, chunk.align, most)
    private = any(isinstance(s, lp.Alloc) and s.buffer.private for s in lp.walk(chunk.body))
    if extent <= length or (not chunk.accs and not private and extent * work < LITTLE):
        return [(0, extent)]
    return [(low, min(extent, low + length)) for low in range(0, extent, length)]


def is_free(chunk: lp.Chunks) -> bool:
    """A loop may be cut anywhere, at multiples of its alignment, if it adds nothing up: how sums are taken together depends on where pieces end."""
    return not chunk.accs and not chunk.buffers and not any(isinstance(s, (lp.Accumulate, lp.Product, lp.Helper)) and not _harmless(s) for s in lp.walk(chunk.body))


def _harmless(s: lp.Stmt) -> bool:
    return isinstance(s, lp.Helper) and s.name in ("stream", "fence")


def units(chunk: lp.Chunks, extent: int, work: int) -> list[tuple[int, int]]:
    """The ranges that may be given to different workers: pieces, or less where that changes nothing."""
    found = pieces(chunk, extent, work)
    if not is_free(chunk):
        return found
    step = max(1, chunk.align)
    while extent // step > 4096:
        step *= 2
    return [(low, min(extent, low + step)) for low in range(0, extent, step)]


def grouped(found: list[tuple[int, int]], count: int) -> list[list[tuple[int, int]]]:
    """Neighbouring ranges together, in about `count` groups of equal length."""
    if not found:
        return []
    total = found[-1][1]
    groups: dict[int, list[tuple[int, int]]] = {}
    for low, high in found:
        middle = (low + high) // 2
        groups.setdefault(min(count - 1, middle * count // max(1, total)), []).append((low, high))
    return list(groups.values())
