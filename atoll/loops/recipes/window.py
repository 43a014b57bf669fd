"""Rows that are read only by the rows just after them are kept in a window, not as a whole array (line buffering; Halide's compute at a row, store at the image).

    alloc x;  pieces of n:  for i:  x[i] = blurred along u[i];     pieces of n - 2:  for i:  y[i] = x[i] + x[i + 1] + x[i + 2];     free x
becomes
    pieces of n - 2:  alloc x, 4 rows;  for r in lo..lo + 2:  x[r] = ...;     for in order i:  x[i + 2] = ...;  y[i] = x[i] + x[i + 1] + x[i + 2];     free x

Rows before the first and after the last are not made. A piece makes the rows before its first again; pieces have so many rows that this is little. Every element is computed as it was, so results keep their
bits. Row i lies at i modulo a power of two.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import changed, loads, may_fail, mentions
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.walk import every_block, plain_parts
from atoll.sizes import Poly, poly


def window(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    return every_block(stmts, lambda body: _windows(body, decisions), plain_parts)


def _windows(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    place = 0
    while place < len(stmts):
        found = _pair(stmts, place)
        if found is not None:
            reader, array, first, last = found
            decisions.append(f"{array.shown}: a window of {last - first + 1} rows is kept of it")
            freed = [s for s in stmts[place:reader] if isinstance(s, lp.Free)]  # what rows are made of is needed until then
            between = [s for s in stmts[place + 1 : reader] if not isinstance(s, lp.Free)]
            joined = _joined(stmts[place], stmts[reader], array, first, last)
            stmts = [s for s in (*stmts[:place], *between, joined, *freed, *stmts[reader + 1 :]) if not (isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is array)]
        place += 1
    return stmts


def _pair(stmts: lp.Stmts, place: int) -> tuple[int, lp.Buffer, int, int] | None:
    """A loop that makes rows of an array, and the next one, which alone reads them: its place, the array, and which rows a round reads."""
    making = _over_rows(stmts[place])
    reader = next((k for k in range(place + 1, len(stmts)) if not isinstance(stmts[k], (lp.Alloc, lp.Free, lp.Note))), None)
    reading = _over_rows(stmts[reader]) if reader is not None else None
    if making is None or reading is None or reader is None or may_fail(making.body):
        return None
    written = changed([stmts[place]])[1]
    if len(written) != 1:
        return None
    (array,) = written
    alone = [k for k, s in enumerate(stmts) if k not in (place, reader) and not isinstance(s, (lp.Alloc, lp.Free)) and _touches(s, array)]
    if array.kind != "temp" or len(array.extents) < 2 or array.rows is not None or alone or not any(isinstance(s, lp.Alloc) and s.buffer is array for s in stmts[:place]):
        return None
    if any(x.buffer is array for x in loads(making.body)) or not all(_of_row(s, making) for s in lp.walk(making.body)):
        return None
    if not changed([stmts[reader]])[1].isdisjoint({x.buffer for x in loads(making.body)} | {array}):
        return None
    steps = [step for x in loads(reading.body) if x.buffer is array for step in _steps(x.index[0] - reading.sym, reading)]
    known = [step for step in steps if step is not None]
    if not steps or len(known) < len(steps):
        return None
    low, high = min(known), max(known)
    return (reader, array, low, high) if 1 <= high - low < profit.WINDOW_ROWS else None


def _steps(p: Poly, loop: lp.For) -> tuple[int | None, int | None]:
    """How far from its own row a round reads: the least and the most, over the terms of sums of literal length inside."""
    ends = [p, p]
    for s in lp.walk(loop.body):
        if isinstance(s, lp.Accumulate) and s.sym in p.leaves():
            step = p.coefficient(s.sym)
            if step is None or (by := step.const()) is None:
                return None, None
            first, last = (s.low, s.high - 1) if by > 0 else (s.high - 1, s.low)
            ends = [ends[0].subst({s.sym: first}), ends[1].subst({s.sym: last})]
    return ends[0].const(), ends[1].const()


def _over_rows(stmt: lp.Stmt) -> lp.For | None:
    """The loop over the rows of a piece, if that is all there is."""
    if not isinstance(stmt, lp.Chunks) or stmt.accs or stmt.buffers or len(stmt.body) != 1 or not isinstance(stmt.body[0], lp.For):
        return None
    loop = stmt.body[0]
    whole = loop.low == poly(stmt.low) and loop.high == poly(stmt.high)
    return loop if whole and loop.parallel and copyable(loop.body) and not loop.vector and not loop.unroll else None


def _of_row(s: lp.Stmt, making: lp.For) -> bool:
    """A store goes to the row of its round."""
    return not isinstance(s, (lp.Store, lp.Update)) or (isinstance(s, lp.Store) and s.index[0] == poly(making.sym))


def _touches(s: lp.Stmt, array: lp.Buffer) -> bool:
    return mentions(s)[array] > 0


def _joined(making: lp.Stmt, reading: lp.Stmt, array: lp.Buffer, first: int, last: int) -> lp.Chunks:
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
    body: list[lp.Stmt] = [lp.Alloc(array), before, lp.For(read.sym, read.low, read.high, round_, parallel=False), lp.Free(array)]
    some = lp.If((lp.Test("ge", read.high - read.low - 1),), body)
    return lp.Chunks(reading.low, reading.high, reading.extent, making.work + reading.work, [some], most=min(making.most, reading.most), align=reading.align, grain=reading.grain, rows=profit.ROWS_MADE_AGAIN * (last - first))
