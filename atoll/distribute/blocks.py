"""How tasks share an array they write: boxes that do not meet, along as few axes as will do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from atoll.distribute.footprint import Box, Touched, is_empty
from atoll.distribute.graph import common
from atoll.loops import ir as lp


def axes_of(shape: tuple[int, ...], boxes: list[Box | None]) -> tuple[int, ...] | None:
    """The axes along which boxes lie beside each other: one if that will do, else several."""
    there = [box for box in boxes if box is not None and not is_empty(box)]
    if not shape:
        return () if len(there) <= 1 else None
    for count in range(1, len(shape) + 1):
        for axes in combinations(range(len(shape)), count):
            if not any(meetings([tuple(box[a] for a in axes) for box in there])):
                return axes
    return None


def meetings(boxes: list[Box]) -> Iterator[bool]:
    """True for every two boxes that share something, found by going along the first axis."""
    alive: list[Box] = []
    for box in sorted(boxes):
        alive = [other for other in alive if other[0][1] > box[0][0]]
        for other in alive:
            if common(box, other) is not None:
                yield True
        alive.append(box)


def given_box(shape: tuple[int, ...], box: Box | None, axes: tuple[int, ...]) -> Box | None:
    """The block of an array that a task gives: what it writes along the axes, all of the others."""
    if box is None or is_empty(box):
        return None
    return tuple(x if a in axes else (0, n) for a, (x, n) in enumerate(zip(box, shape, strict=True)))


def apart(shapes: dict[lp.Buffer, tuple[int, ...]], found: list[Touched]) -> bool:
    """Do tasks write different blocks of every array, and read nothing that another writes?"""
    for b in dict.fromkeys(b for t in found for b in t.writes):
        written = [t.writes.get(b) for t in found]
        axes = axes_of(shapes[b], written)
        if axes is None:
            return False
        blocks = [given_box(shapes[b], box, axes) for box in written]
        for k, t in enumerate(found):
            mine = t.reads.get(b)
            if mine is not None and any(box is not None and j != k and common(mine, box) is not None for j, box in enumerate(blocks)):
                return False
    return True
