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

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import always_read, loads, told
from atoll.loops.transform.copier import fresh_like
from atoll.loops.transform.forward import Forwarded
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import monoid_of
from atoll.loops.transform.skew import Rows, Totals, is_table, skewed
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import poly
from atoll.types.dtypes import BOOL


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


def _nest(outer: lp.For) -> tuple[_Nest, Totals, int] | None:
    """The loop as rows of columns, what they add up, and how many rows pay."""
    inner = [s for s in outer.body if isinstance(s, lp.For)]
    if outer.parallel or outer.vector or outer.unroll or len(inner) != 1 or inner[0].parallel or inner[0].vector or inner[0].unroll:
        return None
    place = outer.body.index(inner[0])
    nest = _Nest(outer, inner[0], *_settled([outer.body[:place], inner[0].body, outer.body[place + 1 :]]))
    if is_table(nest) is not None:
        return None
    totals = nest.totals()
    if totals is None:
        return None
    rest = nest.without(totals)
    tables = rest.tables()
    streams = None if tables is None else rest.streams({t.row for t in totals})
    if tables is None or streams is None:
        return None
    whole = tables | streams
    count = max(profit.WAVE_STREAMS // 2, profit.WAVE_STREAMS // len(whole)) if whole else profit.WAVE_LANES
    return rest.with_names(), {t.row: (t.whole, t.op) for t in totals}, count


def _settled(parts: list[lp.Stmts]) -> list[list[lp.Stmt]]:
    """Variables that are assigned once, before they are read, in the part that declares them or after the columns, as names of their values."""
    assigned: dict[lp.Var, int] = {}
    for s in lp.walk([s for part in parts for s in part]):
        if isinstance(s, lp.Assign):
            assigned[s.var] = assigned.get(s.var, 0) + 1
    at: dict[lp.Var, int] = {}  # the part that declares it, while nothing has read it
    once: set[lp.Var] = set()
    for k, part in enumerate(parts):
        for s in part:
            for v in lp.used_vars(s):
                at.pop(v, None)
            if isinstance(s, lp.Declare) and assigned.get(s.var) == 1:
                at[s.var] = k
            elif isinstance(s, lp.Assign) and s.var in at and (at[s.var] == k or (at[s.var], k) == (0, 2)):
                once.add(s.var)
    out = [[s for s in part if not (isinstance(s, lp.Declare) and s.var in once)] for part in parts]
    return [[lp.Let(s.var, s.value, instance=s.instance) if isinstance(s, lp.Assign) and s.var in once else s for s in part] for part in out]


def _operator(value: lp.Expr, var: lp.Var) -> str | None:
    """The operator of a value that is var op e, where e does not read the variable."""
    if isinstance(value, lp.Index):
        return "add" if value.poly.coefficient(var.atom) == poly(1) and var.atom not in (value.poly - var.atom).leaves() else None
    if not isinstance(value, lp.Call) or monoid_of(value.op) is None or len(value.args) != 2 or value.dtype != var.dtype:
        return None
    alone = [a == lp.Use(var) for a in value.args]
    return value.op if alone.count(True) == 1 and sum(var in set(lp.used_vars(a)) for a in value.args) == 1 else None


@dataclass(frozen=True, slots=True)
class _Total:
    """row = whole;  each cell: row = row op e;  whole = row          a total of the whole table that nothing else reads"""

    whole: lp.Var
    row: lp.Var
    op: str
    says: tuple[lp.Stmt, ...]  # the statements beside the cells that say so


@dataclass(frozen=True, slots=True)
class _Nest(Rows):
    """Rows, and what they would be as a wave."""

    # -- totals over all cells

    def totals(self) -> list[_Total] | None:
        """Variables of the whole table are totals that nothing else reads: what the rows assign to them can be told."""
        assigned = dict.fromkeys(s.var for s in lp.walk([*self.before, *self.cell, *self.after]) if isinstance(s, lp.Assign))
        made = self.made
        found = [self.total(v) for v in assigned if v not in made]  # in the order of the text, so that names are always the same
        totals = [t for t in found if t is not None]
        return totals if len(totals) == len(found) else None

    def total(self, whole: lp.Var) -> _Total | None:
        starts = [s for s in self.before if isinstance(s, lp.Declare) and s.value == lp.Use(whole)]
        if len(starts) != 1 or not whole.dtype.is_integer or whole.dtype is BOOL or whole.dtype != starts[0].var.dtype:
            return None
        row = starts[0].var
        if sum(whole in set(lp.used_vars(s)) for s in [*self.before, *self.cell, *self.after]) != 1 or any(row in set(lp.used_vars(s)) for s in self.before):
            return None
        if any(isinstance(s, lp.Assign) and s.var is row for s in lp.walk([*self.before, *self.after])):
            return None
        ends = self.copies(row, self.after)
        if ends is None or not any(isinstance(s, lp.Assign) and s.var is whole for s in ends):
            return None
        op = self.step(row)
        return None if op is None else _Total(whole, row, op, (starts[0], *ends))

    def step(self, row: lp.Var) -> str | None:
        """The operator by which every cell adds to a row's variable, if that is all that cells do with it."""
        steps = [s for s in self.cell if isinstance(s, lp.Assign) and s.var is row]
        readers = [s for s in self.cell if row in set(lp.used_vars(s))]
        if len(steps) != 1 or len(readers) != 1:
            return None
        op = _operator(readers[0].value, row)  # type: ignore[union-attr, arg-type]
        if op is None or readers[0] is steps[0]:
            return op
        name = readers[0].var if isinstance(readers[0], lp.Let) else None
        alone = name is not None and steps[0].value == lp.Use(name) and sum(name in set(lp.used_vars(s)) for s in self.cell) == 1
        return op if alone else None

    def copies(self, var: lp.Var, stmts: lp.Stmts) -> list[lp.Stmt] | None:
        """The statements that say this variable's value again, when no others read it."""
        names = {var}
        found: list[lp.Stmt] = []
        for s in stmts:
            if not names.isdisjoint(lp.used_vars(s)):
                if not isinstance(s, (lp.Let, lp.Assign)) or not isinstance(s.value, lp.Use):
                    return None
                found.append(s)
                if isinstance(s, lp.Let):
                    names.add(s.var)
        return found

    def without(self, totals: list[_Total]) -> _Nest:
        """The nest without what is said beside the cells about totals."""
        said = {id(s) for t in totals for s in t.says}
        return replace(self, before=[s for s in self.before if id(s) not in said], after=[s for s in self.after if id(s) not in said])

    # -- elements

    def tables(self) -> set[lp.Buffer] | None:
        """Every array that cells write has one element for each column, next to each other: which of the arrays are whole tables of floats; None where that is not so."""
        i, j = self.outer.sym, self.inner.sym
        made, whole = {v.atom for v in self.made}, set()
        written = {s.buffer: s.index for s in self.cell if isinstance(s, lp.Store)}
        for buffer, index in written.items():
            leaves = {a for p in index for a in p.leaves()}
            if any(s.index != index for s in self.cell if isinstance(s, lp.Store) and s.buffer is buffer) or not leaves.isdisjoint(made):
                return None
            if any(j in p.leaves() for p in index[:-1]) or index[-1].coefficient(j) != poly(1) or j in (index[-1] - j).leaves():
                return None
            if i in leaves:
                if not buffer.dtype.is_float or i in index[-1].leaves():
                    return None
                whole.add(buffer)
        return whole if written else None

    def streams(self, rows: set[lp.Var]) -> set[lp.Buffer] | None:
        """What cells read is one element for a row, which is then read before the columns, or one for a column, next to each other (or one for
        each cell, where a step waits long enough for the one before to read them one by one): the arrays with one for each cell; None where it is
        something else. `rows` are totals of rows."""
        i, j = self.outer.sym, self.inner.sym
        written = {s.buffer for s in self.cell if isinstance(s, lp.Store)}
        own = {v.atom for v in self.made | rows}
        apart = all(b.dtype.is_float for b in written)
        found: set[lp.Buffer] = set()
        for s in self.cell:
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
                if (i in leaves and not apart) or any(j in p.leaves() for p in x.index[:-1]) or x.index[-1].coefficient(j) != poly(1):
                    return None
                if i in leaves:
                    found.add(x.buffer)
        return found

    def with_names(self) -> _Nest:
        """The nest with the elements that are the same in all columns read before them."""
        written = {s.buffer for s in self.cell if isinstance(s, lp.Store)}
        kept: dict[lp.Load, lp.Var] = {}
        for x in (x for s in self.cell for x in loads(s.value)):  # type: ignore[union-attr]
            if x.buffer not in written and x not in kept and not any(self.inner.sym in p.leaves() for p in x.index):
                kept[x] = fresh_like(x.buffer.name, x.dtype)
        return replace(self, before=[*self.before, *(lp.Let(var, load) for load, var in kept.items())], cell=Forwarded({}, kept).stmts(self.cell))
