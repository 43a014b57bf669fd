"""Points with checks inside, done by groups of threads: tried, and where a check fails done again by threads.

    for in order i: .. check .. b[i] = e        for i, spread over the threads of a group, where no round touches what another writes
    a check that fails                          is not told: the group says that something failed, and leaves its points
    after it                                    one thread for every point, in order, if something failed; what it tells is the first failure of the program

What cannot be proved of two rounds may be asked when it runs (loops/dependence.py, apart_if): then both loops are there. A point may be done twice, so it must not
read what it writes, but arrays of its own.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.points import Nest, flat_kernel
from atoll.backends.cuda.threads import Names
from atoll.loops import ir as lp
from atoll.loops.dependence import apart_if
from atoll.loops.questions import loads, told
from atoll.sizes import Poly, poly
from atoll.types.dtypes import BOOL, U32

_PLAIN = ("add", "sub", "mul", "neg", "min", "max", "shl", "shr", "select")  # which may be done where they would not have been


def spread(nest: Nest) -> Nest | None:
    """The nest with loops for groups where it has loops in order with checks; None where there are none, or a point cannot be done twice."""
    every = list(lp.walk(nest.body))
    if not any(isinstance(s, lp.Check) for s in every) or not _again(nest.body):
        return None
    body = _spread(nest.body, ())
    found = any(isinstance(s, lp.For) and s.parallel for s in lp.walk(body)) and body != nest.body
    return dataclasses.replace(nest, body=body) if found else None


def _again(body: lp.Stmts) -> bool:
    """It can be done twice: nothing is read that it writes, but arrays that it makes."""
    every = list(lp.walk(body))
    own = {s.buffer for s in every if isinstance(s, lp.Alloc)}
    if any(isinstance(s, (lp.Helper, lp.Print, lp.Chunks, lp.Product)) for s in every):
        return False
    if any(b not in own for s in every if isinstance(s, lp.Swap) for b in (s.first, s.second)) or any(s.buffer not in own for s in every if isinstance(s, lp.Update)):
        return False
    written = {s.buffer for s in every if isinstance(s, lp.Store)} | {s.target for s in every if isinstance(s, lp.CopyBuffer)}
    read = {x.buffer for x in loads(body)} | {s.source for s in every if isinstance(s, lp.CopyBuffer)}
    return not (written - own) & read


def _spread(stmts: lp.Stmts, known: tuple[Poly, ...]) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    for s in stmts:
        match s:
            case lp.For():
                first, loop = _without_invariants(s)
                out += first
                inside = dataclasses.replace(loop, body=_spread(loop.body, (*known, *told(loop))))
                asked = apart_if(loop, known) if not loop.parallel and not loop.unroll and not loop.scan else None
                together: lp.Stmt = dataclasses.replace(inside, parallel=True)
                if asked is None:
                    out.append(inside)
                elif not asked:
                    out.append(together)
                else:
                    out.append(lp.If(tuple(lp.Test("ge", p) for p in sorted(asked, key=str)), [together], [loop]))
            case lp.If(tests, then, orelse):
                out.append(lp.If(tests, _spread(then, known), _spread(orelse, known)))
            case lp.Forever(body):
                out.append(lp.Forever(_spread(body, known)))
            case _:
                out.append(s)
    return out


def _without_invariants(loop: lp.For) -> tuple[list[lp.Stmt], lp.For]:
    """Scalars that are the same in every round, made before the loop."""
    changing: set[Any] = {loop.sym} | {s.sym for s in lp.walk(loop.body) if isinstance(s, (lp.For, lp.Accumulate))}
    changing |= {s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign, lp.Add))}
    first: list[lp.Stmt] = []
    for s in loop.body:
        if isinstance(s, lp.Let) and s.var.dtype.is_integer and _is_plain(s.value) and not changing & _leaves(s.value):
            first.append(s)
            changing.discard(s.var.atom)
    return first, dataclasses.replace(loop, body=[s for s in loop.body if s not in first]) if first else loop


def _is_plain(e: lp.Expr) -> bool:
    return all(isinstance(x, (lp.Use, lp.Const, lp.Index)) or (isinstance(x, lp.Call) and x.op in _PLAIN and x.dtype.is_integer) for x in lp.subexprs(e))


def _leaves(e: lp.Expr) -> set[Any]:
    found: set[Any] = {v.atom for v in lp.used_vars(e)}
    return found | {a for x in lp.subexprs(e) if isinstance(x, lp.Index) for a in x.poly.leaves()}


def once_more(lowering: Any, failed: lp.Var, nest: Nest, extents: tuple[Poly, ...]) -> list[k.Statement]:
    """The points by threads, if something failed; then nothing has."""
    bad = lp.Test("true", None, lp.Call("ne", (lp.Use(failed), lp.Const(0, U32)), BOOL))
    out = flat_kernel(lowering, dataclasses.replace(nest, body=[lp.If((bad,), list(nest.body))]), extents)
    return [*out, *lowering.launch("settled", [lp.Store(lowering.cell(failed), (), lp.Const(0, U32))], 1, poly(1), sets=(failed,), note="nothing has failed")]


def failure(lowering: Any) -> lp.Var:
    """A scalar on the device that says whether a check has failed; 0 between kernels."""
    names: Names = lowering.names
    return names.var("failed", U32)
