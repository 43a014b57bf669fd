"""Ranges cut where quotients by run-time numbers become others (transform/strips.py), so that what is made of the parts of a flat index divides nothing:

    for i in 0..n:  q = i // m;  r = i % m;  y[i] = sum(x[q, (r // k) * k + j] for j in 0..k)
becomes
    if m >= 1 and k >= 1:  for q:  for a:  for i in a stretch:  y[i] = sum(x[q, a * k + j] for j in 0..k)        else: as it was

In a stretch places step with the loop: checks on them leave it, tests on them cut it, neighbouring sums share vectors. A loop with nothing of that inside and one quotient is left to `segments`, whose
turns cost less where there are few.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.strips import stripped
from atoll.loops.transform.walk import Known, not_products, outermost_first


def strips(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For) or sum(1 for _ in lp.walk(stmt.body)) > profit.CUT_STATEMENTS:
            return None
        found = stripped(stmt, profit.STRIPS)
        if isinstance(found, Refused) or not (found.chained or _more(stmt)):
            return None
        decisions.append(f"the range of {stmt.sym} is in strips in which {found.count} {'quotient stays' if found.count == 1 else 'quotients stay'} as {'it is' if found.count == 1 else 'they are'}")
        return [lp.If(tuple(found.tests), found.loops, Copier({}).stmts([stmt]))]

    return outermost_first(stmts, rewrite, not_products)


def _more(loop: lp.For) -> bool:
    """There is more in a round than what one quotient makes slow."""
    return any(isinstance(s, (lp.For, lp.Accumulate, lp.Check)) for s in lp.walk(loop.body))
