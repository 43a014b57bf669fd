"""Sums of elements in memory, as sums in scalars: what loops in order add to an element, one after the other, a point adds up by itself.

    b[j] = 0; for r in 0..n: b[j] op= v(r, j)          s = 0; accumulate s op= v(r, j) over r in 0..n; b[j] = s
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atoll.backends.cuda.points import Nest
from atoll.backends.cuda.threads import Names
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.sizes import Atom, Poly, poly

_MONOID = {op: name for name, (op, _) in MONOIDS.items()}


@dataclass(frozen=True, slots=True)
class Columns:
    """Points that start elements, add up the rounds of a loop in them, and perhaps go on."""

    start: list[lp.Stmt]
    loop: lp.For
    rest: list[lp.Stmt]
    targets: dict[lp.Buffer, lp.Update]


def find_columns(nest: Nest) -> Columns | None:
    """The sums that a nest is, if its points do nothing else in their loop."""
    at = next((n for n, s in enumerate(nest.body) if isinstance(s, lp.For) and not s.parallel), None)
    if at is None:
        return None
    loop, rest = nest.body[at], list(nest.body[at + 1 :])
    assert isinstance(loop, lp.For)
    inside = list(lp.walk(loop.body))
    if not all(isinstance(s, (lp.Let, lp.Update, lp.If, lp.Note)) or (isinstance(s, lp.For) and s.parallel and (s.high - s.low).subst(nest.env) == poly(1)) for s in inside):
        return None
    updates = [s for s in inside if isinstance(s, lp.Update)]
    targets = {u.buffer: u for u in updates}
    read = {x.buffer for x in loads(loop.body)}
    if not updates or len(targets) != len(updates) or read & set(targets) or any(u.op not in _MONOID for u in updates):
        return None
    around = {*nest.syms, *(s.var.atom for s in lp.walk(nest.body) if isinstance(s, (lp.Let, lp.Declare)))}
    if around & {*loop.low.subst(nest.env).leaves(), *loop.high.subst(nest.env).leaves()} or any(isinstance(a, lp.VarAtom) for a in (loop.high - loop.low).leaves()):
        return None
    changing = {loop.sym} | {s.var.atom for s in inside if isinstance(s, lp.Let)}
    if any(changing & q.leaves() for u in updates for q in u.index):
        return None
    start = list(nest.body[:at])
    before = list(lp.walk(start))
    if not all(isinstance(s, (lp.Store, lp.Note)) or (isinstance(s, lp.For) and (s.high - s.low).subst(nest.env) == poly(1)) for s in before):
        return None
    started = [s for s in before if isinstance(s, lp.Store)]
    here, there = _one_point(before, nest), _one_point(inside, nest)
    if here is None or there is None or len(started) != len(targets):
        return None
    for s in started:  # the element that is added to, and no other, starts as what changes nothing
        u = targets.get(s.buffer)
        if u is None or [q.subst(here) for q in s.index] != [q.subst(there) for q in u.index]:
            return None
        if not isinstance(s.value, lp.Const) or s.value.value != MONOIDS[_MONOID[u.op]][1](u.buffer.dtype):
            return None
    return Columns(start, loop, rest, targets)


def _one_point(stmts: Sequence[lp.Stmt], nest: Nest) -> dict[Atom, Poly] | None:
    """What indices are at a point of a nest, those of loops of one round too, if each is one thing; `stmts` in the order in which they are walked."""
    env = dict(nest.env)
    for s in stmts:
        if isinstance(s, lp.For) and env.setdefault(s.sym, low := s.low.subst(env)) != low:
            return None
    return env


def in_scalars(nest: Nest, names: Names) -> Nest | None:
    """The nest with its sums in scalars, if its points do nothing else in their loop."""
    found = find_columns(nest)
    if found is None:
        return None
    accs = {b: lp.Acc(names.var("sum", b.dtype), _MONOID[u.op]) for b, u in found.targets.items()}
    loop = found.loop
    one = lp.Accumulate(loop.sym, loop.low, loop.high, _adding(loop.body, accs), list(accs.values()))
    return Nest(nest.syms, nest.extents, nest.env, [one, *_storing(found.start, accs), *found.rest])


def _adding(stmts: Sequence[lp.Stmt], accs: dict[lp.Buffer, lp.Acc]) -> list[lp.Stmt]:
    """The statements of a round with sums in scalars."""
    out: list[lp.Stmt] = []
    for s in stmts:
        match s:
            case lp.Update(buffer, _, _, value):
                out.append(lp.Add(accs[buffer].var, accs[buffer].monoid, value))
            case lp.For(sym, low, high, body):
                out.append(lp.For(sym, low, high, _adding(body, accs), True))
            case lp.If(tests, then, orelse):
                out.append(lp.If(tests, _adding(then, accs), _adding(orelse, accs)))
            case _:
                out.append(s)
    return out


def _storing(stmts: Sequence[lp.Stmt], accs: dict[lp.Buffer, lp.Acc]) -> list[lp.Stmt]:
    """The statements that start elements, with the sums instead."""
    out: list[lp.Stmt] = []
    for s in stmts:
        match s:
            case lp.Store(buffer, index, _):
                out.append(lp.Store(buffer, index, lp.Use(accs[buffer].var)))
            case lp.For(sym, low, high, body):
                out.append(lp.For(sym, low, high, _storing(body, accs), True))
            case _:
                out.append(s)
    return out

