"""What one round stores and the next one reads stays in a variable.

    for in order j:  x = a[j] + 1;  a[j + 1] = x           becomes           c = a[0];  for in order j:  x = c + 1;  a[j + 1] = x;  c = x

The way through memory would add several cycles to every round of a recurrence. The store must be the only one into its array, and the element
read must be the one stored in the round before. It must be read in every round, as it is now read before the first.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.copier import copyable, fresh_like
from atoll.loops.transform.forward import Forwarded
from atoll.loops.transform.walk import Known, innermost_first
from atoll.sizes import Atom, Poly, poly

_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.If)


def carry(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, lp.For) or not (found := _carried(stmt)):
            return None
        for store, _ in found:
            decisions.append(f"the element of {store.buffer.shown} a round of {stmt.sym} stores is kept for the next")
        return _in_variables(stmt, found)

    return innermost_first(stmts, rewrite)


def _carried(loop: lp.For) -> list[tuple[lp.Store, tuple[Poly, ...]]]:
    """Stores of the loop's own statements, each with the index at which the next round reads it."""
    if loop.parallel or loop.vector or loop.unroll or not copyable(loop.body) or not all(isinstance(s, _STRAIGHT) for s in lp.walk(loop.body)):
        return []
    made: set[Atom] = {s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare))}
    made |= {s.var.atom for s in lp.walk(loop.body) if isinstance(s, lp.Assign)}
    every = [s for s in lp.walk(loop.body) if isinstance(s, lp.Store)]
    read = [x for s in loop.body if not isinstance(s, lp.If) for x in _always(s.value)]  # type: ignore[union-attr]
    found = []
    for store in loop.body:
        if not isinstance(store, lp.Store) or sum(s.buffer is store.buffer for s in every) != 1 or store.buffer.rows is not None:
            continue
        wanted = tuple(p.subst({loop.sym: poly(loop.sym) - 1}) for p in store.index)
        if any(not made.isdisjoint(p.leaves()) for p in wanted) or all(loop.sym not in p.leaves() for p in wanted):
            continue
        if any(x.buffer is store.buffer and x.index == wanted for x in read):
            found.append((store, wanted))
    return found


def _always(e: lp.Expr | None) -> list[lp.Load]:
    """Elements an expression reads whatever its tests say."""
    if isinstance(e, lp.Load):
        return [e]
    if isinstance(e, lp.Call) and e.op not in ("select", "and", "or"):
        return [x for a in e.args for x in _always(a)]
    return _always(e.arg) if isinstance(e, lp.Cast) else []


class _Kept(Forwarded):
    """A copy that reads what the round before left in variables, and leaves there what it stores."""

    def __init__(self, kept: dict[lp.Buffer, tuple[tuple[Poly, ...], lp.Var]]) -> None:
        super().__init__({}, {lp.Load(buffer, index): var for buffer, (index, var) in kept.items()})
        self.kept = kept
        self.after: list[lp.Stmt] = []

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        if isinstance(s, lp.Store) and s.buffer in self.kept:
            value = fresh_like("next", s.buffer.dtype)
            self.after.append(lp.Assign(self.kept[s.buffer][1], lp.Use(value)))
            return [lp.Let(value, self.expr(s.value)), lp.Store(s.buffer, self.index(s.index), lp.Use(value))]
        return super().stmt(s)


def _in_variables(loop: lp.For, found: list[tuple[lp.Store, tuple[Poly, ...]]]) -> list[lp.Stmt]:
    kept = {store.buffer: (index, fresh_like("kept", store.buffer.dtype)) for store, index in found}
    first = {loop.sym: loop.low}
    out: list[lp.Stmt] = [lp.Declare(var, None) for _, var in kept.values()]
    reads: list[lp.Stmt] = [lp.Assign(var, lp.Load(b, tuple(p.subst(first) for p in index))) for b, (index, var) in kept.items()]
    out.append(lp.If((lp.Test("ge", loop.high - loop.low - 1),), reads))
    copier = _Kept(kept)
    body = copier.stmts(loop.body) + copier.after
    return [*out, lp.For(loop.sym, loop.low, loop.high, body, False)]
