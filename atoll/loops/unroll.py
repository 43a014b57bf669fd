"""Short loops of literal length are written out, so that the loop around them is the innermost one and can run in vectors."""

from __future__ import annotations

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.rewrite import Copier, copyable
from atoll.sizes import poly

STATEMENTS = 48


def unroll(stmts: list[lp.Stmt], decisions: list[str], most: int = 9) -> list[lp.Stmt]:
    """Innermost first; a sum of a few terms is added from left to right."""
    out: list[lp.Stmt] = []
    for stmt in stmts:
        if isinstance(stmt, lp.Product):
            out.append(stmt)
            continue
        for body in lp.bodies(stmt):
            body[:] = unroll(body, decisions, most)
        if isinstance(stmt, (lp.For, lp.Accumulate)) and (rounds := _rounds(stmt, most)) is not None:
            decisions.append(f"the {rounds} rounds of {stmt.sym} are written out")
            out += _written_out(stmt, rounds)
        else:
            out.append(stmt)
    return out


def _rounds(loop: lp.For | lp.Accumulate, most: int) -> int | None:
    low, count = loop.low.const(), (loop.high - loop.low).const()
    if low is None or count is None or not 0 < count <= most or not copyable(loop.body):
        return None
    if any(isinstance(s, (lp.For, lp.Accumulate)) for s in lp.walk(loop.body)) or count * len(list(lp.walk(loop.body))) > STATEMENTS:
        return None
    return count


def _written_out(loop: lp.For | lp.Accumulate, rounds: int) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    accs = loop.accs if isinstance(loop, lp.Accumulate) else []
    for acc in accs:
        value = MONOIDS[acc.monoid][1](acc.var.dtype)
        out.append(lp.Declare(acc.var, lp.Const(value, acc.var.dtype)))
    own = {a.var for a in accs}
    for k in range(rounds):
        for s in Copier({loop.sym: loop.low + poly(k)}).stmts(loop.body):
            out.append(_added(s, own))
    return out


def _added(s: lp.Stmt, own: set[lp.Var]) -> lp.Stmt:
    """Additions into the accumulators of the loop that is gone are assignments."""
    if isinstance(s, lp.Add) and s.var in own:
        return lp.Assign(s.var, lp.Call(MONOIDS[s.monoid][0], (lp.Use(s.var), s.value), s.var.dtype))
    if isinstance(s, lp.If):
        return lp.If(s.tests, [_added(x, own) for x in s.then], [_added(x, own) for x in s.orelse])
    return s
