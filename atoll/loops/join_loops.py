"""An array that one loop makes and the next one reads, element by element, is not made: the second loop computes what it reads.

    t = alloc n;  pieces of n: for i: t[i] = e(i);   pieces of n: for i: s += f(t[i]);   free t
becomes
    pieces of n: for i:  v = e(i);  s += f(v)

The plan does this where it can (plan/fuse.py); here are the loops that it puts apart for other reasons. Nothing else may read or write the array,
and the second loop must not write what the first one reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.rewrite import Copier, copyable, fresh_like, loads
from atoll.sizes import Poly, poly


@dataclass
class _Maker:
    """for sym: lets; buffer[sym] = value"""

    loop: lp.For
    store: lp.Store


def join_loops(stmts: list[lp.Stmt], decisions: list[str]) -> list[lp.Stmt]:
    for stmt in stmts:
        for body in lp.bodies(stmt):
            body[:] = join_loops(body, decisions)
    k = 0
    while k < len(stmts):
        stmt = stmts[k]
        if isinstance(stmt, lp.Chunks) and (maker := _maker(stmt)) is not None and _joined(stmts, k, stmt, maker):
            decisions.append(f"{maker.store.buffer} is computed where it is read")
            continue  # the loop at k is gone
        k += 1
    return stmts


def _maker(chunk: lp.Chunks) -> _Maker | None:
    if chunk.accs or chunk.buffers or len(chunk.body) != 1:
        return None
    loop = chunk.body[0]
    if not isinstance(loop, lp.For) or not loop.parallel or not loop.body or loop.low != poly(chunk.low) or loop.high != poly(chunk.high):
        return None
    store = loop.body[-1]
    if not isinstance(store, lp.Store) or store.buffer.kind != "temp" or store.buffer.local or store.buffer.rows is not None or store.index != (poly(loop.sym),):
        return None
    return _Maker(loop, store) if all(isinstance(s, lp.Let) for s in loop.body[:-1]) else None


def _joined(stmts: list[lp.Stmt], k: int, chunk: lp.Chunks, maker: _Maker) -> bool:
    buffer = maker.store.buffer
    mentions = [j for j, s in enumerate(stmts) if _mentions(s, buffer)]
    kinds = [type(stmts[j]) for j in mentions]
    if kinds != [lp.Alloc, lp.Chunks, lp.Chunks, lp.Free] or mentions[1] != k:
        return False
    user = stmts[mentions[2]]
    between = stmts[k + 1 : mentions[2]]
    assert isinstance(user, lp.Chunks)
    if user.extent != chunk.extent or not all(isinstance(s, (lp.Declare, lp.Alloc)) for s in between):
        return False
    loops = [s for s in user.body if _mentions(s, buffer)]
    if len(loops) != 1:
        return False
    loop = loops[0]
    if not isinstance(loop, (lp.For, lp.Accumulate)) or loop.low != poly(user.low) or loop.high != poly(user.high) or not copyable(loop.body):
        return False
    read = [x for s in loop.body for x in loads(s) if x.buffer is buffer]
    if not read or any(x.index != (poly(loop.sym),) for x in read) or buffer in _written(loop.body):
        return False
    if any(x.buffer in _written([user]) for s in maker.loop.body for x in loads(s)):
        return False
    copier = Copier({maker.loop.sym: poly(loop.sym)})
    made = copier.stmts(list(maker.loop.body[:-1]))
    value = fresh_like(buffer.name, buffer.dtype)
    made.append(lp.Let(value, copier.expr(maker.store.value)))
    loop.body = [*made, *_Read(buffer, (poly(loop.sym),), value).stmts(loop.body)]
    user.work = user.work + chunk.work
    for j in (mentions[3], k, mentions[0]):
        del stmts[j]
    return True


def _mentions(stmt: lp.Stmt, buffer: lp.Buffer) -> bool:
    for s in lp.walk([stmt]):
        if isinstance(s, (lp.Alloc, lp.Free, lp.Store, lp.Update)) and s.buffer is buffer:
            return True
        if isinstance(s, (lp.Helper, lp.Swap, lp.CopyBuffer, lp.Print, lp.Product)):
            held = {b for b in _buffers(s)}
            if buffer in held:
                return True
        if any(x.buffer is buffer for x in loads(s)):
            return True
    return False


def _buffers(s: lp.Stmt) -> list[lp.Buffer]:
    if isinstance(s, lp.Helper):
        return [b for b, _ in s.buffers]
    if isinstance(s, lp.Swap):
        return [s.first, s.second]
    if isinstance(s, lp.CopyBuffer):
        return [s.target, s.source]
    if isinstance(s, lp.Product):
        return [s.left.buffer, s.right.buffer, s.target.buffer]
    if isinstance(s, lp.Print):
        return [b for part in s.parts if not isinstance(part, str) for b in part[1] if isinstance(b, lp.Buffer)]
    return []


def _written(stmts: list[lp.Stmt]) -> set[lp.Buffer]:
    found = {s.buffer for s in lp.walk(stmts) if isinstance(s, (lp.Store, lp.Update))}
    return found | {b for s in lp.walk(stmts) for b in _buffers(s)}


class _Read(Copier):
    """Elements of the array are the value that was just computed."""

    def __init__(self, buffer: lp.Buffer, index: tuple[Poly, ...], value: lp.Var) -> None:
        super().__init__({})
        self.buffer, self.at, self.value = buffer, index, value

    def expr(self, e: lp.Expr) -> lp.Expr:
        if isinstance(e, lp.Load) and e.buffer is self.buffer and e.index == self.at:
            return lp.Use(self.value)
        return super().expr(e)
