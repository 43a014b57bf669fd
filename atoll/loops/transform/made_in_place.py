"""What is made beside an array and then copied into it is made in its place (storage mapping; the copy is gone).

    alloc t                                         for k:
    for k:                                             for i: y[k, i] = ...
       for i: t[i] = ...                    becomes    what changes y[k, ..]
       what changes t
       for i: y[k, i] = t[i]

    row_copy(stmt)                               the copy of such a row
    row_in_place(block, at, everywhere)          rows: the statement at this place of a block copies one
    columns_in_place(stmts, at)                  columns of a program's result: the statement copies all of them, turned

A row may be made in its place where nobody else may know t; where nothing beside the copy may know y where t lives; where the copy is made in every round and its
place is the same all the while (and known to exist before the row is begun: a check behind that would be too late); and where t is written as a whole before it is
read, or lives in this block only, so that no round sees what another one left.

Columns t[i, r] = ... that are copied to y[r, i] may be where the same holds of t and y, and every column is made by a round of independent ones.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.questions import changed, loads, mentions
from atoll.loops.transform.forward import by_elements_only, retargeted
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, Sym, poly

Index = tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class InPlace:
    """What stands in the place of the statements; the array that is gone, and where its elements are now."""

    stmts: lp.Stmts
    own: lp.Buffer
    target: lp.Buffer


# -- rows


@dataclass(frozen=True, slots=True)
class RowCopy:
    """for i in all of own:  target[prefix, i] = own[i]"""

    own: lp.Buffer
    target: lp.Buffer
    prefix: Index


def row_in_place(block: lp.Stmts, at: int, everywhere: Counter[lp.Buffer]) -> InPlace | Refused:
    """`everywhere`: how often the program mentions each array."""
    copy = row_copy(block[at])
    if copy is None:
        return Refused("it copies no row")
    why = _memory(copy) or _known_elsewhere(copy, block, at, everywhere) or _place_is_late(copy, block[:at]) or _seen_again(copy, block[:at])
    if why is not None:
        return Refused(why)
    own, target = copy.own, copy.target
    moved = retargeted([s for k, s in enumerate(block) if k != at], own, target, lambda index: (*copy.prefix, *index))
    return moved if isinstance(moved, Refused) else InPlace(list(moved), own, target)


def _memory(copy: RowCopy) -> str | None:
    own, target = copy.own, copy.target
    plain = own.kind == "temp" and not own.local and own.rows is None and not target.local and target.rows is None
    if not plain or own.dtype is not target.dtype or target is own:
        return "the two are not memory of one kind"
    return None if target.extents[len(copy.prefix) :] == own.extents else "a row has another shape there"


def _known_elsewhere(copy: RowCopy, block: lp.Stmts, at: int, everywhere: Counter[lp.Buffer]) -> str | None:
    own, target, before, after = copy.own, copy.target, block[:at], block[at + 1 :]
    here, later = mentions(before), mentions(after)
    if here[own] + mentions(block[at])[own] != everywhere[own] or later[own] or not here[own]:
        return "others know the row"
    if here[target] or later[target] or any(isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is target for s in lp.walk(before)):
        return "others know the array that it is put into"
    return None if by_elements_only(before, own) else "the row is mentioned as a whole"


def _place_is_late(copy: RowCopy, before: lp.Stmts) -> str | None:
    if leaves_early(before):
        return "a loop around may end before the copy"
    atoms = {v.atom for v in changed(before)[0]}
    if any(not atoms.isdisjoint(p.leaves()) for p in copy.prefix):
        return "the place may be another one before the copy"
    return "whether the place exists is checked after the row is begun" if _checked_late(before, copy) else None


def _seen_again(copy: RowCopy, before: lp.Stmts) -> str | None:
    own = copy.own
    fresh = any(isinstance(s, lp.Alloc) and s.buffer is own for s in before)
    return None if fresh or _fills(next(s for s in before if mentions(s)[own]), own) else "a round may read what another one left"


def row_copy(stmt: lp.Stmt) -> RowCopy | None:
    loops, body = _nest(stmt)
    first = body[0] if loops and body else None
    if not isinstance(first, lp.Store) or not isinstance(first.value, lp.Load):
        return None
    own, target = first.value.buffer, first.buffer
    prefix = first.index[: max(0, len(first.index) - len(own.extents))]
    stores = [(s.index, s.value.index) for s in body if isinstance(s, lp.Store) and s.buffer is target and isinstance(s.value, lp.Load) and s.value.buffer is own]
    if len(stores) != len(body) or not prefix or any(there != (*prefix, *here) for there, here in stores):
        return None
    if not _covers(loops, [here for _, here in stores], own):
        return None
    syms = {loop.sym for loop in loops}
    return None if any(not syms.isdisjoint(p.leaves()) for p in prefix) else RowCopy(own, target, prefix)


def _nest(stmt: lp.Stmt) -> tuple[list[lp.For], lp.Stmts]:
    """Loops around one body; what comes before the next loop in it belongs to nobody."""
    loops: list[lp.For] = []
    body: lp.Stmts = [stmt]
    while len(body) == 1 and isinstance(body[0], lp.For):
        loops.append(body[0])
        body = body[0].body
    return loops, body


def _covers(loops: list[lp.For], places: list[Index], own: lp.Buffer) -> bool:
    """True when the places in these loops are all of an array: the loops' indices, then numbers where the last loops are written out."""
    outer = tuple(poly(loop.sym) for loop in loops)
    rest = [extent.const() for extent in own.extents[len(loops) :]]
    if tuple(loop.high for loop in loops) != own.extents[: len(loops)] or any(loop.low != poly(0) for loop in loops) or any(extent is None for extent in rest):
        return False
    numbers = {tuple(p.const() for p in place[len(outer) :]) for place in places if place[: len(outer)] == outer}
    return numbers == set(itertools.product(*(range(extent) for extent in rest if extent is not None)))


