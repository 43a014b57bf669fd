"""Additions to shared memory, by parts of the rounds into copies of their own (privatisation of a reduction).

    for in order r in 0..n:  h[at(r)] op= v(r)
becomes
    pieces of `parts`:  own[p] = neutral;  for in order r of part p:  own[p, at(r)] op= v(r)
    for in order p:  for j:  h[j] = h[j] op own[p, j]

    additions(loop)                     the additions, where they are all that a loop does
    privatised(loop, how, known)        the statements above; a part may have several copies that take turns, and check its rounds in blocks before they are made
    checks_before(before, loop)         pieces before the loop that do nothing but check its rounds

Right where a round does nothing but add, by an operator that is associative and commutative, to memory that nothing in the loop reads, each addition to memory of its own, and nothing goes from
round to round in variables: every element gets what it got, in an order that depends on the number of parts only. Of floats this is another order, for which the program gives its word. Checks of
the rounds, in a loop of their own before, are of the same rounds and look at nothing that is added to, nor at what is filled in between; which of them fails first is not part of the meaning of a program, nor what a program that fails has added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads, only_checks
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.permute import own_variables
from atoll.loops.transform.pieces import pieces
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.regroup import monoid_of, neutral
from atoll.loops.transform.split import begun, may_be_negative, whole_blocks
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.meeting import tells
from atoll.types.dtypes import I64

Copies = dict[lp.Buffer, lp.Buffer]


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the parts: its number, its copies, and its rounds from begin to end."""

    index: Sym
    own: Copies
    begin: Poly
    end: Poly


@dataclass(frozen=True, slots=True)
class Parts:
    """How many parts of the rounds, and copies of each that take turns; the loop that checks the rounds, and how many of them at a time."""

    parts: int
    turns: int = 1
    checks: lp.For | None = None
    checked: int = 1
    reassociate: bool = False  # the program's word for another order of floats

    @property
    def copies(self) -> int:
        return self.parts * self.turns


def additions(loop: lp.For) -> list[lp.Update] | Refused:
    """The additions that are all a loop does, each to memory of its own."""
    if loop.vector or loop.unroll or not copyable(loop.body):
        return Refused("it is scheduled as it stands, or cannot be copied")
    writes = [s for s in lp.walk(loop.body) if isinstance(s, (lp.Store, lp.Update, lp.Check, lp.Add, lp.Accumulate))]
    updates = [s for s in writes if isinstance(s, lp.Update)]
    buffers = {u.buffer for u in updates}
    if not updates or len(updates) != len(writes) or len(buffers) != len(updates):
        return Refused("a round does more than add, each time to memory of its own")
    if any(monoid_of(u.op) is None or u.buffer.dtype.is_complex or u.buffer.rows is not None for u in updates):
        return Refused("it is not known how to begin and to combine these additions")
    if any(x.buffer in buffers for s in loop.body for x in loads(s)):
        return Refused("what is added to is read")
    return updates if own_variables(loop.body) else Refused("a round leaves a variable for the next one")


def privatised(loop: lp.For, how: Parts, known: tuple[Poly, ...] = ()) -> Made:
    """The loop by parts. `known`: what is not negative where it stands."""
    updates = additions(loop)
    if isinstance(updates, Refused):
        return updates
    if loop.low.const() != 0 or may_be_negative(loop.high, known):
        return Refused("rounds are not seen to be counted from 0 on")
    if not how.reassociate and not all(u.buffer.dtype.is_integer for u in updates):
        return Refused("floats would be added in another order")
    if how.checks is not None:
        seen = {x.buffer for s in how.checks.body for x in loads(s)}
        if not all(isinstance(s, (lp.Let, lp.Check)) for s in how.checks.body) or not seen.isdisjoint(u.buffer for u in updates):
            return Refused("the checks do more than look, or look at what is added to")
    return _made(loop, updates, how)


