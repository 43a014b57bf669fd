"""Histograms on several threads: parts of the data go to private copies of the bins, which are then combined in order.

    for in order r in 0..n:  h[at[r]] += v(r)
becomes, when there are many more elements than bins,
    pieces of 8 parts:  own[p] = neutral;  for in order r of part p:  own[p, at[r]] += v(r)
    for j:  h[j] = ((h[j] + own[0, j]) + own[1, j]) + ...

The number of parts is fixed, so the result does not depend on threads. With few bins each part has four copies that take turns, because
two additions into one bin would wait for each other (notes/c_shapes.md 5).

A loop before it that does nothing but check the places is made part of it: a few thousand at a time are checked and then added, so that memory is read
once. The result of a program that fails is not seen.
"""

from __future__ import annotations

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.control.same_checks import only_checks
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.meeting import tells
from atoll.sizes.poly import product
from atoll.types.dtypes import BOOL, I64

PARTS = 8
TURNS = 4
FEW_BINS = 1024
BLOCK = 4096  # rounds that are checked before they are made
_MONOID = {op: name for name, (op, _) in MONOIDS.items()}


def privatise(stmts: list[lp.Stmt], decisions: list[str], reassociate: bool = True) -> list[lp.Stmt]:
    """Loops of the program itself, not those inside pieces or other loops."""
    out: list[lp.Stmt] = []
    for stmt in stmts:
        if isinstance(stmt, lp.If):
            stmt.then, stmt.orelse = privatise(stmt.then, decisions, reassociate), privatise(stmt.orelse, decisions, reassociate)
        update = _only_update(stmt) if isinstance(stmt, lp.For) else None
        if update is None or not (reassociate or update.buffer.dtype.is_integer):
            out.append(stmt)
            continue
        assert isinstance(stmt, lp.For)
        decisions.append(f"{update.buffer.shown} is added up in {PARTS} private copies when there are many more rounds of {stmt.sym} than elements")
        many = lp.Test("ge", stmt.high - stmt.low - 4 * PARTS * _turns(update) * product(update.buffer.extents))
        found = _checks_before(out, stmt, update)
        if found is None:
            out.append(lp.If((many,), _private(stmt, update, None), [stmt]))
            continue
        pieces, checks = found
        out = [s for s in out if s is not pieces]
        decisions.append(f"{BLOCK} rounds of {stmt.sym} are checked before they are made")
        out.append(lp.If((many,), _private(stmt, update, checks), [pieces, stmt]))
    return out


def _checks_before(out: list[lp.Stmt], loop: lp.For, update: lp.Update) -> tuple[lp.Chunks, lp.For] | None:
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
    filled = {s.buffer for s in lp.walk(out[k + 1 :]) if isinstance(s, lp.Store)} | {update.buffer}
    plain = all(isinstance(s, (lp.Let, lp.Check)) for s in checks.body)
    return (pieces, checks) if plain and not any(x.buffer in filled for s in checks.body for x in loads(s)) else None


def _only_fills(stmt: lp.Stmt) -> bool:
    return all(isinstance(s, (lp.For, lp.Chunks, lp.Store, lp.Alloc)) for s in lp.walk([stmt])) and not loads(stmt)


def _only_update(loop: lp.For) -> lp.Update | None:
    """The one update of memory a loop makes, at an index that is data."""
    if loop.parallel or loop.vector or loop.unroll or loop.low.const() != 0 or not copyable(loop.body):
        return None
    writes = [s for s in lp.walk(loop.body) if isinstance(s, (lp.Store, lp.Update, lp.Check, lp.Add, lp.Accumulate))]
    if len(writes) != 1 or not isinstance(writes[0], lp.Update):
        return None
    update = writes[0]
    data = any(isinstance(a, lp.VarAtom) for p in update.index for a in p.leaves())
    if not data or update.op not in _MONOID or update.buffer.dtype.is_complex or update.buffer.rows is not None:
        return None
    if any(x.buffer is update.buffer for s in loop.body for x in loads(s)):
        return None
    made = {s.var for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare))}
    assigned = {s.var for s in lp.walk(loop.body) if isinstance(s, lp.Assign)}
    return update if assigned <= made else None


class _Redirected(Copier):
    """A copy whose update goes to a private copy."""

    def __init__(self, env: dict[Atom, Poly], own: lp.Buffer, number: Poly) -> None:
        super().__init__(env)
        self.own, self.number = own, number

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        if isinstance(s, lp.Update):
            return [lp.Update(self.own, (self.number, *self.index(s.index)), s.op, self.expr(s.value))]
        if isinstance(s, lp.For) and len([x for x in lp.walk(s.body) if isinstance(x, lp.Update)]) == 1:
            (new,) = super().stmt(s)
            assert isinstance(new, lp.For)
            update = next(x for x in lp.walk(new.body) if isinstance(x, lp.Update))
            new.parallel = tells(update.index, new.sym)
            return [new]
        return super().stmt(s)


