"""Filters in blocks: every block keeps its own elements in order, then what the blocks kept is put together. All threads, and vectors.

    for in order r in 0..n:  if p(r):  y[c] = v(r);  c = c + 1
becomes
    pieces over blocks b:  flag[j] = p(b * B + j);  y[b * B ...] = v(b * B + j) where flag[j];  starts[b] = how many
    for in order b:  starts[b], c = c, c + starts[b]
    for in order b:  y[starts[b] ...] = y[b * B ...]

A result that is a copy of y is copied from the blocks, by all threads. What is stored must be readable in every round (without_branches.py); a few
elements cost one block. What is kept, and in which order, does not depend on the blocks.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.idioms.without_branches import Kept, kept
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.pieces import pieces
from atoll.loops.transform.split import begun
from atoll.sizes import Sym, poly
from atoll.types.dtypes import BOOL, I64


def filters(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    """Only outside of other loops: those have their own pieces."""
    out: list[lp.Stmt] = []
    k = 0
    while k < len(stmts):
        stmt = stmts[k]
        zero = {s.var for s in out if isinstance(s, lp.Declare) and s.value == lp.Const(0, I64)}
        found = kept(stmt, zero) if isinstance(stmt, lp.For) and not _touched(out, stmt, zero) else None
        if found is None or not copyable(found.lets) or any(s.buffer.dtype.size > 8 or len(s.index) != 1 for s in found.stores):
            out.append(stmt)
            k += 1
            continue
        assert isinstance(stmt, lp.For)
        new, used = _in_blocks(stmt, found, stmts[k + 1 :])
        out += new
        k += 1 + used
        decisions.append(f"what is kept over {stmt.sym} is kept in blocks of {profit.FILTER_BLOCK}, then put together")
    return out


def _touched(before: lp.Stmts, loop: lp.For, zero: set[lp.Var]) -> bool:
    """A counter that is not 0 any more."""
    counters = {s.var for s in lp.walk(loop.body) if isinstance(s, lp.Assign)} & zero
    return any(isinstance(s, lp.Assign) and s.var in counters for s in lp.walk(before))


def _in_blocks(loop: lp.For, found: Kept, after: lp.Stmts) -> tuple[list[lp.Stmt], int]:
    """The statements instead of the loop, and how many of those after it they do as well."""
    n = loop.high
    blocks = begun(n, profit.FILTER_BLOCK)
    name = found.counter.name
    starts = lp.Buffer(f"{name}_starts", I64, (blocks + 1,), "temp", "where the blocks of a filter begin")
    flags = lp.Buffer(f"{name}_flags", BOOL, (poly(profit.FILTER_BLOCK),), "temp", "what a filter keeps")
    flags.local = True
    b, j = Sym("block"), Sym(loop.sym.name)
    count = fresh_like("count", I64)
    length = fresh_like("length", I64)
    length.small = count.small = True
    first = poly(b) * profit.FILTER_BLOCK
    copier = Copier({loop.sym: first + poly(j)})
    marks = copier.stmts(found.lets)
    marks.append(lp.Store(flags, (poly(j),), lp.Truth(copier.tests(found.tests) or ())))
    moves: list[lp.Stmt] = []
    locals_: list[lp.Stmt] = [lp.Alloc(flags)]
    for store in found.stores:
        value = store.value
        source = (value.buffer, (first,)) if isinstance(value, lp.Load) else None
        if source is None:
            made = lp.Buffer(fresh_like(f"{store.buffer.name}_block", store.buffer.dtype).name, store.buffer.dtype, (poly(profit.FILTER_BLOCK),), "temp", "the elements of a block")
            made.local = True
            locals_.append(lp.Alloc(made))
            marks.append(lp.Store(made, (poly(j),), copier.expr(value)))
            source = (made, (poly(0),))
        moves.append(lp.Helper("compress", (source, (flags, (poly(0),)), (store.buffer, (first,))), (poly(length.atom),), count if not moves else None, dtype=store.buffer.dtype))
    here = lp.For(j, poly(0), poly(length.atom), marks, True)
    left = lp.Call("min", (lp.Const(profit.FILTER_BLOCK, I64), lp.Index(n - first)), I64)
    body: list[lp.Stmt] = [lp.Let(length, left), *locals_, here, *moves, lp.Store(starts, (poly(b),), lp.Use(count))]
    out: list[lp.Stmt] = [lp.Alloc(starts), pieces(lp.For(b, poly(0), blocks, body, True), poly(4 * profit.FILTER_BLOCK))]
    each, kept_here = Sym("block"), fresh_like("kept", I64)
    counting: list[lp.Stmt] = [
        lp.Let(kept_here, lp.Load(starts, (poly(each),))),
        lp.Store(starts, (poly(each),), lp.Use(found.counter)),
        lp.Assign(found.counter, lp.Index(poly(found.counter.atom) + poly(kept_here.atom))),
    ]
    kept_here.small = True
    out += [lp.For(each, poly(0), blocks, counting, False), lp.Store(starts, (blocks,), lp.Use(found.counter))]
    copies = _copied(found, after)
    if copies is None:
        rest = Sym("block")
        return [*out, lp.For(rest, poly(0), blocks, [s for store in found.stores for s in _put(store.buffer, store, starts, rest, False)], False), lp.Free(starts)], 0
    made_first, copy = copies
    rest = Sym("block")
    put = [s for store, to in copy for s in _put(to, store, starts, rest, True)]
    whole = pieces(lp.For(rest, poly(0), blocks, put, True), poly(profit.FILTER_BLOCK))
    return [*out, *made_first, whole, lp.Free(starts)], len(made_first) + len(copy)


def _put(to: lp.Buffer, store: lp.Store, starts: lp.Buffer, b: Sym, apart: bool) -> list[lp.Stmt]:
    """What block b kept, where it belongs."""
    begin, end = fresh_like("begin", I64), fresh_like("end", I64)
    begin.small = end.small = True
    k = Sym("k")
    move = lp.Store(to, (poly(begin.atom) + poly(k),), lp.Load(store.buffer, (poly(b) * profit.FILTER_BLOCK + poly(k),)))
    return [
        lp.Let(begin, lp.Load(starts, (poly(b),))),
        lp.Let(end, lp.Load(starts, (poly(b) + 1,))),
        lp.For(k, poly(0), poly(end.atom) - poly(begin.atom), [move], apart),
    ]


def _copied(found: Kept, after: lp.Stmts) -> tuple[list[lp.Stmt], list[tuple[lp.Store, lp.Buffer]]] | None:
    """Results as long as what is kept, each a copy of one of its arrays, which are not used otherwise: their making, and which is which."""
    made = [s for s in after if isinstance(s, lp.Alloc) and s.buffer.kind == "out" and s.buffer.extents == (poly(found.counter.atom),)]
    if after[: len(made)] != made:
        return None
    rest = after[len(made) :]
    copies = [copy for s in rest[: len(found.stores)] if (copy := _copy_of(s, found)) is not None]
    arrays = {store.buffer for store in found.stores}
    if len(copies) != len(arrays) or {c.buffer for c, _ in copies} != arrays or any(_mentions(s, arrays) for s in rest[len(copies) :]):
        return None
    return list(made), copies


def _copy_of(s: lp.Stmt, found: Kept) -> tuple[lp.Store, lp.Buffer] | None:
    count = poly(found.counter.atom)
    if not isinstance(s, lp.Chunks) or s.extent != count or s.accs or s.buffers or len(s.body) != 1:
        return None
    loop = s.body[0]
    if not isinstance(loop, lp.For) or len(loop.body) != 1 or not isinstance(loop.body[0], lp.Store):
        return None
    store, i = loop.body[0], poly(loop.sym)
    for of in found.stores:
        if len(of.index) == 1 and store.index == (i,) and store.value == lp.Load(of.buffer, (i,)):
            return of, store.buffer
    return None


def _mentions(s: lp.Stmt, arrays: set[lp.Buffer]) -> bool:
    from atoll.loops.idioms.sorted_values import used

    return not isinstance(s, lp.Free) and any(used([s], b) for b in arrays)
