"""Loops that read one array along rows and another along columns go in tiles.

    for i in low..high:  for j in 0..n:  y[i, j] = x[j, i]
becomes
    for blocks of 64 i:  for blocks of 8 j:  for i in the block:  for 8 j:  y[i, j] = x[j, i]

A column touches a cache line for every element; by the time the next column comes to the same lines they are gone.
A tile uses the lines it has: eight rows are read along 64 elements, 64 rows are written a line at a time (copies
are 1.1 to 2.6 times as fast from a thousand rows on, most where rows are a power of two apart, as these meet in the
same sets of a cache). Where other arrays are read along rows, tiles disturb reading ahead: then only for rows that
meet, or many of them. Not with functions, which take longer than memory does.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads, slow
from atoll.loops.transform.copier import fresh_like
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.split import Aligned
from atoll.loops.transform.tile import tiled
from atoll.loops.transform.walk import Known, not_products, outermost_first, with_bodies
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64


def tiles(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    aligned = Aligned()

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if isinstance(stmt, lp.Chunks):
            return [aligned.pieces(with_bodies(stmt, lambda body: outermost_first(body, rewrite, not_products)))]
        inner = stmt.body[-1] if isinstance(stmt, lp.For) and stmt.body else None
        if not isinstance(stmt, lp.For) or not isinstance(inner, lp.For) or not _crosses(stmt, inner):
            return None
        if isinstance(made := tiled(stmt, inner, profit.TILE_LONG, profit.TILE_SHORT), Refused):
            return None
        decisions.append(
            f"{stmt.sym} and {inner.sym} in tiles of {profit.TILE_LONG} by {profit.TILE_SHORT}, as rows meet columns"
        )
        aligned.from_its_low(stmt, profit.TILE_LONG)
        return _where_it_pays(stmt, inner, made)

    return outermost_first(stmts, rewrite, not_products)


def _crosses(outer: lp.For, inner: lp.For) -> bool:
    """Some arrays are read along one index and some along the other, and nothing takes longer than memory."""
    if not all(isinstance(s, (lp.Let, lp.Store)) for s in inner.body):
        return False
    places = [x.index for x in loads(inner.body)] + [s.index for s in inner.body if isinstance(s, lp.Store)]
    if any(slow(s.value) for s in inner.body if isinstance(s, (lp.Let, lp.Store))):
        return False
    ways = [_along(index, outer.sym, inner.sym) for index in places]
    return None not in ways and "outer" in ways and "inner" in ways


def _along(index: tuple[Poly, ...], outer: Sym, inner: Sym) -> str | None:
    """Which index moves to the next element; None: something else does."""
    if any(isinstance(a, lp.VarAtom) for p in index for a in p.leaves()):
        return None
    last = index[-1] if index else poly(0)
    if inner in last.leaves() or not any(inner in p.leaves() for p in index):
        return (
            "inner"
            if outer not in last.leaves() and last.slope(inner) == poly(1)
            else "same"
            if not any(inner in p.leaves() for p in index)
            else None
        )
    return "outer" if last.slope(outer) == poly(1) else None


def _where_it_pays(outer: lp.For, inner: lp.For, made: lp.Stmts) -> list[lp.Stmt]:
    some = lp.Test("ge", inner.high - inner.low - 1)
    if not any(_along(x.index, outer.sym, inner.sym) == "inner" for x in loads(inner.body)):
        return [lp.If((some,), made)]
    pays: lp.Expr = lp.Const(0, I64)
    for x in loads(inner.body):
        if _along(x.index, outer.sym, inner.sym) == "outer":
            meets = lp.Test("eq", (_step(x, inner.sym) * x.dtype.size) % profit.ROWS_MEET)
            pays = lp.Choose((meets,), lp.Const(1, I64), pays)
    wanted = fresh_like("pays", I64)
    many = lp.Test("ge", inner.high - inner.low - profit.MANY_ROWS)
    return [
        lp.Let(wanted, lp.Choose((many,), lp.Const(1, I64), pays)),
        lp.If((some, lp.Test("ne", poly(wanted.atom))), made, [outer]),
    ]


def _step(x: lp.Load, sym: Sym) -> Poly:
    """Elements from one round's to the next round's."""
    total = poly(0)
    for k, p in enumerate(x.index):
        factor = p.slope(sym)
        if factor is not None:
            total = total + factor * product(x.buffer.extents[k + 1 :])
    return total