def _private(loop: lp.For, update: lp.Update, checks: lp.For | None) -> list[lp.Stmt]:
    target, dtype = update.buffer, update.buffer.dtype
    turns = _turns(update)
    own = lp.Buffer(fresh_like(f"{target.name}_own", dtype).name, dtype, (poly(PARTS * turns), *target.extents), "temp", "private copies of an array that is added up", target.span).called(target.shown)
    neutral = MONOIDS[_MONOID[update.op]][1](dtype)
    start = lp.Const(bool(neutral) if dtype is BOOL else neutral, dtype)
    low, high, part = Sym("part_lo"), Sym("part_hi"), Sym("part")
    step = (loop.high + (PARTS - 1)) // PARTS
    first, last, most = fresh_like("first", I64), fresh_like("last", I64), fresh_like("most", I64)
    bounds: list[lp.Stmt] = [
        lp.Let(first, lp.Call("min", (lp.Index(poly(part) * step), lp.Index(loop.high)), I64)),
        lp.Let(most, lp.Call("min", (lp.Index(poly(part) * step + step), lp.Index(loop.high)), I64)),
        lp.Let(last, lp.Index(poly(most.atom))),
    ]
    begin, end = poly(first.atom), poly(last.atom)
    body = [*_filled(own, turns, part, start), *bounds]
    if checks is None:
        body += _rounds(loop, own, turns, part, begin, end)
    else:
        block, stop = Sym(f"{loop.sym.name}_block"), fresh_like("stop", I64)
        here = begin + BLOCK * poly(block)
        tested = Sym(checks.sym.name)
        look = lp.For(tested, here, poly(stop.atom), Copier({checks.sym: poly(tested)}).stmts(checks.body), True)
        until = lp.Let(stop, lp.Call("min", (lp.Index(here + BLOCK), lp.Index(end)), I64))
        body.append(lp.For(block, poly(0), (end - begin + (BLOCK - 1)) // BLOCK, [until, look, *_rounds(loop, own, turns, part, here, poly(stop.atom))], False))
    work = step * 4
    pieces = lp.Chunks(low, high, poly(PARTS), work, [lp.For(part, poly(low), poly(high), body, True)])
    return [lp.Alloc(own), pieces, *_combined(target, own, PARTS * turns, update.op), lp.Free(own)]


def _rounds(loop: lp.For, own: lp.Buffer, turns: int, part: Sym, begin: Poly, end: Poly) -> list[lp.Stmt]:
    """Rounds begin..end of a part, into its own copies; each starts with the first of them."""
    out: list[lp.Stmt] = []
    if turns > 1:
        q = Sym(f"{loop.sym.name}_by_{turns}")
        rounds = (end - begin) // turns
        together = [s for u in range(turns) for s in _Redirected({loop.sym: begin + turns * poly(q) + u}, own, turns * poly(part) + u).stmts(loop.body)]
        out.append(lp.For(q, poly(0), rounds, together, False))
        begin = begin + turns * rounds
    return [*out, lp.For(loop.sym, begin, end, _Redirected({}, own, turns * poly(part)).stmts(loop.body), False)]


def _turns(update: lp.Update) -> int:
    bins = product(update.buffer.extents).const()
    return TURNS if bins is not None and bins <= FEW_BINS else 1


def _over(buffer: lp.Buffer, body: list[lp.Stmt], syms: list[Sym]) -> list[lp.Stmt]:
    for sym, n in zip(reversed(syms), reversed(buffer.extents), strict=True):
        body = [lp.For(sym, poly(0), n, body, True)]
    return body


def _filled(own: lp.Buffer, turns: int, part: Sym, start: lp.Const) -> list[lp.Stmt]:
    copy = Sym("copy")
    syms = [Sym("ijklmn"[k % 6]) for k in range(len(own.extents) - 1)]
    body: list[lp.Stmt] = [lp.Store(own, (poly(copy), *map(poly, syms)), start)]
    for sym, n in zip(reversed(syms), reversed(own.extents[1:]), strict=True):
        body = [lp.For(sym, poly(0), n, body, True)]
    return [lp.For(copy, turns * poly(part), turns * poly(part) + turns, body, True)]


def _combined(target: lp.Buffer, own: lp.Buffer, copies: int, op: str) -> list[lp.Stmt]:
    """Every element with its private ones, in order: a row of a copy at a time."""
    syms = [Sym("ijklmn"[k % 6]) for k in range(len(target.extents))]
    copy = Sym("copy")
    index = tuple(map(poly, syms))
    body = _over(target, [lp.Update(target, index, op, lp.Load(own, (poly(copy), *index)))], syms)
    return [lp.For(copy, poly(0), poly(copies), body, False)]
