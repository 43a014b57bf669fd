"""Columns that are made one by one beside a result, and then copied into it turned, are made in their place.

    for i:  s = 0;  for in order r:  s = s + x[r, i];  t[i, r] = s                        for i:  s = 0;  for in order r:  s = s + x[r, i];  y[r, i] = s
    for i, j:  y[i, j] = t[j, i]                                             becomes

Running sums along the first axis are like this. t is gone; the rounds of i read and write neighbours, so they go side by side along rows (lanes.py). Nobody else
may know t or y, t is a recurrence along its last axis, and whatever moves with i in that recurrence is the last index of what it reads.
"""

from __future__ import annotations

from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import loads, mentions
from atoll.loops.transform.forward import retargeted
from atoll.loops.transform.refused import Refused
from atoll.sizes import Sym, poly


def turned(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    """Statements of the program itself, which run once."""
    for stmt in list(stmts):
        found = _copy(stmt)
        if found is None:
            continue
        own, target = found
        here, at = mentions(stmts), stmts.index(stmt)
        if here[own] != 1 + mentions(stmts[:at])[own] or here[target] != 1 or any(isinstance(s, lp.Alloc) and s.buffer is target for s in lp.walk(stmts)):
            continue
        makers = [s for s in stmts[:at] if mentions(s)[own]]
        if len(makers) != 1 or not any(isinstance(s, lp.Alloc) and s.buffer is own for s in stmts[:at]) or not _is_made_in_columns(makers[0], own):
            continue
        moved = retargeted(makers, own, target, lambda index: (index[1], index[0]))
        if isinstance(moved, Refused):
            continue
        decisions.append(f"{own.shown} is made where it is returned, a row of all columns at a time")
        gone = [s for s in stmts if s is stmt or (isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is own)]
        stmts = [moved[0] if s is makers[0] else s for s in stmts if not any(s is x for x in gone)]
        own.home = target
    return stmts


def _copy(stmt: lp.Stmt) -> tuple[lp.Buffer, lp.Buffer] | None:
    """pieces of i, for j: y[i, j] = t[j, i], all of both"""
    if not isinstance(stmt, lp.Chunks) or stmt.accs or stmt.buffers or len(stmt.body) != 1 or not isinstance(stmt.body[0], lp.For):
        return None
    rows = stmt.body[0]
    if (rows.low, rows.high) != (poly(stmt.low), poly(stmt.high)) or len(rows.body) != 1 or not isinstance(rows.body[0], lp.For):
        return None
    columns = rows.body[0]
    if columns.low != poly(0) or len(columns.body) != 1:
        return None
    s = columns.body[0]
    if not isinstance(s, lp.Store) or not isinstance(s.value, lp.Load) or not rows.parallel or not columns.parallel:
        return None
    own, target = s.value.buffer, s.buffer
    i, j = poly(rows.sym), poly(columns.sym)
    if s.index != (i, j) or s.value.index != (j, i) or target.extents != (stmt.extent, columns.high) or own.extents != (columns.high, stmt.extent):
        return None
    plain = own.kind == "temp" and target.kind == "out" and own.rows is None and target.rows is None and not own.local and own.dtype is target.dtype
    return (own, target) if plain else None


def _is_made_in_columns(stmt: lp.Stmt, own: lp.Buffer) -> bool:
    """pieces of i, for i: ...;  for in order r: ... t[i, r] = ...  and all that moves with i there is a last index."""
    if not isinstance(stmt, lp.Chunks) or stmt.accs or stmt.buffers or len(stmt.body) != 1 or not isinstance(stmt.body[0], lp.For):
        return False
    rounds = stmt.body[0]
    steps = [s for s in rounds.body if isinstance(s, lp.For)]
    if not rounds.parallel or len(steps) != 1 or steps[0].parallel or mentions(rounds.body)[own] != mentions(steps[0].body)[own]:
        return False
    if not all(isinstance(s, (lp.Let, lp.Declare, lp.Assign, lp.Store)) for s in steps[0].body):
        return False
    i, r = rounds.sym, steps[0].sym
    stores = [s for s in steps[0].body if isinstance(s, lp.Store)]
    read = loads(steps[0].body)
    places = [s.index for s in stores] + [x.index for x in read if x.buffer is own]
    if any(s.buffer is not own for s in stores) or not all(_turns(index, i, r) for index in places):
        return False
    others = [x.index for x in read if x.buffer is not own and any(i in p.leaves() for p in x.index)]
    return bool(others) and all(index[-1].coefficient(i) == poly(1) and not any(i in p.leaves() for p in index[:-1]) and r not in index[-1].leaves() for index in others)


def _turns(index: tuple[Any, ...], i: Sym, r: Sym) -> bool:
    return len(index) == 2 and index[0] == poly(i) and index[1].coefficient(r) == poly(1) and i not in index[1].leaves()
