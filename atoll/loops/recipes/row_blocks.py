"""Rows that look back along themselves, several at a time: what they do before the block of rows begins is done column by column for all of them.

    for in order i:  for in order j in 0..i:  S(i, j);  D(i)
becomes, for 64 rows first..first + 64 at a time,
    for in order j in 0..first:  for i in first..first + 64:  S(i, j)
    for in order i in first..first + 64:  for in order j in first..i:  S(i, j);  D(i)

A row of Cholesky's or of LU's factor waits for its own elements, so nothing of it is shared as it stands; the columns of many rows are loops that look back, whose sums share
what they read (loops/recipes/left_looking.py), which takes them from here. The columns are cut at the block, the rows taken apart there, and the first part
exchanged (transform/permute.py), where that may be done.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.dependence import plain
from atoll.loops.recipes.left_looking import looks_back
from atoll.loops.transform.cut import in_two
from atoll.loops.transform.permute import distributed, interchanged, own_variables
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.split import first_of, in_blocks
from atoll.loops.transform.walk import Known, not_products, outermost_first
from atoll.sizes import Sym, poly


def row_blocks(stmts: lp.Stmts, decisions: list[str], together: int) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if isinstance(stmt, lp.Chunks):
            return [stmt]  # as they are: rows of a piece are few
        return _blocked(stmt, known, decisions, together) if isinstance(stmt, lp.For) else None

    return outermost_first(stmts, rewrite, not_products, ())


def _blocked(loop: lp.For, known: Known, decisions: list[str], together: int) -> list[lp.Stmt] | None:
    inner = loop.body[0] if loop.body else None
    if not isinstance(inner, lp.For) or not (_in_order(loop) and _in_order(inner)) or not all(map(plain, (loop.low, loop.high, inner.low, inner.high))):
        return None
    i = loop.sym
    if i in inner.low.leaves() or inner.high.slope(i) != 1 or i in (inner.high - poly(i)).leaves() or not own_variables(inner.body):
        return None
    block = Sym(f"{i.name}_by_{profit.ROW_BLOCK}")
    first = first_of(loop, profit.ROW_BLOCK, block)
    until = inner.high.subst({i: first})
    here = (*known, poly(block), loop.high - first - profit.ROW_BLOCK)
    cut = in_two(inner, until, (*here, poly(i) - first))
    if isinstance(cut, Refused):
        return None
    parts = distributed(replace(loop, low=first, high=first + profit.ROW_BLOCK, body=[*cut, *loop.body[1:]]), 1, here)
    if isinstance(parts, Refused) or not isinstance(rows := parts[0], lp.For) or isinstance(columns := interchanged(rows, here), Refused):
        return None
    early = columns[0]
    if not isinstance(early, lp.For) or looks_back(early, together, here) is None:
        return None
    decisions.append(f"{profit.ROW_BLOCK} rounds of {i} at a time: what they do in the columns {inner.sym} before them is done column by column")
    return list(in_blocks(loop, profit.ROW_BLOCK, block, [early, *parts[1:]], known))


def _in_order(loop: lp.For) -> bool:
    return not (loop.parallel or loop.vector or loop.unroll or loop.scan)
