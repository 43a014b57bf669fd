"""In a loop whose rounds wait for each other, what a round waits for comes last: minimums and maximums of integers are made in that order.

    for in order j:  best = min(min(best + 1, a[j]), b[j])
becomes
    for in order j:  best = min(min(a[j], b[j]), best + 1)

so that only one operation of a round waits for the round before. Exact: these operators are associative and commutative on integers. (For
floats they are not quite, because of NaN and the sign of zero.) gcc would put them back into its own order; see runtime/toolchain.py.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.walk import Known, innermost_first

_OPS = ("min", "max")
_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store)


def late(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, lp.For) or stmt.parallel or not all(isinstance(s, _STRAIGHT) for s in stmt.body) or not (waiting := _waiting(stmt.body)):
            return None
        order = _Order(waiting)
        body = [order.settled(s) for s in stmt.body]
        if not order.changed:
            return None
        decisions.append(f"what a round of {stmt.sym} waits for comes last")
        return [replace(stmt, body=body)]

    return innermost_first(stmts, rewrite)


def _waiting(body: lp.Stmts) -> set[lp.Var]:
    """Variables whose value in a round depends on a chain through the round before."""
    made = {s.var for s in body if isinstance(s, (lp.Let, lp.Declare))}
    carried = {s.var for s in body if isinstance(s, lp.Assign)} - made
    needs: dict[lp.Var, set[lp.Var]] = {}  # of a carried variable's next value, in this round
    values: dict[lp.Var, set[lp.Var]] = {v: {v} for v in carried}
    for s in body:
        if isinstance(s, lp.Store) or s.value is None:  # type: ignore[union-attr]
            continue
        found = {c for v in lp.used_vars(s.value) for c in values.get(v, ())}  # type: ignore[union-attr]
        values[s.var] = found  # type: ignore[union-attr]
        if isinstance(s, lp.Assign) and s.var in carried:
            needs[s.var] = found
    chained = {v for v in carried if v in needs.get(v, set())}
    return {v for v, deps in values.items() if deps & chained} | chained if chained else set()


class _Order(Copier):
    """Puts what waits last, in each statement."""

    def __init__(self, waiting: set[lp.Var]) -> None:
        super().__init__({})
        self.waiting = waiting
        self.changed = False

    def settled(self, s: lp.Stmt) -> lp.Stmt:
        return replace(s, value=self.expr(s.value)) if isinstance(s, (lp.Let, lp.Declare, lp.Assign, lp.Store)) and s.value is not None else s

    def expr(self, e: lp.Expr) -> lp.Expr:
        if not isinstance(e, lp.Call) or e.op not in _OPS or not e.dtype.is_integer:
            return super().expr(e)
        parts = [super(_Order, self).expr(x) if not _same(x, e) else x for x in _flat(e)]
        early = [x for x in parts if self.waiting.isdisjoint(lp.used_vars(x))]
        last = [x for x in parts if x not in early]
        if not last or not early or len(parts) < 3:
            return super().expr(e)
        result = early[0]
        for x in [*early[1:], *last]:
            result = lp.Call(e.op, (result, x), e.dtype, e.origin)
        self.changed = self.changed or result != e
        return result


def _same(x: lp.Expr, e: lp.Call) -> bool:
    return isinstance(x, lp.Call) and x.op == e.op and x.dtype is e.dtype


def _flat(e: lp.Call) -> list[lp.Expr]:
    """The operands of nested calls of one operator."""
    return [y for x in e.args for y in (_flat(x) if isinstance(x, lp.Call) and _same(x, e) else [x])]
