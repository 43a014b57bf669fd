"""Filters without branches: every element is stored at the next free place, which moves on only when the element is kept.

    for in order r in 0..n:  if p(r):  y[c] = x[r];  c = c + 1
becomes
    for in order r in 0..n:  y[c] = x[r];  c = c + (1 if p(r) else 0)

A branch that nobody can predict costs as much as a dozen rounds. The place is never beyond r, so it is there as long as the array is as long
as the range; what is stored must be readable in every round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.loops.transform.walk import every_block
from atoll.sizes import poly
from atoll.types.dtypes import I64


def without_branches(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def block(body: lp.Stmts) -> list[lp.Stmt]:
        starts: set[lp.Var] = set()
        out: list[lp.Stmt] = []
        for stmt in body:
            if isinstance(stmt, lp.Declare) and stmt.value == lp.Const(0, I64):
                starts.add(stmt.var)
            elif isinstance(stmt, lp.For):
                found = _plain(stmt, starts)
                if found is not None:
                    stmt = replace(stmt, body=found)
                    decisions.append(f"what is kept over {stmt.sym} is stored without branches")
                starts.clear()
            out.append(stmt)
        return out

    return every_block(stmts, block)


@dataclass
class Kept:
    """A loop that keeps some elements: what comes first, when one is kept, what of it is stored where, and the variable that counts them."""

    lets: list[lp.Stmt]
    tests: tuple[lp.Test, ...]
    stores: list[lp.Store]
    counter: lp.Var


def _plain(loop: lp.For, starts: set[lp.Var]) -> list[lp.Stmt] | None:
    found = kept(loop, starts)
    if found is None:
        return None
    one = lp.Choose(found.tests, lp.Const(1, I64), lp.Const(0, I64))
    return [*found.lets, *found.stores, lp.Assign(found.counter, lp.Call("add", (lp.Use(found.counter), one), I64))]


def kept(loop: lp.For, starts: set[lp.Var]) -> Kept | None:
    """The parts of a filter whose stores can be made in every round; its counter is one of `starts`."""
    if loop.parallel or loop.low.const() != 0 or not loop.body or not all(isinstance(s, lp.Let) for s in loop.body[:-1]):
        return None
    choice = loop.body[-1]
    if not isinstance(choice, lp.If) or choice.orelse or len(choice.then) < 2:
        return None
    step = choice.then[-1]
    if not isinstance(step, lp.Assign) or step.var not in starts or step.value != lp.Index(poly(step.var.atom) + 1):
        return None
    lets = [s for s in choice.then[:-1] if isinstance(s, lp.Let)]
    stores = [s for s in choice.then[:-1] if isinstance(s, lp.Store)]
    if not stores or len(lets) + len(stores) != len(choice.then) - 1 or len({s.buffer for s in stores}) != len(stores):
        return None
    if not all(_readable(s.value, loop) and step.var not in set(lp.used_vars(s)) for s in lets):
        return None
    if any(step.var in set(lp.used_vars(s)) for s in loop.body[:-1]) or step.var in set(lp.used_vars(choice.tests)):
        return None
    written = {s.buffer for s in stores}
    for store in stores:
        place = store.index[-1] if store.index else None
        if place != poly(step.var.atom) or store.buffer.extents[-1] != loop.high or step.var in set(lp.used_vars(store.value)):
            return None
        if any(step.var.atom in p.leaves() for p in store.index[:-1]) or not _readable(store.value, loop):
            return None
    if any(x.buffer in written for s in loop.body for x in loads(s)):
        return None
    tests = _apart(choice.tests)
    stored = [lp.Store(s.buffer, s.index, _where(s.value, tests)) for s in stores]
    return Kept([*loop.body[:-1], *lets], tests, stored, step.var)


def _apart(tests: tuple[lp.Test, ...]) -> tuple[lp.Test, ...]:
    """Tests of truth values as the tests these are made of."""
    found: list[lp.Test] = []
    for t in tests:
        e = t.expr
        if t.kind == "true" and isinstance(e, lp.Choose) and isinstance(e.then, lp.Const) and isinstance(e.orelse, lp.Const) and e.then.value and not e.orelse.value:
            found += _apart(e.tests)
        elif t.kind == "true" and isinstance(e, lp.Truth):
            found += _apart(e.tests)
        else:
            found.append(t)
    return tuple(dict.fromkeys(found))


def _where(e: lp.Expr, tests: tuple[lp.Test, ...]) -> lp.Expr:
    """A value that only counts where the tests hold: C compilers make a branch of a choice by the same tests."""
    return _where(e.then, tests) if isinstance(e, lp.Choose) and set(_apart(e.tests)) <= set(tests) else e


def _readable(e: lp.Expr, loop: lp.For) -> bool:
    """Elements of the round itself, and cheap arithmetic with them."""
    if isinstance(e, lp.Load):
        at_round = [p == poly(loop.sym) and n == loop.high for p, n in zip(e.index, e.buffer.extents, strict=True)]
        return len(at_round) == 1 and at_round[0]
    if isinstance(e, lp.Call):
        return e.op not in profit.COSTLY and all(_readable(a, loop) for a in e.args)
    if isinstance(e, lp.Cast):
        return _readable(e.arg, loop)
    if isinstance(e, lp.Choose):
        return all(t.expr is None or _readable(t.expr, loop) for t in e.tests) and _readable(e.then, loop) and _readable(e.orelse, loop)
    return isinstance(e, (lp.Use, lp.Const, lp.Index))
