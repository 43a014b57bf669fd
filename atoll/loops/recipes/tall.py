"""Sums along the first axis of a tall matrix are made of parts of its rows: few columns are too few pieces for
threads, and parts are read as they lie in memory.

    pieces lo..hi of m:  ...  for in order r in 0..n:  for j in lo..hi:  c[j] += e(r, j)  ...
becomes, when there are many more rows than parts and not too many columns,
    pieces of 8 parts:  own[p] = neutral;  for in order r of part p:  for j in 0..m:  own[p, j] += e(r, j)
    pieces lo..hi of m:  ...  for in order p in 0..8:  for j in lo..hi:  c[j] += own[p, j]  ...

The number of parts is fixed, so the result does not depend on threads (transform/parts.py).
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.parts import in_parts
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first


def tall(stmts: lp.Stmts, decisions: list[str], reassociate: bool = True) -> lp.Stmts:
    """Pieces of the program itself, not those inside other loops."""
    if not reassociate:
        return stmts

    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.Chunks) or isinstance(found := in_parts(stmt, profit.PARTS), Refused):
            return None
        many = lp.Test("ge", found.rounds.high - found.rounds.low - profit.PARTS * profit.PART_ROWS)
        few = lp.Test("ge", profit.PART_BYTES // sum(u.buffer.dtype.size for u in found.updates) - stmt.extent)
        decisions.append(
            f"sums along the first axis in {profit.PARTS} parts of the rows, when there are many more rows than that"
        )
        return [lp.If((many, *found.tests, few), found.made, [stmt])]

    return innermost_first(stmts, rewrite, lambda stmt: isinstance(stmt, lp.If))
