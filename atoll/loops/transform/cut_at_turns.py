"""A range cut where indices go round or stop at an edge (index-set splitting at places that are found as the loop goes).

    at_turns(loop, most)
        for i in 0..n:  y[i] = x[(i + s) % n]
    becomes
        at = 0;  forever, while at < n:  q = (at + s) // n;  stop = min(n, at + (n - (at + s - q*n)))
            for i in at..stop:  y[i] = x[i + s - q*n]
            at = stop

    at_edges(loop, most)
        for i in 0..n:  y[i] = x[max(i - 1, 0)]      becomes      for i in 0..1: as it was;  for i in 1..n: y[i] = x[i - 1]

Right because the parts are the range, in its order, at least a round each: sizes are tested to be 1 or more before
the loop, else it stays as it was; a value that may be near the ends of its integers is cut before it leaves them.
In a part a quotient is that of its first round, as the value steps by one with the loop and sizes stay as they are.
Rounds are independent, or make sums that may be made in parts (cut.py). `most` is of how many places a loop is cut
at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import atoms, loads, polys
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.cut import cut, part_of_sum, regroupable, totals
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.regroup import combined
from atoll.sizes import Atom, Poly, Quot, Sym, poly
from atoll.types.dtypes import I64

_LARGEST, _LEAST = 2**63 - 1, -(2**63)
Loop = lp.For | lp.Accumulate


def at_turns(loop: Loop, most: int) -> Made:
    why = _why_not(loop)
    if why is not None:
        return why
    inside = polys(loop.body)
    rounds = [a for p in inside for a in p.atoms() if isinstance(a, Quot) and loop.sym in a.leaves()]
    if not rounds and not any(
        isinstance(s, lp.Let) and isinstance(s.value, lp.Call) and s.value.op in ("mod", "floordiv") for s in loop.body
    ):
        return Refused("nothing in it goes round")
    first = _invariants(loop)
    made = {s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}
    outside = {leaf for p in inside for leaf in p.leaves() if isinstance(leaf, lp.VarAtom) and leaf not in made}
    quotients, lets = _turns(loop, rounds, outside | {s.var.atom for s in first})
    turns = [*quotients.values(), *(t for _, t in lets.values())]
    if not turns or len({(t.value, t.size) for t in turns}) > most:
        return Refused("nothing in it goes round as the loop steps, or too much does")
    sizes = [t.size for t in turns]
    if any(not {s.var.atom for s in first}.isdisjoint(p.leaves()) for p in sizes):
        return Refused("a size is made in the loop")
    cut_up = _Segments(loop, first).loops(quotients, lets)
    guard = tuple(dict.fromkeys(lp.Test("ge", p - 1) for p in sizes))
    if all(p == loop.high - loop.low for p in sizes):  # without the guard there are no rounds
        return [*_begun(loop), lp.If(guard, cut_up)]
    return [*_begun(loop), lp.If(guard, cut_up, _part(loop, loop.low, loop.high, Copier({})))]


def _why_not(loop: Loop) -> Refused | None:
    """It is innermost, and its rounds are independent, but for sums that may be made in parts."""
    if any(isinstance(s, (lp.For, lp.Accumulate, lp.Check)) for s in lp.walk(loop.body)):
        return Refused("there are loops or checks in it")
    free = regroupable(loop) if isinstance(loop, lp.Accumulate) else loop.parallel and not loop.vector and not loop.unroll
    if not free:
        return Refused("its rounds are not independent, nor is it a sum that may be made in parts")
    return None if copyable(loop.body) else Refused("something in it cannot be copied")


def _part(loop: Loop, low: Poly, high: Poly, copier: Copier) -> list[lp.Stmt]:
    """The loop over a part of its range."""
    if isinstance(loop, lp.Accumulate):
        return part_of_sum(loop, low, high, copier)
    return [lp.For(loop.sym, low, high, copier.stmts(loop.body), True)]


def _begun(loop: Loop) -> list[lp.Stmt]:
    return totals(loop) if isinstance(loop, lp.Accumulate) else []


def _invariants(loop: Loop) -> list[lp.Let]:
    """Values of the body that are the same in every round."""
    written = {s.buffer for s in lp.walk(loop.body) if isinstance(s, (lp.Store, lp.Update))}
    changing: set[Any] = {loop.sym} | {s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}
    found: list[lp.Let] = []
    for s in loop.body:
        if (
            isinstance(s, lp.Let)
            and changing.isdisjoint(atoms(s.value))
            and not any(x.buffer in written for x in loads(s.value))
        ):
            found.append(s)
            changing.discard(s.var.atom)
    return found


@dataclass
class _Turn:
    """value // size, where the value steps by 1 or -1 with the loop."""

    value: Poly
    size: Poly
    step: int
    exact: bool  # the value may be near the ends of its range: cut before it leaves it