def _fills(stmt: lp.Stmt, own: lp.Buffer) -> bool:
    """True when a statement writes all of a row and reads none of it."""
    loops: list[lp.For] = []
    body: lp.Stmts = [stmt]
    while body and isinstance(body[-1], lp.For) and not any(mentions(s)[own] for s in body[:-1]):
        loops.append(body[-1])
        body = body[-1].body
    stores = [s for s in body if isinstance(s, lp.Store) and s.buffer is own]
    return mentions(stmt)[own] == len(stores) and _covers(loops, [s.index for s in stores], own)


def leaves_early(stmts: lp.Stmts) -> bool:
    """A loop around may end here."""
    return any(isinstance(s, lp.BreakUnless) or (isinstance(s, lp.If) and any(leaves_early(body) for body in lp.bodies(s))) for s in stmts)


def _checked_late(stmts: lp.Stmts, copy: RowCopy) -> bool:
    """Whether there is a place for the row may be checked only after the row is begun."""
    begun = next(k for k, s in enumerate(stmts) if mentions(s)[copy.own])
    place = {leaf for p in (*copy.prefix, *copy.target.extents[: len(copy.prefix)]) for leaf in p.leaves()}
    for s in lp.walk(stmts[begun:]):
        for t in s.tests if isinstance(s, lp.Check) else ():
            parts = list(lp.subexprs(t.expr)) if t.expr is not None else []
            polys = [e.poly for e in parts if isinstance(e, lp.Index)] + ([t.poly] if t.poly is not None else [])
            unknown = any(isinstance(e, (lp.Use, lp.Load, lp.Truth, lp.Choose)) for e in parts)
            if unknown or any(not place.isdisjoint(p.leaves()) for p in polys):
                return True
    return False


# -- columns


