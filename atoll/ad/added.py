"""Updates that add: `a[p] = a[p] + e` leaves the adjoint of the place as it is, for the old element has it too, and hands it on to e alone.

A put takes the adjoint of its place, clears it, and what was read of the place gets it back: a read, two stores and an addition for every element, for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.ad.indicator import solve
from atoll.ainf import ir, scalars
from atoll.ainf.builder import Builder
from atoll.ainf.identity import identity_of, is_read, read_arg
from atoll.errors import NOWHERE
from atoll.sizes import Poly


@dataclass(frozen=True)
class Added:
    """What an update adds to the element that was there, or takes from it."""

    value: ir.Operand
    taken: bool

    def adjoint(self, b: Builder, bar: ir.Operand) -> ir.Operand:
        """What flows into the value, given the adjoint of the place."""
        return scalars.op(b, "neg", (bar,), ir.operand_dtype(bar), NOWHERE) if self.taken else bar


def added(b: Builder, p: ir.Scatter, axes: tuple[Poly, ...]) -> Added | None:
    """What a put adds to what is there; None where it does anything else, or two of its elements may have one place (the last one counts)."""
    if p.monoid is not None or p.drop or not isinstance(p.value, ir.Ref):
        return None
    line = p.value.line
    base = identity_of(p.base)
    if base is None or not isinstance(line.prim, ir.Op) or line.prim.name not in ("add", "sub"):
        return None
    env = dict(zip(line.dims, p.value.index, strict=True))
    first, second = (ir.subst_operand(x, env) for x in line.prim.args)
    if not determined(b, p, axes):
        return None
    if _is_there(first, base, p.index):
        return Added(second, line.prim.name == "sub")
    if line.prim.name == "add" and _is_there(second, base, p.index):
        return Added(first, False)
    return None


def _is_there(x: ir.Operand, base: tuple[ir.Line, int], index: tuple[Poly, ...]) -> bool:
    """Whether a value is the element of an array at this place."""
    while isinstance(x, ir.Ref) and (x.line, x.result) != base and is_read(x.line, True):
        x = ir.subst_operand(read_arg(x.line), dict(zip(x.line.dims, x.index, strict=True)))
    return isinstance(x, ir.Ref) and (x.line, x.result) == base and x.index == index


def determined(b: Builder, p: ir.Scatter, axes: tuple[Poly, ...]) -> bool:
    """True when the place tells which element of the update it got: indices that are not data determine all binders."""
    plain = [c for c, q in enumerate(p.index) if not any(isinstance(leaf, ir.RefAtom) for leaf in q.leaves())]
    target = tuple(b.fresh_binder("e", axes[c]) for c in plain)
    solved = solve(b, target, tuple(p.index[c] for c in plain), list(p.binders))
    return not solved.open and not solved.left
