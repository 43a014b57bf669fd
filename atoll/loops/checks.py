"""Checks leave loops: all rounds are tested at once first, and the loop with its checks runs only when one of them fails.

    for i:  k = at[i];  check 0 <= k < n;  y[i] = x[k]
becomes
    bad = or over i of not (0 <= at[i] < n)
    if bad:  for i: k = at[i]; check 0 <= k < n                 stops at the first, with its message
    for i:  k = at[i];  y[i] = x[k]

Both loops then run in vectors. What a check looks at must be readable in every round without the other checks.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.rewrite import Copier, copyable, fresh_like, loads
from atoll.sizes import Sym, poly
from atoll.types.dtypes import I64


def hoist_checks(stmts: list[lp.Stmt], decisions: list[str]) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    for stmt in stmts:
        for body in lp.bodies(stmt):
            body[:] = hoist_checks(body, decisions)
        found = _hoisted(stmt) if isinstance(stmt, lp.For) else None
        if found is not None:
            assert isinstance(stmt, lp.For)
            decisions.append(f"the checks of {stmt.sym} are made for all rounds before the loop")
            out += found
        else:
            out.append(stmt)
    return out


def _hoisted(loop: lp.For) -> list[lp.Stmt] | None:
    body = loop.body
    if not loop.parallel or loop.vector or loop.unroll or not copyable(body) or any(isinstance(s, (lp.For, lp.Accumulate)) for s in lp.walk(body)):
        return None
    checks = [s for s in body if isinstance(s, lp.Check)]
    if not checks or len(checks) > 4 or any(isinstance(s, lp.Check) for top in body if not isinstance(top, lp.Check) for b in lp.bodies(top) for s in lp.walk(b)):
        return None
    last = max(k for k, s in enumerate(body) if isinstance(s, lp.Check))
    written = {s.buffer for s in lp.walk(body) if isinstance(s, (lp.Store, lp.Update))}
    looked: list[lp.Stmt] = []
    for s in body[: last + 1]:
        if isinstance(s, (lp.Let, lp.Check)):
            looked.append(s)
    needed = _needed(looked)
    inside = {s.var for s in lp.walk(body) if isinstance(s, (lp.Let, lp.Declare))} - {s.var for s in needed if isinstance(s, lp.Let)}
    if not inside.isdisjoint(lp.used_vars(needed)) or any(x.buffer in written or not _always_readable(x) for s in needed for x in loads(s)):
        return None
    bad = fresh_like("bad", I64)
    sym = Sym(loop.sym.name)
    copier = Copier({loop.sym: poly(sym)})
    scan: list[lp.Stmt] = []
    for s in needed:
        for new in copier.stmt(s):
            if isinstance(new, lp.Check):
                value = lp.Choose(new.tests, lp.Const(0, I64), lp.Const(1, I64))
                scan.append(lp.Add(bad, "or", value))
            else:
                scan.append(new)
    tests = (lp.Test("ne", poly(bad.atom)),)
    exact: list[lp.Stmt] = [lp.For(loop.sym, loop.low, loop.high, Copier({}).stmts(list(needed)), False)]
    rest: list[lp.Stmt] = [s for s in body if not isinstance(s, lp.Check)]
    found: list[lp.Stmt] = [lp.Accumulate(sym, loop.low, loop.high, scan, [lp.Acc(bad, "or")]), lp.If(tests, exact)]
    if any(not isinstance(s, lp.Let) for s in rest):
        found.append(lp.For(loop.sym, loop.low, loop.high, rest, loop.parallel))
    return found


def _needed(looked: list[lp.Stmt]) -> list[lp.Stmt]:
    """The checks and the values they need, in order."""
    wanted: set[lp.Var] = set()
    kept: list[lp.Stmt] = []
    for s in reversed(looked):
        if isinstance(s, lp.Check) or (isinstance(s, lp.Let) and s.var in wanted):
            kept.insert(0, s)
            wanted |= set(lp.used_vars(s))
    return kept


def _always_readable(x: lp.Load) -> bool:
    """Its index mentions no value from memory, so no other check protects it."""
    return not any(isinstance(a, lp.VarAtom) for p in x.index for a in p.leaves())
