"""Rounds that look back, several at a time: the sums of their rows share what earlier rounds made (strip-mining,
fission of the rows, interchange and unroll-and-jam).

    for in order j:  D(j);  for i in top(j)..bottom(j):  s = sum over r in low(j)..high(j) of e(i, j, r);  stores at row i
becomes, for blocks of rounds first..stop,
    for in order j in first..stop:  D(j);  the rows that not all of these rounds have
    pieces of the rows that all of them have, a tile of rows and columns at a time:
        the part of the sums that all columns of the tile have, in one loop;  then, column by column, the terms that are left and the stores

    rounds_together(found, sizes, nested, known)     the block, if for any two rounds of it
      * what a row of one round touches is not written by what a later round does before its rows are done, nor the other way round;
      * different rows have nothing to do with each other in any of the rounds;
      * what the shared part of a sum reads is not written by the rounds.

All of it is proved from the indices (dependence.py). Every sum has its terms, in order where it must be in order: a
sum from left to right whose first terms are left is refused. What rows read of their round in variables has an
element for each round, kept before the rows are left for later.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.dependence import Order, accesses, place
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.expand import lane_array
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import as_assignments
from atoll.loops.transform.row_sums import LookingBack, Rows, step
from atoll.loops.transform.split import block_end, first_of, over_blocks, whole_blocks
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import I64

Known = tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Rounds of a block, rounds and rows of a tile, and how many terms of a tile take as long as an operation elsewhere."""

    together: int
    rounds: int
    rows: int
    share: int


def rounds_together(found: LookingBack, sizes: Sizes, nested: bool, known: Known) -> Blocks | Refused:
    """The loop in blocks of rounds; `nested`: this is in a piece already, so no pieces are made."""
    kept = _kept(found.loop, found.rows)
    if isinstance(kept, Refused):
        return kept
    blocks = Blocks(found.loop, found.rows, sizes, nested, kept, known)
    return blocks.why_not() or blocks


def _kept(loop: lp.For, rows: list[Rows]) -> dict[lp.Var, list[Rows]] | Refused:
    """What rows read of their round that other rounds have otherwise, and the rows that do."""
    every = list(lp.walk(loop.body))
    made = {s.var for s in every if isinstance(s, (lp.Let, lp.Declare))} | {
        a.var for s in every if isinstance(s, (lp.Accumulate, lp.Chunks)) for a in s.accs
    }
    changed = made | {s.var for s in every if isinstance(s, (lp.Assign, lp.Add))}
    kept: dict[lp.Var, list[Rows]] = {}
    for r in rows:
        inside = {s.var for s in lp.walk(r.loop.body) if isinstance(s, (lp.Let, lp.Declare))} | {r.inner.accs[0].var}
        if any(isinstance(s, lp.Assign) and s.var not in inside for s in lp.walk(r.loop.body)):
            return Refused("a row changes a variable of its round")
        for v in dict.fromkeys(lp.used_vars(r.loop.body)):
            if v in changed and v not in inside:
                kept.setdefault(v, []).append(r)
    lets = {s.var for s in loop.body if isinstance(s, lp.Let)}
    changing = any(len(at) > 1 and v not in lets for v, at in kept.items())
    return Refused("what rows read of their round changes between them") if changing else kept


