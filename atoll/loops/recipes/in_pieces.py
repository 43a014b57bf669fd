"""Loops in order, with loops inside, whose rounds are independent: pieces for threads.

    for in order i in low..high:  for j:  a[i + p + 1, j] = a[i + p + 1, j] - a[i + p + 1, p] * a[p, j]
becomes
    pieces i_lo..i_hi of high - low:  for i in low + i_lo..low + i_hi:  ...

The plan makes pieces of what has no order by itself; here are updates written round by round, as in eliminations. That no round touches what
another one writes is proved from the indices (transform/pieces.py), so nothing depends on the pieces. How much there is to do is known when the loop is met, and little stays on one thread.
Nothing that can fail or print is inside, so there is no first failure to tell.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.pieces import seen_pieces
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, outermost_first, without_memory
from atoll.sizes import Atom, Poly, poly


def in_pieces(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    moved: dict[lp.Buffer, lp.Chunks] = {}

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        chunk = _cut(stmt, known, stmts, moved) if isinstance(stmt, lp.For) else None
        if chunk is None or not isinstance(stmt, lp.For):
            return None
        decisions.append(f"the rounds of {stmt.sym} are seen to be independent: in pieces for threads")
        return [chunk]

    out = outermost_first(stmts, rewrite, lambda stmt: isinstance(stmt, (lp.For, lp.If, lp.Forever)), ())
    for buffer, chunk in moved.items():
        out = without_memory(out, (buffer,), chunk)  # memory that pieces have for themselves is not made outside them
    return out


def _cut(loop: lp.For, known: Known, whole: lp.Stmts, moved: dict[lp.Buffer, lp.Chunks]) -> lp.Chunks | None:
    """The pieces of a loop, if it may be cut. `whole` is the body of the function, `moved` are arrays that pieces have for themselves now."""
    count = (loop.high - loop.low).const()
    if count is not None and count < profit.FEW_ROUNDS:
        return None
    if not any(isinstance(s, (lp.For, lp.Accumulate)) and (s.high - s.low).const() is None for s in lp.walk(loop.body)):
        return None
    middle: dict[Atom, Poly] = {loop.sym: (loop.low + loop.high) // 2}
    sums = any(isinstance(s, lp.Accumulate) for s in loop.body)
    found = seen_pieces(loop, lambda: _operations(loop.body, middle) // profit.PIECE_SHARE, known, whole, align=profit.ROWS if sums else 1)
    if isinstance(found, Refused):
        return None
    for b in found.own:
        b.private = True
    moved.update(dict.fromkeys(found.own, found.chunk))
    return found.chunk


def _operations(stmts: lp.Stmts, middle: dict[Atom, Poly]) -> Poly:
    """Operations of a round, about: indices are in the middle of their ranges. What is read is not counted: it is mostly shared. A term of a
    sum is one: the columns of a Cholesky factor of 400 rows take 4 microseconds, which two threads do not make shorter."""
    total = poly(0)
    for stmt in stmts:
        inside, rounds = middle, poly(1)
        if isinstance(stmt, (lp.For, lp.Accumulate)):
            inside = {**middle, stmt.sym: ((stmt.low + stmt.high) // 2).subst(middle)}
            rounds = (stmt.high - stmt.low).subst(middle)
            if any(isinstance(a, lp.VarAtom) for a in rounds.leaves()):
                rounds = poly(profit.UNKNOWN_ROUNDS)
        for body in lp.bodies(stmt):
            total = total + rounds * _operations(body, inside)
        if isinstance(stmt, lp.Add):
            total = total + 1
        if isinstance(stmt, (lp.Let, lp.Assign, lp.Store, lp.Update)):
            total = total + 1 + sum(isinstance(e, lp.Call) for e in lp.subexprs(stmt.value))
    return total
