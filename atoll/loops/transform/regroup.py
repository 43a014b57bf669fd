"""Sums, and other known operators, made in another form.

    neutral(monoid, dtype)       where a sum begins
    monoid_of(op)                the operator by its operation, None where it is none
    as_assignments(stmts, own)   additions to scalars as assignments, from left to right
    added_to(stmts, place)       additions to scalars as additions to memory

The operators are associative and commutative over the integers, the truth values and, but for rounding, the floats (core/prims.py MONOIDS). The first three keep every
addition and its order, so every bit stays. A recipe that adds in another order (several partial sums) must have the program's word for it where floats are added
(`Pass.regroups`; the validator holds the other passes to it).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.transform.walk import innermost_first
from atoll.types.dtypes import BOOL, DType

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
