"""An array that is filled and then written all over is not filled (dead stores of a whole array).

    for i: for j: x[i, j] = 0;     for y in 0..n: for x in 0..m:  ...; x[y, x] = e          becomes          the second loop alone

    without_fill(stmts, place)    the block without the loops at this place

Right where these loops do nothing but store into one array; what stands between does not mention the array and goes on to the second loop in any case; and where the second loop stores into every
element, in every round, and reads none: its indices are the axes, each once, from the first element to the last, and nothing else in it mentions the array. A check that fails in it ends the program, whose
results nobody sees then.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.loops.transform.refused import Made, Refused
from atoll.sizes import Poly, Sym, poly

Ranges = dict[Sym, tuple[Poly, Poly]]


def without_fill(stmts: lp.Stmts, place: int) -> Made:
    array = _filled(stmts[place])
    if array is None:
        return Refused("these are no loops that fill one array")
    for stmt in stmts[place + 1 :]:
        if mentions(stmt)[array]:
            writes = isinstance(stmt, lp.For) and _writes_all(stmt, array, {})
            return [*stmts[:place], *stmts[place + 1 :]] if writes else Refused(f"what mentions {array.shown} next may leave elements as they are")
        if _leaves(stmt) or (isinstance(stmt, lp.Free) and stmt.buffer is array):
            return Refused("what follows may not be reached")
    return Refused(f"nobody writes {array.shown} again")


def _filled(stmt: lp.Stmt) -> lp.Buffer | None:
    """The array that loops store into, if they do nothing else."""
    if not isinstance(stmt, lp.For):
        return None
    while isinstance(stmt, lp.For) and len(stmt.body) == 1:
        (stmt,) = stmt.body
    whole = isinstance(stmt, lp.Store) and stmt.buffer.rows is None and stmt.buffer.copy_of is None and mentions(stmt)[stmt.buffer] == 1
    return stmt.buffer if whole and isinstance(stmt, lp.Store) else None


def _leaves(stmt: lp.Stmt) -> bool:
    """It may end the round of a loop around it."""
    return isinstance(stmt, (lp.BreakUnless, lp.Section)) or (isinstance(stmt, lp.If) and any(isinstance(s, lp.BreakUnless) for s in lp.walk([stmt])))


def _writes_all(loop: lp.For, array: lp.Buffer, around: Ranges) -> bool:
    """Every element is stored into by these loops."""
    ranges = {**around, loop.sym: (loop.low, loop.high)}
    knowing = [s for s in loop.body if mentions(s)[array]]
    if len(knowing) != 1 or any(map(_leaves, loop.body)):
        return False
    (stmt,) = knowing
    if isinstance(stmt, lp.For):
        return _writes_all(stmt, array, ranges)
    return isinstance(stmt, lp.Store) and stmt.buffer is array and mentions(stmt)[array] == 1 and _covers(stmt.index, array.extents, ranges)


def _covers(index: tuple[Poly, ...], extents: tuple[Poly, ...], ranges: Ranges) -> bool:
    """Each index is that of a loop, or goes down with it, from the first element of its axis to the last; every loop is one of them."""
    left = dict(ranges)
    for p, extent in zip(index, extents, strict=True):
        inside = [a for a in p.leaves() if a in left]
        step = p.slope(inside[0]) if len(inside) == 1 else None
        by = step.const() if step is not None else None
        if by not in (1, -1):
            return False
        low, high = left.pop(inside[0])
        rest = p - by * poly(inside[0])
        ends = (low + rest, high - 1 + rest) if by == 1 else (rest - high + 1, rest - low)
        if ends != (poly(0), extent - 1):
            return False
    return not left