def checks_before(before: lp.Stmts, loop: lp.For) -> tuple[lp.Chunks, lp.For] | Refused:
    """The last pieces before a loop, and the loop in them, where they may be done with its rounds."""
    updates = additions(loop)
    if isinstance(updates, Refused):
        return updates
    k = len(before) - 1
    while k > 0 and only_fills(before[k]):
        k -= 1
    chunk = before[k] if before else None
    if not isinstance(chunk, lp.Chunks) or len(chunk.body) != 1 or not only_checks(chunk):
        return Refused("more than fills stands between, or no checks come before")
    (checks,) = chunk.body
    if not isinstance(checks, lp.For) or chunk.extent != loop.high or (checks.low, checks.high) != (poly(chunk.low), poly(chunk.high)):
        return Refused("they are checks of other rounds")
    if not all(isinstance(s, (lp.Let, lp.Check)) for s in checks.body):
        return Refused("there are loops in the checks")
    filled = {s.buffer for s in lp.walk(before[k + 1 :]) if isinstance(s, lp.Store)} | {u.buffer for u in updates}
    if any(x.buffer in filled for s in checks.body for x in loads(s)):
        return Refused("the checks look at what is written behind them")
    return chunk, checks


def only_fills(stmt: lp.Stmt) -> bool:
    """It reads nothing and fills memory."""
    return all(isinstance(s, (lp.For, lp.Chunks, lp.Store, lp.Alloc)) for s in lp.walk([stmt])) and not loads(stmt)


def _made(loop: lp.For, updates: list[lp.Update], how: Parts) -> list[lp.Stmt]:
    own = {u.buffer: _own(u.buffer, how.copies) for u in updates}
    part = Sym("part")
    step = begun(loop.high, how.parts)
    first, last, most = fresh_like("first", I64), fresh_like("last", I64), fresh_like("most", I64)
    bounds: list[lp.Stmt] = [
        lp.Let(first, lp.Call("min", (lp.Index(poly(part) * step), lp.Index(loop.high)), I64)),
        lp.Let(most, lp.Call("min", (lp.Index(poly(part) * step + step), lp.Index(loop.high)), I64)),
        lp.Let(last, lp.Index(poly(most.atom))),
    ]
    filled = [s for u in updates for s in _filled(own[u.buffer], how.turns, part, neutral(str(monoid_of(u.op)), u.buffer.dtype))]
    of = _Part(part, own, poly(first.atom), poly(last.atom))
    rounds = _rounds(loop, how.turns, of) if how.checks is None else _checked(loop, updates, how.checks, how, of)
    parts = pieces(lp.For(part, poly(0), poly(how.parts), [*filled, *bounds, *rounds], True), step * profit.ADDED)
    combined = [s for u in updates for s in _combined(u.buffer, own[u.buffer], how.copies, u.op)]
    return [*map(lp.Alloc, own.values()), parts, *combined, *map(lp.Free, own.values())]


def _checked(loop: lp.For, updates: list[lp.Update], checks: lp.For, how: Parts, part: _Part) -> list[lp.Stmt]:
    """The rounds of a part in blocks: those of a block are checked, then made. Places that checks compute are kept for the rounds."""
    block, stop = Sym(f"{loop.sym.name}_block"), fresh_like("stop", I64)
    here = part.begin + how.checked * poly(block)
    tested = Sym(checks.sym.name)
    looking = Copier({checks.sym: poly(tested)})
    tests = looking.stmts(checks.body)
    kept = {made: lp.Buffer(fresh_like("place", I64).name, I64, (poly(how.checked),), "temp", "places that were checked") for made in _computed_twice(checks, loop, updates)}
    tests += [lp.Store(buffer, (poly(tested) - here,), lp.Use(looking.vars[checked])) for (checked, _), buffer in kept.items()]
    look = lp.For(tested, here, poly(stop.atom), tests, True)
    lets = {var: lp.Load(buffer, (poly(loop.sym) - here,)) for (_, var), buffer in kept.items()}
    known = lp.For(loop.sym, loop.low, loop.high, [lp.Let(s.var, lets[s.var]) if isinstance(s, lp.Let) and s.var in lets else s for s in loop.body], False)
    until = lp.Let(stop, lp.Call("min", (lp.Index(here + how.checked), lp.Index(part.end)), I64))
    rounds = [until, look, *_rounds(known, how.turns, replace(part, begin=here, end=poly(stop.atom)))]
    return [*map(lp.Alloc, kept.values()), lp.For(block, poly(0), begun(part.end - part.begin, how.checked), rounds, False), *map(lp.Free, kept.values())]


