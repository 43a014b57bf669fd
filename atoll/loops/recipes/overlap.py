"""Rows of a stencil several at a time, which share what they read.

    for i:  for j:  o[i, j] = u[i, j] + u[i + 1, j] + u[i + 2, j]
becomes
    for q:  for j:  o[4q, j] = u[4q, j] + u[4q + 1, j] + u[4q + 2, j];  o[4q + 1, j] = u[4q + 1, j] + ...;  ...

Four rows read six rows once instead of twelve, and what they compute of the same elements the C compiler computes once. Both loops are
independent, so values stay as they are. It is done where at least a quarter of the reads is saved (measured: a blur of 3 by 3 points is 1.4 times
as fast with one thread, 1.5 with two), and where rows are long: many short ones at a time are many places in memory, none of them read for long. How
long they are is asked before the loop where it is not known.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.jam import loops_together
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import Poly, Sym, poly


def overlap(stmts: lp.Stmts, decisions: list[str], together: int) -> list[lp.Stmt]:
    made: set[Sym] = set()  # blocks

    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        if isinstance(stmt, lp.Chunks) and any(isinstance(s, lp.For) and s.sym in made for s in lp.walk(stmt.body)):
            return [replace(stmt, align=-(-stmt.align // together) * together)]  # so that pieces are whole blocks
        if not isinstance(stmt, lp.For) or not _shares(stmt, together):
            return None
        block = Sym(f"{stmt.sym.name}_by_{together}")
        found = loops_together(stmt, together, block, known)
        if isinstance(found, Refused):
            return None
        long = _longer(stmt)
        if (long.const() or 0) < 0:
            return None
        decisions.append(f"{together} rounds of {stmt.sym} at a time share what they read")
        made.add(block)
        return found if long.const() is not None else [lp.If((lp.Test("ge", long),), found, Copier({}).stmts([stmt]))]

    return innermost_first(stmts, rewrite, not_products, known=())


def _longer(loop: lp.For) -> Poly:
    """By how many elements a row is longer than rows must be."""
    rows = [s for s in loop.body if isinstance(s, lp.For)]
    size = max(s.buffer.dtype.size for s in lp.walk(loop.body) if isinstance(s, lp.Store))
    return sum((row.high - row.low for row in rows), poly(0)) - profit.OVERLAP_ROW // size


def _shares(loop: lp.For, together: int) -> bool:
    """It is a loop over loops along rows, which read enough of the same elements and none that they write."""
    count = (loop.high - loop.low).const()
    if not _independent(loop) or not loop.body or (count is not None and count < together):
        return False
    written = {s.buffer for s in lp.walk(loop.body) if isinstance(s, lp.Store)}
    if any(x.buffer in written or any(isinstance(a, lp.VarAtom) for p in x.index for a in p.leaves()) for x in loads(loop.body)):
        return False
    if not all(isinstance(inner, lp.For) and _is_row(inner, loop.sym) for inner in loop.body):
        return False
    once = {(n, x.buffer, x.index) for n, inner in enumerate(loop.body) for x in loads(inner) if any(loop.sym in p.leaves() for p in x.index)}
    block = {(n, b, tuple(p.subst({loop.sym: poly(loop.sym) + k}) for p in index)) for n, b, index in once for k in range(together)}
    return 0 < len(block) <= profit.READS_LEFT * together * len(once)


def _independent(loop: lp.For) -> bool:
    return loop.parallel and not loop.vector and not loop.unroll


def _is_row(inner: lp.For, outer: Sym) -> bool:
    """A few operations for each element, which are stored along the row."""
    if not _independent(inner) or outer in inner.low.leaves() | inner.high.leaves():
        return False
    operations = 0
    for s in inner.body:
        if not isinstance(s, (lp.Let, lp.Store)) or (isinstance(s, lp.Store) and not (s.index and inner.sym in s.index[-1].leaves())):
            return False
        for x in lp.subexprs(s.value):
            if isinstance(x, lp.Call):
                operations += 1
                if x.op not in profit.QUICK and x.op != "div":
                    return False
    return operations <= profit.ROW_OPERATIONS
