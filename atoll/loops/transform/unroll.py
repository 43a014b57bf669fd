"""Loops written out (full unrolling).

    for i in 0..3:  f(i)         becomes         f(0);  f(1);  f(2)
    s = sum over i in 0..3 of e(i)      becomes      s = 0;  s = s + e(0);  s = s + e(1);  s = s + e(2)

Right where the bounds are literal: the rounds are those of the loop, in its order. A sum is added from left to right, as one that must be is; one that may be made in any
order may be made in this one.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.regroup import as_assignments, neutral
from atoll.sizes import Atom, Poly, poly


def written_out(loop: lp.For | lp.Accumulate) -> Made:
    low, count = loop.low.const(), (loop.high - loop.low).const()
    if low is None or count is None:
        return Refused("the number of rounds is not in the text")
    if not copyable(loop.body):
        return Refused("something in it cannot be copied")
    accs = loop.accs if isinstance(loop, lp.Accumulate) else ()
    out: list[lp.Stmt] = [lp.Declare(acc.var, neutral(acc.monoid, acc.var.dtype)) for acc in accs]
    own = {acc.var for acc in accs}
    for k in range(count):
        out += as_assignments(_Folded({loop.sym: loop.low + poly(k)}).stmts(loop.body), own)
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
