"""How a step uses an array, in words: which rows for which rows, and how far beyond them."""

from __future__ import annotations

from math import prod

from atoll.distribute.footprint import Box, Touched, shape_of_box
from atoll.distribute.graph import Use
from atoll.distribute.symbols import Value, halo_formulas
from atoll.distribute.tiles import axis_named
from atoll.loops import ir as lp

Ranges = list[tuple[int, int]]


def use(b: lp.Buffer, shape: tuple[int, ...], is_written: bool, found: list[tuple[Touched, tuple[tuple[int, int], ...]]], boxes: list[dict[lp.Buffer, Box]], cut: frozenset[int], tiles: list[dict[str, tuple[int, int]]] | None, body: lp.Stmts, value: Value) -> Use:
    largest = max((prod(shape_of_box(box[b])) * b.dtype.size for box in boxes), default=0)
    kind = "given" if is_written else "cut" if cut else "whole"
    if not cut:
        return Use(b.shown, kind, "all of it" if shape else "a number", largest)
    rows: Ranges | None = [(ps[0][0], ps[-1][1]) for _, ps in found] if all(ps for _, ps in found) else None
    halos = {}
    for a in sorted(cut):
        named = next((size for size in (tiles[0] if tiles else ()) if axis_named(b, size) == a), None)
        halos[a] = halo_of([box[b][a] for box in boxes], rows if named is None or not tiles else [t[named] for t in tiles], shape[a])
    texts = []
    for a, halo in halos.items():
        shown = ("", "") if halo is None or is_written else halo_formulas(body, b, a, *halo, value)
        texts.append(_axis(a, [box[b][a] for box in boxes], halo, shape[a], shown))
    first = halos.get(0)
    return Use(b.shown, kind, "; ".join(texts), largest, None if first is None else first[1:])


def _axis(axis: int, spans: Ranges, halo: tuple[int, int, int] | None, n: int, shown: tuple[str, str]) -> str:
    """One axis: the halo beyond the range that a task computes, where it follows that range."""
    name = f"axis {axis}"
    if halo is None:
        return f"{name} in {len(set(spans))} parts"
    stride, before, after = halo
    if stride == 0:
        return f"{name}: {spans[0][0]}..{spans[0][1]} of {n}"
    step = "" if stride == 1 else f", {stride} for each"
    return f"{name}{step}" + (f", halo {shown[0] or before} before and {shown[1] or after} after" if before or after else ", no halo")


def halo_of(spans: Ranges, ranges: Ranges | None, n: int) -> tuple[int, int, int] | None:
    """(stride, before, after): tasks low..high need stride*low - before .. stride*high + after, where the ends of the array do not cut that off."""
    if ranges is None:
        return None
    needed: dict[tuple[int, int], tuple[int, int]] = {}
    for r, s in zip(ranges, spans, strict=True):
        old = needed.get(r, s)
        needed[r] = (min(old[0], s[0]), max(old[1], s[1]))
    pairs = sorted(needed.items())
    inner = [(r, s) for r, s in pairs if s[0] > 0 or r[0] == 0]
    if len(pairs) < 2 or len(inner) < 2:
        return None
    (r0, s0), (r1, s1) = inner[-2], inner[-1]
    if r1[0] == r0[0] or (s1[0] - s0[0]) % (r1[0] - r0[0]):
        return None
    stride = (s1[0] - s0[0]) // (r1[0] - r0[0])
    befores: set[int] = {stride * r[0] - s[0] for r, s in inner if s[0] > 0}
    afters: set[int] = {s[1] - stride * r[1] for r, s in pairs if s[1] < n}
    if stride < 0 or len(befores) > 1 or len(afters) > 1:
        return None
    return stride, next(iter(befores), 0), next(iter(afters), 0)
