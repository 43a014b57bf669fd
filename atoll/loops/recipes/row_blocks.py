"""Rows that look back along themselves, several at a time: what they do before the block of rows begins is done column by column for all of them.

    for in order i:  for in order j in 0..i:  S(i, j);  D(i)
becomes, for 64 rows first..first + 64 at a time,
    for in order j in 0..first:  for i in first..first + 64:  S(i, j)
    for in order i in first..first + 64:  for in order j in first..i:  S(i, j);  D(i)

A row of Cholesky's or of LU's factor waits for its own elements, so nothing of it is shared as it stands; the columns of many rows are loops that look back, whose sums share
what they read (loops/recipes/left_looking.py), which takes them from here. Right where what a row does before the block has nothing to do with what earlier rows of the
block do after that column; proved from the indices (loops/dependence.py), else left alone.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.dependence import Place, accesses, never_meet, place, plain
from atoll.loops.recipes.left_looking import PAIRS, looks_back
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.split import first_of, in_blocks
from atoll.loops.transform.walk import Known, not_products, outermost_first
from atoll.sizes import Atom, Poly, Sym, poly

_COPIED = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.Add, lp.If, lp.For, lp.Accumulate, lp.Chunks, lp.Note)


def row_blocks(stmts: lp.Stmts, decisions: list[str], together: int = 16) -> list[lp.Stmt]:
    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if isinstance(stmt, lp.Chunks):
            return [stmt]  # as they are: rows of a piece are few
        return _blocked(stmt, known, decisions, together) if isinstance(stmt, lp.For) else None

    return outermost_first(stmts, rewrite, not_products, ())


def _blocked(loop: lp.For, known: Known, decisions: list[str], together: int) -> list[lp.Stmt] | None:
    inner = loop.body[0] if loop.body else None
    if not isinstance(inner, lp.For) or not (_in_order(loop) and _in_order(inner)) or not all(map(plain, (loop.low, loop.high, inner.low, inner.high))):
        return None
    i = loop.sym
    if i in inner.low.leaves() or inner.high.coefficient(i) != 1 or i in (inner.high - poly(i)).leaves() or not _own_variables(inner):
        return None
    if not all(isinstance(s, _COPIED) and not (isinstance(s, lp.Chunks) and s.buffers) for s in lp.walk(loop.body)):
        return None
    block = Sym(f"{i.name}_by_{profit.ROW_BLOCK}")
    first = first_of(loop, profit.ROW_BLOCK, block)
    until = inner.high.subst({i: first})
    here = (*known, poly(block), loop.high - first - profit.ROW_BLOCK)
    rows, column = Sym(i.name), Sym(inner.sym.name)
    early = lp.For(column, inner.low, until, [lp.For(rows, first, first + profit.ROW_BLOCK, Copier({i: poly(rows), inner.sym: poly(column)}).stmts(inner.body), False)], False)
    if looks_back(early, together, here) is None or not _apart(loop, inner, first, until, here):
        return None
    row, rest = Sym(i.name), Sym(inner.sym.name)
    late = lp.For(rest, until, inner.high.subst({i: poly(row)}), Copier({i: poly(row), inner.sym: poly(rest)}).stmts(inner.body), False)
    ends = lp.For(row, first, first + profit.ROW_BLOCK, [late, *Copier({i: poly(row)}).stmts(loop.body[1:])], False)
    decisions.append(f"{profit.ROW_BLOCK} rounds of {i} at a time: what they do in the columns {inner.sym} before them is done column by column")
    return list(in_blocks(loop, profit.ROW_BLOCK, block, [early, ends], known))


def _in_order(loop: lp.For) -> bool:
    return not (loop.parallel or loop.vector or loop.unroll or loop.scan)


def _own_variables(loop: lp.For) -> bool:
    """Nothing goes from round to round but in arrays."""
    made = {s.var for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare))} | {a.var for s in lp.walk(loop.body) if isinstance(s, lp.Accumulate) for a in s.accs}
    return not any(isinstance(s, (lp.Assign, lp.Add)) and s.var not in made for s in lp.walk(loop.body))


def _apart(loop: lp.For, inner: lp.For, first: Poly, until: Poly, known: Known) -> bool:
    """What row b does in a column before the block is neither read nor written by what row a before it does in later columns, or after its columns."""
    i, j = loop.sym, inner.sym
    a, b, c, d = (Sym(name) for name in "abcd")
    here = (*known, poly(a) - first, poly(b) - poly(a) - 1, first + profit.ROW_BLOCK - 1 - poly(b), poly(c) - inner.low, until - 1 - poly(c))
    mine = _places(inner.body, {i: poly(b), j: poly(c)})
    later = _places(inner.body, {i: poly(a), j: poly(d)})
    after = _places(loop.body[1:], {i: poly(a)})
    columns = (*here, poly(d) - poly(c) - 1, inner.high.subst({i: poly(a)}) - 1 - poly(d))
    pairs = [(x, y, columns) for x in mine for y in later] + [(x, y, here) for x in mine for y in after]
    return len(pairs) <= PAIRS and all(_never(x, y, more) for x, y, more in pairs)


def _places(stmts: lp.Stmts, env: dict[Atom, Poly]) -> list[Place | None]:
    written, read = accesses(stmts)
    return [place(x, env, True) for x in written] + [place(x, env) for x in read]


def _never(x: Place | None, y: Place | None, known: tuple[Poly, ...]) -> bool:
    if x is None or y is None:
        return False
    if x.buffer is not y.buffer or not (x.written or y.written):
        return True
    return x.buffer.rows is None and not x.buffer.local and never_meet(x, y, known)
