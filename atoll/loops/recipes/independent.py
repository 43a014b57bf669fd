"""Loops written in order whose rounds are seen to be independent: no round touches an element that another one writes.

    for in order j in 0..w:  s = x[j] + x[j + w];  x[j + w] = x[j] - x[j + w];  x[j] = s

The loop is marked, so that C compilers need not ask at run time whether x[j] and x[j + w] meet before they use vectors;
`dependence.rounds_apart` says the same of loops with loops inside, which become pieces for threads (loops/recipes/in_pieces.py).
Two rounds are apart where an index is the same in both accesses and moves with the round, or where it is seen never to be equal.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.dependence import small_for_apart
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import poly

_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store)
SMALL = 1 << 40


def independent(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, lp.For) or stmt.parallel or stmt.vector or stmt.unroll or not all(isinstance(s, _STRAIGHT) for s in stmt.body):
            return None
        small = small_for_apart(stmt, known)
        if small is None:
            return None
        decisions.append(f"the rounds of {stmt.sym} are seen to be independent")
        return _marked(stmt, small)

    return innermost_first(stmts, rewrite, not_products, known=())


def _marked(loop: lp.For, small: frozenset[lp.VarAtom]) -> list[lp.Stmt]:
    """The loop, any order where some variables are small."""
    if not small:
        return [replace(loop, parallel=True)]
    tests = [t for a in sorted(small, key=lambda a: a.uid) for t in (lp.Test("ge", poly(a) + SMALL), lp.Test("ge", SMALL - poly(a)))]
    return [lp.If(tuple(tests), [lp.For(loop.sym, loop.low, loop.high, Copier({}).stmts(loop.body), True)], [loop])]
