"""Sorting by digits of 8 bits, the least first, each time keeping the order of equal digits. Values are moved as they are; a digit is one of a number that is
ordered as values are, with NaN last and zeros equal, so the outcome is that of a stable sort (sorting.py, which sorts short arrays).

    count   a block for every tile: how often each digit is in it
    rows    a block for every digit: how many elements with it are in the tiles before each, and in all
    move    a block for every tile: where its elements go. A warp takes 32 neighbouring elements at a time and counts in how many earlier lanes the digit is;
            warps of a block follow each other
"""

from __future__ import annotations

from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.scans import block_scan
from atoll.backends.cuda.threads import Names
from atoll.loops import ir as lp
from atoll.sizes import Poly, poly
from atoll.types.dtypes import BOOL, F32, F64, I64, DType

THREADS, WARPS, DIGITS = 256, 8, 256
EACH = 16  # elements of a thread
LEAST = 1 << 14  # elements that are sorted in this way


def has_digits(dtype: DType) -> bool:
    return dtype.is_integer or dtype in (F32, F64, BOOL)


class Radix:
    """A sort of n elements, keys with their places or alone."""

    def __init__(self, lowering: Any, dtype: DType, n: Poly, places: bool) -> None:
        self.lowering, self.names, self.dtype, self.n = lowering, lowering.names, dtype, n
        names: Names = self.names
        self.tile = THREADS * EACH
        tiles, self.shift = names.var("tiles", I64, True), names.var("shift", I64, True)
        lowering.host |= {tiles, self.shift}
        self.tiles = poly(tiles.atom)
        self.first: list[k.Statement] = [lp.Let(tiles, lp.Index((n + (self.tile - 1)) // self.tile))]
        self.keys, self.other = (names.buffer(x, dtype, (n,), "temp", "what is sorted") for x in ("keys", "moved"))
        self.places, self.other_places = (names.buffer(x, I64, (n,), "temp", "where it was") if places else None for x in ("places", "moved_places"))
        self.counts = names.buffer("counts", I64, (poly(DIGITS), self.tiles), "temp", "how often digits are in tiles")
        self.totals = names.buffer("totals", I64, (poly(DIGITS),), "temp", "how often digits are")
        self.buffers = [b for b in (self.keys, self.other, self.places, self.other_places, self.counts, self.totals) if b is not None]

    def passes(self, most: Poly | None) -> list[k.Statement]:
        """All digits; of keys from 0 to `most` those that are not all 0."""
        rest, shift = self.names.var("rest", I64, True), poly(self.shift.atom)
        self.lowering.host.add(rest)
        bits = 8 if self.dtype is BOOL else self.dtype.bits
        going = lp.Test("ge", bits - 1 - shift) if most is None else lp.Test("ge", poly(rest.atom) - 1)
        body: list[Any] = [lp.BreakUnless((going,)), *self.launch("count", *self.count(), self.tiles), *self.launch("rows", *self.rows(), poly(DIGITS)), *self.launch("move", *self.move(), self.tiles)]
        body.append(lp.Swap(self.keys, self.other))
        if self.places is not None and self.other_places is not None:
            body.append(lp.Swap(self.places, self.other_places))
        body += [lp.Assign(self.shift, lp.Index(shift + 8)), lp.Assign(rest, lp.Index(poly(rest.atom) // 256))]
        return [*self.first_of(rest, most), lp.Declare(self.shift, lp.Const(0, I64)), lp.Forever(body)]

    def first_of(self, rest: lp.Var, most: Poly | None) -> list[k.Statement]:
        return [lp.Declare(rest, lp.Const(0, I64) if most is None else lp.Index(most))]

    def launch(self, what: str, body: list[Any], shared: list[lp.Buffer], grid: Poly) -> list[k.Statement]:
        notes = {"count": "how often digits are in tiles", "rows": "how many are in the tiles before", "move": "elements to where their digits go"}
        return self.lowering.launch(what, [k.Region(tuple(body))], THREADS, grid, tuple(shared), note=notes[what])  # type: ignore[no-any-return]

    def item(self, e: Poly) -> Poly:
        """The element that a thread takes in round e: warps have neighbouring parts of a tile."""
        warp, lane = poly(k.THREAD) // k.WARP, poly(k.THREAD) % k.WARP
        return self.tile * poly(k.BLOCK) + (k.WARP * EACH) * warp + k.WARP * e + lane

    def digit(self, at: Poly) -> tuple[lp.Var, list[Any]]:
        """The digit of an element; none where there is no element."""
        here, found = self.names.var("digit", I64, True), self.names.var("d", I64, True)
        there = [k.Digit(found, lp.Load(self.keys, (at,)), poly(self.shift.atom)), lp.Assign(here, lp.Use(found))]
        return here, [lp.Declare(here, lp.Const(DIGITS, I64)), lp.If((lp.Test("ge", self.n - 1 - at),), there)]  # type: ignore[arg-type]

    def count(self) -> tuple[list[Any], list[lp.Buffer]]:
        names, thread = self.names, poly(k.THREAD)
        bins = names.buffer("bins", I64, (poly(DIGITS + 1),), "shared")
        e, before, count = names.sym("e"), names.var("before", I64, True), names.var("count", I64, True)
        digit, made = self.digit(self.item(poly(e)))
        each = [*made, k.Same(before, count, lp.Use(digit)), lp.If((lp.Test("eq", poly(before.atom)),), [k.Atomic(bins, (poly(digit.atom),), "add", lp.Use(count))])]  # type: ignore[list-item]
        zero = lp.Const(0, I64)
        out: list[Any] = [lp.Store(bins, (thread,), zero), lp.If((lp.Test("eq", thread),), [lp.Store(bins, (poly(DIGITS),), zero)]), k.Barrier()]
        out += [lp.For(e, poly(0), poly(EACH), each, parallel=False), k.Barrier(), lp.Store(self.counts, (thread, poly(k.BLOCK)), lp.Load(bins, (thread,)))]
        return out, [bins]

    def rows(self) -> tuple[list[Any], list[lp.Buffer]]:
        names, thread = self.names, poly(k.THREAD)
        acc = lp.Acc(names.var("sum", I64), "add")
        value, carry, before = (names.var(x, I64) for x in ("value", "carry", "before"))
        shared, step = names.buffer("warps", I64, (poly(WARPS),), "shared"), names.sym("step")
        at = THREADS * poly(step) + thread
        there, place = (lp.Test("ge", self.tiles - 1 - at),), (poly(k.BLOCK), at)
        body: list[Any] = [lp.Declare(value, lp.Const(0, I64)), lp.If(there, [lp.Assign(value, lp.Load(self.counts, place))])]
        body += [*block_scan(names, acc, value, carry, before, shared), lp.If(there, [lp.Store(self.counts, place, lp.Use(before))])]
        out: list[Any] = [lp.Declare(carry, lp.Const(0, I64)), lp.For(step, poly(0), (self.tiles + (THREADS - 1)) // THREADS, body, parallel=False)]
        out.append(lp.If((lp.Test("eq", thread),), [lp.Store(self.totals, (poly(k.BLOCK),), lp.Use(carry))]))
        return out, [shared]

    def move(self) -> tuple[list[Any], list[lp.Buffer]]:
        names, thread = self.names, poly(k.THREAD)
        warp, lane = thread // k.WARP, thread % k.WARP
        bins = names.buffer("bins", I64, (poly(WARPS), poly(DIGITS + 1)), "shared")
        shared = names.buffer("warps", I64, (poly(WARPS),), "shared")
        ranks, digits = (names.buffer(x, I64, (poly(EACH),), "temp") for x in ("ranks", "digits"))
        ranks.local = digits.local = True
        z, e, w, m = (names.sym(x) for x in "zewm")
        out: list[Any] = [lp.Alloc(ranks), lp.Alloc(digits)]
        clear = lp.Store(bins, (warp, lane + k.WARP * poly(z)), lp.Const(0, I64))
        out.append(lp.For(z, poly(0), poly(DIGITS // k.WARP), [clear], parallel=False))
        out += [lp.If((lp.Test("eq", lane),), [lp.Store(bins, (warp, poly(DIGITS)), lp.Const(0, I64))]), k.WarpBarrier()]
        digit, made = self.digit(self.item(poly(e)))
        before, count, old = (names.var(x, I64, True) for x in ("before", "count", "old"))
        here = (warp, poly(digit.atom))
        each: list[Any] = [*made, k.Same(before, count, lp.Use(digit)), lp.Let(old, lp.Load(bins, here)), k.WarpBarrier()]
        each.append(lp.If((lp.Test("eq", poly(before.atom)),), [lp.Store(bins, here, lp.Index(poly(old.atom) + poly(count.atom)))]))
        each += [lp.Store(ranks, (poly(e),), lp.Index(poly(old.atom) + poly(before.atom))), lp.Store(digits, (poly(e),), lp.Use(digit)), k.WarpBarrier()]
        out.append(lp.For(e, poly(0), poly(EACH), each, parallel=False, unroll=True))
        value, carry, earlier, start, mine = (names.var(x, I64) for x in ("value", "carry", "earlier", "start", "mine"))
        out += [lp.Let(value, lp.Load(self.totals, (thread,))), lp.Declare(carry, lp.Const(0, I64))]
        out += block_scan(names, lp.Acc(names.var("sum", I64), "add"), value, carry, earlier, shared)
        out.append(lp.Declare(start, lp.Call("add", (lp.Use(earlier), lp.Load(self.counts, (thread, poly(k.BLOCK)))), I64)))
        turn: list[lp.Stmt] = [lp.Let(mine, lp.Load(bins, (poly(w), thread))), lp.Store(bins, (poly(w), thread), lp.Use(start))]
        turn.append(lp.Assign(start, lp.Call("add", (lp.Use(start), lp.Use(mine)), I64)))
        out += [lp.For(w, poly(0), poly(WARPS), turn, parallel=False), k.Barrier()]
        at, to, which = self.item(poly(m)), names.var("to", I64, True), names.var("digit", I64, True)
        moved: list[lp.Stmt] = [lp.Let(which, lp.Load(digits, (poly(m),))), lp.Let(to, lp.Call("add", (lp.Load(bins, (warp, poly(which.atom))), lp.Load(ranks, (poly(m),))), I64))]
        moved.append(lp.Store(self.other, (poly(to.atom),), lp.Load(self.keys, (at,))))
        if self.places is not None and self.other_places is not None:
            moved.append(lp.Store(self.other_places, (poly(to.atom),), lp.Load(self.places, (at,))))
        out.append(lp.For(m, poly(0), poly(EACH), [lp.If((lp.Test("ge", self.n - 1 - at),), moved)], parallel=False, unroll=True))
        return out, [bins, shared]
