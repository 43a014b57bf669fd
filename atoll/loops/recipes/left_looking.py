"""Several rounds at a time of loops that look back: sums over what earlier rounds made are shared by the rows and
columns of a tile.

    for in order j:  D(j);  for i in j + 1..n:  s = sum over r in 0..j of x[i, r] * x[j, r];  x[i, j] = f(s)
becomes, for sixteen rounds first..stop at a time,
    for in order j in first..stop:  D(j);  the rows before stop, as before
    pieces of the rows from stop on, four rows i and four columns j at a time:
        sixteen sums over r in 0..j of the first column;  then, column by column, the terms that are left and x[i, j] = f(s)

What makes it right is in loops/transform/look_back.py. It pays where some elements of a sum are shared by all rows
and some by all rounds, and vectors are filled by neighbours.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads, told
from atoll.loops.transform.look_back import Blocks, Sizes, rounds_together
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.row_sums import Rows, looking_back, step
from atoll.loops.transform.walk import Known, not_products, outermost_first, with_bodies
from atoll.sizes import Atom, Poly, Sym, poly


def left_looking(
    stmts: lp.Stmts, decisions: list[str], together: int, known: tuple[Poly, ...] = (), nested: bool = False
) -> list[lp.Stmt]:
    """`nested`: this is in a piece already."""

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if isinstance(stmt, lp.Chunks) and not nested:
            return [with_bodies(stmt, lambda body: left_looking(body, decisions, together, (*known, *told(stmt)), True))]
        found = looks_back(stmt, together, known, nested) if isinstance(stmt, lp.For) else None
        if found is None:
            return None
        names = " and ".join(r.loop.sym.name for r in found.rows)
        shared = f"sums over what earlier rounds made are shared by rows {names}, which are in pieces for threads"
        decisions.append(f"{together} rounds of {found.loop.sym} at a time, {profit.TILE_ROUNDS} in a tile: {shared}")
        return found.loops()

    return outermost_first(stmts, rewrite, not_products, known)


def looks_back(loop: lp.For, together: int, known: tuple[Poly, ...], nested: bool = False) -> Blocks | None:
    found = looking_back(loop, known)
    if isinstance(found, Refused):
        return None
    rows = [replace(r, across=across) for r in found.rows if (across := _filled(r, loop.sym)) is not None]
    sizes = Sizes(together, profit.TILE_ROUNDS, profit.TILE_ROWS, profit.TILE_SHARE)
    for some in [rows, *([r] for r in rows if len(rows) > 1)]:
        blocks = rounds_together(replace(found, rows=some), sizes, nested, known) if some else None
        if isinstance(blocks, Blocks):
            return blocks
    return None


def _filled(rows: Rows, j: Sym) -> bool | None:
    """Some elements of the sum are shared by all rows, some by all rounds, and vectors are filled by neighbours: those across rows (True), or those along them
    (False). None where that is not so, and nothing is gained."""
    i, r = rows.loop.sym, rows.inner.sym
    env: dict[Atom, Poly] = {r: poly(r) - rows.shift, i: poly(i) - rows.down}
    places = [tuple(p.subst(env) for p in x.index) for x in loads(rows.inner.body)]
    moving = [{a for p in place for a in p.leaves()} for place in places]
    if not any({i, r} <= m and j not in m for m in moving) or not any({j, r} <= m and i not in m for m in moving):
        return None

    def neighbours(sym: Sym) -> bool:
        there = [place for place, m in zip(places, moving, strict=True) if sym in m]
        return all(step(place[-1], sym) == 1 and not any(sym in p.leaves() for p in place[:-1]) for place in there)

    return True if neighbours(i) else False if neighbours(r) else None
