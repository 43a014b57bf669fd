"""Filters without branches, for those inside other loops: every element is stored at the next free place, which moves on only when the element is kept (transform/compact.py).

    for in order r in 0..n:  if p(r):  y[c] = x[r];  c = c + 1
becomes
    for in order r in 0..n:  y[c] = x[r];  c = c + (1 if p(r) else 0)

A branch that nobody can predict costs as much as a dozen rounds.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.idioms.filters import cheap
from atoll.loops.questions import mentions
from atoll.loops.transform.compact import Around, filter_of, without_branch
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import every_block


def without_branches(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    everywhere = mentions(stmts)

    def block(body: lp.Stmts) -> list[lp.Stmt]:
        out: list[lp.Stmt] = []
        for k, stmt in enumerate(body):
            if isinstance(stmt, lp.For) and not isinstance(found := filter_of(stmt, Around(out, body[k + 1 :], everywhere)), Refused) and cheap(found):
                stmt = replace(stmt, body=without_branch(found))
                decisions.append(f"what is kept over {stmt.sym} is stored without branches")
            out.append(stmt)
        return out

    return every_block(stmts, block)
