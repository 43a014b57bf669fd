"""Loops as a GPU wants them, before they are cut into kernels.

    for in order i: body            for i: body, where no round touches what another one writes
    accumulate s or= e over r       s = e where there is a round: e does not change, and s or e or e is s or e
    alloc b; for i: .. b ..         for i: alloc b; .. b .., where every round writes b anew
    argsort x; y[i] = x[o[i]]       sort x, where nothing else reads its places (loops/idioms/sorted_values.py)

Rounds of a parallel loop hand nothing to each other, but on a CPU, where one thread does many of them, they may use the same memory in turn. Here each has its own; where an
array is used outside the loop too, the loop goes in order.
"""

from __future__ import annotations

import dataclasses

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.dependence import rounds_apart
from atoll.loops.idioms.sorted_values import sorted_values
from atoll.loops.questions import loads, mentions
from atoll.loops.transform.walk import Known, innermost_first, not_products, with_bodies
from atoll.sizes import Atom, Poly

_ONCE = ("or", "and", "max", "min", "maximum", "minimum")  # x op x is x


def prepared(fn: lp.Function) -> lp.Function:
    """The function with its loops rewritten."""
    return dataclasses.replace(fn, body=innermost_first(_own_memory(sorted_values(fn.body, [])), _rewritten, not_products, ()))


def _own_memory(stmts: lp.Stmts) -> list[lp.Stmt]:
    """Arrays that only the rounds of one parallel loop use, one round after the other, are made inside it."""
    out = list(stmts)
    for made in [s for s in stmts if isinstance(s, lp.Alloc)]:
        b = made.buffer
        memory = [s for s in out if isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is b]
        users = [s for s in out if s not in memory and b in mentions(s)]
        if len(users) == 1 and isinstance(loop := users[0], lp.For) and loop.parallel and _in_turn(loop, b):
            own = dataclasses.replace(loop, body=[made, *loop.body, *(s for s in memory if isinstance(s, lp.Free))])
            out = [own if s is loop else s for s in out if s not in memory]
    return [with_bodies(s, _own_memory) for s in out]


def _in_turn(loop: lp.For, b: lp.Buffer) -> bool:
    """Every round stores to the same elements of an array made outside the loop."""
    varies: set[Atom] = {loop.sym}
    for s in lp.walk(loop.body):
        match s:
            case lp.Alloc(buffer) if buffer is b:
                return False
            case lp.Let(var, _) | lp.Declare(var, _):
                varies.add(var.atom)
            case lp.For(sym, low, high) | lp.Accumulate(sym, low, high) if varies & (low.leaves() | high.leaves()):
                varies.add(sym)
            case lp.Store(buffer, index) if buffer is b and (b.rows is not None or not any(varies & p.leaves() for p in index)):
                return True
            case lp.CopyBuffer() | lp.Helper() | lp.Swap() if b in mentions(s):
                return True
    return False


def _rewritten(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
    match stmt:
        case lp.For(parallel=True) if any(_in_turn(stmt, b) for b in mentions(stmt.body) if b.kind == "temp"):
            return [dataclasses.replace(stmt, parallel=False)]
        case lp.For(parallel=False) if not stmt.unroll and not stmt.scan and rounds_apart(stmt, tuple(known)):
            return [dataclasses.replace(stmt, parallel=True)]
        case lp.Accumulate(low=low, high=high, body=[lp.Add(var, monoid, value)], accs=[acc]) if monoid in _ONCE and acc.var is var and _same_in_all(value, stmt):
            start = lp.Const(MONOIDS[monoid][1](var.dtype), var.dtype)
            return [lp.Declare(var, start), *_once(high - low, var, monoid, value)]
        case lp.Chunks(accs=[acc], body=[lp.Declare(var, _), *inner, lp.Add(into, monoid, lp.Use(used))]) if monoid in _ONCE and acc.var is into and used is var and _is_once(inner, var):
            value = _value(inner)
            if not _mentions(value, {stmt.low, stmt.high}):
                return _once(stmt.extent, into, monoid, value)
    return None


def _once(rounds: Poly, var: lp.Var, monoid: str, value: lp.Expr) -> list[lp.Stmt]:
    step: lp.Stmt = lp.Assign(var, lp.Call(MONOIDS[monoid][0], (lp.Use(var), value), var.dtype))
    known = rounds.const()
    return [step] if known is not None and known > 0 else [lp.If((lp.Test("ge", rounds - 1),), [step])]


def _is_once(inner: list[lp.Stmt], var: lp.Var) -> bool:
    """What the pieces of such a sum have become: one step, perhaps under a test that there is a round."""
    step = inner[0] if len(inner) == 1 else None
    if isinstance(step, lp.If) and len(step.then) == 1 and not step.orelse:
        step = step.then[0]
    return isinstance(step, lp.Assign) and step.var is var and isinstance(step.value, lp.Call) and step.value.args[0] == lp.Use(var)


def _value(inner: list[lp.Stmt]) -> lp.Expr:
    step = inner[0].then[0] if isinstance(inner[0], lp.If) else inner[0]
    assert isinstance(step, lp.Assign) and isinstance(step.value, lp.Call)
    return step.value.args[1]


def _same_in_all(value: lp.Expr, loop: lp.Accumulate) -> bool:
    return not loads(value) and not _mentions(value, {loop.sym})


def _mentions(value: lp.Expr, syms: set[object]) -> bool:
    polys = [e.poly for e in lp.subexprs(value) if isinstance(e, lp.Index)] + [t.poly for e in lp.subexprs(value) if isinstance(e, (lp.Choose, lp.Truth)) for t in e.tests if t.poly is not None]
    return any(syms & p.leaves() for p in polys)


