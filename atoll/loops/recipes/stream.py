"""Results that no cache holds go past the caches.

    for j in low..high:  y[.., j] = v(j)
becomes, where y has 32 megabytes or more and rows are long,
    for blocks:  for k in 0..256:  line[k] = v(low + 256*block + k)
                 stream y[.., low + 256*block ..] from line
A store into memory that is not in a cache first reads what is there; a streaming store does not. The line is a few cache lines long, so reading ahead goes
on meanwhile. Only results that nobody reads again in the program, and only loops that read an element of each array and compute little with them: stencils and
the like are slower in lines (1.2 to 1.3 times).
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.split import blocks_and_rest, first_of, length, whole_blocks
from atoll.loops.transform.walk import Known, innermost_first, same
from atoll.sizes import Poly, Sym, poly


def stream(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    """Pieces of the program itself, which run once."""
    read = {load.buffer for load in loads(stmts)}
    moved = {b for s in lp.walk(stmts) if isinstance(s, (lp.Swap, lp.CopyBuffer, lp.Helper, lp.Product, lp.Update)) for b in _touched(s)}

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if not isinstance(stmt, lp.Chunks) or stmt.buffers or (body := _streamed(stmt.body, read | moved, decisions)) is None:
            return None
        return [replace(stmt, body=[*body, lp.Helper("fence", (), ())])]

    return innermost_first(stmts, rewrite, lambda stmt: isinstance(stmt, lp.If))


def _touched(s: lp.Stmt) -> list[lp.Buffer]:
    match s:
        case lp.Swap(a, b) | lp.CopyBuffer(a, b):
            return [a, b]
        case lp.Helper():
            return [b for b, _ in s.buffers]
        case lp.Product():
            return [s.left.buffer, s.right.buffer, s.target.buffer]
        case lp.Update():
            return [s.buffer]
    return []


def _streamed(stmts: lp.Stmts, busy: set[lp.Buffer], decisions: list[str]) -> list[lp.Stmt] | None:
    """Statements with the innermost loops in them in lines; None: nothing to do."""

    def rewrite(s: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        return _lines_of(s, busy, decisions) if isinstance(s, lp.For) and _plain(s) and not any(isinstance(x, (lp.For, lp.If)) for x in s.body) else None

    made = innermost_first(stmts, rewrite, lambda s: isinstance(s, lp.If) or _plain(s))
    return None if same(made, stmts) else made


def _plain(s: lp.Stmt) -> bool:
    return isinstance(s, lp.For) and s.parallel and not s.vector and not s.unroll


def _lines_of(loop: lp.For, busy: set[lp.Buffer], decisions: list[str]) -> list[lp.Stmt] | None:
    """An innermost loop, in lines where that pays."""
    stores = [s for s in loop.body if isinstance(s, lp.Store)]
    if not stores or len(stores) > 3 or not all(isinstance(s, (lp.Let, lp.Store)) for s in loop.body):
        return None
    if len({s.buffer for s in stores}) < len(stores) or not all(_in_order(s, loop.sym, busy) for s in stores):
        return None
    if any(loop.sym in p.leaves() for load in loads(loop.body) for p in load.index[:-1]):
        return None  # along a column, a line of each array is read for every element (tiles.py)
    read = [load.buffer for load in loads(loop.body) if any(loop.sym in p.leaves() for p in load.index)]
    if len(set(read)) < len(read) or sum(_work(s.value) for s in loop.body if isinstance(s, (lp.Let, lp.Store))) > profit.STREAM_WORK * len(stores):
        return None
    count = profit.STREAM_LINE // max(s.buffer.dtype.size for s in stores)
    length = (loop.high - loop.low).const()
    if length is not None and length < 2 * count:
        return None
    said = f"{', '.join(s.buffer.name for s in stores)}: from {profit.STREAM_LEAST >> 20} megabytes on, stored past the caches"
    if said not in decisions:
        decisions.append(said)
    large = tuple(lp.Test("ge", _bytes(s.buffer) - profit.STREAM_LEAST) for s in stores)
    return [lp.If((*large, lp.Test("ge", loop.high - loop.low - 2 * count)), _in_lines(loop, stores, count), [loop])]


def _in_order(s: lp.Store, sym: Sym, busy: set[lp.Buffer]) -> bool:
    b = s.buffer
    return (
        b.kind == "out"
        and b not in busy
        and s.index[-1:] != ()
        and s.index[-1].coefficient(sym) == poly(1)
        and not any(sym in p.leaves() for p in s.index[:-1])
        and not any(isinstance(a, lp.VarAtom) for p in b.extents for a in p.leaves())
    )


def _work(e: lp.Expr) -> int:
    if isinstance(e, lp.Call):
        return (profit.SLOW_CALL if e.op in profit.CALLS and e.dtype.is_float else 1) + sum(map(_work, e.args))
    if isinstance(e, lp.Cast):
        return 1 + _work(e.arg)
    if isinstance(e, lp.Choose):
        return 2 + _work(e.then) + _work(e.orelse)
    if isinstance(e, lp.Load) and any(isinstance(a, lp.VarAtom) for p in e.index for a in p.leaves()):
        return profit.SLOW_CALL  # a gather waits for memory, not for stores
    return 0


def _bytes(b: lp.Buffer) -> Poly:
    total = poly(b.dtype.size)
    for p in b.extents:
        total = total * p
    return total


def _in_lines(loop: lp.For, stores: list[lp.Store], count: int) -> lp.Stmts:
    block, k = Sym(f"{loop.sym.name}_line"), Sym("k")
    first = first_of(loop, count, block)
    copier = Copier({loop.sym: first + poly(k)})
    start = Copier({loop.sym: first})
    lines: dict[lp.Buffer, lp.Buffer] = {}
    for s in stores:
        line = lp.Buffer(fresh_like(f"{s.buffer.name}_line", s.buffer.dtype).name, s.buffer.dtype, (poly(count),), "temp", "a line of a result")
        line.local = True
        lines[s.buffer] = line
    body = [replace(s, buffer=lines[s.buffer], index=(poly(k),)) if isinstance(s, lp.Store) else s for s in copier.stmts(loop.body)]
    whole = whole_blocks(length(loop), count)  # only made for two lines and more
    work: list[lp.Stmt] = [lp.Alloc(b) for b in lines.values()]
    work.append(lp.For(k, poly(0), poly(count), body, True))
    work += [lp.Helper("stream", ((s.buffer, start.index(s.index)), (lines[s.buffer], (poly(0),))), (poly(count),)) for s in stores]
    work += [lp.Free(b) for b in lines.values()]
    (again,) = Copier({}).stmt(loop)  # which stays as it is where the result is small
    assert isinstance(again, lp.For)
    return blocks_and_rest(again, count, block, work, whole)
