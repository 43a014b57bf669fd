"""Rows of a table whose cells wait for the cell to the left and the row above, many at a time, each one column behind the row above.

    for in order i:  left = ...;  for in order j:  x = f(left, row[j], a[i], b[j]);  row[j] = x;  left = x
becomes, for bands of 64 rows i0, i0 + 1, ...
    for in order t:  for lane:  the cell of row i0 + 63 - lane in column t + lane                  (lanes that are outside the table wait)

What a row hands from cell to cell is an element of a small array, one for every lane. The lanes of a step are cells of one antidiagonal: none
waits for another, so a step is a loop in vectors, and elements of `row` and `b` are neighbours. Every cell is computed from the values it
had, in the order it had; only a running minimum, maximum or sum of integers over all cells is taken in another order, which is exact.

The order is that of transform/skew.py, which looks whether it may be. It pays where cells write one element for each column, the same in every row, or element (i, j) of a whole table of
floats: then bands have 16 rows (8 with several tables), as every row is a stream from memory. Cells of integers wait for each other less long than for elements one by one, so whole
tables of them stay as they are.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import always_read, loads, told
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.skew import Rows, Totals, skewed
from atoll.loops.transform.table import read_first, table, totalled
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import poly


def wave(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        found = _nest(stmt) if isinstance(stmt, lp.For) else None
        if found is None:
            return None
        nest, totals, count = found
        made = skewed(nest, totals, count, (*known, *told(stmt)))
        if isinstance(made, Refused):
            return None
        decisions.append(f"{count} rounds of {nest.outer.sym} at a time, each one step of {nest.inner.sym} behind the one before")
        return list(made)

    return innermost_first(stmts, rewrite, not_products, known=())


def _nest(outer: lp.For) -> tuple[Rows, Totals, int] | None:
    """The loop as rows of columns, what they add up, and how many rows pay."""
    if isinstance(rows := table(outer), Refused) or isinstance(found := totalled(rows), Refused):
        return None
    rest, totals = found
    tables = _tables(rest)
    streams = None if tables is None else _streams(rest, set(totals))
    if tables is None or streams is None:
        return None
    whole = tables | streams
    count = max(profit.WAVE_STREAMS // 2, profit.WAVE_STREAMS // len(whole)) if whole else profit.WAVE_LANES
    return read_first(rest), totals, count


def _tables(rows: Rows) -> set[lp.Buffer] | None:
    """Every array that cells write has one element for each column, next to each other: which of the arrays are whole tables of floats; None where that is not so."""
    i, j = rows.outer.sym, rows.inner.sym
    made, whole = {v.atom for v in rows.made}, set()
    written = {s.buffer: s.index for s in rows.cell if isinstance(s, lp.Store)}
    for buffer, index in written.items():
        leaves = {a for p in index for a in p.leaves()}
        if any(s.index != index for s in rows.cell if isinstance(s, lp.Store) and s.buffer is buffer) or not leaves.isdisjoint(made):
            return None
        if any(j in p.leaves() for p in index[:-1]) or index[-1].slope(j) != poly(1) or j in (index[-1] - j).leaves():
            return None
        if i in leaves:
            if not buffer.dtype.is_float or i in index[-1].leaves():
                return None
            whole.add(buffer)
    return whole if written else None


def _streams(nest: Rows, totals: set[lp.Var]) -> set[lp.Buffer] | None:
    """What cells read is one element for a row, which is then read before the columns, or one for a column, next to each other (or one for
    each cell, where a step waits long enough for the one before to read them one by one): the arrays with one for each cell; None where it is
    something else. `totals` are of rows."""
    i, j = nest.outer.sym, nest.inner.sym
    written = {s.buffer for s in nest.cell if isinstance(s, lp.Store)}
    own = {v.atom for v in nest.made | totals}
    apart = all(b.dtype.is_float for b in written)
    found: set[lp.Buffer] = set()
    for s in nest.cell:
        read = loads(s.value)  # type: ignore[union-attr]
        if len(read) != len(always_read(s.value)):  # type: ignore[union-attr]
            return None
        for x in read:
            leaves = {a for p in x.index for a in p.leaves()}
            if x.buffer in written:
                continue
            if not own.isdisjoint(leaves):
                return None
            if j not in leaves:
                continue
            if (i in leaves and not apart) or any(j in p.leaves() for p in x.index[:-1]) or x.index[-1].slope(j) != poly(1):
                return None
            if i in leaves:
                found.add(x.buffer)
    return found
