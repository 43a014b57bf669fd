"""Short loops of literal length are written out, so that the loop around them is the innermost one and can run in vectors."""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.copier import HOLDERS
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import as_assignments
from atoll.loops.transform.unroll import in_one_piece, written_out
from atoll.loops.transform.walk import Known, innermost_first, not_products


def unroll(stmts: lp.Stmts, decisions: list[str], most: int) -> list[lp.Stmt]:
    """Innermost first; a sum of a few terms is added from left to right. Pieces of a few elements, with nothing longer in them, are no work for threads: they are written out too."""

    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if isinstance(stmt, lp.Chunks):
            return _few(stmt, decisions, most)
        if not isinstance(stmt, (lp.For, lp.Accumulate)) or not _is_short(stmt, most) or isinstance(found := written_out(stmt), Refused):
            return None
        decisions.append(f"the {(stmt.high - stmt.low).const()} rounds of {stmt.sym} are written out")
        return found

    return innermost_first(stmts, rewrite, not_products)


def _few(pieces: lp.Chunks, decisions: list[str], most: int) -> lp.Stmts | None:
    """Pieces of a literal range as its elements, where all of it can be written out."""
    count = pieces.extent.const()
    if count is None or not 0 < count <= most or isinstance(whole := in_one_piece(pieces), Refused):
        return None
    said: list[str] = []
    found = as_assignments(unroll(whole, said, most), {acc.var for acc in pieces.accs})
    if any(isinstance(s, (*HOLDERS, lp.Add)) and not isinstance(s, lp.If) for s in lp.walk(found)):
        return None
    decisions += said
    return found


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
