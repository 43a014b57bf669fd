"""Loops written in order whose rounds are seen to be independent: no round touches an element that another one writes (`marked` in transform/pieces.py).

    for in order j in 0..w:  s = x[j] + x[j + w];  x[j + w] = x[j] - x[j + w];  x[j] = s

The loop is marked, so that C compilers need not ask at run time whether x[j] and x[j + w] meet before they use vectors;
loops with loops inside become pieces for threads (loops/recipes/in_pieces.py).
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.pieces import marked
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first, not_products

SMALL = 1 << 40  # what an index is made of: a few of them are far from what integers hold


def independent(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For) or stmt.parallel or isinstance(made := marked(stmt, known, SMALL), Refused):
            return None
        decisions.append(f"the rounds of {stmt.sym} are seen to be independent")
        return made

    return innermost_first(stmts, rewrite, not_products, known=())
