"""Loop state that needs no memory of its own.

An array that is made to be the first state of a loop, and read by nobody else, is made in the memory of that state:

    alloc t; what makes t; for i: y[i] = t[i]; ...; free t          becomes          what makes y; ...

t is not known after the copy, y not before it, and both are alike. And the one round of a loop that does not look at the state makes the next one in its place:

    alloc t; for k in 0..1: what makes t; swap y, t                 becomes          what makes y
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.loops.transform.walk import every_block, replaced
from atoll.sizes import Poly, poly


def handed_over(stmts: lp.Stmts) -> list[lp.Stmt]:
    """Without such copies, innermost first."""
    return every_block(stmts, _block)


def is_handed_over(stmts: lp.Stmts, buffer: lp.Buffer) -> bool:
    """Whether memory is that of a state that begins as it is: nothing else may be made in it."""
    return any((copy := _whole_copy(stmts, at)) is not None and copy[1] is buffer for at in range(len(stmts)))


def _block(stmts: lp.Stmts) -> lp.Stmts:
    for at in reversed(range(len(stmts))):
        stmts = _one_round(stmts, at)
    while (found := next(((at, *copy) for at in range(len(stmts)) if (copy := _whole_copy(stmts, at)) is not None), None)) is not None:
        at, target, own = found
        allocated = next((s for s in stmts if isinstance(s, lp.Alloc) and s.buffer is target), None)
        rest = [s for k, s in enumerate(stmts) if k != at and s is not allocated and not (isinstance(s, lp.Free) and s.buffer is own)]
        stmts = [_with(s, own, target) for s in rest if not (isinstance(s, lp.Alloc) and s.buffer is own and target.kind == "out")]
        own.home = own.home or target
    return stmts


def _one_round(stmts: lp.Stmts, at: int) -> lp.Stmts:
    loop = stmts[at]
    if not isinstance(loop, lp.For) or loop.low != poly(0) or loop.high != poly(1) or not loop.body or not isinstance(loop.body[-1], lp.Swap):
        return stmts
    target, own = loop.body[-1].first, loop.body[-1].second
    rest = loop.body[:-1]
    others = [s for k, s in enumerate(stmts) if k != at and not (isinstance(s, lp.Helper) and s.name == "settle" and s.buffers[0][0] is target and s.buffers[1][0] is own)]
    if own.kind != "temp" or mentions(rest)[target] or mentions(others)[own] or not any(isinstance(s, lp.Alloc) and s.buffer is own for s in others):
        return stmts
    if any(loop.sym in p.leaves() for s in lp.walk(rest) for p in _polys(s)) or any(isinstance(s, lp.BreakUnless) for s in lp.walk(rest)):
        return stmts
    kept_ids = {id(s) for s in others}
    place = sum(id(s) in kept_ids for s in stmts[:at])
    kept = [*others[:place], *(_with(s, own, target) for s in rest), *others[place:]]
    own.home = own.home or target
    return [s for s in kept if not (isinstance(s, (lp.Alloc, lp.Free)) and s.buffer is own)]


def _polys(x: Any) -> Iterator[Poly]:
    """Every polynomial in a statement's own expressions and bounds."""
    if isinstance(x, Poly):
        yield x
    elif isinstance(x, lp.Buffer):
        yield from x.extents
    elif isinstance(x, tuple):
        for item in x:
            yield from _polys(item)
    else:
        for name in lp.FIELDS.get(type(x), ()):
            if name not in lp.BODIES.get(type(x), ()):
                yield from _polys(getattr(x, name))


def _whole_copy(stmts: lp.Stmts, at: int) -> tuple[lp.Buffer, lp.Buffer] | None:
    """(target, source) of a copy of all of an array that may be left out."""
    stmt = stmts[at]
    loops: list[lp.For] = []
    body: lp.Stmts = [stmt]
    while len(body) == 1 and isinstance(body[0], lp.For):
        loops.append(body[0])
        body = body[0].body
    if not loops or len(body) != 1 or not isinstance(body[0], lp.Store) or not isinstance(body[0].value, lp.Load):
        return None
    target, own = body[0].buffer, body[0].value.buffer
    index = tuple(poly(loop.sym) for loop in loops)
    if body[0].index != index or body[0].value.index != index or tuple(loop.high for loop in loops) != own.extents or any(loop.low != poly(0) for loop in loops):
        return None
    if own.kind != "temp" or target.kind not in ("temp", "out") or target is own or own.dtype is not target.dtype or own.extents != target.extents:
        return None
    if own.rows is not None or target.rows is not None or own.private or target.private or own.local or target.local:
        return None
    before, after = stmts[:at], stmts[at + 1 :]
    made = [k for k, s in enumerate(before) if isinstance(s, lp.Alloc) and s.buffer is own]
    given = [k for k, s in enumerate(before) if isinstance(s, lp.Alloc) and s.buffer is target]
    if len(made) != 1 or mentions(before)[target] or mentions(after)[own] or (target.kind == "temp" and len(given) != 1):
        return None
    if target.kind == "out" and given:  # its size is known only now
        return None
    inside = list(lp.walk(before))
    if any(isinstance(s, lp.Swap) and own in (s.first, s.second) for s in inside) or any(isinstance(s, lp.Free) and s.buffer is own for s in inside):
        return None
    return target, own


def _with(s: lp.Stmt, own: lp.Buffer, target: lp.Buffer) -> lp.Stmt:
    """A statement with another array in the place of one."""
    if isinstance(s, (lp.Alloc, lp.Free)):
        return type(s)(target) if s.buffer is own else s
    found: lp.Stmt = replaced(s, lambda x: target if x is own else x)
    return found
