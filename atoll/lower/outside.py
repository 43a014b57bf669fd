"""Memory that every round of a loop needs is allocated once, before the loop.

    for i: t = alloc n; ...; free t      becomes      t = alloc n; for i: ...; free t

where the size does not depend on the round. Arrays of a few elements, their number known, are local to the function and need no allocation.
Pieces of a loop run on several threads, so what they need is theirs.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.transform.walk import Known, innermost_first
from atoll.sizes import Atom, Poly

FEW = 32


def allocate_outside(body: lp.Stmts) -> list[lp.Stmt]:
    """Move allocations out of loops, innermost first."""
    swapped = {b for s in lp.walk(body) if isinstance(s, lp.Swap) for b in (s.first, s.second)}

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, (lp.For, lp.Accumulate, lp.Forever)):
            return None
        moved = _invariant(stmt)
        if not {b for b in moved if b in swapped} >= {b for b in _allocated(stmt.body) if b in swapped}:
            moved = [b for b in moved if b not in swapped]  # what is exchanged lives equally long
        if not moved:
            return None
        rest = replace(stmt, body=[s for s in stmt.body if not (isinstance(s, (lp.Alloc, lp.Free)) and s.buffer in moved)])
        return [*(lp.Alloc(b) for b in moved), rest, *(lp.Free(b) for b in moved)]

    out = innermost_first(body, rewrite)
    for stmt in lp.walk(out):
        if isinstance(stmt, lp.Alloc) and stmt.buffer.kind == "temp" and stmt.buffer not in swapped and _is_small(stmt.buffer):
            stmt.buffer.local = True
    return out


def _is_small(buffer: lp.Buffer) -> bool:
    count = 1
    for n in buffer.extents:
        known = n.const()
        if known is None or not 0 < known <= FEW:
            return False
        count *= known
    return count <= FEW


def _allocated(body: lp.Stmts) -> list[lp.Buffer]:
    return [s.buffer for s in body if isinstance(s, lp.Alloc) and s.buffer.kind == "temp" and not s.buffer.local]


def _invariant(loop: lp.For | lp.Accumulate | lp.Forever) -> list[lp.Buffer]:
    """What a round allocates, always, in a size that is the same for all rounds."""
    freed = {s.buffer for s in loop.body if isinstance(s, lp.Free)}
    found = [b for b in _allocated(loop.body) if b in freed]
    if not found:
        return []
    made: set[Atom] = set() if isinstance(loop, lp.Forever) else {loop.sym}
    for stmt in lp.walk(loop.body):
        if isinstance(stmt, (lp.Let, lp.Declare, lp.Assign, lp.Add)):
            made.add(stmt.var.atom)
        made |= {acc.var.atom for acc in getattr(stmt, "accs", ())}
    return [b for b in found if not any(_leaves(n) & made for n in b.extents)]


def _leaves(n: Poly) -> set[Atom]:
    return set(n.leaves())
