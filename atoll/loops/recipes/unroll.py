"""Short loops of literal length are written out, so that the loop around them is the innermost one and can run in vectors."""

from __future__ import annotations

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import Atom, Poly, poly

STATEMENTS = 320  # after writing out, without elements of constant arrays


def unroll(stmts: lp.Stmts, decisions: list[str], most: int = 9) -> list[lp.Stmt]:
    """Innermost first; a sum of a few terms is added from left to right."""

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, (lp.For, lp.Accumulate)) or (rounds := _rounds(stmt, most)) is None:
            return None
        decisions.append(f"the {rounds} rounds of {stmt.sym} are written out")
        return _written_out(stmt, rounds)

    return innermost_first(stmts, rewrite, not_products)


def _rounds(loop: lp.For | lp.Accumulate, most: int) -> int | None:
    low, count = loop.low.const(), (loop.high - loop.low).const()
    if low is None or count is None or not 0 < count <= most or not copyable(loop.body):
        return None
    if any(isinstance(s, (lp.For, lp.Accumulate)) for s in lp.walk(loop.body)):
        return None
    if count * sum(not _constant(s) for s in lp.walk(loop.body)) > STATEMENTS:
        return None
    return count


def _constant(s: lp.Stmt) -> bool:
    return isinstance(s, lp.Let) and isinstance(s.value, lp.Load) and s.value.buffer.kind == "const"


def _written_out(loop: lp.For | lp.Accumulate, rounds: int) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    accs = loop.accs if isinstance(loop, lp.Accumulate) else []
    for acc in accs:
        value = MONOIDS[acc.monoid][1](acc.var.dtype)
        out.append(lp.Declare(acc.var, lp.Const(value, acc.var.dtype)))
    own = {a.var for a in accs}
    for k in range(rounds):
        for s in _Folded({loop.sym: loop.low + poly(k)}).stmts(loop.body):
            out.append(_added(s, own))
    return out


class _Folded(Copier):
    """Elements of constant arrays at literal indices are literals, also where they stand in indices."""

    def __init__(self, env: dict[Atom, Poly]) -> None:
        super().__init__(env)
        self.literals: dict[lp.Var, lp.Const] = {}

    def expr(self, e: lp.Expr) -> lp.Expr:
        if isinstance(e, lp.Use) and e.var in self.literals:
            return self.literals[e.var]
        new = super().expr(e)
        if isinstance(new, lp.Load) and new.buffer.kind == "const" and not new.dtype.is_complex:
            place = [p.const() for p in new.index]
            if all(p is not None and 0 <= p < size for p, size in zip(place, new.buffer.value.shape, strict=True)):  # else nobody reads it
                return lp.Const(new.buffer.value[tuple(place)].item(), new.dtype)
        return new

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        if isinstance(s, lp.Let):
            value = self.expr(s.value)
            if isinstance(value, lp.Const):
                self.literals[s.var] = value
                if value.dtype.is_integer:
                    self.env[s.var.atom] = poly(int(value.value))
                return []
        return super().stmt(s)


def _added(s: lp.Stmt, own: set[lp.Var]) -> lp.Stmt:
    """Additions into the accumulators of the loop that is gone are assignments."""
    if isinstance(s, lp.Add) and s.var in own:
        return lp.Assign(s.var, lp.Call(MONOIDS[s.monoid][0], (lp.Use(s.var), s.value), s.var.dtype), instance=s.instance)
    if isinstance(s, lp.If):
        return lp.If(s.tests, [_added(x, own) for x in s.then], [_added(x, own) for x in s.orelse])
    return s
