"""An array that one loop makes and the next one reads, element by element, is not made: the second loop computes what it reads.

    t = alloc n;  pieces of n: for i: t[i] = e(i);   pieces of n: for i: s += f(t[i]);   free t
becomes
    pieces of n: for i:  v = e(i);  s += f(v)

The plan does this where it can (plan/fuse.py); here are the loops that it puts apart for other reasons. The two are fused (transform/fuse.py), pieces first, then the loops in them;
then the element that a round stores and reads is a variable, as nothing else mentions the array.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.questions import loads, mentions
from atoll.loops.transform.copier import copyable, fresh_like
from atoll.loops.transform.forward import Forwarded
from atoll.loops.transform.fuse import fused, past
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import every_block
from atoll.sizes import poly


def join_loops(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    def block(body: lp.Stmts) -> lp.Stmts:
        said = _Said()
        here = 0
        while here < len(body):
            found = _joined(body, here, said)
            if found is None:
                here += 1
                continue
            body, array = found
            decisions.append(f"{array.shown} is computed where it is read")
            here -= 1  # the array's memory stood before it
        return body

    return every_block(stmts, block)


class _Said:
    """The arrays that the statements of a block mention, each looked through once."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[lp.Stmt, set[lp.Buffer]]] = {}

    def by(self, stmt: lp.Stmt) -> set[lp.Buffer]:
        if id(stmt) not in self.found:
            self.found[id(stmt)] = stmt, {stmt.buffer} if isinstance(stmt, (lp.Alloc, lp.Free)) else set(mentions(stmt))
        return self.found[id(stmt)][1]


def _made(chunk: lp.Chunks) -> lp.Store | None:
    """The store of pieces that do nothing but    for i: lets; buffer[i] = value"""
    loop = chunk.body[0] if len(chunk.body) == 1 and not chunk.accs and not chunk.buffers else None
    if not isinstance(loop, lp.For) or not loop.parallel or not loop.body or (loop.low, loop.high) != (poly(chunk.low), poly(chunk.high)):
        return None
    store = loop.body[-1]
    if not isinstance(store, lp.Store) or not all(isinstance(s, lp.Let) for s in loop.body[:-1]) or store.index != (poly(loop.sym),):
        return None
    return store if store.buffer.kind == "temp" and not store.buffer.local and store.buffer.rows is None else None


def _joined(stmts: lp.Stmts, here: int, said: _Said) -> tuple[lp.Stmts, lp.Buffer] | None:
    """The statements with one loop in the place of the two that make and read an array, and the array."""
    chunk = stmts[here]
    if not isinstance(chunk, lp.Chunks) or (store := _made(chunk)) is None:
        return None
    array = store.buffer
    places = [k for k, s in enumerate(stmts) if array in said.by(s)]
    if [type(stmts[k]) for k in places] != [lp.Alloc, lp.Chunks, lp.Chunks, lp.Free] or places[1] != here:
        return None
    user = stmts[places[2]]
    between = stmts[here + 1 : places[2]]
    if not isinstance(user, lp.Chunks) or not all(isinstance(s, (lp.Declare, lp.Alloc)) for s in between) or isinstance(made := fused(chunk, user), Refused):
        return None
    assert isinstance(made, lp.Chunks)
    first, rest = made.body[0], made.body[1:]
    at = [k for k, s in enumerate(rest) if mentions(s)[array]]
    second = rest[at[0]] if len(at) == 1 else None
    if not isinstance(first, lp.For) or not isinstance(second, (lp.For, lp.Accumulate)) or past(first, rest[: at[0]]) is not None:
        return None
    if not copyable(second.body) or isinstance(both := fused(first, second), Refused) or (loop := _in_variable(both, len(first.body), array)) is None:
        return None
    joined = replace(made, body=[*rest[: at[0]], loop, *rest[at[0] + 1 :]])
    return [joined if k == places[2] else s for k, s in enumerate(stmts) if k not in (places[0], here, places[3])], array


def _in_variable(loop: lp.Stmt, count: int, array: lp.Buffer) -> lp.Stmt | None:
    """A round whose first statements end with a store of its element, which the others read and nobody writes."""
    assert isinstance(loop, (lp.For, lp.Accumulate))
    element = lp.Load(array, (poly(loop.sym),))
    lets, store, others = loop.body[: count - 1], loop.body[count - 1], loop.body[count:]
    assert isinstance(store, lp.Store)
    read = [x for x in loads(others) if x.buffer is array]
    if not read or mentions(others)[array] != len(read) or any(x != element for x in read):
        return None
    value = fresh_like(array.name, array.dtype)
    return replace(loop, body=[*lets, lp.Let(value, store.value), *Forwarded({}, {element: value}).stmts(others)])