class _Redirected(Copier):
    """A copy whose updates go to private copies."""

    def __init__(self, env: dict[Atom, Poly], own: Copies, number: Poly) -> None:
        super().__init__(env)
        self.own, self.number = own, number

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        if isinstance(s, lp.Update):
            return [lp.Update(self.own[s.buffer], (self.number, *self.index(s.index)), s.op, self.expr(s.value))]
        if isinstance(s, lp.For) and len([x for x in lp.walk(s.body) if isinstance(x, lp.Update)]) == 1:
            (new,) = super().stmt(s)
            assert isinstance(new, lp.For)
            update = next(x for x in lp.walk(new.body) if isinstance(x, lp.Update))
            return [replace(new, parallel=tells(update.index, new.sym))]
        return super().stmt(s)


def _own(target: lp.Buffer, copies: int) -> lp.Buffer:
    name = fresh_like(f"{target.name}_own", target.dtype).name
    return lp.Buffer(name, target.dtype, (poly(copies), *target.extents), "temp", "private copies of an array that is added up", target.span).called(target.shown)


def _computed_twice(checks: lp.For, loop: lp.For, updates: list[lp.Update]) -> list[tuple[lp.Var, lp.Var]]:
    """Places that the checks compute and the rounds would compute again, where that is more than a look at memory: the variable of each."""
    again = {s.value: s.var for s in loop.body if isinstance(s, lp.Let)}
    places = {a.var for u in updates for p in u.index for a in p.leaves() if isinstance(a, lp.VarAtom)}
    same = Copier({checks.sym: poly(loop.sym)})
    found = []
    for s in checks.body:
        if isinstance(s, lp.Let) and (var := again.get(same.expr(s.value))) is not None:
            same.vars[s.var], same.env[s.var.atom] = var, poly(var.atom)
            if var in places and var.dtype is I64 and not isinstance(s.value, (lp.Load, lp.Use)):
                found.append((s.var, var))
    return found


def _rounds(loop: lp.For, turns: int, part: _Part) -> list[lp.Stmt]:
    """The rounds of a part, into its own copies; each starts with the first of them."""
    out: list[lp.Stmt] = []
    begin, first = part.begin, turns * poly(part.index)
    if turns > 1:
        q = Sym(f"{loop.sym.name}_by_{turns}")
        rounds = whole_blocks(part.end - begin, turns)  # a part does not end before it begins
        together = [s for u in range(turns) for s in _Redirected({loop.sym: begin + turns * poly(q) + u}, part.own, first + u).stmts(loop.body)]
        out.append(lp.For(q, poly(0), rounds, together, False))
        begin = begin + turns * rounds
    return [*out, lp.For(loop.sym, begin, part.end, _Redirected({}, part.own, first).stmts(loop.body), False)]


def _over(buffer: lp.Buffer, body: lp.Stmts, syms: list[Sym]) -> lp.Stmts:
    for sym, n in zip(reversed(syms), reversed(buffer.extents), strict=True):
        body = [lp.For(sym, poly(0), n, body, True)]
    return body


def _filled(own: lp.Buffer, turns: int, part: Sym, start: lp.Const) -> lp.Stmts:
    copy = Sym("copy")
    syms = [Sym("ijklmn"[k % 6]) for k in range(len(own.extents) - 1)]
    body: list[lp.Stmt] = [lp.Store(own, (poly(copy), *map(poly, syms)), start)]
    for sym, n in zip(reversed(syms), reversed(own.extents[1:]), strict=True):
        body = [lp.For(sym, poly(0), n, body, True)]
    return [lp.For(copy, turns * poly(part), turns * poly(part) + turns, body, True)]


def _combined(target: lp.Buffer, own: lp.Buffer, copies: int, op: str) -> lp.Stmts:
    """Every element with its private ones, in order: a row of a copy at a time."""
    syms = [Sym("ijklmn"[k % 6]) for k in range(len(target.extents))]
    copy = Sym("copy")
    index = tuple(map(poly, syms))
    body = _over(target, [lp.Update(target, index, op, lp.Load(own, (poly(copy), *index)))], syms)
    return [lp.For(copy, poly(0), poly(copies), body, False)]
