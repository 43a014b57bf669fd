"""What a lowered program does, counted for given sizes: loop nests, memory, operations, bytes moved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from atoll.core.prims import PRIMS
from atoll.loops import ir as lp
from atoll.lower.make import make_loops
from atoll.sizes import Atom, Sym

_FREE = {"read"}


@dataclass
class Counts:
    nests: int = 0  # loops at the outermost level
    temporaries: list[lp.Buffer] = field(default_factory=list)
    temporary_bytes: int = 0
    flops: int = 0  # arithmetic on floats
    loads: int = 0  # elements read from memory
    stores: int = 0


def measure(f: Any, **sizes: int) -> Counts:
    """Count by walking the loops; conditions count as taken, loops without known bounds once."""
    fn = make_loops(f.core)
    env: dict[Atom, int] = {sym: sizes[sym.name] for sym in fn.sizes}
    counts = Counts()
    counts.nests = sum(isinstance(s, (lp.For, lp.Accumulate, lp.Chunks, lp.Forever, lp.Product)) for s in fn.body)
    _stmts(fn.body, env, 1, counts)
    return counts


def _stmts(body: list[lp.Stmt], env: dict[Atom, int], times: int, c: Counts) -> None:
    for s in body:
        match s:
            case lp.Alloc(buffer) if buffer.kind == "temp":
                c.temporaries.append(buffer)
                size = 1
                for p in buffer.extents:
                    size *= p.evaluate(env)
                c.temporary_bytes += size * buffer.dtype.numpy.itemsize
            case lp.For(sym, low, high, inner) | lp.Accumulate(sym, low, high, inner):
                first, last = low.evaluate(env), high.evaluate(env)
                _stmts(inner, {**env, sym: first}, times * max(last - first, 0), c)
            case lp.Chunks(low_sym, high_sym, extent):
                _stmts(s.body, {**env, low_sym: 0, high_sym: extent.evaluate(env)}, times, c)
            case lp.Product():
                _stmts(s.body, env, times, c)
            case lp.If(_, then, orelse):
                _stmts(then, env, times, c)
                _stmts(orelse, env, times, c)
            case lp.Let(_, value) | lp.Declare(_, value) | lp.Assign(_, value):
                _expr(value, times, c)
            case lp.Store(_, _, value):
                c.stores += times
                _expr(value, times, c)
            case lp.Update(buffer, _, _, value):
                c.loads += times
                c.stores += times
                c.flops += times if buffer.dtype.is_float else 0
                _expr(value, times, c)
            case lp.Add(var, _, value):
                c.flops += times if var.dtype.is_float else 0
                _expr(value, times, c)


def _expr(e: Any, times: int, c: Counts) -> None:
    if e is None:
        return
    for x in lp.subexprs(e):
        if isinstance(x, lp.Load):
            c.loads += times
        elif isinstance(x, lp.Call) and x.dtype.is_float and x.op not in _FREE:
            c.flops += times


__all__ = ["PRIMS", "Counts", "Sym", "measure"]
