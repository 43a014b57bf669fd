"""A loop that makes rows of an array, put into the loop that alone reads them, a few rows ahead (fusion of shifted
loops, storage folding).

    alloc x;  pieces of n:  for i:  x[i] = blurred along u[i];     pieces of n - 2:  for i:  y[i] = x[i] + x[i + 1] + x[i + 2];     free x
becomes
    pieces of n - 2:  alloc x, 4 rows;  for r in lo..lo + 2:  x[r] = ...;     for in order i:  x[i + 2] = ...;  y[i] = x[i] + x[i + 1] + x[i + 2];     free x

    pair(stmts, place, most)                 the loop at this place, and the next one, if that reads at most so many rows of it a round
    in_window(stmts, place, found, again)    the statements with one loop for the two, and pieces with so many rows for each that is made again

Right where a temporary array is made row by row by rounds that cannot fail and read nothing that the second loop
writes, is whole memory of its own (it is allocated here and no other statement of the block mentions it), and a
round of the second reads rows at a distance that is seen. Rows before the first and after the last are not made. A
piece makes the rows before its first again. Every element is computed as it was. Row i lies at i modulo a power of
two.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.questions import changed, loads, may_fail, mentions
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, poly


@dataclass(frozen=True, slots=True)
class Pair:
    """Where the reader stands, the array, and which rows a round reads, counted from its own."""

    reader: int
    array: lp.Buffer
    first: int
    last: int


def pair(stmts: lp.Stmts, place: int, most: int) -> Pair | Refused:
    """A loop that makes rows of an array, and the next one, which alone reads them: its place, the array, and which rows a round reads."""
    making = _over_rows(stmts[place])
    reader = next((k for k in range(place + 1, len(stmts)) if not isinstance(stmts[k], (lp.Alloc, lp.Free, lp.Note))), None)
    reading = _over_rows(stmts[reader]) if reader is not None else None
    if making is None or reading is None or reader is None or may_fail(making.body):
        return Refused("these are no two loops over rows, or the first may fail")
    written = changed([stmts[place]])[1]
    if len(written) != 1:
        return Refused("it makes more than one array")
    (array,) = written
    alone = [
        k
        for k, s in enumerate(stmts)
        if k not in (place, reader) and not isinstance(s, (lp.Alloc, lp.Free)) and _touches(s, array)
    ]
    if (
        array.kind != "temp"
        or len(array.extents) < 2
        or array.rows is not None
        or alone
        or not any(isinstance(s, lp.Alloc) and s.buffer is array for s in stmts[:place])
    ):
        return Refused("the array is not made here for the two alone")
    if any(x.buffer is array for x in loads(making.body)) or not all(_of_row(s, making) for s in lp.walk(making.body)):
        return Refused("rows are made of each other, or written elsewhere")
    if not changed([stmts[reader]])[1].isdisjoint({x.buffer for x in loads(making.body)} | {array}):
        return Refused("the second changes what rows are made of")
    steps = [step for x in loads(reading.body) if x.buffer is array for step in _steps(x.index[0] - reading.sym, reading)]
    known = [step for step in steps if step is not None]
    if not steps or len(known) < len(steps):
        return Refused("how far from its own row a round reads is not seen")
    low, high = min(known), max(known)
    return Pair(reader, array, low, high) if 1 <= high - low < most else Refused("rounds read one row, or too many")


def in_window(stmts: lp.Stmts, place: int, found: Pair, again: int) -> lp.Stmts:
    reader, array = found.reader, found.array
    freed = [s for s in stmts[place:reader] if isinstance(s, lp.Free)]  # what rows are made of is needed until then
    between = [s for s in stmts[place + 1 : reader] if not isinstance(s, lp.Free)]
    joined = _joined(stmts[place], stmts[reader], found, again)
    return [
        s
        for s in (*stmts[:place], *between, joined, *freed, *stmts[reader + 1 :])
        if not (isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is array)
    ]


def _steps(p: Poly, loop: lp.For) -> tuple[int | None, int | None]:
    """How far from its own row a round reads: the least and the most, over the terms of sums of literal length inside."""
    ends = [p, p]
    for s in lp.walk(loop.body):
        if isinstance(s, lp.Accumulate) and s.sym in p.leaves():
            step = p.slope(s.sym)
            if step is None or (by := step.const()) is None:
                return None, None
            first, last = (s.low, s.high - 1) if by > 0 else (s.high - 1, s.low)
            ends = [ends[0].subst({s.sym: first}), ends[1].subst({s.sym: last})]
    return ends[0].const(), ends[1].const()


def _over_rows(stmt: lp.Stmt) -> lp.For | None:
    """The loop over the rows of a piece, if that is all there is."""
    if (
        not isinstance(stmt, lp.Chunks)
        or stmt.accs
        or stmt.buffers
        or len(stmt.body) != 1
        or not isinstance(stmt.body[0], lp.For)
    ):
        return None
    loop = stmt.body[0]
    whole = loop.low == poly(stmt.low) and loop.high == poly(stmt.high)
    return loop if whole and loop.parallel and copyable(loop.body) and not loop.vector and not loop.unroll else None


def _of_row(s: lp.Stmt, making: lp.For) -> bool:
    """A store goes to the row of its round."""
    return not isinstance(s, (lp.Store, lp.Update)) or (isinstance(s, lp.Store) and s.index[0] == poly(making.sym))


def _touches(s: lp.Stmt, array: lp.Buffer) -> bool:
    return mentions(s)[array] > 0


def _joined(making: lp.Stmt, reading: lp.Stmt, found: Pair, again: int) -> lp.Chunks:
    array, first, last = found.array, found.first, found.last
    assert isinstance(making, lp.Chunks) and isinstance(reading, lp.Chunks)
    made, read = making.body[0], reading.body[0]
    assert isinstance(made, lp.For) and isinstance(read, lp.For)
    array.rows = 1 << (last - first).bit_length()
    array.reason = "the rows of it that are read next"
    beyond = (making.extent - reading.extent - last).const()

    def row(at: Poly) -> lp.Stmts:
        """Only rows that exist are made: a round at an edge reads fewer of them."""
        tests = [lp.Test("ge", at)] if first < 0 else []
        tests += [lp.Test("ge", making.extent - 1 - at)] if beyond is None or beyond < 0 else []
        body = Copier({made.sym: at}).stmts(made.body)
        return [lp.If(tuple(tests), body)] if tests else body

    before = lp.For(made.sym, read.low + first, read.low + last, row(poly(made.sym)), parallel=False)
    round_ = [*row(poly(read.sym) + last), *read.body]
    body: list[lp.Stmt] = [
        lp.Alloc(array),
        before,
        lp.For(read.sym, read.low, read.high, round_, parallel=False),
        lp.Free(array),
    ]
    some = lp.If((lp.Test("ge", read.high - read.low - 1),), body)
    work, most = making.work + reading.work, min(making.most, reading.most)
    return lp.Chunks(
        reading.low,
        reading.high,
        reading.extent,
        work,
        [some],
        most=most,
        align=reading.align,
        grain=reading.grain,
        rows=again * (last - first),
    )
