"""An array that one loop makes and the next one reads, element by element, is not made: the second loop computes what it reads (fusion, then array contraction).

    t = alloc n;  pieces of n: for i: t[i] = e(i);   pieces of n: for i: s += f(t[i]);   free t
becomes
    pieces of n: for i:  v = e(i);  s += f(v)

    contracted(block, at, said)    the block without the array that the pieces at this place make

Right where the pieces make nothing else, the two may be one (fuse.py), pieces first, then the loops in them; where the first of these may be done after what stands before the second; and where
nothing else mentions the array, and the rounds of the second read no element of it but their own: then the element that a round stores and reads is a variable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.questions import loads, mentions
from atoll.loops.transform.copier import copyable, fresh_like
from atoll.loops.transform.forward import Forwarded
from atoll.loops.transform.fuse import fused, past
from atoll.loops.transform.refused import Refused
from atoll.sizes import poly


class Said:
    """The arrays that the statements of a block mention, each looked through once."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[lp.Stmt, set[lp.Buffer]]] = {}

    def by(self, stmt: lp.Stmt) -> set[lp.Buffer]:
        if id(stmt) not in self.found:
            self.found[id(stmt)] = stmt, {stmt.buffer} if isinstance(stmt, (lp.Alloc, lp.Free)) else set(mentions(stmt))
        return self.found[id(stmt)][1]


@dataclass(frozen=True, slots=True)
class Contracted:
    """What stands in the place of the block, and the array that is gone."""

    stmts: lp.Stmts
    array: lp.Buffer


def contracted(block: lp.Stmts, at: int, said: Said) -> Contracted | Refused:
    maker = block[at]
    if not isinstance(maker, lp.Chunks) or (store := _made(maker)) is None:
        return Refused("these are no pieces that make one array and nothing else")
    array = store.buffer
    places = [k for k, s in enumerate(block) if array in said.by(s)]
    if [type(block[k]) for k in places] != [lp.Alloc, lp.Chunks, lp.Chunks, lp.Free] or places[1] != at:
        return Refused("the array is not made here for one other loop alone")
    reader = block[places[2]]
    if not all(isinstance(s, (lp.Declare, lp.Alloc)) for s in block[at + 1 : places[2]]):
        return Refused("more than memory stands between them")
    assert isinstance(reader, lp.Chunks)
    pieces = _one_loop(maker, reader, array)
    if isinstance(pieces, Refused):
        return pieces
    gone = (places[0], at, places[3])
    return Contracted([pieces if k == places[2] else s for k, s in enumerate(block) if k not in gone], array)


def _made(chunk: lp.Chunks) -> lp.Store | None:
    """The store of pieces that do nothing but    for i: lets; buffer[i] = value"""
    loop = chunk.body[0] if len(chunk.body) == 1 and not chunk.accs and not chunk.buffers else None
    if not isinstance(loop, lp.For) or not loop.parallel or not loop.body or (loop.low, loop.high) != (poly(chunk.low), poly(chunk.high)):
        return None
    store = loop.body[-1]
    if not isinstance(store, lp.Store) or not all(isinstance(s, lp.Let) for s in loop.body[:-1]) or store.index != (poly(loop.sym),):
        return None
    return store if store.buffer.kind == "temp" and not store.buffer.local and store.buffer.rows is None else None


def _one_loop(maker: lp.Chunks, reader: lp.Chunks, array: lp.Buffer) -> lp.Chunks | Refused:
    """The pieces of both, in which the loop that reads the array makes its elements."""
    pieces = fused(maker, reader)
    if isinstance(pieces, Refused):
        return pieces
    assert isinstance(pieces, lp.Chunks)
    first, rest = pieces.body[0], pieces.body[1:]
    at = [k for k, s in enumerate(rest) if mentions(s)[array]]
    second = rest[at[0]] if len(at) == 1 else None
    if not isinstance(first, lp.For) or not isinstance(second, (lp.For, lp.Accumulate)) or not copyable(second.body):
        return Refused("more than one loop reads it, or what reads it cannot be copied")
    if (why := past(first, rest[: at[0]])) is not None:
        return why
    both = fused(first, second)
    loop = both if isinstance(both, Refused) else _in_variable(both, len(first.body), array)
    return loop if isinstance(loop, Refused) else replace(pieces, body=[*rest[: at[0]], loop, *rest[at[0] + 1 :]])


def _in_variable(loop: lp.Stmt, count: int, array: lp.Buffer) -> lp.For | lp.Accumulate | Refused:
    """A round whose first statements end with a store of its element, which the others read and nobody writes."""
    assert isinstance(loop, (lp.For, lp.Accumulate))
    element = lp.Load(array, (poly(loop.sym),))
    lets, store, others = loop.body[: count - 1], loop.body[count - 1], loop.body[count:]
    assert isinstance(store, lp.Store)
    read = [x for x in loads(others) if x.buffer is array]
    if not read or mentions(others)[array] != len(read) or any(x != element for x in read):
        return Refused("a round does more than read its own element")
    value = fresh_like(array.name, array.dtype)
    return replace(loop, body=[*lets, lp.Let(value, store.value), *Forwarded({}, {element: value}).stmts(others)])
