"""Rows side by side, each one column behind the row above it (loop skewing: a wavefront).

    for in order i:  A(i);  for in order j in low..high: S(i, j);  B(i)
becomes, for bands of `count` rows where there are as many columns,
    for i of the band: A(i);   for in order t: for lane: S(the row of the lane, low + t + lane);   for i of the band: B(i)

where the last row is in the first lane: the lanes of a step are cells of one antidiagonal, and row by row a column comes one step later. Right where no two things that change places
touch an element that one of them writes. Of rows a < b: A(b) is done before S(a, d) and B(a); S(b, c) before B(a); and S(b, c) before S(a, d), or beside it, where b + c <= a + d.
Elements that are the same have the same sum of indices, which is held against that. What a row hands on in variables has an element for every lane (expand.py); nothing else goes from
row to row in variables but totals of integers, which are combined at the end of a band, and columns are the same in every row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.dependence import Order, Places
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.expand import in_lanes, lane_array
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.regroup import monoid_of, neutral
from atoll.loops.transform.split import blocks_and_rest, counted, first_of, length
from atoll.sizes import Atom, Poly, Sym, poly

STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store)


@dataclass(frozen=True, slots=True)
class Rows:
    """outer: before; inner: cell; after."""

    outer: lp.For
    inner: lp.For
    before: lp.Stmts
    cell: lp.Stmts
    after: lp.Stmts

    @property
    def made(self) -> set[lp.Var]:
        """What rows declare, in the loop as it was and in its parts."""
        parts = [*self.outer.body, *self.before, *self.cell, *self.after]
        return {s.var for s in lp.walk(parts) if isinstance(s, (lp.Let, lp.Declare))}


Totals = dict[lp.Var, tuple[lp.Var, str]]
"""Of a row, by the variable of all rows and the operator: each row begins with the neutral element."""


def skewed(rows: Rows, totals: Totals, count: int, known: tuple[Poly, ...] = ()) -> Made:
    """Bands of so many rows, then the rows that are left."""
    why = is_table(rows) or _own_variables(rows, totals) or _why_not(rows, known)
    return _Bands(rows, totals, count).loops() if why is None else why


def is_table(rows: Rows) -> Refused | None:
    """Why the rows are not of the same columns, or their statements cannot be copied."""
    around = [*rows.before, *rows.after]
    if not copyable(rows.outer.body) or not all(isinstance(s, STRAIGHT) for s in rows.cell) or not all(isinstance(s, (*STRAIGHT, lp.If)) for s in lp.walk(around)):
        return Refused("it does more than compute and store")
    bounds = (rows.inner.low, rows.inner.high)
    if any(rows.outer.sym in p.leaves() for p in bounds) or not rows.made.isdisjoint(lp.used_vars(bounds)):
        return Refused("how far a row runs depends on the row")
    return None


def _own_variables(rows: Rows, totals: Totals) -> Refused | None:
    """Rows change no variable but their own: totals are told beside them."""
    own = rows.made | totals.keys()
    changed = [s.var for s in lp.walk([*rows.before, *rows.cell, *rows.after]) if isinstance(s, lp.Assign)]
    return None if own.issuperset(changed) else Refused("a row leaves a variable for the next one")


def _why_not(rows: Rows, known: tuple[Poly, ...]) -> Refused | None:
    """What changes places and may touch the same element."""
    i, j = rows.outer.sym, rows.inner.sym
    a, b, c, d = (Sym(name) for name in "abcd")
    here = [*known, poly(a) - rows.outer.low, poly(b) - poly(a) - 1, rows.outer.high - poly(b) - 1]
    for column in (c, d):
        here += [poly(column) - rows.inner.low, rows.inner.high - poly(column) - 1]
    order = Order(tuple(here))

    def touched(stmts: lp.Stmts, env: dict[Atom, Poly]) -> Places:
        return [x and replace(x, index=(*x.index, sum(x.index, poly(0)))) for x in order.touched(stmts, env)]

    above, below = touched(rows.cell, {i: poly(a), j: poly(d)}), touched(rows.cell, {i: poly(b), j: poly(c)})
    first, last = touched(rows.before, {i: poly(b)}), touched(rows.after, {i: poly(a)})
    if not (order.apart(first, above) and order.apart(first, last) and order.apart(below, last)):
        return Refused("what is done beside the columns may touch what other rows do in them")
    if not order.apart(below, above, (poly(a) + poly(d) - poly(b) - poly(c),)):
        return Refused("a cell may touch what a row above does at the same step, or later")
    return None


class _Bands:
    """The loops that are made of rows."""

    def __init__(self, nest: Rows, totals: Totals, count: int) -> None:
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
        return [some, *blocks_and_rest(outer, self.count, self.band, body, bands)]

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
