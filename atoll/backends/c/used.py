"""What a piece of loop code mentions, allocates and writes: what a function made of it takes and gives back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.sizes import Poly, Sym
from atoll.types.dtypes import BOOL


@dataclass
class Used:
    """What a piece of code mentions but does not make."""

    syms: dict[Sym, None]
    vars: dict[lp.Var, None]
    buffers: dict[lp.Buffer, None]


def written_buffers(stmts: lp.Stmts) -> set[lp.Buffer]:
    found: set[lp.Buffer] = set()
    for stmt in lp.walk(stmts):
        if isinstance(stmt, (lp.Store, lp.Update)):
            found.add(stmt.buffer)
        elif isinstance(stmt, lp.CopyBuffer):
            found.add(stmt.target)
        elif isinstance(stmt, lp.Swap):
            found |= {stmt.first, stmt.second}
        elif isinstance(stmt, lp.Helper):
            found |= {b for b, _ in (stmt.buffers[-1:] if stmt.name in ("argsort", "sort", "compress") else stmt.buffers)}
    return found


def read_as_bytes(fn: lp.Function) -> set[lp.Buffer]:
    """Arguments of bools that are read element by element: NumPy lets their bytes be anything, and what is not 0 is true.

    Those that are copied or sorted as a whole must hold 0 and 1 only, which is looked at before the program runs."""
    found = {b for b in fn.inputs if isinstance(b, lp.Buffer) and b.dtype is BOOL}
    if not found:
        return found
    for stmt in lp.walk(fn.body):
        if isinstance(stmt, (lp.CopyBuffer, lp.Swap, lp.Helper, lp.Print, lp.Store, lp.Update)):
            for name in stmt.__dataclass_fields__:
                found -= set(_buffers(getattr(stmt, name)))
    return found


def in_planes(fn: lp.Function) -> set[lp.Buffer]:
    """Lanes of complex numbers: their real parts lie beside each other, then their imaginary parts, as vectors want them. What is used as a whole, or by pieces that
    threads share, is as everywhere."""
    every = list(lp.walk(fn.body))
    found = {s.buffer for s in every if isinstance(s, lp.Alloc) and s.buffer.local and s.buffer.dtype.is_complex and len(s.buffer.extents) == 1}
    for s in every if found else ():
        if isinstance(s, (lp.CopyBuffer, lp.Swap, lp.Helper, lp.Print, lp.Product)):
            found -= set(mentions(s))
        elif isinstance(s, lp.Chunks):  # a function, which is given what is made outside of it
            found -= set(collect(s.body, {s.low, s.high}).buffers)
    return found


def _buffers(x: Any) -> Iterator[lp.Buffer]:
    """Buffers named by a field of a statement, not those that its expressions read."""
    if isinstance(x, lp.Buffer):
        yield x
    elif isinstance(x, (tuple, list)):
        for item in x:
            yield from _buffers(item)


def collect(stmts: lp.Stmts, own: set[Sym]) -> Used:
    """Names a piece of code uses from outside."""
    used = Used({}, {}, {})
    made_vars: set[lp.Var] = set()
    made_buffers: set[lp.Buffer] = set()
    made_syms: set[Sym] = set(own)
    whole: set[lp.Buffer] = set()
    for stmt in lp.walk(stmts):
        if isinstance(stmt, lp.CopyBuffer):
            whole |= {stmt.target, stmt.source}
        elif isinstance(stmt, (lp.Let, lp.Declare)):
            made_vars.add(stmt.var)
        elif isinstance(stmt, lp.Helper) and stmt.result is not None:
            made_vars.add(stmt.result)
        elif isinstance(stmt, lp.Alloc):
            made_buffers.add(stmt.buffer)
        elif isinstance(stmt, (lp.For, lp.Accumulate)):
            made_syms.add(stmt.sym)
        elif isinstance(stmt, lp.Chunks):
            made_syms |= {stmt.low, stmt.high}
        for acc in getattr(stmt, "accs", ()):
            if isinstance(stmt, lp.Accumulate):
                made_vars.add(acc.var)

    def atoms(p: Poly) -> None:
        for leaf in p.leaves():
            if isinstance(leaf, lp.VarAtom):
                if leaf.var not in made_vars:
                    used.vars[leaf.var] = None
            elif isinstance(leaf, Sym) and leaf not in made_syms:
                used.syms[leaf] = None

    def buffer(b: lp.Buffer) -> None:
        for p in b.extents if b in made_buffers or b in whole else b.extents[1:]:
            atoms(p)
        if b not in made_buffers:
            used.buffers[b] = None

    def visit(x: Any) -> None:
        kind = type(x)
        if kind is Poly:
            atoms(x)
        elif kind is lp.Var:
            if x not in made_vars:
                used.vars[x] = None
        elif kind is lp.Buffer:
            buffer(x)
        elif kind is tuple or kind is list:
            for item in x:
                visit(item)
        else:
            for name in lp.FIELDS.get(kind, ()):
                visit(getattr(x, name))

    visit(stmts)
    return used
