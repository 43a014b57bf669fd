"""Short loops of literal length are written out, so that the loop around them is the innermost one and can run in vectors."""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.unroll import written_out
from atoll.loops.transform.walk import Known, innermost_first, not_products


def unroll(stmts: lp.Stmts, decisions: list[str], most: int = 9) -> list[lp.Stmt]:
    """Innermost first; a sum of a few terms is added from left to right."""

    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, (lp.For, lp.Accumulate)) or not _is_short(stmt, most) or isinstance(found := written_out(stmt), Refused):
            return None
        decisions.append(f"the {(stmt.high - stmt.low).const()} rounds of {stmt.sym} are written out")
        return found

    return innermost_first(stmts, rewrite, not_products)


def _is_short(loop: lp.For | lp.Accumulate, most: int) -> bool:
    """An innermost loop of a few rounds, which are not too much text."""
    rounds = (loop.high - loop.low).const()
    if rounds is None or not 0 < rounds <= most:
        return False
    inside = list(lp.walk(loop.body))
    innermost = not any(isinstance(s, (lp.For, lp.Accumulate)) for s in inside)
    return innermost and rounds * sum(not _constant(s) for s in inside) <= profit.WRITTEN_OUT


def _constant(s: lp.Stmt) -> bool:
    return isinstance(s, lp.Let) and isinstance(s.value, lp.Load) and s.value.buffer.kind == "const"
