"""A let computed row by row while the loop that reads it runs: a sliding window (Halide's store_at outside, compute_at inside).

    let x := G i<n. e in G lo<=j<hi. b, rolled (lead, rows)
      =>  alloc x, of which `rows` rows are kept
          for i in 0..lo+lead: x[i] = e                        the rows the first round needs already
          for j in lo..hi, in order: x[j+lead] = e; b          one new row per round, where there is one

Rows are written in increasing order, so a read of row p in round j finds it if j + lead - rows < p <= j + lead. Before the loop, in round i of the
rows that the first round needs, it finds it if i - rows < p <= i: a row that is a sum is read there while it is made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from atoll.loops import ir as lp
from atoll.schedule import term as tm
from atoll.schedule.context import Context
from atoll.schedule.cover import Cover, Lowering, Tree, under
from atoll.schedule.place import HERE, NotLowered, Place
from atoll.sizes import Poly, Sym, poly

if TYPE_CHECKING:
    from atoll.schedule.to_loops import Lowerer


def rolled_let(
    lowerer: Lowerer, t: tm.Let, context: Context, buffer: lp.Buffer, rest: Callable[[Context], Lowering], inside: Context
) -> Lowering:
    assert t.rolled is not None
    lead, rows = t.rolled
    bound, body = t.bound, t.body
    if not isinstance(bound, tm.Gen) or not isinstance(body, tm.Gen) or bound.low.terms:
        raise NotLowered(f"{t.name} is rolled, but no longer built from row 0 on and read in one loop")
    n, j = bound.high, body.sym

    def row(at: Poly, here: Context) -> Lowering:
        """x[at] = e, where there is such a row."""
        copy = tm.refresh(bound.body)
        pair = (at, n)
        made, cover = lowerer.lower(tm.substitute(copy, {bound.sym: at}), here, Place(buffer, HERE.enter(pair)))
        return made, cover

    first = Sym(bound.sym.name)
    early = tm.Gen(first, poly(0), body.low + lead, bound.body)
    before, in_before = _where(lowerer, (n - 1 - poly(first),), early, context, lambda here: row(poly(first), here))
    reader = inside.down(body, 0)
    now, in_now = _where(lowerer, (poly(j) + lead, n - 1 - poly(j) - lead), body, reader, lambda here: row(poly(j) + lead, here), entered=True)

    def cover(index: tuple[Poly, ...], here: Context, env: dict[Sym, Poly]) -> Tree | None:
        return under(
            body.low + lead - 1 - index[0],
            here,
            lambda c: in_before(index[1:], c, {**env, first: index[0]}),
            lambda c: in_now(index[1:], c, {**env, j: index[0] - lead}),
        )

    lowerer.covers[buffer] = cover
    lowerer.rolled[buffer] = ((j, lead), (first, poly(0)))
    buffer.rows, buffer.local = rows, False
    stmts, inner = rest(inside)
    loop = next((s for s in stmts if isinstance(s, lp.For) and s.sym is j), None)
    if loop is None:
        raise NotLowered(f"{t.name} is rolled, so {j} must run in order")
    rolled = replace(loop, body=[*now, *loop.body], parallel=False, vector=0, unroll=False)
    stmts = [rolled if s is loop else s for s in stmts]
    warm: list[lp.Stmt] = [lp.For(first, poly(0), body.low + lead, before, False)] if before else []
    return [lp.Alloc(buffer), *warm, *stmts, lp.Free(buffer)], inner


def _where(
    lowerer: Lowerer, conds: tuple[Poly, ...], loop: tm.Gen, context: Context, make: Callable[[Context], Lowering], entered: bool = False
) -> tuple[list[lp.Stmt], Cover]:
    """Statements under the conditions that do not follow from the loop's own range."""
    here = context if entered else context.down(loop, 0)
    open_conds = tuple(c for c in conds if not here.facts.proves(c))
    stmts, cover = make(here.know(*open_conds))
    if open_conds:
        stmts = [lp.If(tuple(lp.Test("ge", c) for c in open_conds), stmts)]
    return stmts, cover
