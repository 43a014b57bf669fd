"""Buffers that are exchanged live equally long.

Loops exchange the memory of their state with that of the next state. In loops inside loops the same memory goes round among several buffers; if one of
them were freed at the end of a round of an outer loop, it could hold memory that another one owned. So what is exchanged inside a loop
is allocated before it and freed after it, unless all of it is. After the outermost loop a result is put where the caller wants it (`settle`).
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.walk import Known, innermost_first, outermost_first, without_memory

_LOOPS = (lp.For, lp.Accumulate, lp.Chunks, lp.Forever)


def live_together(body: lp.Stmts) -> lp.Stmts:
    """Move allocations, and settle results after the outermost loops that exchange them."""
    partners = _partners(body)
    return _settled(_hoisted(body, partners), partners) if partners else body


def _partners(body: lp.Stmts) -> dict[lp.Buffer, set[lp.Buffer]]:
    """Everything a buffer's memory may come from, itself included."""
    found: dict[lp.Buffer, set[lp.Buffer]] = {}
    for stmt in lp.walk(body):
        if isinstance(stmt, lp.Swap):
            joined = found.get(stmt.first, {stmt.first}) | found.get(stmt.second, {stmt.second})
            for buffer in joined:
                found[buffer] = joined
    return found


def _hoisted(body: lp.Stmts, partners: dict[lp.Buffer, set[lp.Buffer]]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        inside = dict.fromkeys(s.buffer for s in lp.walk([stmt]) if isinstance(s, lp.Alloc)) if isinstance(stmt, _LOOPS) else {}
        moved = [b for b in inside if not partners.get(b, set()) <= inside.keys()]
        return [*(lp.Alloc(b) for b in moved), *without_memory([stmt], moved), *(lp.Free(b) for b in moved)] if moved else None

    return innermost_first(body, rewrite)


def _settled(body: lp.Stmts, partners: dict[lp.Buffer, set[lp.Buffer]]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, _LOOPS):
            return None
        out: list[lp.Stmt] = [stmt]
        swapped = dict.fromkeys(b for s in lp.walk([stmt]) if isinstance(s, lp.Swap) for b in (s.first, s.second))
        for result in (b for b in swapped if b.kind == "out"):
            others = [b for b in swapped if b in partners[result] and b is not result]
            out.append(lp.Helper("settle", ((result, ()), *((b, ()) for b in others)), ()))
        return out

    return outermost_first(body, rewrite)
