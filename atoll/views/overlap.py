"""Do two views of one array overlap, and does one lie within another? Decided by arithmetic, never by guessing.

Two index maps are disjoint when at some step of their paths the two indices always differ: one is provably larger, or their
difference is never divisible by a number it would have to be. What is known of the symbols is passed as polynomials >= 0, outermost
first: sizes, then the ranges of loop indices. The ranges of the views' own indices are added here. "May overlap" is the answer when
nothing can be proved (docs/sources.md M4).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.meeting import differ, never_divisible
from atoll.sizes.poly import exact_quotient
from atoll.sizes.prover import Facts, facts
from atoll.views.index_map import IDENTITY, At, Component, IndexMap, Step, is_view_index, position, view_index

Known = Sequence[Poly]


@cache
def _side(side: str, k: int) -> Sym:
    return Sym(f"${side}{k}")


def _opened(m: IndexMap, side: str) -> tuple[list[Step], list[Poly]]:
    """The path with the view's indices named for one side, and their ranges."""
    env: dict[Atom, Poly] = {view_index(k): poly(_side(side, k)) for k in range(len(m.dims))}
    path: list[Step] = [s if isinstance(s, Component) else At(s.index.subst(env), s.extent) for s in m.path]
    return path, [p for k, d in enumerate(m.dims) for p in in_range(_side(side, k), d)]


def in_range(sym: Atom, extent: Poly) -> tuple[Poly, Poly]:
    """What `0 <= sym < extent` says."""
    return poly(sym), extent - 1 - poly(sym)


def disjoint(first: IndexMap, second: IndexMap, known: Known = ()) -> bool:
    """True when it is proved that no cell is in both images."""
    left, left_ranges = _opened(first, "a")
    right, right_ranges = _opened(second, "b")
    context: Facts | None = None
    for a, b in zip(left, right, strict=False):
        if isinstance(a, Component) or isinstance(b, Component):
            if a != b:
                return True
            continue
        difference = a.index - b.index
        if not difference.terms:
            continue
        if never_divisible(difference):
            return True
        if context is None:
            context = _context(known, [*left_ranges, *right_ranges])
        if differ(a.index, b.index, context):
            return True
    return False


def _context(known: Iterable[Poly], more: Iterable[Poly]) -> Facts:
    return facts(tuple(dict.fromkeys(p for p in (*known, *more) if (c := p.const()) is None or c < 0)))


def includes(big: IndexMap, small: IndexMap, known: Known = ()) -> bool:
    """True when it is proved that every cell of `small` is a cell of `big`."""
    if big == small or big == IDENTITY:
        return True
    inner, ranges = _opened(small, "b")
    for k, step in enumerate(big.path[len(inner) :]):  # small goes on into the data unchanged
        if isinstance(step, Component):
            return False
        free = _side("t", k)
        inner.append(At(poly(free), step.extent))
        ranges += in_range(free, step.extent)
    solution: dict[Atom, Poly] = {}
    for outer, given in zip(big.path, inner, strict=False):
        if isinstance(outer, Component) or isinstance(given, Component):
            if outer != given:
                return False
            continue
        index = outer.index.subst(solution)
        unknown = [leaf for leaf in index.leaves() if is_view_index(leaf)]
        if not unknown:
            if index != given.index:
                return False
            continue
        if len(unknown) > 1:
            return False
        factor = index.slope(unknown[0])
        if factor is None or not factor.terms:
            return False
        value = exact_quotient(given.index - (index - factor * unknown[0]), factor)
        if value is None:
            return False
        solution[unknown[0]] = value
    context = _context(known, ranges)
    return all(context.proves_range(value, big.dims[position(sym)]) for sym, value in solution.items())


def covers(parts: Sequence[IndexMap], whole: IndexMap, known: Known = ()) -> bool:
    """True when it is proved that the parts together contain every cell of `whole`.

    One part may contain it; else, at the first step where the parts are narrower, they are laid end to end: adjacent slices
    and single elements, or all components of a tuple.
    """
    if any(includes(p, whole, known) for p in parts):
        return True
    target = _box(whole)
    boxes = [box for p in parts if (box := _box(p)) is not None]
    return target is not None and _laid_out(boxes, target, 0)


@dataclass(frozen=True, slots=True)
class _Interval:
    start: Poly
    length: Poly
    extent: Poly


_Box = tuple[_Interval | Component, ...]


def _box(m: IndexMap) -> _Box | None:
    """The image as one interval or component per step, when it is a box."""
    steps: list[_Interval | Component] = []
    used: set[Atom] = set()
    for s in m.path:
        if isinstance(s, Component):
            steps.append(s)
            continue
        own = [leaf for leaf in s.index.leaves() if is_view_index(leaf)]
        if not own:
            steps.append(_Interval(s.index, poly(1), s.extent))
            continue
        factor = s.index.slope(own[0])
        sign = factor.const() if factor is not None else None
        if len(own) > 1 or own[0] in used or sign not in (1, -1):
            return None
        used.add(own[0])
        length = m.dims[position(own[0])]
        rest = s.index - poly(own[0]) * sign
        steps.append(_Interval(rest if sign == 1 else rest - length + 1, length, s.extent))
    return tuple(steps)


def _laid_out(parts: list[_Box], target: _Box, depth: int) -> bool:
    if any(len(p) <= depth for p in parts):
        return True
    if not parts:
        return False
    want = target[depth] if depth < len(target) else None
    first = parts[0][depth]
    if isinstance(first, Component):
        numbers = [want.number] if isinstance(want, Component) else range(first.count)
        return all(_laid_out([p for p in parts if p[depth] == Component(k, first.count)], target, depth + 1) for k in numbers)
    start, length = (want.start, want.length) if isinstance(want, _Interval) else (poly(0), first.extent)
    reached, left = start, list(parts)
    while reached != start + length:
        here = [p for p in left if _interval(p, depth).start == reached]
        for size in dict.fromkeys(_interval(p, depth).length for p in here):
            group = [p for p in here if _interval(p, depth).length == size]
            if size.terms and _laid_out(group, target, depth + 1):
                reached = reached + size
                left = [p for p in left if p not in group]
                break
        else:
            return False
    return True


def _interval(box: _Box, depth: int) -> _Interval:
    step = box[depth]
    assert isinstance(step, _Interval)
    return step
