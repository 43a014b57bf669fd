"""Loops of launches that a device may record (a CUDA graph) and play again, instead of one launch after the other.

    for i in low..high: launch ..; swap a, b          recorded: for i in low..high: launch ..; swap a, b
    for ..: alloc b; ..; free b; ..                    alloc b; recorded: for ..: ..; .. ; free b        where b is as large in every round

Right for loops whose launches depend only on what the host knows before them: nothing is fetched, checked or allocated inside, no library is called. Which values they
depend on the device compares when it runs (runtime/native/device_records.h), addresses of arrays among them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import count
from typing import Any

from atoll.backends.cuda import language as k
from atoll.loops import ir as lp
from atoll.sizes.poly import product

SMALL = 1 << 20  # bytes that are allocated although a branch may not need them
_ALLOWED = (lp.Let, lp.Declare, lp.Assign, lp.For, lp.If, lp.Forever, lp.BreakUnless, lp.Swap, lp.CopyBuffer, lp.Note, lp.Alloc, lp.Free, k.Launch, k.Clear)


def recorded(program: k.Program) -> k.Program:
    """The program with its outermost loops of launches recorded."""
    numbers = count()

    def visit(stmts: Sequence[Any]) -> list[Any]:
        out: list[Any] = []
        for s in stmts:
            if isinstance(s, (lp.For, lp.Forever)):
                found = alone(s)
                out += [s] if found is None else [*(lp.Alloc(b) for b in found[0]), k.Recorded((found[1],), next(numbers)), *(lp.Free(b) for b in found[0])]
            elif isinstance(s, lp.If):
                out.append(dataclasses.replace(s, then=visit(s.then), orelse=visit(s.orelse)))
            else:
                out.append(s)
        return out

    return dataclasses.replace(program, body=tuple(visit(program.body)))


def played(stmts: Sequence[Any]) -> list[Any]:
    """The same without a word of recording."""
    out: list[Any] = []
    for s in stmts:
        if isinstance(s, k.Recorded):
            out += s.body
        else:
            out.append(dataclasses.replace(s, then=played(s.then), orelse=played(s.orelse)) if isinstance(s, lp.If) else s)
    return out


def alone(loop: lp.For | lp.Forever) -> tuple[list[lp.Buffer], lp.For | lp.Forever] | None:
    """The loop without allocations, and the arrays that it needs; None where it cannot be recorded."""
    inside: list[Any] = list(k.walk(loop.body))
    if not all(isinstance(s, _ALLOWED) for s in inside) or not any(isinstance(s, k.Launch) for s in inside):
        return None
    made = [s.buffer for s in inside if isinstance(s, lp.Alloc)]
    swapped = {b for s in inside if isinstance(s, lp.Swap) for b in (s.first, s.second)}
    freed = {s.buffer for s in inside if isinstance(s, lp.Free)}
    changing: set[Any] = {s.sym for s in (loop, *inside) if isinstance(s, lp.For)} | {s.var.atom for s in inside if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}
    always = {s.buffer for s in loop.body if isinstance(s, lp.Alloc)}
    for b in dict.fromkeys(made):
        if b in swapped or b.kind != "temp" or any(changing & p.leaves() for p in b.extents):
            return None
        known = product(b.extents).const()
        if b not in always and (known is None or known * b.dtype.size > SMALL):
            return None
    if freed != set(made):
        return None
    return list(dict.fromkeys(made)), dataclasses.replace(loop, body=_without_memory(loop.body))


def _without_memory(stmts: Sequence[Any]) -> list[Any]:
    out: list[Any] = []
    for s in stmts:
        match s:
            case lp.Alloc() | lp.Free():
                continue
            case lp.For() | lp.Forever():
                out.append(dataclasses.replace(s, body=_without_memory(s.body)))
            case lp.If():
                out.append(dataclasses.replace(s, then=_without_memory(s.then), orelse=_without_memory(s.orelse)))
            case _:
                out.append(s)
    return out
