"""Loops whose rounds would all do nothing are not run (transform/guard.py).

An array of 2**40 rows of no elements takes no memory, so its rows must take no time. A time loop runs in any case, and what is in it is looked at.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.guard import guarded
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, outermost_first


def nothing(fn: lp.Function) -> list[lp.Stmt]:
    """Every outermost loop that is not run where its rounds are known to do nothing."""

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        made = guarded(stmt, fn.sizes) if isinstance(stmt, (lp.For, lp.Chunks, lp.Product)) else None
        return None if made is None or isinstance(made, Refused) else [made]

    def enter(stmt: lp.Stmt) -> bool:
        rounds = isinstance(stmt, lp.For) and any(isinstance(s, lp.Chunks) for s in stmt.body)  # of a time loop
        return rounds or isinstance(stmt, (lp.If, lp.Section))

    return outermost_first(fn.body, rewrite, enter)
