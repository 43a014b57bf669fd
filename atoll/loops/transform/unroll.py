"""Loops written out (full unrolling), and pieces made one.

    for i in 0..3:  f(i)         becomes         f(0);  f(1);  f(2)
    s = sum over i in 0..3 of e(i)      becomes      s = 0;  s = s + e(0);  s = s + e(1);  s = s + e(2)

Right where the bounds are literal: the rounds are those of the loop, in its order. A sum is added from left to right, as one that must be is; one that may be made in any
order may be made in this one.

    pieces lo..hi of 2:  for i in lo..hi:  f(i)         becomes         for i in 0..2:  f(i)

Right always: the pieces of a range are that range, and one piece of it is a way to cut it. Sums over pieces are added where they end, which is once.
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


def in_one_piece(pieces: lp.Chunks) -> Made:
    if pieces.buffers or not copyable(pieces.body):
        return Refused("something in it cannot be copied")
    return Copier({pieces.low: poly(0), pieces.high: pieces.extent}).stmts(pieces.body)


class _Folded(Copier):
    """Elements of constant arrays at literal indices are literals, also where they stand in indices; tests of literals are decided."""

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

    def tests(self, tests: tuple[lp.Test, ...]) -> tuple[lp.Test, ...] | None:
        left = super().tests(tests)
        if left is None or any(_literal(t) is False for t in left):
            return None
        return tuple(t for t in left if _literal(t) is None)

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        if isinstance(s, lp.Let):
            value = self.expr(s.value)
            if isinstance(value, lp.Const):
                self.literals[s.var] = value
                if value.dtype.is_integer:
                    self.env[s.var.atom] = poly(int(value.value))
                return []
        return super().stmt(s)


def _literal(t: lp.Test) -> bool | None:
    """Whether a test of a literal number holds."""
    value = None if t.poly is None else t.poly.const()
    return None if value is None else {"ge": value >= 0, "eq": value == 0, "ne": value != 0}[t.kind]