def columns_in_place(stmts: lp.Stmts, at: int) -> InPlace | Refused:
    """Of statements that run once: the one at this place copies columns."""
    copy = stmts[at]
    found = _turned(copy)
    if found is None:
        return Refused("it copies no columns")
    own, target = found
    here, before = mentions(stmts), stmts[:at]
    if here[own] != 1 + mentions(before)[own] or here[target] != 1 or any(isinstance(s, lp.Alloc) and s.buffer is target for s in lp.walk(stmts)):
        return Refused("others know the columns, or the array that they are put into")
    makers = [s for s in before if mentions(s)[own]]
    if len(makers) != 1 or not any(isinstance(s, lp.Alloc) and s.buffer is own for s in before):
        return Refused("the columns are not made in one place")
    if not _is_made_in_columns(makers[0], own):
        return Refused("a round makes more than its column, or reads what is not next to what its neighbours read")
    moved = retargeted(makers, own, target, lambda index: (index[1], index[0]))
    if isinstance(moved, Refused):
        return moved
    gone = [s for s in stmts if s is copy or (isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is own)]
    return InPlace([moved[0] if s is makers[0] else s for s in stmts if not any(s is x for x in gone)], own, target)


def _rounds(stmt: lp.Stmt) -> lp.For | None:
    """The loop that pieces are of, if they are nothing else."""
    alone = isinstance(stmt, lp.Chunks) and not stmt.accs and not stmt.buffers and len(stmt.body) == 1
    return stmt.body[0] if alone and isinstance(stmt, lp.Chunks) and isinstance(stmt.body[0], lp.For) else None


def _turned(stmt: lp.Stmt) -> tuple[lp.Buffer, lp.Buffer] | None:
    """pieces of i, for j: y[i, j] = t[j, i], all of both"""
    rows = _rounds(stmt)
    columns = rows.body[0] if rows is not None and len(rows.body) == 1 else None
    if rows is None or not isinstance(stmt, lp.Chunks) or not isinstance(columns, lp.For) or len(columns.body) != 1:
        return None
    if (rows.low, rows.high) != (poly(stmt.low), poly(stmt.high)) or columns.low != poly(0) or not rows.parallel or not columns.parallel:
        return None
    s = columns.body[0]
    if not isinstance(s, lp.Store) or not isinstance(s.value, lp.Load):
        return None
    own, target = s.value.buffer, s.buffer
    i, j = poly(rows.sym), poly(columns.sym)
    if s.index != (i, j) or s.value.index != (j, i) or target.extents != (stmt.extent, columns.high) or own.extents != (columns.high, stmt.extent):
        return None
    plain = own.kind == "temp" and target.kind == "out" and own.rows is None and target.rows is None and not own.local and own.dtype is target.dtype
    return (own, target) if plain else None


def _is_made_in_columns(stmt: lp.Stmt, own: lp.Buffer) -> bool:
    """pieces of i, for i: ...;  for in order r: ... t[i, r] = ...  and all that moves with i there is a last index."""
    rounds = _rounds(stmt)
    steps = [s for s in rounds.body if isinstance(s, lp.For)] if rounds is not None else []
    if rounds is None or not rounds.parallel or len(steps) != 1 or steps[0].parallel or mentions(rounds.body)[own] != mentions(steps[0].body)[own]:
        return False
    if not all(isinstance(s, (lp.Let, lp.Declare, lp.Assign, lp.Store)) for s in steps[0].body):
        return False
    i, r = rounds.sym, steps[0].sym
    stores = [s for s in steps[0].body if isinstance(s, lp.Store)]
    read = loads(steps[0].body)
    places = [s.index for s in stores] + [x.index for x in read if x.buffer is own]
    if any(s.buffer is not own for s in stores) or not all(_of_column(index, i, r) for index in places):
        return False
    others = [x.index for x in read if x.buffer is not own and any(i in p.leaves() for p in x.index)]
    return bool(others) and all(_next_to(index, i) and r not in index[-1].leaves() for index in others)


def _next_to(index: Index, i: Sym) -> bool:
    """Neighbours in the next round."""
    return index[-1].slope(i) == poly(1) and not any(i in p.leaves() for p in index[:-1])


def _of_column(index: Index, i: Sym, r: Sym) -> bool:
    return len(index) == 2 and index[0] == poly(i) and index[1].slope(r) == poly(1) and i not in index[1].leaves()
