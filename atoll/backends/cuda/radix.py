"""Sorting by digits of 8 bits, the least first, each time keeping the order of equal digits. Values are moved as they are; a digit is one of a number that is
ordered as values are, with NaN last and zeros equal, so the outcome is that of a stable sort (sorting.py, which sorts short arrays).

    count   a block for every tile: how often each digit is in it, by atomics in shared memory; neighbouring lanes have bins of their own, in other banks, so
            that many elements with one digit do not wait for each other
    rows    a block for every digit: how many elements with it are in the tiles before each, and in all
    move    a block for every tile: a warp takes 32 neighbouring elements at a time and counts in how many earlier lanes the digit is; warps of a block follow each other.
            The tile is put in order in shared memory first, so that neighbouring threads store to neighbouring places
"""

from __future__ import annotations

from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.scans import block_scan
from atoll.backends.cuda.threads import Names
from atoll.loops import ir as lp
from atoll.sizes import Poly, poly
from atoll.types.dtypes import BOOL, F32, F64, I32, I64, DType

THREADS, WARPS, DIGITS = 256, 8, 256
BITS = 8  # of a digit
EACH = 16  # elements of a thread
COPIES = 8  # of the bins in which a block counts
ROOM = 32 * 1024  # bytes of shared memory for a tile
LEAST = 1 << 14  # elements that are sorted in this way


def has_digits(dtype: DType) -> bool:
    return dtype.is_integer or dtype in (F32, F64, BOOL)