def _turn(loop: Loop, value: Poly, size: Poly, fixed: set[Any], exact: bool) -> _Turn | None:
    step = value.slope(loop.sym)
    count = None if step is None else step.const()
    if step is None or count not in (1, -1) or size.const() is not None:
        return None
    rest = value - step * loop.sym
    inside = {
        leaf
        for leaf in rest.leaves() | size.leaves()
        if leaf is loop.sym or (isinstance(leaf, lp.VarAtom) and leaf not in fixed)
    }
    return None if inside else _Turn(value, size, count, exact)


def _turns(loop: Loop, rounds: list[Quot], fixed: set[Any]) -> tuple[dict[Atom, _Turn], dict[lp.Var, tuple[str, _Turn]]]:
    """What goes round a size: quotients in indices, and variables that are a quotient or a remainder. `fixed` is what stays as it is in all rounds."""
    quotients: dict[Atom, _Turn] = {}
    for a in rounds:
        if a not in quotients:
            turn = _turn(loop, a.num, a.den, fixed, False)
            if turn is not None:
                quotients[a] = turn
    lets: dict[lp.Var, tuple[str, _Turn]] = {}
    for s in loop.body:
        if isinstance(s, lp.Let) and isinstance(s.value, lp.Call) and s.value.op in ("mod", "floordiv") and s.var.dtype is I64:
            value, size = s.value.args
            if isinstance(value, lp.Index) and isinstance(size, lp.Index):
                turn = _turn(loop, value.poly, size.poly, fixed, True)
                if turn is not None:
                    lets[s.var] = (s.value.op, turn)
    return quotients, lets


class _Segments:
    """A loop from segment to segment: at the beginning of each the values that stay, the quotients of its first round, and how far these stay."""

    def __init__(self, loop: Loop, first: list[lp.Let]) -> None:
        self.loop, self.first = loop, first
        self.at, self.stop = fresh_like("at", I64), fresh_like("stop", I64)
        self.here = poly(self.at.atom)
        self.outer = Copier({loop.sym: self.here})
        self.head: list[lp.Stmt] = [lp.BreakUnless((lp.Test("ge", loop.high - self.here - 1),)), *self.outer.stmts(list(first))]
        self.end: lp.Expr = lp.Index(loop.high)
        self.begun: dict[tuple[Poly, Poly, bool], Poly] = {}

    def let(self, name: str, value: lp.Expr) -> Poly:
        var = fresh_like(name, I64)
        self.head.append(lp.Let(var, value))
        return poly(var.atom)

    def begin(self, turn: _Turn) -> Poly:
        """The quotient at the first round of a segment, which ends where it becomes another one."""
        key = (turn.value, turn.size, turn.exact)
        if key in self.begun:
            return self.begun[key]
        value, size = self.outer.poly(turn.value), self.outer.poly(turn.size)
        q = self.let("turn", lp.Call("floordiv", (lp.Index(value), lp.Index(size)), I64))
        rest = value - q * size
        left: lp.Expr = lp.Index(size - rest if turn.step == 1 else rest + 1)
        if turn.exact:
            edge = lp.Const(_LARGEST if turn.step == 1 else _LEAST, I64)
            near = self.let("near", lp.Call("max" if turn.step == 1 else "min", (lp.Index(value), lp.Const(0, I64)), I64))
            room = lp.Call("sub", (edge, lp.Index(near)) if turn.step == 1 else (lp.Index(near), edge), I64)
            left = lp.Call("min", (left, room), I64)
        steps = self.let("steps", lp.Call("max", (left, lp.Const(1, I64)), I64))
        self.end = lp.Call("min", (self.end, lp.Index(self.here + steps)), I64)
        self.begun[key] = q
        return q

    def loops(self, quotients: dict[Atom, _Turn], lets: dict[lp.Var, tuple[str, _Turn]]) -> list[lp.Stmt]:
        loop = self.loop
        inner = Copier({})
        inner.vars, inner.env = dict(self.outer.vars), {k: v for k, v in self.outer.env.items() if k is not loop.sym}
        for atom, turn in quotients.items():
            inner.env[atom] = self.begin(turn)
        known = {v: (op, turn, self.begin(turn)) for v, (op, turn) in lets.items()}
        self.head.append(lp.Let(self.stop, self.end))
        until = poly(self.stop.atom)
        accs = [lp.Acc(inner.var(a.var), a.monoid) for a in loop.accs] if isinstance(loop, lp.Accumulate) else []
        body = self.rounds(inner, known)
        if isinstance(loop, lp.Accumulate):
            self.head.append(lp.Accumulate(loop.sym, self.here, until, body, accs, loop.exact))
            self.head += [
                lp.Assign(a.var, combined(a.monoid, lp.Use(a.var), lp.Use(b.var))) for a, b in zip(loop.accs, accs, strict=True)
            ]
        else:
            self.head.append(lp.For(loop.sym, self.here, until, body, True))
        self.head.append(lp.Assign(self.at, lp.Index(until)))
        return [lp.Declare(self.at, lp.Index(loop.low)), lp.Forever(self.head)]

    def rounds(self, inner: Copier, known: dict[lp.Var, tuple[str, _Turn, Poly]]) -> list[lp.Stmt]:
        """A round of a segment: what went round a size is a sum there."""
        body: list[lp.Stmt] = []
        for s in self.loop.body:
            if any(s is x for x in self.first):
                continue
            if isinstance(s, lp.Let) and s.var in known:
                op, turn, q = known[s.var]
                new = q if op == "floordiv" else inner.poly(turn.value) - q * inner.poly(turn.size)
                body.append(
                    lp.Let(
                        inner.var(s.var), lp.Index(new), instance=None if s.instance is None else s.instance.subst(inner.env)
                    )
                )
            else:
                body += inner.stmts([s])
        return body


