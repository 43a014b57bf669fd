"""Loops of a thread whose rounds make a sum each: several sums at a time, so that what they all read is read once (unroll-and-jam), and arrays of them that only the next loop reads are not made.

    for j in 0..k: accumulate s over r: s += e(j, r);  c(j, s)                   for q in 0..k // 8: accumulate s0, .., s7 over r: s0 += e(8 q, r); ..; s7 += e(8 q + 7, r)
                                                                                     c(8 q, s0); ..; c(8 q + 7, s7)
                                                                                 for j in 8 (k // 8)..k: one by one

Right where c stores nothing and sets no variable that the sums of later rounds read: then every sum has its additions in its order, and no bit changes.

Arrays of a thread that one loop makes and a loop in order reads, element by element, are not made: rounds of the second compute what they read.

    alloc b; for j in 0..k: accumulate s over r: s += e(j, r);  b[j] = s          for in order j in 0..k: accumulate s over r: s += e(j, r);  c(j, s)
    for in order j in 0..k: c(j, b[j])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from atoll.backends.cuda.jam import Renaming
from atoll.backends.cuda.threads import Names, neutral
from atoll.loops import ir as lp
from atoll.loops.questions import loads, mentions
from atoll.loops.transform.walk import with_bodies
from atoll.sizes import Poly, poly
from atoll.types.dtypes import I64

TOGETHER = 8
LIGHT = 6  # statements of a round of a sum
_MAKING = (lp.Let, lp.Add, lp.Note)
_READING = (lp.Let, lp.Declare, lp.Assign, lp.If, lp.Note)
_AFTER = (*_READING, lp.Add, lp.Store, lp.Update)


def sums_together(names: Names, body: lp.Stmts) -> list[lp.Stmt]:
    """The statements of a thread with both done."""

    def go(stmts: lp.Stmts) -> list[lp.Stmt]:
        out: list[lp.Stmt] = []
        for s in _without_arrays(names, stmts):
            found = _jammed(names, s)
            out += found if found is not None else [with_bodies(s, go)]
        return out

    return go(body)


def _without_arrays(names: Names, body: lp.Stmts) -> list[lp.Stmt]:
    """The statements of a block with such arrays gone."""
    out = list(body)
    for alloc in [s for s in out if isinstance(s, lp.Alloc)]:
        b = alloc.buffer
        users = [n for n, s in enumerate(out) if mentions(s)[b]]
        if len(users) != 2 or (loop := _consumed(names, b, out, *users)) is None:
            continue
        maker, reader = (out[n] for n in users)
        out = [loop if s is reader else s for s in out if s is not maker and not (isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is b)]
    return out


def _consumed(names: Names, array: lp.Buffer, body: list[lp.Stmt], at: int, to: int) -> lp.For | None:
    """The loop that reads an array, with what made its elements."""
    made, reader, between = body[at], body[to], body[at + 1 : to]
    if not isinstance(made, lp.For) or not isinstance(reader, lp.For) or reader.parallel or (made.low, made.high) != (reader.low, reader.high):
        return None
    inside = [s for s in made.body if not isinstance(s, lp.Note)]
    store = inside[-1] if inside else None
    if not isinstance(store, lp.Store) or store.buffer is not array or store.index != (poly(made.sym),) or array.rows is not None:
        return None
    own = {a.var for s in lp.walk(inside) if isinstance(s, lp.Accumulate) for a in s.accs}
    plain = all(isinstance(s, (lp.Accumulate, *_MAKING)) and (not isinstance(s, lp.Add) or s.var in own) for s in lp.walk(inside[:-1]))
    if not plain or not _reads(reader, array):
        return None
    if not all(isinstance(s, lp.Declare) and not loads([s]) for s in between) or _set([*between, reader]) & set(lp.used_vars(inside)) or any(x.buffer is array for x in loads(inside)):
        return None
    copy, value = Renaming(names, {made.sym: poly(reader.sym)}), names.var(array.name, array.dtype)
    return replace(reader, body=[*copy.stmts(inside[:-1]), lp.Let(value, copy.expr(store.value)), *_Reading(names, array, value).stmts(reader.body)])


def _reads(reader: lp.For, array: lp.Buffer) -> bool:
    """It reads its own element, and stores nothing."""
    own = (poly(reader.sym),)
    return all(isinstance(s, _READING) for s in lp.walk(reader.body)) and all(x.index == own for x in loads(reader.body) if x.buffer is array)


def _set(stmts: lp.Stmts) -> set[lp.Var]:
    """Variables that statements declare or change."""
    found = {s.var for s in lp.walk(stmts) if isinstance(s, (lp.Let, lp.Declare, lp.Assign, lp.Add))}
    return found | {a.var for s in lp.walk(stmts) if isinstance(s, lp.Accumulate) for a in s.accs}


class _Reading(Renaming):
    """A round of the reader whose element is in a variable."""

    def __init__(self, names: Names, array: lp.Buffer, value: lp.Var) -> None:
        super().__init__(names, {})
        self.array, self.value = array, value

    def var(self, var: lp.Var) -> lp.Var:
        return var

    def expr(self, e: lp.Expr) -> lp.Expr:
        return lp.Use(self.value) if isinstance(e, lp.Load) and e.buffer is self.array else super().expr(e)


@dataclass(frozen=True, slots=True)
class _Sums:
    """The rounds of a loop: a sum, and what stands before and after it."""

    loop: lp.For | lp.Accumulate
    before: list[lp.Stmt]
    inner: lp.Accumulate
    after: list[lp.Stmt]


def _sums(loop: lp.Stmt) -> _Sums | None:
    if not isinstance(loop, (lp.For, lp.Accumulate)) or ((count := (loop.high - loop.low).const()) is not None and count < TOGETHER):
        return None
    if isinstance(loop, lp.Accumulate) and not loop.exact and any(a.monoid == "add" and not a.var.dtype.is_integer for a in loop.accs):
        return None  # its additions are counted (threads.py)
    inside: list[lp.Stmt] = [s for s in loop.body if not isinstance(s, lp.Note)]
    sums = [n for n, s in enumerate(inside) if isinstance(s, lp.Accumulate)]
    if len(sums) != 1:
        return None
    inner, before, after = inside[sums[0]], inside[: sums[0]], inside[sums[0] + 1 :]
    assert isinstance(inner, lp.Accumulate)
    adding = list(lp.walk(inner.body))
    if not all(isinstance(s, lp.Let) for s in before) or not all(isinstance(s, _MAKING) for s in adding) or not all(isinstance(s, _AFTER) for s in lp.walk(after)) or len(adding) > LIGHT:
        return None
    own = {loop.sym, *(s.var.atom for s in before if isinstance(s, lp.Let))}
    if own & {*inner.low.leaves(), *inner.high.leaves()} or not any(inner.sym in places(x) and not own & places(x) for x in loads(inner.body)):
        return None
    written = {_memory(s.buffer) for s in lp.walk(after) if isinstance(s, (lp.Store, lp.Update))}
    used = set(lp.used_vars([*before, inner])) - _set([*before, inner])
    changed = _set(after) | ({a.var for a in loop.accs} if isinstance(loop, lp.Accumulate) else set())
    if written & {_memory(x.buffer) for x in loads([*before, inner])} or changed & used:
        return None
    return _Sums(loop, before, inner, after)


def places(load: lp.Load) -> set[Any]:
    """What the index of an element is made of."""
    return {a for q in load.index for a in q.leaves()}


def _memory(b: lp.Buffer) -> lp.Buffer:
    return b.copy_of or b


def _jammed(names: Names, loop: lp.Stmt) -> list[lp.Stmt] | None:
    """The rounds of a loop, several at a time, then one by one."""
    found = _sums(loop)
    if found is None:
        return None
    q, rest, whole = names.sym(found.loop.sym.name), names.sym(found.loop.sym.name), names.var("whole", I64, True)
    low, high = found.loop.low, found.loop.high
    count = poly(whole.atom)
    several = _rounds(names, found, [low + TOGETHER * poly(q) + u for u in range(TOGETHER)])
    single = _rounds(names, found, [low + poly(rest)])
    out: list[lp.Stmt] = [lp.Let(whole, lp.Call("max", (lp.Index((high - low) // TOGETHER), lp.Const(0, I64)), I64))]
    loops: list[lp.Stmt] = [lp.For(q, poly(0), count, several, parallel=False), lp.For(rest, TOGETHER * count, high - low, single, parallel=False)]
    if isinstance(found.loop, lp.For):
        return [*out, *loops]
    started = [lp.Declare(a.var, neutral(a)) for a in found.loop.accs]
    return [*out, *started, *loops]


def _rounds(names: Names, c: _Sums, at: list[Poly]) -> list[lp.Stmt]:
    """Rounds of a loop: the sums of all go together."""
    first: list[lp.Stmt] = []
    adding: list[lp.Stmt] = []
    last: list[lp.Stmt] = []
    accs: list[lp.Acc] = []
    for place in at:
        copy = Renaming(names, {c.loop.sym: place})
        first += copy.stmts(c.before)
        accs += [lp.Acc(copy.var(a.var), a.monoid) for a in c.inner.accs]
        adding += copy.stmts(c.inner.body)
        last += copy.stmts(c.after)
    return [*first, lp.Accumulate(c.inner.sym, c.inner.low, c.inner.high, adding, accs, c.inner.exact), *last]
