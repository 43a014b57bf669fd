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
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
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
    makers = [s for s in stmts if isinstance(s, lp.Chunks) and _maker(s) is not None]
    users = _users(stmts) if makers else {}
    for stmt in makers:
        maker = _maker(stmt)  # again: another loop may have joined it
        if maker is not None and _joined(stmts, stmt, maker, users):
            decisions.append(f"{maker.store.buffer.shown} is computed where it is read")
    return stmts


def _users(stmts: list[lp.Stmt]) -> dict[lp.Buffer, list[lp.Stmt]]:
    """The statements that mention each buffer, in order."""
    found: dict[lp.Buffer, list[lp.Stmt]] = {}
    for stmt in stmts:
        mentioned = {x.buffer for x in loads(stmt)}
        for s in lp.walk([stmt]):
            mentioned |= {s.buffer} if isinstance(s, (lp.Alloc, lp.Free, lp.Store, lp.Update)) else set(_buffers(s))
        for buffer in mentioned:
            found.setdefault(buffer, []).append(stmt)
    return found


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


def _joined(stmts: list[lp.Stmt], chunk: lp.Chunks, maker: _Maker, users: dict[lp.Buffer, list[lp.Stmt]]) -> bool:
    buffer = maker.store.buffer
    mentions = users.get(buffer, [])
    if [type(s) for s in mentions] != [lp.Alloc, lp.Chunks, lp.Chunks, lp.Free] or mentions[1] is not chunk:
        return False
    user = mentions[2]
    assert isinstance(user, lp.Chunks)
    where = {id(s): k for k, s in enumerate(stmts)}
    between = stmts[where[id(chunk)] + 1 : where[id(user)]]
    if user.extent != chunk.extent or not all(isinstance(s, (lp.Declare, lp.Alloc)) for s in between):
        return False
    loops = [s for s in user.body if buffer in _users([s])]
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
    gone = {id(s) for s in (mentions[0], chunk, mentions[3])}
    stmts[:] = [s for s in stmts if id(s) not in gone]
    del users[buffer]
    for those in users.values():  # what the first loop read, the second one reads now
        if any(s is chunk for s in those):
            those[:] = [s for s in those if s is not chunk and s is not user] + [user]
            those.sort(key=lambda s: where[id(s)])
    return True


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
