"""Several rounds at a time of loops that look back: sums over what earlier rounds made are shared by the rows and columns of a tile.

    for in order j:  D(j);  for i in j + 1..n:  s = sum over r in 0..j of x[i, r] * x[j, r];  x[i, j] = f(s)
becomes, for sixteen rounds first..stop at a time,
    for in order j in first..stop:  D(j);  the rows before stop, as before
    pieces of the rows from stop on, four rows i and four columns j at a time:
        sixteen sums over r in 0..j of the first column;  then, column by column, the terms that are left and x[i, j] = f(s)

The rows that are left for later are those that all of the rounds have. Every sum has its terms, in order where it must be in order (where terms
are left at its beginning, a sum that goes from left to right is left alone). This may be done when, for any two rounds of the sixteen,
  * what a row of one round touches is not written by what a later round does before its rows are done, nor the other way round;
  * different rows have nothing to do with each other in any of the rounds;
  * what the shared part of a sum reads is not written by the rounds.
All of it is proved from the indices, as in loops/recipes/several_rounds.py; what is not proved is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.dependence import Order, accesses, place, plain
from atoll.loops.questions import loads, told
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.expand import lane_array
from atoll.loops.transform.jam import one_sum
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import as_assignments
from atoll.loops.transform.split import block_end, first_of, over_blocks, whole_blocks
from atoll.loops.transform.walk import Known, not_products, outermost_first, with_bodies
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.prover import facts
from atoll.types.dtypes import I64

_PLAIN = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.For, lp.Accumulate, lp.Add, lp.If, lp.Note, lp.Chunks, lp.Check)


def left_looking(stmts: lp.Stmts, decisions: list[str], together: int = 16, known: tuple[Poly, ...] = (), nested: bool = False) -> list[lp.Stmt]:
    """`nested`: this is in a piece already."""

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if isinstance(stmt, lp.Chunks) and not nested:
            return [with_bodies(stmt, lambda body: left_looking(body, decisions, together, (*known, *told(stmt)), True))]
        found = looks_back(stmt, together, known, nested) if isinstance(stmt, lp.For) else None
        if found is None:
            return None
        names = " and ".join(r.loop.sym.name for r in found.rows)
        decisions.append(f"{together} rounds of {found.loop.sym} at a time, {profit.TILE_ROUNDS} in a tile: sums over what earlier rounds made are shared by rows {names}, which are in pieces for threads")
        return found.loops()

    return outermost_first(stmts, rewrite, not_products, known)


def looks_back(loop: lp.For, together: int, known: tuple[Poly, ...], nested: bool = False) -> _Blocks | None:
    if loop.parallel or loop.vector or loop.unroll or loop.scan or not plain(loop.low) or not plain(loop.high):
        return None
    rows = [r for s in loop.body if (r := _rows(s, loop.sym, (*known, *told(loop)))) is not None]
    if not rows or not all(isinstance(s, _PLAIN) for s in lp.walk(loop.body)) or any(s.buffers for s in lp.walk(loop.body) if isinstance(s, lp.Chunks)):
        return None
    for some in [rows, *([r] for r in rows if len(rows) > 1)]:
        kept = _left(loop, some)
        found = None if kept is None else _Blocks(loop, some, together, nested, kept, known)
        if found is not None and found.holds():
            return found
    return None


def _step(p: Poly, sym: Sym) -> int | None:
    """By how much it grows with an index; None when it is not a number, or too large."""
    if sym not in p.leaves():
        return 0
    step = p.coefficient(sym)
    by = None if step is None else step.const()
    return by if by in (-1, 1) and sym not in (p - by * poly(sym)).leaves() else None


@dataclass(frozen=True, slots=True)
class _Rows:
    """for i:  lets;  one sum;  stores. Rows are counted as the array does that is written: index = i + down."""

    stmt: lp.Stmt
    loop: lp.For
    before: lp.Stmts
    inner: lp.Accumulate
    after: lp.Stmts
    down: Poly
    top: Poly
    bottom: Poly
    shift: Poly  # the index of the sum is counted from there, so that terms of different rounds have the same
    low: Poly  # of the sum, so counted
    high: Poly
    across: bool  # neighbouring rows read neighbouring elements


def _rows(stmt: lp.Stmt, j: Sym, known: tuple[Poly, ...]) -> _Rows | None:
    loop, low, high = stmt, poly(0), poly(0)
    if isinstance(stmt, lp.Chunks) and not stmt.accs and not stmt.buffers and len(stmt.body) == 1:
        loop, high = stmt.body[0], stmt.extent
        if not isinstance(loop, lp.For) or loop.low != poly(stmt.low) or loop.high != poly(stmt.high) or any({stmt.low, stmt.high} & p.leaves() for s in loop.body for p in _polys(s)):
            return None
    elif isinstance(stmt, lp.For):
        low, high = stmt.low, stmt.high
    if not isinstance(loop, lp.For) or loop.vector or loop.unroll or loop.scan or loop.sym is j:
        return None
    parts = one_sum(loop)
    if isinstance(parts, Refused) or len(parts.inner.accs) != 1 or parts.inner.accs[0].monoid not in MONOIDS:
        return None
    before, inner, after, i = parts.before, parts.inner, parts.after, loop.sym
    if inner.sym in (i, j):
        return None
    stores = [s for s in after if isinstance(s, (lp.Store, lp.Update))]
    axes = [k for k, p in enumerate(stores[0].index) if i in p.leaves()] if stores else []
    if len(axes) != 1 or any(isinstance(a, lp.VarAtom) for s in loop.body for p in _polys(s) for a in p.leaves()):
        return None
    down = stores[0].index[axes[0]] - poly(i)
    if i in down.leaves() or {i, inner.sym} & {a for p in known for a in p.leaves()}:
        return None
    shift = _shift(inner, i, j)
    across = _filled(loop, inner, j, shift, down)
    if across is None:
        return None
    found = _Rows(stmt, loop, before, inner, after, down, low + down, high + down, shift, inner.low + shift, inner.high + shift, across)
    ends = (found.top, found.bottom, found.low, found.high)
    if not all(plain(p) and i not in p.leaves() and _step(p, j) is not None for p in ends) or _step(shift, j) is None or _step(down, j) is None:
        return None
    moving = _step(found.low, j), _step(found.high, j)
    if 0 not in moving or (inner.exact and moving[0] != 0) or (any(moving) and not facts(known).proves(inner.high - inner.low)):
        return None
    return found


def _polys(s: lp.Stmt) -> list[Poly]:
    """Indices of what a statement reads and writes, and bounds of its loops."""
    found = [p for x in loads([s]) for p in x.index]
    for t in lp.walk([s]):
        found += t.index if isinstance(t, (lp.Store, lp.Update)) else ()
        found += (t.low, t.high) if isinstance(t, (lp.For, lp.Accumulate)) else ()
        values = [getattr(t, "value", None), *(x.expr for x in getattr(t, "tests", ()))]
        found += [x.poly for x in getattr(t, "tests", ()) if x.poly is not None]
        for e in (e for v in values if v is not None for e in lp.subexprs(v)):
            found += [e.poly] if isinstance(e, lp.Index) else ()
            found += [x.poly for x in e.tests if x.poly is not None] if isinstance(e, (lp.Choose, lp.Truth)) else ()
    return found


def _shift(inner: lp.Accumulate, i: Sym, j: Sym) -> Poly:
    """How far the elements of a sum move with the rounds."""
    for load in loads(inner.body):
        for p in load.index:
            if inner.sym in p.leaves() and i in {a for q in load.index for a in q.leaves()} and _step(p, inner.sym) == 1 and (by := _step(p, j)):
                return by * poly(j)
    return poly(0)


def _filled(loop: lp.For, inner: lp.Accumulate, j: Sym, shift: Poly, down: Poly) -> bool | None:
    """Some elements of the sum are shared by all rows, some by all rounds, and vectors are filled by neighbours: those across rows (True), or those along them
    (False). None where that is not so, and nothing is gained."""
    i, r = loop.sym, inner.sym
    env: dict[Atom, Poly] = {r: poly(r) - shift, i: poly(i) - down}
    places = [tuple(p.subst(env) for p in x.index) for x in loads(inner.body)]
    moving = [{a for p in place for a in p.leaves()} for place in places]
    if not any({i, r} <= m and j not in m for m in moving) or not any({j, r} <= m and i not in m for m in moving):
        return None

    def neighbours(sym: Sym) -> bool:
        there = [place for place, m in zip(places, moving, strict=True) if sym in m]
        return all(_step(place[-1], sym) == 1 and not any(sym in p.leaves() for p in place[:-1]) for place in there)

    return True if neighbours(i) else False if neighbours(r) else None


def _left(loop: lp.For, rows: list[_Rows]) -> dict[lp.Var, list[_Rows]] | None:
    """What rows read of their round that other rounds have otherwise, and the rows that do; None where it may change between them."""
    every = list(lp.walk(loop.body))
    made = {s.var for s in every if isinstance(s, (lp.Let, lp.Declare))} | {a.var for s in every if isinstance(s, (lp.Accumulate, lp.Chunks)) for a in s.accs}
    changed = made | {s.var for s in every if isinstance(s, (lp.Assign, lp.Add))}
    kept: dict[lp.Var, list[_Rows]] = {}
    for r in rows:
        inside = {s.var for s in lp.walk(r.loop.body) if isinstance(s, (lp.Let, lp.Declare))} | {r.inner.accs[0].var}
        if any(isinstance(s, lp.Assign) and s.var not in inside for s in lp.walk(r.loop.body)):
            return None
        for v in dict.fromkeys(lp.used_vars(r.loop.body)):
            if v in changed and v not in inside:
                kept.setdefault(v, []).append(r)
    lets = {s.var for s in loop.body if isinstance(s, lp.Let)}
    return None if any(len(at) > 1 and v not in lets for v, at in kept.items()) else kept


class _Blocks:
    def __init__(self, loop: lp.For, rows: list[_Rows], together: int, nested: bool, kept: dict[lp.Var, list[_Rows]], known: Known) -> None:
        self.loop, self.rows, self.together, self.nested, self.kept = loop, rows, together, nested, kept
        self.first, self.stop = Sym(f"{loop.sym.name}_first"), Sym(f"{loop.sym.name}_stop")
        self.known = (*known, poly(self.first) - loop.low, loop.high - poly(self.stop), poly(self.stop) - poly(self.first) - 1)
        self.order = Order(self.known)

    # -- whether it may be done

    def holds(self) -> bool:
        return all(self.later(r) and self.apart_from_rows(r) and self.shared(r) for r in self.rows)

    def later(self, rows: _Rows) -> bool:
        """A row does not touch what is written by what is done before it now, but was done after it, nor the other way round."""
        j, a, b, h = self.loop.sym, *(Sym(name) for name in "abh")
        mine = self.order.touched(rows.loop.body, {j: poly(a), rows.loop.sym: poly(h) - rows.down.subst({j: poly(a)})})
        here = (*self.inside(a), *self.inside(b), *self.row(rows, h))
        place = self.position(rows)
        for k, stmt in enumerate(self.loop.body):
            order = poly(b) - poly(a) if k > place else poly(b) - poly(a) - 1
            others = self.order.touched([stmt], {j: poly(b)})
            where: list[tuple[Poly, ...]] = [()]
            head = next((r for r in self.rows if r.stmt is stmt), None)
            if head is not None:
                g = Sym("g")
                others = self.order.touched(head.loop.body, {j: poly(b), head.loop.sym: poly(g) - head.down.subst({j: poly(b)})})
                where = self.heads(head, b, g)
            for more in where:
                if not self.order.apart(mine, others, (*here, order, *more)):
                    return False
        return True

    def apart_from_rows(self, rows: _Rows) -> bool:
        """Rows have nothing to do with each other, nor with the rows of other loops in later rounds."""
        j, a, b, h, g = self.loop.sym, *(Sym(name) for name in "abhg")
        mine = self.order.touched(rows.loop.body, {j: poly(a), rows.loop.sym: poly(h) - rows.down.subst({j: poly(a)})})
        here = (*self.inside(a), *self.inside(b), *self.row(rows, h))
        for other in self.rows:
            theirs = self.order.touched(other.loop.body, {j: poly(b), other.loop.sym: poly(g) - other.down.subst({j: poly(b)})})
            both = (*here, *self.row(other, g))
            orders = [(poly(h) - poly(g) - 1,), (poly(g) - poly(h) - 1,)] if other is rows else [(poly(a) - poly(b) - 1,)] if self.position(rows) < self.position(other) else []
            if not all(self.order.apart(mine, theirs, (*both, *order)) for order in orders):
                return False
        return True

    def shared(self, rows: _Rows) -> bool:
        """What a row reads before the first of its columns is written is not one of them."""
        j, a, b, h, q = self.loop.sym, *(Sym(name) for name in "abhq")
        written = [place(x, {j: poly(a), rows.loop.sym: poly(h) - rows.down.subst({j: poly(a)})}, True) for x in accesses(rows.loop.body)[0]]
        env: dict[Atom, Poly] = {j: poly(b), rows.loop.sym: poly(h) - rows.down.subst({j: poly(b)})}
        early = [place(x, env) for x in accesses(rows.before)[1]]
        env[rows.inner.sym] = poly(q) - rows.shift.subst({j: poly(b)})
        early += [place(x, env) for x in accesses(rows.inner.body)[1]]
        low, high = self.sum_ends(rows, poly(self.first), poly(self.stop) - 1)
        here = (*self.inside(a), *self.inside(b), *self.row(rows, h), poly(b) - poly(a) - 1, poly(q) - low, high - poly(q) - 1)
        return self.order.apart(written, early, here)

    def position(self, rows: _Rows) -> int:
        return next(k for k, s in enumerate(self.loop.body) if s is rows.stmt)

    def inside(self, round: Sym) -> tuple[Poly, Poly]:
        return poly(round) - poly(self.first), poly(self.stop) - 1 - poly(round)

    def region(self, rows: _Rows, first: Poly, last: Poly) -> tuple[Poly, Poly]:
        """The rows that all rounds have, if there are any."""
        j = self.loop.sym
        down, up = _step(rows.top, j), _step(rows.bottom, j)
        return rows.top.subst({j: last if down == 1 else first}), rows.bottom.subst({j: last if up == -1 else first})

    def sum_ends(self, rows: _Rows, first: Poly, last: Poly) -> tuple[Poly, Poly]:
        """The part of the sums that all rounds have."""
        j = self.loop.sym
        return rows.low.subst({j: last if _step(rows.low, j) == 1 else first}), rows.high.subst({j: last if _step(rows.high, j) == -1 else first})

    def row(self, rows: _Rows, h: Sym) -> tuple[Poly, Poly]:
        top, bottom = self.region(rows, poly(self.first), poly(self.stop) - 1)
        return poly(h) - top, bottom - poly(h) - 1

    def heads(self, rows: _Rows, b: Sym, g: Sym) -> list[tuple[Poly, ...]]:
        """Where the rows of a round are that are not left for later."""
        j = self.loop.sym
        top, bottom = self.region(rows, poly(self.first), poly(self.stop) - 1)
        here = poly(g) - rows.top.subst({j: poly(b)}), rows.bottom.subst({j: poly(b)}) - poly(g) - 1
        found: list[tuple[Poly, ...]] = []
        if _step(rows.top, j):
            found.append((*here, top - poly(g) - 1))
        if _step(rows.bottom, j):
            found.append((*here, poly(g) - bottom))
        return found

    # -- what becomes of it

    def loops(self) -> list[lp.Stmt]:
        loop, j = self.loop, self.loop.sym
        block = Sym(f"{j.name}_by_{self.together}")
        self.begin = first_of(loop, self.together, block)
        until, self.end = block_end(f"{j.name}_stop", self.begin, self.together, loop.high, small=True)
        self.saved = {v: lane_array(v.name, v.dtype, self.together, "of several rounds") for v in self.kept}
        tails = [self.tail(r) for r in self.rows]  # copies, before the originals change
        rounds: list[lp.Stmt] = []
        for stmt in loop.body:
            rows = next((r for r in self.rows if r.stmt is stmt), None)
            if rows is None:
                rounds.append(stmt)
                continue
            rounds += [lp.Store(self.saved[v], (poly(j) - self.begin,), lp.Use(v)) for v, at in self.kept.items() if at[0] is rows]
            rounds += self.head(rows)
        body: list[lp.Stmt] = [
            until,
            *(lp.Alloc(b) for b in self.saved.values()),
            *([lp.For(j, self.begin, self.end, rounds, False)] if rounds else []),
            *(s for tail in tails for s in tail),
            *(lp.Free(b) for b in self.saved.values()),
        ]
        return [over_blocks(loop, self.together, block, body)]

    def head(self, rows: _Rows) -> list[lp.Stmt]:
        """The rows of a round that not all rounds of the block have."""
        j, i = self.loop.sym, rows.loop.sym
        top, bottom = self.region(rows, self.begin, self.end - 1)
        out: list[lp.Stmt] = []
        if _step(rows.top, j):
            to = self.whole(f"{i.name}_stop")
            out.append(lp.Let(to, lp.Call("min", (lp.Index(top - rows.down), lp.Index(rows.bottom - rows.down)), I64)))
            out.append(lp.For(i, rows.top - rows.down, poly(to.atom), Copier({}).stmts(rows.loop.body), False))
        if _step(rows.bottom, j):
            start = self.whole(f"{i.name}_start")
            out.append(lp.Let(start, lp.Call("max", (lp.Index(top - rows.down), lp.Index(bottom - rows.down)), I64)))
            out.append(lp.For(i, poly(start.atom), rows.bottom - rows.down, Copier({}).stmts(rows.loop.body), False))
        return out

    def tail(self, rows: _Rows) -> list[lp.Stmt]:
        """The rows that all rounds of the block have, in pieces."""
        i, g = rows.loop.sym, Sym(f"{self.loop.sym.name}_group")
        top, bottom = self.region(rows, self.begin, self.end - 1)
        low, high, count = Sym(f"{i.name}_lo"), Sym(f"{i.name}_hi"), self.whole("rows")
        first, last = (top, top + poly(count.atom)) if self.nested else (top + poly(low), top + poly(high))
        groups, column = whole_blocks(self.end - self.begin, profit.TILE_ROUNDS), self.begin + profit.TILE_ROUNDS * poly(g)
        begin = self.begin + profit.TILE_ROUNDS * groups  # the first column that is in no group
        h, rest = Sym(i.name), Sym(self.loop.sym.name)
        one: list[lp.Stmt] = []
        if rows.across:
            body: list[lp.Stmt] = [lp.For(g, poly(0), groups, [lp.For(h, first, last, self.line(rows, column, poly(h)), True)], False)]
            h = Sym(i.name)
        else:
            t, full, start = Sym(f"{i.name}_by_{profit.TILE_ROWS}"), self.whole("tiles"), self.whole(f"{rest.name}_start")
            acc = rows.inner.accs[0].var
            sums = lane_array(acc.name, acc.dtype, profit.TILE_ROUNDS * profit.TILE_ROWS, "of several rounds")
            tiles = lp.For(t, poly(0), poly(full.atom), [lp.For(g, poly(0), groups, self.tile(rows, column, first + profit.TILE_ROWS * poly(t), sums), False)], False)
            body = [lp.Let(full, lp.Index(whole_blocks(last - first, profit.TILE_ROWS))), lp.Alloc(sums), tiles, lp.Free(sums)]
            tiled = lp.Test("ge", first + profit.TILE_ROWS * poly(full.atom) - poly(h) - 1)
            one.append(lp.Let(start, lp.Choose((tiled,), lp.Index(begin), lp.Index(self.begin))))
            begin = poly(start.atom)
        one.append(lp.For(rest, begin, self.end, self.copier(rows, poly(rest), poly(h)).stmts(rows.loop.body), False))
        body.append(lp.For(h, first, last, one, False))
        there = lp.Let(count, lp.Call("max", (lp.Index(bottom - top), lp.Index(poly(0))), I64))
        if self.nested:
            return [there, *body]
        terms = (rows.high - rows.low).subst({self.loop.sym: self.begin})
        return [there, lp.Chunks(low, high, poly(count.atom), (self.together * (terms + 2 * profit.TILE_SHARE)) // profit.TILE_SHARE, body, align=profit.TILE_ROWS)]

    def whole(self, name: str) -> lp.Var:
        """A variable for a number of rounds or rows."""
        var = fresh_like(name, I64)
        var.small = True
        return var

    def copier(self, rows: _Rows, column: Poly, row: Poly) -> _Copy:
        j = self.loop.sym
        return _Copy({j: column, rows.loop.sym: row - rows.down.subst({j: column})}, {v: lp.Load(b, (column - self.begin,)) for v, b in self.saved.items()})

    def tile(self, rows: _Rows, first: Poly, row: Poly, sums: lp.Buffer) -> list[lp.Stmt]:
        """Some rows of the columns of a group: the shared parts of their sums, then one row after the other."""
        shared, made = self.shared_sums(rows, first, [row + k for k in range(profit.TILE_ROWS)])
        line = Sym("line")
        kept: list[lp.Stmt] = [lp.Store(sums, (poly(k),), lp.Use(v)) for k, v in enumerate(made)]
        loaded: list[lp.Expr] = [lp.Load(sums, (profit.TILE_ROUNDS * poly(line) + k,)) for k in range(profit.TILE_ROUNDS)]
        return [*shared, *kept, lp.For(line, poly(0), poly(profit.TILE_ROWS), self.finished(rows, first, row + poly(line), loaded), False)]

    def line(self, rows: _Rows, first: Poly, row: Poly) -> list[lp.Stmt]:
        """A row of the columns of a group."""
        shared, made = self.shared_sums(rows, first, [row])
        return [*shared, *self.finished(rows, first, row, [lp.Use(v) for v in made])]

    def shared_sums(self, rows: _Rows, first: Poly, lines: list[Poly]) -> tuple[list[lp.Stmt], list[lp.Var]]:
        """The part of the sums that all columns of a group have, of some rows."""
        inner, q = rows.inner, Sym(rows.inner.sym.name)
        starts: list[lp.Stmt] = []
        adds: list[lp.Stmt] = []
        made: list[lp.Var] = []
        low, high = self.sum_ends(rows, first, first + profit.TILE_ROUNDS - 1)
        for line in lines:
            for k in range(profit.TILE_ROUNDS):
                copier = self.copier(rows, first + k, line)
                starts += copier.stmts(rows.before)
                made.append(copier.var(inner.accs[0].var))
                adds += self.term(copier, rows, poly(q) - rows.shift.subst({self.loop.sym: first + k}))
        accs = [lp.Acc(v, inner.accs[0].monoid) for v in made]
        return [*starts, lp.Accumulate(q, low, high, _once(adds), accs, inner.exact)], made

    def finished(self, rows: _Rows, first: Poly, row: Poly, shared: list[lp.Expr]) -> list[lp.Stmt]:
        """One column of a row after the other: the terms that are left, and what is done with the sum."""
        acc, low, high = rows.inner.accs[0].var, *self.sum_ends(rows, first, first + profit.TILE_ROUNDS - 1)
        out: list[lp.Stmt] = []
        for k, value in enumerate(shared):
            column: dict[Atom, Poly] = {self.loop.sym: first + k}
            copier = self.copier(rows, first + k, row)
            total = fresh_like(acc.name, acc.dtype)
            out += [*copier.stmts(rows.before), lp.Declare(total, value)]
            copier.vars[acc] = total
            for begin, end in ((rows.low.subst(column), low), (high, rows.high.subst(column))):
                for n in range((end - begin).const() or 0):
                    out += as_assignments(self.term(copier, rows, begin + n - rows.shift.subst(column)))
            out += copier.stmts(rows.after)
        return out

    def term(self, copier: _Copy, rows: _Rows, place: Poly) -> list[lp.Stmt]:
        mine = _Copy({**copier.env, rows.inner.sym: place}, copier.loaded)
        mine.vars = dict(copier.vars)
        return mine.stmts(rows.inner.body)


def _once(stmts: lp.Stmts) -> list[lp.Stmt]:
    """Elements that are read whatever happens are read once, where they are first needed: C compilers would read them again for every row."""
    kept: dict[lp.Load, lp.Var] = {}
    out: list[lp.Stmt] = []

    def go(e: lp.Expr) -> lp.Expr:
        if isinstance(e, lp.Call) and e.op not in ("select", "and", "or"):
            return lp.Call(e.op, tuple(map(go, e.args)), e.dtype, e.origin)
        if isinstance(e, lp.Cast):
            return lp.Cast(go(e.arg), e.dtype, e.origin)
        if not isinstance(e, lp.Load):
            return e
        if e not in kept:
            kept[e] = fresh_like(e.buffer.name, e.dtype)
            out.append(lp.Let(kept[e], e))
        return lp.Use(kept[e])

    for s in stmts:
        if isinstance(s, lp.Let):
            s = lp.Let(s.var, go(s.value))
        elif isinstance(s, lp.Add):
            s = lp.Add(s.var, s.monoid, go(s.value))
        out.append(s)
    return out


class _Copy(Copier):
    """A copy of a row of one round, which reads what the round left for it."""

    def __init__(self, env: dict[Atom, Poly], loaded: dict[lp.Var, lp.Load]) -> None:
        super().__init__(env)
        self.loaded = loaded

    def expr(self, e: lp.Expr) -> lp.Expr:
        if isinstance(e, lp.Use) and e.var in self.loaded and e.var not in self.vars:
            return self.loaded[e.var]
        return super().expr(e)
