"""Rows that are made beside an array and then copied into it are made in their place.

    alloc t                                         for k:
    for k:                                             for i: y[k, i] = ...
       for i: t[i] = ...                    becomes    what changes y[k, ..]
       what changes t
       for i: y[k, i] = t[i]
The state of a loop inside a loop is like this when the last state is an element of a comprehension. Nobody else may know t, nothing beside the copy may know y
where t lives, and t is written as a whole before it is read, so that no round sees what another one left.
"""

from __future__ import annotations

import itertools
from collections import Counter

from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.loops.transform.forward import by_elements_only, retargeted
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import every_block, not_products, without_memory
from atoll.sizes import Atom, Poly, poly


def in_rows(stmts: lp.Stmts, decisions: list[str]) -> lp.Stmts:
    everywhere = mentions(stmts)
    made: set[lp.Buffer] = set()

    def block(body: lp.Stmts) -> lp.Stmts:
        while (row := next((found for k in range(len(body)) if (found := _row(body, k, everywhere)) is not None), None)) is not None:
            at, own, target, prefix = row
            moved = retargeted([s for k, s in enumerate(body) if k != at], own, target, lambda index, prefix=prefix: (*prefix, *index))  # type: ignore[misc]
            if isinstance(moved, Refused):
                break
            body = moved
            decisions.append(f"each {own.shown} is made where all of them are kept, not copied there")
            made.add(own)
            own.home = own.home or target
        return body

    found = every_block(stmts, block, not_products)
    return without_memory(found, made) if made else found


def _row(stmts: lp.Stmts, at: int, everywhere: Counter[lp.Buffer]) -> tuple[int, lp.Buffer, lp.Buffer, tuple[Poly, ...]] | None:
    """The statement that copies a row, the row, the array it is put into and where; None if it is none or may not be done."""
    found = _copy(stmts[at])
    if found is None:
        return None
    own, target, prefix = found
    if own.kind != "temp" or own.local or own.rows is not None or target.rows is not None or own.dtype is not target.dtype or target is own:
        return None
    if target.local or target.extents[len(prefix) :] != own.extents:
        return None
    before, after = stmts[:at], stmts[at + 1 :]
    here = mentions(before)
    if here[own] + mentions(stmts[at])[own] != everywhere[own] or here[target] or mentions(after)[target] or mentions(after)[own] or not here[own]:
        return None
    inside = list(lp.walk(before))
    if any(isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is target for s in inside) or not by_elements_only(before, own):
        return None
    if _leaves_early(before) or not _stays(prefix, before) or _checked_late(before, own, target, prefix):
        return None
    fresh = any(isinstance(s, lp.Alloc) and s.buffer is own for s in before)
    return (at, own, target, prefix) if fresh or _fills(next(s for s in before if mentions(s)[own]), own) else None


def _copy(stmt: lp.Stmt) -> tuple[lp.Buffer, lp.Buffer, tuple[Poly, ...]] | None:
    """for i in all of t: y[prefix, i] = t[i]"""
    loops, body = _nest(stmt)
    first = body[0] if loops and body else None
    if not isinstance(first, lp.Store) or not isinstance(first.value, lp.Load):
        return None
    own, target = first.value.buffer, first.buffer
    prefix = first.index[: max(0, len(first.index) - len(own.extents))]
    stores = [s for s in body if isinstance(s, lp.Store) and s.buffer is target and isinstance(s.value, lp.Load) and s.value.buffer is own]
    if len(stores) != len(body) or not prefix or any(s.index != (*prefix, *s.value.index) for s in stores if isinstance(s.value, lp.Load)):
        return None
    if not _covers(loops, [s.value.index for s in stores if isinstance(s.value, lp.Load)], own):
        return None
    syms = {loop.sym for loop in loops}
    return None if any(not syms.isdisjoint(p.leaves()) for p in prefix) else (own, target, prefix)


def _nest(stmt: lp.Stmt) -> tuple[list[lp.For], lp.Stmts]:
    """Loops around one body; what comes before the next loop in it belongs to nobody."""
    loops: list[lp.For] = []
    body: lp.Stmts = [stmt]
    while len(body) == 1 and isinstance(body[0], lp.For):
        loops.append(body[0])
        body = body[0].body
    return loops, body


def _covers(loops: list[lp.For], places: list[tuple[Poly, ...]], own: lp.Buffer) -> bool:
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


def _leaves_early(stmts: lp.Stmts) -> bool:
    """A loop around may end before the copy."""
    return any(isinstance(s, lp.BreakUnless) or (isinstance(s, lp.If) and any(_leaves_early(body) for body in lp.bodies(s))) for s in stmts)


def _checked_late(stmts: lp.Stmts, own: lp.Buffer, target: lp.Buffer, prefix: tuple[Poly, ...]) -> bool:
    """Whether there is a place for the row may be checked only after the row is begun."""
    begun = next(k for k, s in enumerate(stmts) if mentions(s)[own])
    place = {leaf for p in prefix for leaf in p.leaves()} or {leaf for p in target.extents[: len(prefix)] for leaf in p.leaves()}
    for s in lp.walk(stmts[begun:]):
        for t in s.tests if isinstance(s, lp.Check) else ():
            parts = list(lp.subexprs(t.expr)) if t.expr is not None else []
            polys = [e.poly for e in parts if isinstance(e, lp.Index)] + ([t.poly] if t.poly is not None else [])
            unknown = any(isinstance(e, (lp.Use, lp.Load, lp.Truth, lp.Choose)) for e in parts)
            if unknown or any(not place.isdisjoint(p.leaves()) for p in polys):
                return True
    return False


def _stays(prefix: tuple[Poly, ...], stmts: lp.Stmts) -> bool:
    """True when a place means the same at the start of these statements as after them."""
    changed: set[Atom] = set()
    for s in lp.walk(stmts):
        if isinstance(s, (lp.Let, lp.Declare, lp.Assign, lp.Add)):
            changed.add(s.var.atom)
        elif isinstance(s, lp.Accumulate):
            changed |= {a.var.atom for a in s.accs}
        elif isinstance(s, lp.Helper) and s.result is not None:
            changed.add(s.result.atom)
    return all(changed.isdisjoint(p.leaves()) for p in prefix)
