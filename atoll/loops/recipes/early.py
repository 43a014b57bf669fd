"""Elements that are the same in every round are read once, before the loop (transform/read_first.py).

    for c in 0..m:  k = w[i];  y[c] = x[c - k] if c >= k else x[c]
becomes
    if m >= 1:  k = w[i];  for c in 0..m:  y[c] = x[c - k] if c >= k else x[c]

C compilers do the same for what it costs; here it makes tests on k tests on something that is known before the loop, where its range can be cut
(interior.py) and its checks be made (hoist_checks.py). So only integers that something in a round is tested by.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.read_first import read_first
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first


def early(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For):
            return None
        tests = [t.poly for s in lp.walk(stmt.body) if isinstance(s, (lp.If, lp.Check)) for t in s.tests if t.poly is not None]
        tested = {leaf for p in tests for leaf in p.leaves()}
        found = read_first(stmt, lambda s: s.var.dtype.is_integer and s.var.atom in tested)
        if isinstance(found, Refused):
            return None
        decisions.append(f"{', '.join(v.name for v in found.read)}: read before {stmt.sym} runs")
        return found.stmts

    return innermost_first(stmts, rewrite)
