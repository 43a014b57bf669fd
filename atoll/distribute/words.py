"""How a step uses an array, in words: which rows for which rows, and how far beyond them."""

from __future__ import annotations

from math import prod

from atoll.distribute.footprint import Box, Touched, shape_of_box
from atoll.distribute.graph import Use
from atoll.loops import ir as lp


def use(b: lp.Buffer, shape: tuple[int, ...], is_written: bool, found: list[tuple[Touched, tuple[tuple[int, int], ...]]], boxes: list[dict[lp.Buffer, Box]], cut: frozenset[int], fn: lp.Function) -> Use:
    largest = max((prod(shape_of_box(box[b])) * b.dtype.size for box in boxes), default=0)
    kind = "given" if is_written else "cut" if cut else "whole"
    if not cut:
        return Use(b.shown, kind, "all of it" if shape else "a number", largest)
    texts = [_axis(a, [box[b][a] for box in boxes], [ps for _, ps in found], shape[a]) for a in sorted(cut)]
    halo = halo_of([box[b][0] for box in boxes], [ps for _, ps in found], shape[0]) if 0 in cut else None
    return Use(b.shown, kind, ", ".join(texts), largest, None if halo is None else halo[1:])


def _axis(axis: int, spans: list[tuple[int, int]], pieces: list[tuple[tuple[int, int], ...]], n: int) -> str:
    """One axis: the halo beyond the range that a task computes, where it follows that range."""
    halo = halo_of(spans, pieces, n)
    name = f"axis {axis}"
    if halo is None:
        return f"{name} in {len(spans)} parts"
    stride, before, after = halo
    if stride == 0:
        return f"{name}: {spans[0][0]}..{spans[0][1]} of {n}"
    step = "" if stride == 1 else f", {stride} for each"
    return f"{name}{step}" + (f", halo {before} before and {after} after" if before or after else ", no halo")


def halo_of(spans: list[tuple[int, int]], pieces: list[tuple[tuple[int, int], ...]], n: int) -> tuple[int, int, int] | None:
    """(stride, before, after): tasks low..high need stride*low - before .. stride*high + after, where the ends of the array do not cut that off."""
    if len(spans) < 2 or not all(pieces):
        return None
    ranges = [(p[0][0], p[-1][1]) for p in pieces]
    inner = [(r, s) for r, s in zip(ranges, spans, strict=True) if s[0] > 0 or r[0] == 0]
    if len(inner) < 2:
        return None
    (r0, s0), (r1, s1) = inner[-2], inner[-1]
    if r1[0] == r0[0] or (s1[0] - s0[0]) % (r1[0] - r0[0]):
        return None
    stride = (s1[0] - s0[0]) // (r1[0] - r0[0])
    befores: set[int] = {stride * r[0] - s[0] for r, s in inner if s[0] > 0}
    afters: set[int] = {s[1] - stride * r[1] for r, s in zip(ranges, spans, strict=True) if s[1] < n}
    if stride < 0 or len(befores) > 1 or len(afters) > 1:
        return None
    return stride, next(iter(befores), 0), next(iter(afters), 0)

