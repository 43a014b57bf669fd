"""argmin and argmax in vectors, by blocks (transform/best_by_blocks.py); by threads where the search is in no other loop."""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.best_by_blocks import Sizes, best_search, by_blocks
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import with_bodies


def first_best(stmts: lp.Stmts, decisions: list[str], alone: bool = True) -> list[lp.Stmt]:
    """alone: not in a loop, so that blocks may be shared by threads."""
    sizes = Sizes(profit.BEST_SHORT, profit.BEST_BLOCK, profit.BEST_SHARED, profit.FOUND_BLOCK)
    out: list[lp.Stmt] = []
    for k, stmt in enumerate(stmts):
        inside = alone and isinstance(stmt, lp.If)
        stmt = with_bodies(stmt, lambda body, inside=inside: first_best(body, decisions, inside))  # type: ignore[misc]
        if not isinstance(stmt, lp.For) or isinstance(found := best_search(stmt, out, stmts[k + 1 :]), Refused):
            out.append(stmt)
            continue
        decisions.append(f"the best over {stmt.sym} is found by blocks and then looked for")
        out += by_blocks(found, sizes, alone)
    return out
