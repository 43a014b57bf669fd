"""Filters in blocks: every block keeps its own elements in order, then what the blocks kept is put together (transform/compact.py). All threads, and vectors; a few elements cost one block.

Only outside of other loops: those have their own pieces. Where a value is dear it is not computed for elements that are dropped.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.compact import Around, Filter, compacted, filter_of
from atoll.loops.transform.refused import Refused


def filters(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    k = 0
    while k < len(stmts):
        stmt = stmts[k]
        found = filter_of(stmt, Around(out)) if isinstance(stmt, lp.For) else None
        made = compacted(found, profit.FILTER_BLOCK, stmts[k + 1 :]) if isinstance(found, Filter) and cheap(found) else None
        if made is None or isinstance(made, Refused):
            out.append(stmt)
            k += 1
            continue
        assert isinstance(found, Filter)
        out += made.stmts
        k += 1 + made.used
        decisions.append(f"what is kept over {found.loop.sym} is kept in blocks of {profit.FILTER_BLOCK}, then put together")
    return out


def cheap(found: Filter) -> bool:
    """What is stored costs little, as it is computed for elements that are not kept, too."""
    values = [s.value for s in (*found.lets[len(found.loop.body) - 1 :], *found.stores) if isinstance(s, (lp.Let, lp.Store))]
    return not any(isinstance(e, lp.Call) and e.op in profit.COSTLY for value in values for e in lp.subexprs(value))
