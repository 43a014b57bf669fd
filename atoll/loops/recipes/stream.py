"""Results that no cache holds go past the caches.

Where a result has 32 megabytes or more and rows are long, it is stored a few lines of a cache at a time (transform/past_caches.py): a store into memory that is not in a cache
first reads what is there; a streaming store does not, and reading ahead goes on meanwhile. Only results that nobody reads again in the program, and only loops that read an
element of each array and compute little with them: stencils and the like are slower in lines (1.2 to 1.3 times).
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.loops.transform.past_caches import fenced, in_lines
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first, same
from atoll.sizes import Poly, poly


def stream(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    """Pieces of the program itself, which run once."""
    read = {load.buffer for load in loads(stmts)}
    moved = {b for s in lp.walk(stmts) if isinstance(s, (lp.Swap, lp.CopyBuffer, lp.Helper, lp.Product, lp.Update)) for b in _touched(s)}

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, lp.Chunks) or stmt.buffers or (body := _streamed(stmt.body, read | moved, decisions)) is None:
            return None
        return [fenced(stmt, body)]

    return innermost_first(stmts, rewrite, lambda stmt: isinstance(stmt, lp.If))


def _touched(s: lp.Stmt) -> list[lp.Buffer]:
    match s:
        case lp.Swap(a, b) | lp.CopyBuffer(a, b):
            return [a, b]
        case lp.Helper():
            return [b for b, _ in s.buffers]
        case lp.Product():
            return [s.left.buffer, s.right.buffer, s.target.buffer]
        case lp.Update():
            return [s.buffer]
    return []


def _streamed(stmts: lp.Stmts, busy: set[lp.Buffer], decisions: list[str]) -> list[lp.Stmt] | None:
    """Statements with the innermost loops in them in lines; None: nothing to do."""

    def rewrite(s: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        return _lines_of(s, busy, decisions) if isinstance(s, lp.For) and _plain(s) and not any(isinstance(x, (lp.For, lp.If)) for x in s.body) else None

    made = innermost_first(stmts, rewrite, lambda s: isinstance(s, lp.If) or _plain(s))
    return None if same(made, stmts) else made


def _plain(s: lp.Stmt) -> bool:
    return isinstance(s, lp.For) and s.parallel and not s.vector and not s.unroll


def _lines_of(loop: lp.For, busy: set[lp.Buffer], decisions: list[str]) -> list[lp.Stmt] | None:
    """An innermost loop, in lines where that pays."""
    stores = [s for s in loop.body if isinstance(s, lp.Store)]
    if not stores or len(stores) > profit.STREAM_ARRAYS or not busy.isdisjoint(s.buffer for s in stores) or not _reads_ahead(loop, len(stores)):
        return None
    count = profit.STREAM_LINE // max(s.buffer.dtype.size for s in stores)
    rounds = (loop.high - loop.low).const()
    if rounds is not None and rounds < 2 * count:
        return None
    long = loop.high - loop.low - 2 * count
    if isinstance(made := in_lines(loop, count, (long,)), Refused):
        return None
    said = f"{', '.join(s.buffer.name for s in stores)}: from {profit.STREAM_LEAST >> 20} megabytes on, stored past the caches"
    if said not in decisions:
        decisions.append(said)
    large = tuple(lp.Test("ge", _bytes(s.buffer) - profit.STREAM_LEAST) for s in stores)
    return [lp.If((*large, lp.Test("ge", long)), made, [loop])]


def _reads_ahead(loop: lp.For, stored: int) -> bool:
    """Rounds read an element of each array, along a row (else a line of it is read for every element: tiles.py), and compute little with them."""
    read = [load for load in loads(loop.body) if any(loop.sym in p.leaves() for p in load.index)]
    if any(loop.sym in p.leaves() for load in read for p in load.index[:-1]) or len({load.buffer for load in read}) < len(read):
        return False
    return sum(_work(s.value) for s in loop.body if isinstance(s, (lp.Let, lp.Store))) <= profit.STREAM_WORK * stored


def _work(e: lp.Expr) -> int:
    if isinstance(e, lp.Call):
        return (profit.SLOW_CALL if e.op in profit.CALLS and e.dtype.is_float else 1) + sum(map(_work, e.args))
    if isinstance(e, lp.Cast):
        return 1 + _work(e.arg)
    if isinstance(e, lp.Choose):
        return 2 + _work(e.then) + _work(e.orelse)
    if isinstance(e, lp.Load) and any(isinstance(a, lp.VarAtom) for p in e.index for a in p.leaves()):
        return profit.SLOW_CALL  # a gather waits for memory, not for stores
    return 0


def _bytes(b: lp.Buffer) -> Poly:
    total = poly(b.dtype.size)
    for p in b.extents:
        total = total * p
    return total
