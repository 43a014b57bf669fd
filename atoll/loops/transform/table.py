"""A loop over loops as rows of columns, in the form in which rows can change places (skew.py): names for values, totals of rows, elements of a row read once.

    table(loop)              the parts of a row: before its columns, a cell, after them
    totalled(rows)           rows without what they say about totals of the whole table, and the totals
    read_first(rows)         elements that are the same in all columns read before them

    var s = whole;  for in order j:  s = s op e;  whole = s          becomes          for in order j:  s = s op e          with s a total of the row

A variable that is assigned once, before it is read, in the part that declares it (or after the columns), is a name of its value. A variable that rows assign to and do not declare is a
total where each row begins with it, every cell does nothing with it but combine it by an associative and commutative operator, it ends in what the row ends with, and nothing else reads it
or the row's variable meanwhile: then rows may begin with the neutral element and be combined in any order, of integers. An element is the same in all columns where its index does not
move with them nor is made in a row, and cells do not write its array; reading it before the columns is right where there are columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.copier import fresh_like
from atoll.loops.transform.forward import Forwarded
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import monoid_of
from atoll.loops.transform.skew import Rows, Totals, is_table
from atoll.sizes import poly
from atoll.types.dtypes import BOOL


def table(outer: lp.For) -> Rows | Refused:
    inner = [s for s in outer.body if isinstance(s, lp.For)]
    if len(inner) != 1 or any(loop.parallel or loop.vector or loop.unroll for loop in (outer, *inner)):
        return Refused("it is not one loop in order in another one")
    place = outer.body.index(inner[0])
    rows = Rows(outer, inner[0], *_settled([outer.body[:place], inner[0].body, outer.body[place + 1 :]]))
    return is_table(rows) or rows


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


# -- totals over all cells


@dataclass(frozen=True, slots=True)
class _Total:
    """row = whole;  each cell: row = row op e;  whole = row          a total of the whole table that nothing else reads"""

    whole: lp.Var
    row: lp.Var
    op: str
    says: tuple[lp.Stmt, ...]  # the statements beside the cells that say so


def totalled(rows: Rows) -> tuple[Rows, Totals] | Refused:
    everything = [*rows.before, *rows.cell, *rows.after]
    assigned = dict.fromkeys(s.var for s in lp.walk(everything) if isinstance(s, lp.Assign))
    made = rows.made
    found = [_total(rows, v) for v in assigned if v not in made]  # in the order of the text, so that names are always the same
    totals = [t for t in found if t is not None]
    if len(totals) < len(found):
        return Refused("rows leave a variable that is no total")
    said = {id(s) for t in totals for s in t.says}
    rest = replace(rows, before=[s for s in rows.before if id(s) not in said], after=[s for s in rows.after if id(s) not in said])
    return rest, {t.row: (t.whole, t.op) for t in totals}


def _total(rows: Rows, whole: lp.Var) -> _Total | None:
    starts = [s for s in rows.before if isinstance(s, lp.Declare) and s.value == lp.Use(whole)]
    if len(starts) != 1 or not whole.dtype.is_integer or whole.dtype is BOOL or whole.dtype != starts[0].var.dtype:
        return None
    row = starts[0].var
    readers = sum(whole in set(lp.used_vars(s)) for s in [*rows.before, *rows.cell, *rows.after])
    changed_beside = any(isinstance(s, lp.Assign) and s.var is row for s in lp.walk([*rows.before, *rows.after]))
    if readers != 1 or changed_beside or any(row in set(lp.used_vars(s)) for s in rows.before):
        return None
    ends = _copies(row, whole, rows.after)
    if ends is None or not any(isinstance(s, lp.Assign) for s in ends):
        return None
    op = _step(rows, row)
    return None if op is None else _Total(whole, row, op, (starts[0], *ends))


def _step(rows: Rows, row: lp.Var) -> str | None:
    """The operator by which every cell adds to a row's variable, if that is all that cells do with it."""
    steps = [s for s in rows.cell if isinstance(s, lp.Assign) and s.var is row]
    readers = [s for s in rows.cell if row in set(lp.used_vars(s))]
    if len(steps) != 1 or len(readers) != 1:
        return None
    op = _operator(readers[0].value, row)  # type: ignore[union-attr, arg-type]
    if op is None or readers[0] is steps[0]:
        return op
    name = readers[0].var if isinstance(readers[0], lp.Let) else None
    alone = name is not None and steps[0].value == lp.Use(name) and sum(name in set(lp.used_vars(s)) for s in rows.cell) == 1
    return op if alone else None


def _operator(value: lp.Expr, var: lp.Var) -> str | None:
    """The operator of a value that is var op e, where e does not read the variable."""
    if isinstance(value, lp.Index):
        return "add" if value.poly.slope(var.atom) == poly(1) and var.atom not in (value.poly - var.atom).leaves() else None
    if not isinstance(value, lp.Call) or monoid_of(value.op) is None or len(value.args) != 2 or value.dtype != var.dtype:
        return None
    alone = [a == lp.Use(var) for a in value.args]
    return value.op if alone.count(True) == 1 and sum(var in set(lp.used_vars(a)) for a in value.args) == 1 else None


def _copies(var: lp.Var, whole: lp.Var, stmts: lp.Stmts) -> list[lp.Stmt] | None:
    """The statements that put this variable's value into that of the whole table, when no others read it."""
    names = {var}
    found: list[lp.Stmt] = []
    for s in stmts:
        if names.isdisjoint(lp.used_vars(s)):
            continue
        if not isinstance(s, (lp.Let, lp.Assign)) or not isinstance(s.value, lp.Use) or (isinstance(s, lp.Assign) and s.var is not whole):
            return None
        found.append(s)
        if isinstance(s, lp.Let):
            names.add(s.var)
    return found


# -- elements of a row


def read_first(rows: Rows) -> Rows:
    """Of rows that have columns."""
    written = {s.buffer for s in rows.cell if isinstance(s, lp.Store)}
    moving = {rows.inner.sym, *(s.var.atom for s in rows.cell if isinstance(s, (lp.Let, lp.Declare, lp.Assign)))}
    kept: dict[lp.Load, lp.Var] = {}
    for x in (x for s in rows.cell for x in loads(s.value)):  # type: ignore[union-attr]
        if x.buffer not in written and x not in kept and all(moving.isdisjoint(p.leaves()) for p in x.index):
            kept[x] = fresh_like(x.buffer.name, x.dtype)
    before = [*rows.before, *(lp.Let(var, load) for load, var in kept.items())]
    return replace(rows, before=before, cell=Forwarded({}, kept).stmts(rows.cell))
