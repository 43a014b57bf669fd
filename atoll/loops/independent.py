"""Loops written in order whose rounds are seen to be independent: no round touches an element that another one writes.

    for in order j in 0..w:  s = x[j] + x[j + w];  x[j + w] = x[j] - x[j + w];  x[j] = s

Nothing is rewritten: the loop is marked, so that C compilers need not ask at run time whether x[j] and x[j + w] meet before they use vectors.
Two rounds are apart where an index is the same in both accesses and moves with the round, or where it is seen never to be equal.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.rewrite import loads
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.prover import Facts, facts

_STRAIGHT = (lp.Let, lp.Store)
MOST = 24  # stores in a round


def independent(stmts: list[lp.Stmt], decisions: list[str], known: tuple[Poly, ...] = ()) -> list[lp.Stmt]:
    """`known`: what is not negative here, from the loops around."""
    for stmt in stmts:
        inside = (*known, poly(stmt.sym) - stmt.low, stmt.high - poly(stmt.sym) - 1) if isinstance(stmt, (lp.For, lp.Accumulate)) else known
        for body in lp.bodies(stmt):
            if not isinstance(stmt, lp.Product):
                independent(body, decisions, inside)
        if isinstance(stmt, lp.For) and not stmt.parallel and not stmt.vector and not stmt.unroll and _apart(stmt, inside):
            stmt.parallel = True
            decisions.append(f"the rounds of {stmt.sym} are seen to be independent")
    return stmts


def _apart(loop: lp.For, known: tuple[Poly, ...]) -> bool:
    stores = [s for s in loop.body if isinstance(s, lp.Store)]
    if not stores or len(stores) > MOST or not all(isinstance(s, _STRAIGHT) for s in loop.body):
        return False
    made = {s.var.atom for s in loop.body if isinstance(s, lp.Let)}
    touched: dict[lp.Buffer, list[tuple[Poly, ...]]] = {}
    for buffer, index in [(s.buffer, s.index) for s in stores] + [(x.buffer, x.index) for x in loads(loop.body)]:
        touched.setdefault(buffer, [])
        if index not in touched[buffer]:
            touched[buffer].append(index)
    other = Sym(f"{loop.sym.name}_other")
    ctx = facts((*known, poly(other) - loop.low, loop.high - poly(other) - 1))
    for written in {(s.buffer, s.index) for s in stores}:
        buffer, index = written
        if buffer.rows is not None or any(not made.isdisjoint(p.leaves()) for each in touched[buffer] for p in each):
            return False
        if not all(_never_meet(index, each, loop.sym, other, ctx) for each in touched[buffer]):
            return False
    return True


def _never_meet(written: tuple[Poly, ...], touched: tuple[Poly, ...], sym: Sym, other: Sym, ctx: Facts) -> bool:
    """No round writes the one element where another round touches the other."""
    for w, t in zip(written, touched, strict=True):
        step = w.coefficient(sym)
        if w == t and step is not None and step.const() not in (None, 0) and sym not in (w - step * sym).leaves():
            return True
        by, apart = None if step is None else step.const(), (w - t).const()
        if by and apart is not None and apart % by != 0 and sym not in (w - by * poly(sym)).leaves():
            return True  # one is at multiples of the step where the other is between them
        there = t.subst({sym: poly(other)})
        if ctx.proves(w - there - 1) or ctx.proves(there - w - 1):
            return True
    return False
