"""Loops over rows of sums inside a loop in order, as the rounds of that loop are taken together (look_back.py).

    for in order j:  ...;  for i in top(j)..bottom(j):  lets;  s = sum over r in low(j)..high(j) of e(i, j, r);  stores at row i

Rows are counted as the array does that is written, and the terms of sums so that those of different rounds are the
same; all ends stay, or move by one with the rounds. A sum from left to right begins where it began in the round
before.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.dependence import plain
from atoll.loops.questions import loads, polys, told
from atoll.loops.transform.jam import one_sum
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.prover import facts

Known = tuple[Poly, ...]
_PLAIN = (
    lp.Let,
    lp.Declare,
    lp.Assign,
    lp.Store,
    lp.Update,
    lp.For,
    lp.Accumulate,
    lp.Add,
    lp.If,
    lp.Note,
    lp.Chunks,
    lp.Check,
)


@dataclass(frozen=True, slots=True)
class LookingBack:
    """A loop in order, and those of its loops over rows whose sums may be shared; who takes fewer of them leaves the others as they are."""

    loop: lp.For
    rows: list[Rows]


def looking_back(loop: lp.For, known: Known) -> LookingBack | Refused:
    if loop.parallel or loop.vector or loop.unroll or loop.scan or not plain(loop.low) or not plain(loop.high):
        return Refused("these are not rounds in order of a range that is seen")
    rows = [r for s in loop.body if not isinstance(r := _rows(s, loop.sym, (*known, *told(loop))), Refused)]
    if not rows:
        return Refused("there are no rows of sums in it")
    every = list(lp.walk(loop.body))
    if not all(isinstance(s, _PLAIN) for s in every) or any(s.buffers for s in every if isinstance(s, lp.Chunks)):
        return Refused("what it touches is not all in its indices")
    return LookingBack(loop, rows)


def step(p: Poly, sym: Sym) -> int | None:
    """By how much it grows with an index; None when it is not a number, or too large."""
    if sym not in p.leaves():
        return 0
    step = p.slope(sym)
    by = None if step is None else step.const()
    return by if by in (-1, 1) and sym not in (p - by * poly(sym)).leaves() else None


@dataclass(frozen=True, slots=True)
class Rows:
    """for i:  lets;  one sum;  stores. Rows are counted as the array does that is written: index = i + down."""

    stmt: lp.Stmt
    loop: lp.For
    before: lp.Stmts
    inner: lp.Accumulate
    after: lp.Stmts
    down: Poly
    top: Poly
    bottom: Poly
    shift: Poly  # the index of the sum is counted from there, so that terms of different rounds have the same
    low: Poly  # of the sum, so counted
    high: Poly
    across: bool = False  # rows are taken one after the other: neighbouring ones read neighbouring elements, which fill vectors


def _rows(stmt: lp.Stmt, j: Sym, known: tuple[Poly, ...]) -> Rows | Refused:
    loop, low, high = stmt, poly(0), poly(0)
    if isinstance(stmt, lp.Chunks) and not stmt.accs and not stmt.buffers and len(stmt.body) == 1:
        loop, high = stmt.body[0], stmt.extent
        if (
            not isinstance(loop, lp.For)
            or loop.low != poly(stmt.low)
            or loop.high != poly(stmt.high)
            or any({stmt.low, stmt.high} & p.leaves() for p in polys(loop.body))
        ):
            return Refused("its rows are not the rows of a piece")
    elif isinstance(stmt, lp.For):
        low, high = stmt.low, stmt.high
    if not isinstance(loop, lp.For) or loop.vector or loop.unroll or loop.scan or loop.sym is j:
        return Refused("it is no loop over rows")
    parts = one_sum(loop)
    if isinstance(parts, Refused) or len(parts.inner.accs) != 1 or parts.inner.accs[0].monoid not in MONOIDS:
        return Refused("a row makes more than one sum, or by an operator that is not known")
    before, inner, after, i = parts.before, parts.inner, parts.after, loop.sym
    if inner.sym in (i, j):
        return Refused("indices have the same name")
    stores = [s for s in after if isinstance(s, (lp.Store, lp.Update))]
    axes = [k for k, p in enumerate(stores[0].index) if i in p.leaves()] if stores else []
    if len(axes) != 1 or any(isinstance(a, lp.VarAtom) for p in polys(loop.body) for a in p.leaves()):
        return Refused("rows are not told by one index of what is written")
    down = stores[0].index[axes[0]] - poly(i)
    if i in down.leaves() or {i, inner.sym} & {a for p in known for a in p.leaves()}:
        return Refused("rows are not counted alike in all rounds")
    shift = _shift(inner, i, j)
    found = Rows(stmt, loop, before, inner, after, down, low + down, high + down, shift, inner.low + shift, inner.high + shift)
    ends = (found.top, found.bottom, found.low, found.high)
    if (
        not all(plain(p) and i not in p.leaves() and step(p, j) is not None for p in ends)
        or step(shift, j) is None
        or step(down, j) is None
    ):
        return Refused("the ends of rows or sums do not move one by one")
    moving = step(found.low, j), step(found.high, j)
    if 0 not in moving or (inner.exact and moving[0] != 0) or (any(moving) and not facts(known).proves(inner.high - inner.low)):
        return Refused("the shared part of the sums is not seen")
    return found


def _shift(inner: lp.Accumulate, i: Sym, j: Sym) -> Poly:
    """How far the elements of a sum move with the rounds."""
    for load in loads(inner.body):
        for p in load.index:
            if (
                inner.sym in p.leaves()
                and i in {a for q in load.index for a in q.leaves()}
                and step(p, inner.sym) == 1
                and (by := step(p, j))
            ):
                return by * poly(j)
    return poly(0)
