"""Histograms on several threads: parts of the data go to private copies of the bins, which are then combined in order.

    for in order r in 0..n:  h[at[r]] += v(r)
becomes, when there are many more elements than bins,
    pieces of 8 parts:  own[p] = neutral;  for in order r of part p:  own[p, at[r]] += v(r)
    for j:  h[j] = ((h[j] + own[0, j]) + own[1, j]) + ...

The number of parts is fixed, so the result does not depend on threads. With few bins each part has four copies that take turns, because
two additions into one bin would wait for each other (notes/c_shapes.md 5).

Histograms of the same rounds are made together: what both compute, as the place, is computed once (`_together`).

A loop before it that does nothing but check the places is made part of it: a few thousand at a time are checked and then added, so that memory is read
once. The result of a program that fails is not seen.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.control.same_checks import only_checks
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.fuse import fused, once, past
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import monoid_of, neutral
from atoll.loops.transform.split import begun, whole_blocks
from atoll.loops.transform.walk import with_bodies
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.meeting import tells
from atoll.sizes.poly import product
from atoll.types.dtypes import I64


def privatise(stmts: lp.Stmts, decisions: list[str], reassociate: bool = True) -> lp.Stmts:
    """Loops of the program itself, not those inside pieces or other loops."""
    out: list[lp.Stmt] = []
    for stmt in _together(stmts, decisions):
        if isinstance(stmt, lp.If):
            stmt = with_bodies(stmt, lambda body: privatise(body, decisions, reassociate))
        updates = _only_updates(stmt) if isinstance(stmt, lp.For) else []
        if not updates or not (reassociate or all(u.buffer.dtype.is_integer for u in updates)):
            out.append(stmt)
            continue
        assert isinstance(stmt, lp.For)
        shown = " and ".join(u.buffer.shown for u in updates)
        decisions.append(f"{shown} {'is' if len(updates) == 1 else 'are'} added up in {profit.PARTS} private copies when there are many more rounds of {stmt.sym} than elements")
        bins = sum((product(u.buffer.extents) for u in updates), poly(0))
        many = lp.Test("ge", stmt.high - stmt.low - 4 * profit.PARTS * _turns(updates) * bins)
        found = _checks_before(out, stmt, updates)
        if found is None:
            out.append(lp.If((many,), _private(stmt, updates, None), [stmt]))
            continue
        pieces, checks = found
        decisions.append(f"{profit.CHECKED} rounds of {stmt.sym} are checked before they are made")
        out = [*(s for s in out if s is not pieces), lp.If((many,), _private(stmt, updates, checks), [pieces, stmt])]
    return out


def _together(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    """Loops over the same rounds that each add to memory of their own, one loop where only fills of other memory stand between them."""
    out: list[lp.Stmt] = []
    for stmt in stmts:
        updates = _only_updates(stmt) if isinstance(stmt, lp.For) else []
        k = len(out) - 1
        while updates and k >= 0 and (_only_fills(out[k]) or isinstance(out[k], lp.Alloc)):
            k -= 1
        before = out[k] if updates and k >= 0 else None
        earlier = _only_updates(before) if isinstance(before, lp.For) else []
        between = [s for s in out[k + 1 :] if not isinstance(s, lp.Alloc)]
        if not earlier or not isinstance(before, lp.For) or not isinstance(stmt, lp.For) or past(before, between) is not None or isinstance(made := fused(before, stmt), Refused):
            out.append(stmt)
            continue
        decisions.append(f"{', '.join(u.buffer.shown for u in [*earlier, *updates])} are added up in the same rounds of {before.sym}")
        out = [*out[:k], *out[k + 1 :], replace(made, body=once(made.body))]
    return out


def _checks_before(out: lp.Stmts, loop: lp.For, updates: list[lp.Update]) -> tuple[lp.Chunks, lp.For] | None:
    """Pieces that check the rounds of the loop and do nothing else, and their loop. What stands between only fills memory they do not read."""
    k = len(out) - 1
    while k > 0 and _only_fills(out[k]):
        k -= 1
    pieces = out[k] if out else None
    if not isinstance(pieces, lp.Chunks) or pieces.extent != loop.high or len(pieces.body) != 1 or not only_checks(pieces):
        return None
    (checks,) = pieces.body
    if not isinstance(checks, lp.For) or checks.low != poly(pieces.low) or checks.high != poly(pieces.high):
        return None
    filled = {s.buffer for s in lp.walk(out[k + 1 :]) if isinstance(s, lp.Store)} | {u.buffer for u in updates}
    plain = all(isinstance(s, (lp.Let, lp.Check)) for s in checks.body)
    return (pieces, checks) if plain and not any(x.buffer in filled for s in checks.body for x in loads(s)) else None


def _only_fills(stmt: lp.Stmt) -> bool:
    return all(isinstance(s, (lp.For, lp.Chunks, lp.Store, lp.Alloc)) for s in lp.walk([stmt])) and not loads(stmt)


def _only_updates(loop: lp.For) -> list[lp.Update]:
    """The updates of memory that are all a loop does, at places that are data, each of memory of its own."""
    if loop.parallel or loop.vector or loop.unroll or loop.low.const() != 0 or not copyable(loop.body):
        return []
    writes = [s for s in lp.walk(loop.body) if isinstance(s, (lp.Store, lp.Update, lp.Check, lp.Add, lp.Accumulate))]
    updates = [s for s in writes if isinstance(s, lp.Update)]
    buffers = {u.buffer for u in updates}
    if len(updates) != len(writes) or len(buffers) != len(updates):
        return []
    for u in updates:
        data = any(isinstance(a, lp.VarAtom) for p in u.index for a in p.leaves())
        if not data or monoid_of(u.op) is None or u.buffer.dtype.is_complex or u.buffer.rows is not None:
            return []
    if any(x.buffer in buffers for s in loop.body for x in loads(s)):
        return []
    made = {s.var for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare))}
    assigned = {s.var for s in lp.walk(loop.body) if isinstance(s, lp.Assign)}
    return updates if assigned <= made else []


class _Redirected(Copier):
    """A copy whose updates go to private copies."""

    def __init__(self, env: dict[Atom, Poly], own: dict[lp.Buffer, lp.Buffer], number: Poly) -> None:
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


def _private(loop: lp.For, updates: list[lp.Update], checks: lp.For | None) -> list[lp.Stmt]:
    turns = _turns(updates)
    own = {u.buffer: _own(u.buffer, profit.PARTS * turns) for u in updates}
    low, high, part = Sym("part_lo"), Sym("part_hi"), Sym("part")
    step = begun(loop.high, profit.PARTS)
    first, last, most = fresh_like("first", I64), fresh_like("last", I64), fresh_like("most", I64)
    bounds: list[lp.Stmt] = [
        lp.Let(first, lp.Call("min", (lp.Index(poly(part) * step), lp.Index(loop.high)), I64)),
        lp.Let(most, lp.Call("min", (lp.Index(poly(part) * step + step), lp.Index(loop.high)), I64)),
        lp.Let(last, lp.Index(poly(most.atom))),
    ]
    begin, end = poly(first.atom), poly(last.atom)
    body = [*(s for u in updates for s in _filled(own[u.buffer], turns, part, neutral(str(monoid_of(u.op)), u.buffer.dtype))), *bounds]
    if checks is None:
        body += _rounds(loop, own, turns, part, begin, end)
    else:
        block, stop = Sym(f"{loop.sym.name}_block"), fresh_like("stop", I64)
        here = begin + profit.CHECKED * poly(block)
        tested = Sym(checks.sym.name)
        looking = Copier({checks.sym: poly(tested)})
        tests = looking.stmts(checks.body)
        kept = {made: lp.Buffer(fresh_like("place", I64).name, I64, (poly(profit.CHECKED),), "temp", "places that were checked") for made in _computed_twice(checks, loop, updates)}
        tests += [lp.Store(buffer, (poly(tested) - here,), lp.Use(looking.vars[checked])) for (checked, _), buffer in kept.items()]
        look = lp.For(tested, here, poly(stop.atom), tests, True)
        lets = {var: lp.Load(buffer, (poly(loop.sym) - here,)) for (_, var), buffer in kept.items()}
        known = lp.For(loop.sym, loop.low, loop.high, [lp.Let(s.var, lets[s.var]) if isinstance(s, lp.Let) and s.var in lets else s for s in loop.body], False)
        until = lp.Let(stop, lp.Call("min", (lp.Index(here + profit.CHECKED), lp.Index(end)), I64))
        rounds = [until, look, *_rounds(known, own, turns, part, here, poly(stop.atom))]
        body += [*map(lp.Alloc, kept.values()), lp.For(block, poly(0), begun(end - begin, profit.CHECKED), rounds, False), *map(lp.Free, kept.values())]
    work = step * 4
    pieces = lp.Chunks(low, high, poly(profit.PARTS), work, [lp.For(part, poly(low), poly(high), body, True)])
    combined = [s for u in updates for s in _combined(u.buffer, own[u.buffer], profit.PARTS * turns, u.op)]
    return [*map(lp.Alloc, own.values()), pieces, *combined, *map(lp.Free, own.values())]


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


def _rounds(loop: lp.For, own: dict[lp.Buffer, lp.Buffer], turns: int, part: Sym, begin: Poly, end: Poly) -> list[lp.Stmt]:
    """Rounds begin..end of a part, into its own copies; each starts with the first of them."""
    out: list[lp.Stmt] = []
    if turns > 1:
        q = Sym(f"{loop.sym.name}_by_{turns}")
        rounds = whole_blocks(end - begin, turns)  # a part does not end before it begins
        together = [s for u in range(turns) for s in _Redirected({loop.sym: begin + turns * poly(q) + u}, own, turns * poly(part) + u).stmts(loop.body)]
        out.append(lp.For(q, poly(0), rounds, together, False))
        begin = begin + turns * rounds
    return [*out, lp.For(loop.sym, begin, end, _Redirected({}, own, turns * poly(part)).stmts(loop.body), False)]


def _turns(updates: list[lp.Update]) -> int:
    bins = [product(u.buffer.extents).const() for u in updates]
    return profit.TURNS if all(n is not None and n <= profit.FEW_BINS for n in bins) else 1


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
