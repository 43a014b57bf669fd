"""An array that one loop makes and the next one reads, element by element, is not made: the second loop computes what it reads.

    t = alloc n;  pieces of n: for i: t[i] = e(i);   pieces of n: for i: s += f(t[i]);   free t
becomes
    pieces of n: for i:  v = e(i);  s += f(v)

The plan does this where it can (plan/fuse.py); here are the loops that it puts apart for other reasons. Nothing else may read or write the array,
and the second loop must not write what the first one reads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.forward import Forwarded
from atoll.loops.transform.walk import every_block
from atoll.sizes import poly


@dataclass
class _Maker:
    """for sym: lets; buffer[sym] = value"""

    loop: lp.For
    store: lp.Store


def join_loops(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    return every_block(stmts, lambda body: _Block(body).joined(decisions))


def _mentioned(stmt: lp.Stmt) -> set[lp.Buffer]:
    found = {x.buffer for x in loads(stmt)}
    for s in lp.walk([stmt]):
        found |= {s.buffer} if isinstance(s, (lp.Alloc, lp.Free, lp.Store, lp.Update)) else set(_buffers(s))
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


class _Block:
    """Statements by their places, which stay while loops are joined, and the places where each buffer is mentioned."""

    def __init__(self, stmts: lp.Stmts) -> None:
        self.at: list[lp.Stmt | None] = list(stmts)
        self.makers = [k for k, s in enumerate(stmts) if isinstance(s, lp.Chunks) and _maker(s) is not None]
        self.users: dict[lp.Buffer, list[int]] = {}
        for k, stmt in enumerate(stmts) if self.makers else ():
            for buffer in _mentioned(stmt):
                self.users.setdefault(buffer, []).append(k)

    def joined(self, decisions: list[str]) -> list[lp.Stmt]:
        for k in self.makers:
            chunk = self.at[k]  # as it is now: another loop may have joined it
            maker = _maker(chunk) if isinstance(chunk, lp.Chunks) else None
            if maker is not None and isinstance(chunk, lp.Chunks) and self.join(k, chunk, maker):
                decisions.append(f"{maker.store.buffer.shown} is computed where it is read")
        return [s for s in self.at if s is not None]

    def join(self, here: int, chunk: lp.Chunks, maker: _Maker) -> bool:
        """Put the one loop that reads what a loop makes in the place of both, if that may be done."""
        buffer = maker.store.buffer
        places = self.users.get(buffer, [])
        if [type(self.at[k]) for k in places] != [lp.Alloc, lp.Chunks, lp.Chunks, lp.Free] or places[1] != here:
            return False
        there = places[2]
        user = self.at[there]
        assert isinstance(user, lp.Chunks)
        between = [s for s in self.at[here + 1 : there] if s is not None]
        loops = [s for s in user.body if buffer in _mentioned(s)]
        if user.extent != chunk.extent or not all(isinstance(s, (lp.Declare, lp.Alloc)) for s in between) or len(loops) != 1:
            return False
        loop = loops[0]
        if not isinstance(loop, (lp.For, lp.Accumulate)) or loop.low != poly(user.low) or loop.high != poly(user.high) or not copyable(loop.body):
            return False
        read = [x for s in loop.body for x in loads(s) if x.buffer is buffer]
        if not read or any(x.index != (poly(loop.sym),) for x in read) or buffer in _written(loop.body):
            return False
        if any(x.buffer in _written([user]) for s in maker.loop.body for x in loads(s)):
            return False
        new = replace(loop, body=_with(maker, loop))
        self.at[there] = replace(user, body=[new if s is loop else s for s in user.body], work=user.work + chunk.work)
        for k in (places[0], here, places[3]):
            self.at[k] = None
        del self.users[buffer]
        for those in self.users.values():  # what the first loop read, the second one reads now
            if here in those:
                those[:] = sorted({there, *those} - {here})
        return True


def _with(maker: _Maker, loop: lp.For | lp.Accumulate) -> list[lp.Stmt]:
    """The body of a loop that makes what it reads."""
    buffer = maker.store.buffer
    copier = Copier({maker.loop.sym: poly(loop.sym)})
    made = copier.stmts(list(maker.loop.body[:-1]))
    value = fresh_like(buffer.name, buffer.dtype)
    made.append(lp.Let(value, copier.expr(maker.store.value)))
    return [*made, *Forwarded({}, {lp.Load(buffer, (poly(loop.sym),)): value}).stmts(loop.body)]


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


def _written(stmts: lp.Stmts) -> set[lp.Buffer]:
    found = {s.buffer for s in lp.walk(stmts) if isinstance(s, (lp.Store, lp.Update))}
    return found | {b for s in lp.walk(stmts) for b in _buffers(s)}
