"""Sums of many rounds into memory are sums of sums, so that rounding errors do not grow with the number of rounds.

    for in order r in 0..n:  for j:  c[j] += e(r, j)
becomes, for 512 rounds and more,
    for in order blocks of 256 * 256 rounds:
        far[j] = 0;  for in order blocks of 256 rounds:  near[j] = 0;  for in order r:  for j:  near[j] += e(r, j)
                                                         for j:  far[j] += near[j]
        for j:  c[j] += far[j]

Only for 32-bit floats: a sum of 2**24 ones and more stops growing when it is made one by one. Sums into scalars are
made in lanes and trees (backends/c/loop_text.py); those of 64-bit floats have digits to spare.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.jam import RowUpdates, row_updates
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.split import length, may_be_negative
from atoll.loops.transform.sums_of_sums import sums_of_sums
from atoll.loops.transform.walk import Known, innermost_first, not_products


def pairwise(stmts: lp.Stmts, decisions: list[str], reassociate: bool = True) -> lp.Stmts:
    if not reassociate:
        return stmts

    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if not isinstance(stmt, lp.For) or (found := column_updates(stmt)) is None:
            return None
        columns = length(found.inner)
        if isinstance(made := sums_of_sums(found, profit.SUMMED, (columns,)), Refused):
            return None
        decisions.append(f"sums over {stmt.sym} into memory are made of sums of {profit.SUMMED} rounds")
        many = lp.Test("ge", length(stmt) - 2 * profit.SUMMED)
        some = (lp.Test("ge", columns),) if may_be_negative(columns) else ()
        return [lp.If((many, *some), made, [stmt])]

    return innermost_first(stmts, rewrite, not_products)


def column_updates(loop: lp.For, dtypes: tuple[str, ...] = ("f32", "c64"), least: int | None = None) -> RowUpdates | None:
    """The additions of a loop over rows that does nothing else; None: it is another loop, or has fewer rounds than `least`."""
    rounds = (loop.high - loop.low).const()
    if (rounds is not None and rounds < (2 * profit.SUMMED if least is None else least)) or isinstance(
        found := row_updates(loop), Refused
    ):
        return None
    sums = all(u.op == "add" and u.buffer.dtype.name in dtypes and u.buffer.rows is None for u in found.updates)
    return found if sums else None
