"""Loops that add into memory take several rounds at once: each element is read and written once for all of them.

    for in order r:  for j:  c[j] += e(r, j)      becomes      for in order q:  for j:  c[j] = ((c[j] + e(r)) + e(r + 1)) + ...

The order of every element's additions is what it was, so is every bit of the result. The elements written must be told apart by the
inner index alone, and nothing else written inside may be read there.

The least and the greatest of floats must not lose a NaN. Several rounds compare plainly, which is one instruction, and whether there was one is
kept beside, for all of them together.
"""

from __future__ import annotations

import math

from atoll.loops import ir as lp
from atoll.loops.dependence import own_elements
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.split import first_of, in_blocks
from atoll.loops.transform.walk import Known, innermost_first
from atoll.sizes import Poly, Sym
from atoll.types.dtypes import BOOL

_BETTER = {"min": "lt", "max": "gt"}


def jam(stmts: lp.Stmts, decisions: list[str], rounds: int = 8) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> lp.Stmts | None:
        found = _jammed(stmt, rounds, known) if isinstance(stmt, lp.For) else None
        if found is not None and isinstance(stmt, lp.For) and isinstance(inner := stmt.body[0], lp.For):
            decisions.append(f"{rounds} rounds of {stmt.sym} at a time add along {inner.sym}")
        return found

    return innermost_first(stmts, rewrite, known=())


def _jammed(loop: lp.For, together: int, known: tuple[Poly, ...]) -> lp.Stmts | None:
    if loop.parallel or loop.vector or loop.unroll or len(loop.body) != 1 or not isinstance(loop.body[0], lp.For):
        return None
    inner = loop.body[0]
    count = (loop.high - loop.low).const()
    if (count is not None and count < 2 * together) or not inner.parallel or inner.vector or loop.sym in inner.low.leaves() | inner.high.leaves():
        return None
    if not all(isinstance(s, (lp.Let, lp.Update)) for s in inner.body) or not copyable(inner.body):
        return None
    updates = [s for s in inner.body if isinstance(s, lp.Update)]
    written = {u.buffer for u in updates}
    if not updates or len(written) != len(updates) or len(updates) > 2 or any(x.buffer in written for s in inner.body for x in loads(_value(s))):
        return None
    if not all(own_elements(u.index, inner.sym, loop.sym) for u in updates):
        return None
    outer = Sym(f"{loop.sym.name}_by_{together}")
    totals = {u.buffer: fresh_like(u.buffer.name, u.buffer.dtype) for u in updates}
    body: list[lp.Stmt] = [lp.Declare(totals[u.buffer], lp.Load(u.buffer, u.index)) for u in updates]
    lost = {u.buffer: fresh_like("nan", BOOL) for u in updates if u.op in _BETTER and u.buffer.dtype.is_float}
    body += [lp.Declare(v, _is_nan(totals[b])) for b, v in lost.items()]
    for k in range(together):
        for s in Copier({loop.sym: first_of(loop, together, outer) + k}).stmts(inner.body):
            if not isinstance(s, lp.Update):
                body.append(s)
                continue
            total = totals[s.buffer]
            if s.buffer in lost:
                body += _compared(s, total, lost[s.buffer])
            else:
                body.append(lp.Assign(total, lp.Call(s.op, (lp.Use(total), s.value), s.buffer.dtype), instance=s.instance))
    for u in updates:
        value: lp.Expr = lp.Use(totals[u.buffer])
        if u.buffer in lost:
            value = lp.Choose((lp.Test("true", None, lp.Use(lost[u.buffer])),), lp.Const(math.nan, u.buffer.dtype), value)
        body.append(lp.Store(u.buffer, u.index, value))
    return in_blocks(loop, together, outer, [lp.For(inner.sym, inner.low, inner.high, body, True)], known)


def _is_nan(v: lp.Var) -> lp.Expr:
    return lp.Call("ne", (lp.Use(v), lp.Use(v)), BOOL)


def _compared(u: lp.Update, total: lp.Var, lost: lp.Var) -> list[lp.Stmt]:
    """A round of the least or the greatest, without looking for NaN in the comparison. Of equals it takes the later, as min and max do."""
    given = fresh_like("given", total.dtype)
    keeps = lp.Test("true", None, lp.Call(_BETTER[u.op], (lp.Use(total), lp.Use(given)), BOOL))
    return [
        lp.Let(given, u.value),
        lp.Assign(lost, lp.Call("or", (lp.Use(lost), _is_nan(given)), BOOL)),
        lp.Assign(total, lp.Choose((keeps,), lp.Use(total), lp.Use(given))),
    ]


def _value(s: lp.Stmt) -> lp.Expr:
    assert isinstance(s, (lp.Let, lp.Update))
    return s.value
