"""Rows of a table whose cells wait for the cell to the left and the row above, many at a time, each one column behind the row above.

    for in order i:  left = ...;  for in order j:  x = f(left, row[j], a[i], b[j]);  row[j] = x;  left = x
becomes, for bands of 64 rows i0, i0 + 1, ...
    for in order t:  for lane:  the cell of row i0 + 63 - lane in column t + lane                  (lanes that are outside the table wait)

What a row hands from cell to cell is an element of a small array, one for every lane. The lanes of a step are cells of one antidiagonal: none
waits for another, so a step is a loop in vectors, and elements of `row` and `b` are neighbours. Every cell is computed from the values it
had, in the order it had; only a running minimum, maximum or sum of integers over all cells is taken in another order, which is exact.

Allowed where that is seen from the indices: rows read and write one element for each column, the same in every row; what is done before and after
the columns of a row touches none of these elements. Or cells write element (i, j) of a whole table of floats and read elements of it that are
written at earlier steps, or at later ones where the old value is wanted: then bands have 16 rows (8 with several tables), as every row is a stream from
memory. Cells of integers wait for each other less long than for elements one by one, so whole tables of them stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.dependence import out_of_reach
from atoll.loops.questions import loads, told
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.expand import in_lanes, lane_array
from atoll.loops.transform.forward import Forwarded
from atoll.loops.transform.regroup import monoid_of, neutral
from atoll.loops.transform.split import counted, first_of, left_over, length
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.prover import facts
from atoll.types.dtypes import BOOL

_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store)


def wave(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        nest = _nest(stmt, (*known, *told(stmt))) if isinstance(stmt, lp.For) else None
        if nest is None:
            return None
        decisions.append(f"{nest.count} rounds of {nest.outer.sym} at a time, each one step of {nest.inner.sym} behind the one before")
        return nest.loops()

    return innermost_first(stmts, rewrite, not_products, known=())


def _nest(outer: lp.For, known: tuple[Poly, ...]) -> _Wave | None:
    """The loop as rows of columns, if it may run as a wave."""
    inner = [s for s in outer.body if isinstance(s, lp.For)]
    if outer.parallel or outer.vector or outer.unroll or len(inner) != 1 or inner[0].parallel or inner[0].vector or inner[0].unroll:
        return None
    place = outer.body.index(inner[0])
    nest = _Nest(outer, inner[0], *_settled([outer.body[:place], inner[0].body, outer.body[place + 1 :]]))
    if not nest.is_table():
        return None
    totals = nest.totals()
    if totals is None:
        return None
    rest = nest.without(totals)
    tables = rest.tables(known)
    streams = None if tables is None else rest.streams({t.row for t in totals})
    if tables is None or streams is None:
        return None
    whole = tables | streams
    count = max(profit.WAVE_STREAMS // 2, profit.WAVE_STREAMS // len(whole)) if whole else profit.WAVE_LANES
    return _Wave(rest.with_names(), {t.row: (t.whole, t.op) for t in totals}, count)


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


def _made(stmts: lp.Stmts) -> set[lp.Var]:
    return {s.var for s in lp.walk(stmts) if isinstance(s, (lp.Let, lp.Declare))}


def _always(e: lp.Expr | None) -> int:
    """How many elements an expression reads whatever its tests say."""
    if isinstance(e, lp.Load):
        return 1
    if isinstance(e, lp.Call) and e.op not in ("select", "and", "or"):
        return sum(map(_always, e.args))
    if isinstance(e, (lp.Choose, lp.Truth)):
        return _always(e.tests[0].expr) if e.tests else 0
    return _always(e.arg) if isinstance(e, lp.Cast) else 0


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
class _Nest:
    """outer: before; inner: cell; after."""

    outer: lp.For
    inner: lp.For
    before: lp.Stmts
    cell: lp.Stmts
    after: lp.Stmts

    @property
    def made(self) -> set[lp.Var]:
        return _made(self.outer.body)

    def is_table(self) -> bool:
        """Rows of the same columns, of statements that can be copied."""
        around = [*self.before, *self.after]
        if not copyable(self.outer.body) or not all(isinstance(s, _STRAIGHT) for s in self.cell):
            return False
        if not all(isinstance(s, (*_STRAIGHT, lp.If)) for s in lp.walk(around)):
            return False
        bounds = (self.inner.low, self.inner.high)
        return not any(self.outer.sym in p.leaves() for p in bounds) and self.made.isdisjoint(lp.used_vars(bounds))

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

    def tables(self, known: tuple[Poly, ...]) -> set[lp.Buffer] | None:
        """Every element of an array that cells write belongs to one column, and the rest of a row leaves it alone: which of the arrays are whole
        tables; None where that is not so."""
        i, j = self.outer.sym, self.inner.sym
        ctx, made = facts(known), self.made
        written = {s.buffer: s.index for s in self.cell if isinstance(s, lp.Store)}
        around = [(s.buffer, s.index) for s in lp.walk([*self.before, *self.after]) if isinstance(s, lp.Store)]
        if not written or any(x.buffer in {b for b, _ in around} - set(written) for x in loads(self.cell)):
            return None
        first, last = ({s.buffer for s in lp.walk(part) if isinstance(s, lp.Store)} for part in (self.before, self.after))
        if any(x.buffer in last for x in loads(self.before)) or any(x.buffer in first for x in loads(self.after)) or first & last:
            return None
        whole: set[lp.Buffer] = set()
        for buffer, index in written.items():
            read = [x.index for x in loads(self.cell) if x.buffer is buffer]
            put = [s.index for s in self.cell if isinstance(s, lp.Store) and s.buffer is buffer]
            leaves = {a for p in index for a in p.leaves()}
            if buffer.rows is not None or any(x != index for x in put) or not leaves.isdisjoint(v.atom for v in made):
                return None
            if any(j in p.leaves() for p in index[:-1]) or index[-1].coefficient(j) != poly(1):
                return None
            start = index[-1] - j
            if j in start.leaves() or not (self.is_filled_in_order(buffer, index, read) if i in leaves else all(x == index for x in read)):
                return None
            if i in leaves:
                whole.add(buffer)
            others = [x.index for x in loads([*self.before, *self.after]) if x.buffer is buffer] + [x for b, x in around if b is buffer]
            if not all(out_of_reach(x[-1], self.inner, start, ctx) for x in others):
                return None
        return whole

    def is_filled_in_order(self, buffer: lp.Buffer, index: tuple[Poly, ...], read: list[tuple[Poly, ...]]) -> bool:
        """A cell writes element (i, j) of a whole table of floats. What it reads of rows above was written at an earlier step, what it reads of rows below
        is written at a later one; the rest of a row writes that row only, and comes before the columns."""
        i = self.outer.sym
        row = index[-2] if len(index) > 1 else poly(0)
        if row.coefficient(i) != poly(1) or any(i in p.leaves() for p in (*index[:-2], row - i, index[-1])):
            return False
        stores = [x.index for x in lp.walk(self.before) if isinstance(x, lp.Store) and x.buffer is buffer]
        if any(x[-2] != row for x in stores) or any(isinstance(x, lp.Store) and x.buffer is buffer for x in lp.walk(self.after)):
            return False
        for x in read:
            down, right = (x[-2] - row).const(), (x[-1] - index[-1]).const()
            if x[:-2] != index[:-2] or down is None or right is None:
                return False
            not_yet, too_late = down < 0 <= down + right, down > 0 and (down + right <= 0 or stores)
            if not_yet or too_late:
                return False
        return buffer.dtype.is_float

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
            if len(read) != _always(s.value):  # type: ignore[union-attr]
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


class _Wave:
    """The loops that are made of a nest."""

    def __init__(self, nest: _Nest, totals: dict[lp.Var, tuple[lp.Var, str]], count: int) -> None:
        self.outer, self.inner, self.before, self.cell, self.after = nest.outer, nest.inner, nest.before, nest.cell, nest.after
        self.totals = totals  # of a row, by the variable of the whole table and its operator
        self.count = count

    def loops(self) -> list[lp.Stmt]:
        outer, inner = self.outer, self.inner
        self.band = Sym(f"{outer.sym.name}_by_{self.count}")
        wide = length(inner)
        wanted = set(lp.used_vars(self.cell)) | {s.var for s in self.cell if isinstance(s, lp.Assign)} | set(lp.used_vars(self.after))
        order = [s.var for s in lp.walk(self.before) if isinstance(s, (lp.Let, lp.Declare)) and s.var in wanted]
        self.lanes = {v: lane_array(v.name, v.dtype, self.count) for v in [*order, *self.totals]}
        first, last, t = Sym("step"), Sym("step"), Sym("step")
        most = self.count - 1
        body: list[lp.Stmt] = [
            *(lp.Alloc(b) for b in self.lanes.values()),
            self.starts(),
            lp.For(first, poly(0), poly(most), [self.step(poly(first) - most, most - poly(first), poly(self.count))], False),
            lp.For(t, poly(0), wide - most, [self.step(poly(t), poly(0), poly(self.count))], False),
            lp.For(last, poly(0), poly(most), [self.step(wide - most + last, poly(0), most - poly(last))], False),
            self.ends(),
            *(lp.Free(b) for b in self.lanes.values()),
        ]
        long = (lp.Test("ge", wide - self.count), lp.Test("ge", length(outer) - self.count))
        some, bands = counted("bands", outer, self.count, [long])
        return [some, lp.For(self.band, poly(0), bands, body, False), left_over(outer, self.count, bands)]

    def row(self, number: Poly) -> Poly:
        return first_of(self.outer, self.count, self.band) + number

    def starts(self) -> lp.Stmt:
        """What comes before the columns, row after row."""
        k = Sym("row")
        copier = Copier({self.outer.sym: self.row(poly(k))})
        lane = (self.count - 1 - poly(k),)
        body = copier.stmts(self.before)
        body += [lp.Store(b, lane, lp.Use(copier.vars[v])) for v, b in self.lanes.items() if v not in self.totals]
        for v, (_, op) in self.totals.items():
            body.append(lp.Store(self.lanes[v], lane, neutral(str(monoid_of(op)), v.dtype)))
        return lp.For(k, poly(0), poly(self.count), body, False)

    def step(self, t: Poly, low: Poly, high: Poly) -> lp.Stmt:
        """One cell of every lane from low to high."""
        lane = Sym("lane")
        copier = Copier({self.outer.sym: self.row(self.count - 1 - poly(lane)), self.inner.sym: self.inner.low + t + lane})
        body = in_lanes(self.cell, copier, self.lanes, poly(lane))
        return lp.For(lane, low, high, body, True)

    def ends(self) -> lp.Stmt:
        """What comes after the columns, row after row."""
        k = Sym("row")
        copier = Copier({self.outer.sym: self.row(poly(k))})
        lane = (self.count - 1 - poly(k),)
        body: list[lp.Stmt] = [lp.Declare(copier.var(v), lp.Load(b, lane)) for v, b in self.lanes.items() if v not in self.totals and v in set(lp.used_vars(self.after))]
        body += copier.stmts(self.after)
        for v, (whole, op) in self.totals.items():
            body.append(lp.Assign(whole, lp.Call(op, (lp.Use(whole), lp.Load(self.lanes[v], lane)), whole.dtype)))
        return lp.For(k, poly(0), poly(self.count), body, False)
