"""Sums, and other known operators, made in another form.

    neutral(monoid, dtype)       where a sum begins
    monoid_of(op)                the operator by its operation, None where it is none
    as_assignments(stmts, own)   additions to scalars as assignments, from left to right
    added_to(stmts, place)       additions to scalars as additions to memory
    waiting_last(loop)           what a round waits for is the last operand of its minimums and maximums

The operators are associative and commutative over the integers, the truth values and, but for rounding, the floats (core/prims.py MONOIDS). The first three keep every
addition and its order, so every bit stays. A recipe that adds in another order (several partial sums) must have the program's word for it where floats are added
(`Pass.regroups`; the validator holds the other passes to it). The last one exchanges operands of minimums and maximums of integers only, which is exact: floats have
NaN and two zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import innermost_first
from atoll.types.dtypes import BOOL, DType

_EXACT = ("min", "max")
_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store)
_BY_OPERATION = {op: name for name, (op, _) in MONOIDS.items()}


def monoid_of(op: str) -> str | None:
    return _BY_OPERATION.get(op)


def neutral(monoid: str, dtype: DType) -> lp.Const:
    """What an operator leaves as it is."""
    value = MONOIDS[monoid][1](dtype)
    return lp.Const(bool(value) if dtype is BOOL else value, dtype)


def combined(monoid: str, a: lp.Expr, b: lp.Expr) -> lp.Call:
    return lp.Call(MONOIDS[monoid][0], (a, b), a.dtype)


def as_assignments(stmts: lp.Stmts, own: Collection[lp.Var] | None = None) -> list[lp.Stmt]:
    """Additions to these variables (None: to any) as assignments. Right outside of their loop: there is one value then, and it is added to in the order of the text."""

    def rewrite(s: lp.Stmt, known: object) -> list[lp.Stmt] | None:
        if not isinstance(s, lp.Add) or (own is not None and s.var not in own):
            return None
        return [lp.Assign(s.var, combined(s.monoid, lp.Use(s.var), s.value), instance=s.instance)]

    return innermost_first(stmts, rewrite, lambda s: isinstance(s, lp.If))


def added_to(stmts: lp.Stmts, place: Callable[[lp.Var], lp.Load]) -> list[lp.Stmt]:
    """Additions to variables as additions to an element for each of them."""

    def rewrite(s: lp.Stmt, known: object) -> list[lp.Stmt] | None:
        if not isinstance(s, lp.Add):
            return None
        at = place(s.var)
        return [lp.Update(at.buffer, at.index, MONOIDS[s.monoid][0], s.value, instance=s.instance)]

    return innermost_first(stmts, rewrite, lambda s: isinstance(s, lp.If))


def waiting_last(loop: lp.For) -> lp.For | Refused:
    """A loop in which rounds wait for each other, with few operations between what one round hands to the next and what comes of it there."""
    if loop.parallel or not all(isinstance(s, _STRAIGHT) for s in loop.body):
        return Refused("a round does more than compute and store, or does not wait")
    if not (waiting := _waiting(loop.body)):
        return Refused("no round waits for the one before")
    order = _Order(waiting)
    body = [order.settled(s) for s in loop.body]
    return replace(loop, body=body) if order.changed else Refused("what it waits for comes last already, or of operators whose operands have an order")


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
        if not isinstance(e, lp.Call) or e.op not in _EXACT or not e.dtype.is_integer:
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
