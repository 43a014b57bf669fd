"""any and all in blocks, until the answer is known (transform/until_settled.py).

Numbers as wide as what is read, instead of truth values, keep the lanes of a vector apart; nothing in a block leaves it early.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.until_settled import until_settled
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.types.dtypes import I8, I16, I32, I64, DType

_WIDE = {t.size: t for t in (I8, I16, I32)}


def until(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.Accumulate) or not _is_long(stmt) or isinstance(made := until_settled(stmt, profit.ANSWER_BLOCK, _width(stmt)), Refused):
            return None
        name = stmt.accs[0].var.label or ("any" if stmt.accs[0].monoid == "or" else "all")
        decisions.append(f"{name}: in blocks of {profit.ANSWER_BLOCK}, until it is known")
        return made

    return innermost_first(stmts, rewrite, not_products)


def _is_long(loop: lp.Accumulate) -> bool:
    rounds = (loop.high - loop.low).const()
    return rounds is None or rounds >= profit.ANSWER_LEAST


def _width(loop: lp.Accumulate) -> DType:
    """Numbers as wide as the widest element that rounds read."""
    widest = max((x.dtype.size for x in loads(loop.body)), default=I64.size)
    return _WIDE.get(widest, I64)
