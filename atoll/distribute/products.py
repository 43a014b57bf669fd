"""Matrix products in parts: rows of the result for different workers, or blocks of what is summed over one after the other.

The matrix kernel (runtime/native/product.c) adds up an element of the result in order within a block of at most 512 terms and then block by
block, whatever rows and columns are beside it; only products of few rows, of few columns or of next to nothing are added up another way. Parts
are therefore never so small when the whole is not.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

from atoll.distribute.blocks import apart
from atoll.distribute.footprint import Touched, touched, whole
from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64

if TYPE_CHECKING:
    from atoll.distribute.trace import Tracer

ROWS = 12  # parts are multiples of it
FEW_ROWS = 6
FEW_COLUMNS = 3
BLOCK = 512  # terms that are added up in registers


def product(t: Tracer, p: lp.Product) -> None:
    numbers = [t.number(x) for x in (p.rows, p.columns, *p.sums)]
    if any(n is None for n in numbers):
        t.glue(p)
        return
    rows, columns, *sums = (n for n in numbers if n is not None)
    k = prod(sums)
    if rows <= 0 or columns <= 0:
        t.glue(p)
        return
    row_axis = _axis(t, p.target, p.target_row)
    if t.settings.parts > 1 and t.is_over(p.rows) and row_axis == 0 and _axis(t, p.left, p.left_row) is not None and rows >= 2 * ROWS and ROWS * columns * k >= 64:
        by_rows(t, p, rows, t.settings.parts)
        return
    few = (rows <= FEW_ROWS and columns >= 16) or (columns <= FEW_COLUMNS and (t.number(p.left_sums[0]) == 1)) or rows * columns * k < 64
    if len(sums) == 1 and k > 2 * BLOCK and not few and t.settings.parts > 1:
        by_blocks(t, p, k)
        return
    t.glue(p)


def _axis(t: Tracer, at: lp.Load, step: Poly) -> int | None:
    """The axis of an array along which a step goes."""
    shape, wanted = t.shapes[at.buffer], t.number(step)
    for axis in range(len(shape)):
        if prod(shape[axis + 1 :]) == wanted:
            return axis
    return None


def by_rows(t: Tracer, p: lp.Product, rows: int, parts: int) -> None:
    """Each task some rows, and what follows them."""
    count = max(1, min(parts, rows // (2 * ROWS)))
    cuts = sorted({rows * j // count // ROWS * ROWS for j in range(count)} | {rows})
    left_axis = _axis(t, p.left, p.left_row)
    first, number = t.once("bounds", p, lambda: (Sym("row_from"), Sym("row_count")))
    part = t.once("rows", p, lambda: _some_rows(p, first, number, left_axis))
    found: list[tuple[Touched, tuple[tuple[int, int], ...]]] = []
    extra: list[dict[Sym, int]] = []
    for low, high in pairwise(cuts):
        seen = _rows_touched(t, p, low, high, left_axis)
        found.append((seen, ((low, high),)))
        extra.append({first: low, number: high - low})
    if not apart(t.shapes, [s for s, _ in found]):
        t.glue(p)
        return
    t.emit([part], found, "parts", extra=extra, only_first=True, axis=lp.in_words(p.rows))


def _rows_touched(t: Tracer, p: lp.Product, low: int, high: int, left_axis: int | None) -> Touched:
    found = Touched()
    for b in touched(p.body, t.shapes, t.env).reads:
        if b is not p.target.buffer:
            found.reads[b] = whole(t.shapes[b])
    if left_axis == 0 and p.left.buffer is not p.right.buffer:
        start = t.number(p.left.index[0]) or 0
        found.reads[p.left.buffer] = ((start + low, start + high), *((0, n) for n in t.shapes[p.left.buffer][1:]))
    start = t.number(p.target.index[0]) or 0
    found.writes[p.target.buffer] = ((start + low, start + high), *((0, n) for n in t.shapes[p.target.buffer][1:]))
    if p.adds:
        found.reads[p.target.buffer] = found.writes[p.target.buffer]
    for s in p.after:
        assert isinstance(s, lp.Chunks)
        env = t.env
        env[s.low] = env[s.high] = (low, high)
        after = touched(s.body, t.shapes, env)
        after.reads.pop(p.target.buffer, None)
        found.join(after)
    return found


def _some_rows(p: lp.Product, first: Sym, number: Sym, left_axis: int | None) -> lp.Product:
    """The product of rows first, first + 1, ..."""

    def moved(at: lp.Load, axis: int | None, step: Poly) -> lp.Load:
        return lp.Load(at.buffer, tuple(x + first if a == axis else x for a, x in enumerate(at.index)))

    after = [_after(s, first, number) for s in p.after if isinstance(s, lp.Chunks)]
    return dataclasses.replace(
        p, rows=poly(number), left=moved(p.left, left_axis, p.left_row), target=moved(p.target, 0, p.target_row), body=[], after=list(after)
    )


def _after(s: lp.Chunks, first: Sym, number: Sym) -> lp.Chunks:
    """What follows the rows: the kernel counts its own rows from 0."""
    env = {s.low: poly(s.low) + first, s.high: poly(s.high) + first}

    def go(x: Any) -> Any:
        if isinstance(x, Poly):
            return x.subst(env)
        if isinstance(x, list):
            return [go(item) for item in x]
        if isinstance(x, tuple):
            return tuple(go(item) for item in x)
        fields = lp.FIELDS.get(type(x))
        return x if fields is None else dataclasses.replace(x, **{name: go(getattr(x, name)) for name in fields})

    return dataclasses.replace(s, extent=poly(number), body=go(s.body))


def by_blocks(t: Tracer, p: lp.Product, k: int) -> None:
    """One task after the other, each with some blocks of what is summed over; what follows the rows comes last."""
    blocks = -(-k // BLOCK)
    length = (-(-k // blocks) + 3) // 4 * 4
    count = -(-k // length)
    tasks = max(1, min(t.settings.parts, count))
    axes = (_axis(t, p.left, p.left_sums[0]), _axis(t, p.right, p.right_sums[0]))
    if None in axes or t.settings.parts < 2:
        t.glue(p)
        return
    b, b0, b1 = Sym("block"), Sym("block_from"), Sym("block_to")
    t.keep.append(p)

    def part(at: Poly, terms: Poly, adds: bool) -> lp.Product:
        left = lp.Load(p.left.buffer, tuple(x + at if a == axes[0] else x for a, x in enumerate(p.left.index)))
        right = lp.Load(p.right.buffer, tuple(x + at if a == axes[1] else x for a, x in enumerate(p.right.index)))
        return dataclasses.replace(p, sums=(terms,), left=left, right=right, body=[], after=[], adds=adds)

    def rest(low: Poly) -> lp.For:
        terms = lp.Var("block_terms", I64, small=True)
        least = lp.Call("min", (lp.Index(poly(length)), lp.Index(p.sums[0] - poly(b) * length)), I64)
        return lp.For(b, low, poly(b1), [lp.Let(terms, least), part(poly(b) * length, poly(terms.atom), True)], False)

    opening: list[lp.Stmt] = [part(poly(0), poly(min(length, k)), p.adds), rest(poly(1))]
    going: list[lp.Stmt] = [rest(poly(b0))]
    for j in range(tasks):
        low, high = count * j // tasks, count * (j + 1) // tasks
        a, e = low * length, min(k, high * length)
        seen = Touched()
        for at, axis in ((p.left, axes[0]), (p.right, axes[1])):
            assert axis is not None
            start = t.number(at.index[axis]) or 0
            seen.join(Touched(reads={at.buffer: tuple((start + a, start + e) if x == axis == 0 else (0, n) for x, n in enumerate(t.shapes[at.buffer]))}))
        seen.writes[p.target.buffer] = whole(t.shapes[p.target.buffer])
        if p.adds or j > 0:
            seen.reads[p.target.buffer] = whole(t.shapes[p.target.buffer])
        t.known[b0], t.known[b1] = low, high
        t.emit(opening if j == 0 else going, [(seen, ())], "in order", only_first=True)
    for s in p.after:
        t.stmt(s)
