"""Checks leave loops: all rounds are tested at once, and the checks themselves run only when one of them fails (transform/checks.py).

A range that moves with the index is tested at the first and at the last round. What depends on data is tested in the loop, without leaving
it: a round that fails reads something else that is there, and says so. Where nothing else can be read instead, the data are tested in a loop of their own first. Both run in vectors.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.checks import checked_once, guarded_checks, steady_checks, without_checks
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first


def hoist_checks(stmts: lp.Stmts, decisions: list[str], again: bool = False) -> list[lp.Stmt]:
    """`again`: after it was done once; loops of nothing but checks are what it left where they fail."""

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, (lp.For, lp.Accumulate)) or (again and all(isinstance(s, (lp.Let, lp.Check)) for s in stmt.body)):
            return None
        loop = stmt if isinstance(once := checked_once(stmt), Refused) else once
        once_for_all = steady_checks(loop)
        if not isinstance(once_for_all, Refused):
            decisions.append(f"checks that are the same in every round of {loop.sym} are made before it")
            *before, last = once_for_all.stmts
            return [*before, *(rewrite(last, known) or [last])]
        guarded = guarded_checks(loop)
        if not isinstance(guarded, Refused):
            decisions.append(f"tests that stand for checks are made at the ends of {loop.sym}")
            *before, last = guarded.stmts
            return [*before, *(rewrite(last, known) or [last])]
        found = without_checks(loop, known)
        if isinstance(found, Refused):
            return [loop]
        decisions.extend(f"the checks of {loop.sym} are made {how}" for how, done in (("at its ends", found.at_ends), ("for all rounds at once", found.at_once)) if done)
        return list(found.stmts)

    return innermost_first(stmts, rewrite, known=())
