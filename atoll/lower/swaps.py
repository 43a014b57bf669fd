"""Buffers that are exchanged live equally long.

Loops exchange the memory of their state with that of the next state. In loops inside loops the same memory goes round among several buffers; if one of
them were freed at the end of a round of an outer loop, it could hold memory that another one owned. So what is exchanged inside a loop
is allocated before it and freed after it, unless all of it is. After the outermost loop a result is put where the caller wants it (`settle`).
"""

from __future__ import annotations

from atoll.loops import ir as lp

_LOOPS = (lp.For, lp.Accumulate, lp.Chunks, lp.Forever)


def live_together(body: list[lp.Stmt]) -> None:
    """Move allocations, and settle results after the outermost loops that exchange them."""
    partners = _partners(body)
    if partners:
        _hoist(body, partners)
        _settle(body, partners)


def _partners(body: list[lp.Stmt]) -> dict[lp.Buffer, set[lp.Buffer]]:
    """Everything a buffer's memory may come from, itself included."""
    found: dict[lp.Buffer, set[lp.Buffer]] = {}
    for stmt in lp.walk(body):
        if isinstance(stmt, lp.Swap):
            joined = found.get(stmt.first, {stmt.first}) | found.get(stmt.second, {stmt.second})
            for buffer in joined:
                found[buffer] = joined
    return found


def _hoist(body: list[lp.Stmt], partners: dict[lp.Buffer, set[lp.Buffer]]) -> None:
    place = 0
    while place < len(body):
        stmt = body[place]
        for inner in lp.bodies(stmt):
            _hoist(inner, partners)
        if isinstance(stmt, _LOOPS):
            inside = {s.buffer for s in lp.walk([stmt]) if isinstance(s, lp.Alloc)}
            moved = [b for b in sorted(inside, key=lambda b: b.number) if not partners.get(b, inside) <= inside]
            if moved:
                _remove(stmt, set(moved))
                body[place : place + 1] = [*(lp.Alloc(b) for b in moved), stmt, *(lp.Free(b) for b in moved)]
                place += 2 * len(moved)
        place += 1


def _remove(stmt: lp.Stmt, buffers: set[lp.Buffer]) -> None:
    for inner in lp.bodies(stmt):
        inner[:] = [s for s in inner if not (isinstance(s, (lp.Alloc, lp.Free)) and s.buffer in buffers)]
        for s in inner:
            _remove(s, buffers)


def _settle(body: list[lp.Stmt], partners: dict[lp.Buffer, set[lp.Buffer]]) -> None:
    place = 0
    while place < len(body):
        stmt = body[place]
        place += 1
        if not isinstance(stmt, _LOOPS):
            for inner in lp.bodies(stmt):
                _settle(inner, partners)
            continue
        swapped = {b for s in lp.walk([stmt]) if isinstance(s, lp.Swap) for b in (s.first, s.second)}
        for out in sorted((b for b in swapped if b.kind == "out"), key=lambda b: b.number):
            others = sorted((partners[out] & swapped) - {out}, key=lambda b: b.number)
            body.insert(place, lp.Helper("settle", ((out, ()), *((b, ()) for b in others)), ()))
            place += 1