@dataclass(slots=True)
class _Clamps:
    """Values that stop at an edge, as what they are where they move."""

    inside: dict[lp.Var, Poly] = field(default_factory=dict)
    lows: list[Poly] = field(default_factory=list)  # where an index begins to move
    highs: list[Poly] = field(default_factory=list)  # where it moves for the last time


def at_edges(loop: Loop, most: int) -> Made:
    why = _why_not(loop)
    if why is not None:
        return why
    clamps = _clamps(loop)
    if not clamps.inside or len(clamps.inside) > most:
        return Refused("nothing in it stops at an edge, or too much does")
    parts = cut(loop, clamps.lows, clamps.highs)
    if isinstance(parts, Refused):
        return parts
    copier = Copier({})
    accs = [lp.Acc(copier.var(a.var), a.monoid) for a in loop.accs] if isinstance(loop, lp.Accumulate) else []
    middle: list[lp.Stmt] = []
    for s in loop.body:
        if isinstance(s, lp.Let) and s.var in clamps.inside:
            middle.append(lp.Let(copier.var(s.var), lp.Index(clamps.inside[s.var]), instance=s.instance))
            copier.env[s.var.atom] = clamps.inside[s.var]
        else:
            middle += copier.stmts([s])
    out = [*_begun(loop), *parts.before]
    if clamps.lows:
        out += _part(loop, loop.low, parts.start, Copier({}))
    if isinstance(loop, lp.Accumulate):
        out.append(lp.Accumulate(loop.sym, parts.start, parts.stop, middle, accs, loop.exact))
        out += [
            lp.Assign(a.var, combined(a.monoid, lp.Use(a.var), lp.Use(b.var))) for a, b in zip(loop.accs, accs, strict=True)
        ]
    else:
        out.append(lp.For(loop.sym, parts.start, parts.stop, middle, True))
    if clamps.highs:
        out += _part(loop, parts.stop, loop.high, Copier({}))
    return out


def _clamps(loop: Loop) -> _Clamps:
    """max(i + r, c) and min(i + r, c) with r and c of sizes and other indices: inside, they are i + r."""
    found = _Clamps()
    for s in loop.body:
        if (
            not isinstance(s, lp.Let)
            or not isinstance(s.value, lp.Call)
            or s.value.op not in ("min", "max")
            or s.var.dtype is not I64
        ):
            continue
        both = [_index(a) for a in s.value.args]
        if any(p is None or not all(isinstance(leaf, Sym) for leaf in p.leaves()) for p in both):
            continue
        steps = [p.slope(loop.sym) for p in both if p is not None]
        moving = [
            p
            for p, c in zip(both, steps, strict=True)
            if p is not None and c == poly(1) and loop.sym not in (p - loop.sym).leaves()
        ]
        still = [p for p in both if p is not None and loop.sym not in p.leaves()]
        if len(moving) != 1 or len(still) != 1:
            continue
        bound = still[0] - (moving[0] - loop.sym)
        (found.lows if s.value.op == "max" else found.highs).append(bound)
        found.inside[s.var] = moving[0]
    return found


def _index(e: lp.Expr) -> Poly | None:
    if isinstance(e, lp.Index):
        return e.poly
    return poly(int(e.value)) if isinstance(e, lp.Const) and e.dtype is I64 else None
