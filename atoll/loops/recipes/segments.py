"""Indices that go round or stop at an edge: the range of a loop is cut where they do, and between the cuts they step
with the loop (transform/cut_at_turns.py).

    for i in 0..n:  y[i] = x[(i + s) % n]      becomes      for stretches at..stop of 0..n:  for i in at..stop:  y[i] = x[i + s - q*n]
    for i in 0..n:  y[i] = x[max(i - 1, 0)]    becomes      for i in 0..1: as it was;  for i in 1..n: y[i] = x[i - 1]

and sums over such elements alike, so that no round divides or chooses, and what it reads lies side by side.
Quotients and remainders by a literal are cheap and stay.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.cut_at_turns import at_edges, at_turns
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first


def segments(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, (lp.For, lp.Accumulate)):
            return None
        for cut_up, where in ((at_turns, "go round"), (at_edges, "stop at an edge")):
            made = cut_up(stmt, profit.CUTS)
            if not isinstance(made, Refused):
                decisions.append(f"the range of {stmt.sym} is cut where indices {where}")
                return made
        return None

    return innermost_first(stmts, rewrite)
