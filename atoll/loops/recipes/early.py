"""Elements that are the same in every round are read once, before the loop.

    for c in 0..m:  k = w[i];  y[c] = x[c - k] if c >= k else x[c]
becomes
    if m >= 1:  k = w[i];  for c in 0..m:  y[c] = x[c - k] if c >= k else x[c]

C compilers do the same for what it costs; here it makes tests on k tests on something that is known before the loop, where its range can be cut
(interior.py) and its checks be made (checks.py). Only integers that are read first thing in a round, from what the loop does not write.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.transform.walk import Known, innermost_first


def early(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, lp.For) or stmt.scan or not (made := _leading(stmt)):
            return None
        decisions.append(f"{', '.join(s.var.name for s in made)}: read before {stmt.sym} runs")
        first: list[lp.Stmt] = [s if s.instance is None else replace(s, instance=s.instance.subst({stmt.sym: stmt.low})) for s in made]
        return [lp.If((lp.Test("ge", stmt.high - stmt.low - 1),), [*first, replace(stmt, body=stmt.body[len(made) :])])]

    return innermost_first(stmts, rewrite)


def _leading(loop: lp.For) -> list[lp.Let]:
    """Integers read at the beginning of a round that are the same in all rounds and used in tests."""
    changed = {s.buffer for s in lp.walk(loop.body) if isinstance(s, (lp.Store, lp.Update, lp.Alloc, lp.Free))}
    if any(isinstance(s, (lp.Helper, lp.Swap, lp.CopyBuffer, lp.Product, lp.Section, lp.Chunks)) for s in lp.walk(loop.body)):
        return []
    assigned = {s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Assign, lp.Declare, lp.Add))}
    inside = {s.var.atom for s in lp.walk(loop.body) if isinstance(s, lp.Let)}
    tested = {leaf for s in lp.walk(loop.body) if isinstance(s, (lp.If, lp.Check)) for t in s.tests if t.poly is not None for leaf in t.poly.leaves()}
    found: list[lp.Let] = []
    for s in loop.body:
        if not isinstance(s, lp.Let) or not isinstance(s.value, lp.Load) or s.value.buffer in changed or not s.var.dtype.is_integer:
            break
        leaves = {leaf for p in s.value.index for leaf in p.leaves()}
        if loop.sym in leaves or leaves & (assigned | inside) or s.var.atom not in tested:
            break
        found.append(s)
    return found
