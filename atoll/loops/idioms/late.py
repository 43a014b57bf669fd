"""In a loop whose rounds wait for each other, what a round waits for comes last (transform/regroup.py).

    for in order j:  best = min(min(best + 1, a[j]), b[j])
becomes
    for in order j:  best = min(min(a[j], b[j]), best + 1)

so that only one operation of a round waits for the round before. gcc would put them back into its own order; see runtime/toolchain.py.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import waiting_last
from atoll.loops.transform.walk import Known, innermost_first


def late(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, lp.For) or isinstance(found := waiting_last(stmt), Refused):
            return None
        decisions.append(f"what a round of {stmt.sym} waits for comes last")
        return [found]

    return innermost_first(stmts, rewrite)