class Radix:
    """A sort of n elements, keys with their places or alone."""

    def __init__(self, lowering: Any, dtype: DType, n: Poly, places: bool) -> None:
        self.lowering, self.names, self.dtype, self.n = lowering, lowering.names, dtype, n
        names: Names = self.names
        self.each = max(1, min(EACH, ROOM // THREADS // (dtype.size + (I64.size if places else 0))))
        self.tile = THREADS * self.each
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
        return self.tile * poly(k.BLOCK) + (k.WARP * self.each) * warp + k.WARP * e + lane

    def taken(self) -> tuple[lp.Buffer, list[Any]]:
        """A thread's elements, all asked for before anything is done with them."""
        own, e = self.names.buffer("own", self.dtype, (poly(self.each),), "temp"), self.names.sym("e")
        own.local = True
        at = self.item(poly(e))
        load, zero = lp.Load(self.keys, (at,)), lp.Const(False if self.dtype is BOOL else 0.0 if self.dtype.is_float else 0, self.dtype)
        full, some = (lp.For(e, poly(0), poly(self.each), [lp.Store(own, (poly(e),), v)], parallel=False, unroll=True) for v in (load, lp.Choose((lp.Test("ge", self.n - 1 - at),), load, zero)))
        return own, [lp.Alloc(own), lp.If((lp.Test("ge", self.n - self.tile * (poly(k.BLOCK) + 1)),), [full], [some])]

    def digit(self, own: lp.Buffer, e: Poly) -> tuple[lp.Var, list[Any]]:
        """The digit of a thread's e-th element. Where there is no element it is the last digit: that comes after all elements, so it is in nobody's way."""
        here, found = self.names.var("digit", I64, True), self.names.var("d", I64, True)
        there = lp.Choose((lp.Test("ge", self.n - 1 - self.item(e)),), lp.Use(found), lp.Const(DIGITS - 1, I64))
        return here, [k.Digit(found, lp.Load(own, (e,)), poly(self.shift.atom)), lp.Let(here, there)]

    def count(self) -> tuple[list[Any], list[lp.Buffer]]:
        names, thread = self.names, poly(k.THREAD)
        bins = names.buffer("bins", I32, (poly(COPIES), poly(DIGITS + 1)), "shared")  # a place more in a row: the next one's are in other banks
        e, c, d = names.sym("e"), names.sym("c"), names.sym("c")
        own, first = self.taken()
        digit, made = self.digit(own, poly(e))
        adding = k.Atomic(bins, (thread % COPIES, poly(digit.atom)), "add", lp.Const(1, I32))
        total = names.var("total", I32)
        clear = lp.For(c, poly(0), poly(COPIES), [lp.Store(bins, (poly(c), thread), lp.Const(0, I32))], parallel=False, unroll=True)
        add = lp.Assign(total, lp.Call("add", (lp.Use(total), lp.Load(bins, (poly(d), thread))), I32))
        out: list[Any] = [clear, *first, k.Barrier()]
        out += [lp.For(e, poly(0), poly(self.each), [*made, adding], parallel=False, unroll=True), k.Barrier()]  # type: ignore[list-item]
        out += [lp.Declare(total, lp.Const(0, I32)), lp.For(d, poly(0), poly(COPIES), [add], parallel=False, unroll=True)]
        out.append(lp.Store(self.counts, (thread, poly(k.BLOCK)), lp.Cast(lp.Use(total), I64)))
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
        bins = names.buffer("bins", I32, (poly(WARPS), poly(DIGITS)), "shared")
        offsets = names.buffer("offsets", I64, (poly(DIGITS),), "shared")
        shared = names.buffer("warps", I64, (poly(WARPS),), "shared")
        staged = names.buffer("tile", self.dtype, (poly(self.tile),), "shared")
        staged_places = names.buffer("tile_places", I64, (poly(self.tile),), "shared") if self.places is not None else None
        ranks = names.buffer("ranks", I32, (poly(self.each),), "temp")
        ranks.local = True
        own, first = self.taken()
        out = [*first, *self.ranked(own, bins, ranks), k.Barrier(), *self.starts(bins, offsets, shared), k.Barrier()]
        m, q, to, which, rank = names.sym("m"), names.sym("m"), names.var("to", I64, True), names.var("digit", I64, True), names.var("rank", I64, True)
        at = self.item(poly(m))
        here: list[Any] = [k.Digit(which, lp.Load(own, (poly(m),)), poly(self.shift.atom))]  # once more, because that takes fewer registers than keeping them
        here.append(lp.Let(rank, lp.Cast(lp.Call("add", (lp.Load(bins, (thread // k.WARP, poly(which.atom))), lp.Load(ranks, (poly(m),))), I32), I64)))
        here.append(lp.Store(staged, (poly(rank.atom),), lp.Load(own, (poly(m),))))
        if staged_places is not None and self.places is not None:
            here.append(lp.Store(staged_places, (poly(rank.atom),), lp.Load(self.places, (at,))))
        out += [lp.For(m, poly(0), poly(self.each), [lp.If((lp.Test("ge", self.n - 1 - at),), here)], parallel=False, unroll=True), k.Barrier()]
        place, digit = THREADS * poly(q) + thread, names.var("d", I64, True)
        moved: list[Any] = [k.Digit(digit, lp.Load(staged, (place,)), poly(self.shift.atom)), lp.Let(to, lp.Call("add", (lp.Load(offsets, (poly(digit.atom),)), lp.Index(place)), I64))]
        moved.append(lp.Store(self.other, (poly(to.atom),), lp.Load(staged, (place,))))
        if staged_places is not None and self.other_places is not None:
            moved.append(lp.Store(self.other_places, (poly(to.atom),), lp.Load(staged_places, (place,))))
        out.append(lp.For(q, poly(0), poly(self.each), [lp.If((lp.Test("ge", self.n - 1 - self.tile * poly(k.BLOCK) - place),), moved)], parallel=False, unroll=True))
        return out, [bins, offsets, shared, staged, *([staged_places] if staged_places is not None else [])]

    def ranked(self, own: lp.Buffer, bins: lp.Buffer, ranks: lp.Buffer) -> list[Any]:
        """The digits of a thread's elements, how many before each in its warp's part have the same, and how many of each the warp has."""
        names, warp, lane = self.names, poly(k.THREAD) // k.WARP, poly(k.THREAD) % k.WARP
        z, e = names.sym("z"), names.sym("e")
        out: list[Any] = [lp.Alloc(ranks)]
        clear = lp.Store(bins, (warp, lane + k.WARP * poly(z)), lp.Const(0, I32))
        out.append(lp.For(z, poly(0), poly(DIGITS // k.WARP), [clear], parallel=False))
        out.append(k.WarpBarrier())
        digit, made = self.digit(own, poly(e))
        before, count, old = names.var("before", I64, True), names.var("count", I64, True), names.var("old", I32)
        here = (warp, poly(digit.atom))
        each: list[Any] = [*made, k.Same(before, count, lp.Use(digit), BITS), lp.Let(old, lp.Load(bins, here)), k.WarpBarrier()]
        each.append(lp.If((lp.Test("eq", poly(before.atom)),), [lp.Store(bins, here, lp.Call("add", (lp.Use(old), lp.Cast(lp.Use(count), I32)), I32))]))
        each += [lp.Store(ranks, (poly(e),), lp.Call("add", (lp.Use(old), lp.Cast(lp.Use(before), I32)), I32)), k.WarpBarrier()]
        return [*out, lp.For(e, poly(0), poly(self.each), each, parallel=False, unroll=True)]

    def starts(self, bins: lp.Buffer, offsets: lp.Buffer, shared: lp.Buffer) -> list[Any]:
        """A thread for every digit: where in the tile those of each warp begin, and how far places in the tile are from places in the array."""
        names, thread = self.names, poly(k.THREAD)
        mine, carry, first, total, none, earlier = (names.var(x, I64) for x in ("mine", "carry", "first", "total", "carry", "earlier"))
        c, w, old, next_ = names.sym("c"), names.sym("w"), names.var("old", I32), names.var("next", I32)
        acc = lp.Acc(names.var("sum", I64), "add")
        adding = lp.Assign(mine, lp.Call("add", (lp.Use(mine), lp.Cast(lp.Load(bins, (poly(c), thread)), I64)), I64))
        out: list[Any] = [lp.Declare(mine, lp.Const(0, I64)), lp.For(c, poly(0), poly(WARPS), [adding], parallel=False, unroll=True)]
        out += [lp.Declare(carry, lp.Const(0, I64)), *block_scan(names, acc, mine, carry, first, shared)]
        out += [lp.Let(total, lp.Load(self.totals, (thread,))), lp.Declare(none, lp.Const(0, I64)), *block_scan(names, acc, total, none, earlier, shared)]
        begin = lp.Call("add", (lp.Use(earlier), lp.Load(self.counts, (thread, poly(k.BLOCK)))), I64)
        out.append(lp.Store(offsets, (thread,), lp.Call("sub", (begin, lp.Use(first)), I64)))
        turn: list[lp.Stmt] = [lp.Let(old, lp.Load(bins, (poly(w), thread))), lp.Store(bins, (poly(w), thread), lp.Use(next_)), lp.Assign(next_, lp.Call("add", (lp.Use(next_), lp.Use(old)), I32))]
        return [*out, lp.Declare(next_, lp.Cast(lp.Use(first), I32)), lp.For(w, poly(0), poly(WARPS), turn, parallel=False, unroll=True)]