class Blocks:
    """A loop that looks back, in blocks of rounds."""

    def __init__(
        self, loop: lp.For, rows: list[Rows], sizes: Sizes, nested: bool, kept: dict[lp.Var, list[Rows]], known: Known
    ) -> None:
        self.loop, self.rows, self.sizes, self.nested, self.kept = loop, rows, sizes, nested, kept
        self.first, self.stop = Sym(f"{loop.sym.name}_first"), Sym(f"{loop.sym.name}_stop")
        self.known = (*known, poly(self.first) - loop.low, loop.high - poly(self.stop), poly(self.stop) - poly(self.first) - 1)
        self.order = Order(self.known)

    # -- whether it may be done

    def why_not(self) -> Refused | None:
        for r in self.rows:
            if not self.later(r):
                return Refused("a row and what a later round does before its rows may touch the same element")
            if not self.apart_from_rows(r):
                return Refused("different rows may touch the same element")
            if not self.shared(r):
                return Refused("the shared part of a sum may read what these rounds write")
        return None

    def later(self, rows: Rows) -> bool:
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
                others = self.order.touched(
                    head.loop.body, {j: poly(b), head.loop.sym: poly(g) - head.down.subst({j: poly(b)})}
                )
                where = self.heads(head, b, g)
            for more in where:
                if not self.order.apart(mine, others, (*here, order, *more)):
                    return False
        return True

    def apart_from_rows(self, rows: Rows) -> bool:
        """Rows have nothing to do with each other, nor with the rows of other loops in later rounds."""
        j, a, b, h, g = self.loop.sym, *(Sym(name) for name in "abhg")
        mine = self.order.touched(rows.loop.body, {j: poly(a), rows.loop.sym: poly(h) - rows.down.subst({j: poly(a)})})
        here = (*self.inside(a), *self.inside(b), *self.row(rows, h))
        for other in self.rows:
            theirs = self.order.touched(other.loop.body, {j: poly(b), other.loop.sym: poly(g) - other.down.subst({j: poly(b)})})
            both = (*here, *self.row(other, g))
            orders = (
                [(poly(h) - poly(g) - 1,), (poly(g) - poly(h) - 1,)]
                if other is rows
                else [(poly(a) - poly(b) - 1,)]
                if self.position(rows) < self.position(other)
                else []
            )
            if not all(self.order.apart(mine, theirs, (*both, *order)) for order in orders):
                return False
        return True

    def shared(self, rows: Rows) -> bool:
        """What a row reads before the first of its columns is written is not one of them."""
        j, a, b, h, q = self.loop.sym, *(Sym(name) for name in "abhq")
        written = [
            place(x, {j: poly(a), rows.loop.sym: poly(h) - rows.down.subst({j: poly(a)})}, True)
            for x in accesses(rows.loop.body)[0]
        ]
        env: dict[Atom, Poly] = {j: poly(b), rows.loop.sym: poly(h) - rows.down.subst({j: poly(b)})}
        early = [place(x, env) for x in accesses(rows.before)[1]]
        env[rows.inner.sym] = poly(q) - rows.shift.subst({j: poly(b)})
        early += [place(x, env) for x in accesses(rows.inner.body)[1]]
        low, high = self.sum_ends(rows, poly(self.first), poly(self.stop) - 1)
        here = (*self.inside(a), *self.inside(b), *self.row(rows, h), poly(b) - poly(a) - 1, poly(q) - low, high - poly(q) - 1)
        return self.order.apart(written, early, here)

    def position(self, rows: Rows) -> int:
        return next(k for k, s in enumerate(self.loop.body) if s is rows.stmt)

    def inside(self, round: Sym) -> tuple[Poly, Poly]:
        return poly(round) - poly(self.first), poly(self.stop) - 1 - poly(round)

    def region(self, rows: Rows, first: Poly, last: Poly) -> tuple[Poly, Poly]:
        """The rows that all rounds have, if there are any."""
        j = self.loop.sym
        down, up = step(rows.top, j), step(rows.bottom, j)
        return rows.top.subst({j: last if down == 1 else first}), rows.bottom.subst({j: last if up == -1 else first})

    def sum_ends(self, rows: Rows, first: Poly, last: Poly) -> tuple[Poly, Poly]:
        """The part of the sums that all rounds have."""
        j = self.loop.sym
        return rows.low.subst({j: last if step(rows.low, j) == 1 else first}), rows.high.subst(
            {j: last if step(rows.high, j) == -1 else first}
        )

    def row(self, rows: Rows, h: Sym) -> tuple[Poly, Poly]:
        top, bottom = self.region(rows, poly(self.first), poly(self.stop) - 1)
        return poly(h) - top, bottom - poly(h) - 1

    def heads(self, rows: Rows, b: Sym, g: Sym) -> list[tuple[Poly, ...]]:
        """Where the rows of a round are that are not left for later."""
        j = self.loop.sym
        top, bottom = self.region(rows, poly(self.first), poly(self.stop) - 1)
        here = poly(g) - rows.top.subst({j: poly(b)}), rows.bottom.subst({j: poly(b)}) - poly(g) - 1
        found: list[tuple[Poly, ...]] = []
        if step(rows.top, j):
            found.append((*here, top - poly(g) - 1))
        if step(rows.bottom, j):
            found.append((*here, poly(g) - bottom))
        return found

    # -- what becomes of it

    def loops(self) -> list[lp.Stmt]:
        loop, j = self.loop, self.loop.sym
        block = Sym(f"{j.name}_by_{self.sizes.together}")
        self.begin = first_of(loop, self.sizes.together, block)
        until, self.end = block_end(f"{j.name}_stop", self.begin, self.sizes.together, loop.high, small=True)
        self.saved = {v: lane_array(v.name, v.dtype, self.sizes.together, "of several rounds") for v in self.kept}
        tails = [self.tail(r) for r in self.rows]  # copies, before the originals change
        rounds: list[lp.Stmt] = []
        for stmt in loop.body:
            rows = next((r for r in self.rows if r.stmt is stmt), None)
            if rows is None:
                rounds.append(stmt)
                continue
            rounds += [
                lp.Store(self.saved[v], (poly(j) - self.begin,), lp.Use(v)) for v, at in self.kept.items() if at[0] is rows
            ]
            rounds += self.head(rows)
        body: list[lp.Stmt] = [
            until,
            *(lp.Alloc(b) for b in self.saved.values()),
            *([lp.For(j, self.begin, self.end, rounds, False)] if rounds else []),
            *(s for tail in tails for s in tail),
            *(lp.Free(b) for b in self.saved.values()),
        ]
        return [over_blocks(loop, self.sizes.together, block, body)]

    def head(self, rows: Rows) -> list[lp.Stmt]:
        """The rows of a round that not all rounds of the block have."""
        j, i = self.loop.sym, rows.loop.sym
        top, bottom = self.region(rows, self.begin, self.end - 1)
        out: list[lp.Stmt] = []
        if step(rows.top, j):
            to = self.whole(f"{i.name}_stop")
            out.append(lp.Let(to, lp.Call("min", (lp.Index(top - rows.down), lp.Index(rows.bottom - rows.down)), I64)))
            out.append(lp.For(i, rows.top - rows.down, poly(to.atom), Copier({}).stmts(rows.loop.body), False))
        if step(rows.bottom, j):
            start = self.whole(f"{i.name}_start")
            out.append(lp.Let(start, lp.Call("max", (lp.Index(top - rows.down), lp.Index(bottom - rows.down)), I64)))
            out.append(lp.For(i, poly(start.atom), rows.bottom - rows.down, Copier({}).stmts(rows.loop.body), False))
        return out

    def tail(self, rows: Rows) -> list[lp.Stmt]:
        """The rows that all rounds of the block have, in pieces."""
        i, g = rows.loop.sym, Sym(f"{self.loop.sym.name}_group")
        top, bottom = self.region(rows, self.begin, self.end - 1)
        low, high, count = Sym(f"{i.name}_lo"), Sym(f"{i.name}_hi"), self.whole("rows")
        first, last = (top, top + poly(count.atom)) if self.nested else (top + poly(low), top + poly(high))
        groups, column = whole_blocks(self.end - self.begin, self.sizes.rounds), self.begin + self.sizes.rounds * poly(g)
        begin = self.begin + self.sizes.rounds * groups  # the first column that is in no group
        h, rest = Sym(i.name), Sym(self.loop.sym.name)
        one: list[lp.Stmt] = []
        if rows.across:
            body: list[lp.Stmt] = [
                lp.For(g, poly(0), groups, [lp.For(h, first, last, self.line(rows, column, poly(h)), True)], False)
            ]
            h = Sym(i.name)
        else:
            t, full, start = Sym(f"{i.name}_by_{self.sizes.rows}"), self.whole("tiles"), self.whole(f"{rest.name}_start")
            acc = rows.inner.accs[0].var
            sums = lane_array(acc.name, acc.dtype, self.sizes.rounds * self.sizes.rows, "of several rounds")
            tiles = lp.For(
                t,
                poly(0),
                poly(full.atom),
                [lp.For(g, poly(0), groups, self.tile(rows, column, first + self.sizes.rows * poly(t), sums), False)],
                False,
            )
            body = [lp.Let(full, lp.Index(whole_blocks(last - first, self.sizes.rows))), lp.Alloc(sums), tiles, lp.Free(sums)]
            tiled = lp.Test("ge", first + self.sizes.rows * poly(full.atom) - poly(h) - 1)
            one.append(lp.Let(start, lp.Choose((tiled,), lp.Index(begin), lp.Index(self.begin))))
            begin = poly(start.atom)
        one.append(lp.For(rest, begin, self.end, self.copier(rows, poly(rest), poly(h)).stmts(rows.loop.body), False))
        body.append(lp.For(h, first, last, one, False))
        there = lp.Let(count, lp.Call("max", (lp.Index(bottom - top), lp.Index(poly(0))), I64))
        if self.nested:
            return [there, *body]
        terms = (rows.high - rows.low).subst({self.loop.sym: self.begin})
        return [
            there,
            lp.Chunks(
                low,
                high,
                poly(count.atom),
                (self.sizes.together * (terms + 2 * self.sizes.share)) // self.sizes.share,
                body,
                align=self.sizes.rows,
            ),
        ]

    def whole(self, name: str) -> lp.Var:
        """A variable for a number of rounds or rows."""
        var = fresh_like(name, I64)
        var.small = True
        return var

    def copier(self, rows: Rows, column: Poly, row: Poly) -> _Copy:
        j = self.loop.sym
        return _Copy(
            {j: column, rows.loop.sym: row - rows.down.subst({j: column})},
            {v: lp.Load(b, (column - self.begin,)) for v, b in self.saved.items()},
        )

    def tile(self, rows: Rows, first: Poly, row: Poly, sums: lp.Buffer) -> list[lp.Stmt]:
        """Some rows of the columns of a group: the shared parts of their sums, then one row after the other."""
        shared, made = self.shared_sums(rows, first, [row + k for k in range(self.sizes.rows)])
        line = Sym("line")
        kept: list[lp.Stmt] = [lp.Store(sums, (poly(k),), lp.Use(v)) for k, v in enumerate(made)]
        loaded: list[lp.Expr] = [lp.Load(sums, (self.sizes.rounds * poly(line) + k,)) for k in range(self.sizes.rounds)]
        return [
            *shared,
            *kept,
            lp.For(line, poly(0), poly(self.sizes.rows), self.finished(rows, first, row + poly(line), loaded), False),
        ]

    def line(self, rows: Rows, first: Poly, row: Poly) -> list[lp.Stmt]:
        """A row of the columns of a group."""
        shared, made = self.shared_sums(rows, first, [row])
        return [*shared, *self.finished(rows, first, row, [lp.Use(v) for v in made])]

    def shared_sums(self, rows: Rows, first: Poly, lines: list[Poly]) -> tuple[list[lp.Stmt], list[lp.Var]]:
        """The part of the sums that all columns of a group have, of some rows."""
        inner, q = rows.inner, Sym(rows.inner.sym.name)
        starts: list[lp.Stmt] = []
        adds: list[lp.Stmt] = []
        made: list[lp.Var] = []
        low, high = self.sum_ends(rows, first, first + self.sizes.rounds - 1)
        for line in lines:
            for k in range(self.sizes.rounds):
                copier = self.copier(rows, first + k, line)
                starts += copier.stmts(rows.before)
                made.append(copier.var(inner.accs[0].var))
                adds += self.term(copier, rows, poly(q) - rows.shift.subst({self.loop.sym: first + k}))
        accs = [lp.Acc(v, inner.accs[0].monoid) for v in made]
        return [*starts, lp.Accumulate(q, low, high, _once(adds), accs, inner.exact)], made

    def finished(self, rows: Rows, first: Poly, row: Poly, shared: list[lp.Expr]) -> list[lp.Stmt]:
        """One column of a row after the other: the terms that are left, and what is done with the sum."""
        acc, low, high = rows.inner.accs[0].var, *self.sum_ends(rows, first, first + self.sizes.rounds - 1)
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

    def term(self, copier: _Copy, rows: Rows, place: Poly) -> list[lp.Stmt]:
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
            s = lp.Let(s.var, go(s.value), instance=s.instance)
        elif isinstance(s, lp.Add):
            s = lp.Add(s.var, s.monoid, go(s.value), instance=s.instance)
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
