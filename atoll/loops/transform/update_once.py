"""Rounds of an elimination, several at a time: what they all update is updated once, behind them (strip-mining,
fission of the update, interchange and scalar replacement).

    for in order p:  D(p);  for i in top(p)..bottom:  for j in left(p)..end:  a[i, j] = e(p, i, j)
becomes, for blocks of rounds p, p + 1, ..., p + last,
    for each of them:  D;  the update of the rows and columns before B, which the next rounds read
    for i, j in B:  v = a[i, j];  v = e(p, i, j);  v = e(p + 1, i, j);  ...;  a[i, j] = v

where B is the region of the last round. Each element sees what it saw, in the order it saw it, so every bit stays. Right when, for any of the rounds,
  * the region of the update begins one further in every round, and ends where it ended;
  * an update reads, of the array, its own place and places outside B, which neither this round's update nor what later rounds do writes;
  * D reads and writes the array outside B only, and nothing else that the update reads.
All of it is proved from the indices (dependence.py), for each pair of the rounds.

    update_behind(loop)                              D, and the update of a region
    updated_once(found, together, least, known)      the blocks, where the region has so many rows at least; then the rounds that are left
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.dependence import Access, Place, accesses, never_meet, place, plain
from atoll.loops.questions import loads, may_fail
from atoll.loops.transform.copier import copyable, fresh_like
from atoll.loops.transform.forward import Forwarded
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.split import blocks_and_rest, counted, first_of, length
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.prover import facts

Known = tuple[Poly, ...]


def updated_once(found: Update, together: int, least: int, known: Known) -> Made:
    region = _region(found, together, known)
    if isinstance(region, Refused):
        return region
    blocks = _Blocks(found, region, together, least)
    return blocks.why_not() or blocks.loops()


@dataclass(frozen=True, slots=True)
class Update:
    """for p:  D;  for i:  lets;  for j:  lets;  a[i + .., j + ..] = value          D may stand behind it in part"""

    loop: lp.For
    before: lp.Stmts
    rows: lp.For
    columns: lp.For
    store: lp.Store


def update_behind(loop: lp.For) -> Update | Refused:
    if (
        loop.parallel
        or loop.vector
        or loop.unroll
        or loop.scan
        or not loop.body
        or not copyable(loop.body)
        or may_fail(loop.body)
    ):
        return Refused("these are not rounds in order that can be copied")
    after = len(loop.body)
    while after and isinstance(loop.body[after - 1], lp.Assign):
        after -= 1
    rows, behind = loop.body[after - 1], loop.body[after:]  # variables for the next round
    columns = rows.body[-1] if isinstance(rows, lp.For) and rows.body else None
    store = columns.body[-1] if isinstance(columns, lp.For) and columns.body else None
    if not isinstance(rows, lp.For) or not isinstance(columns, lp.For) or not isinstance(store, lp.Store):
        return Refused("a round does not end with rows of columns")
    if any(x.vector or x.unroll or x.scan for x in (rows, columns)) or not all(
        isinstance(s, lp.Let) for s in (*rows.body[:-1], *columns.body[:-1])
    ):
        return Refused("a round does more than update a region")
    if any(x.buffer is store.buffer for x in loads(behind)) or not {
        s.var for s in behind if isinstance(s, lp.Assign)
    }.isdisjoint(lp.used_vars([rows])):
        return Refused("what stands behind the update reads it")
    return Update(loop, [*loop.body[: after - 1], *behind], rows, columns, store)


def _axis(index: tuple[Poly, ...], sym: Sym) -> int | None:
    """The only axis that moves with an index, one by one."""
    moving = [k for k, p in enumerate(index) if sym in p.leaves()]
    alone = len(moving) == 1 and index[moving[0]].slope(sym) == poly(1) and sym not in (index[moving[0]] - sym).leaves()
    return moving[0] if alone else None


@dataclass(frozen=True, slots=True)
class _Region:
    """What an update writes: rows top..bottom, columns left..end of the array, from its round on. B, of the last round, is from first_row and first_column on."""

    known: Known
    row: int  # axes
    column: int
    down: Poly  # from the loop's index to the array's
    right: Poly
    top: Poly
    bottom: Poly
    here: Sym  # a row of the array
    end: Poly  # of that row
    first_row: Poly
    first_column: Poly


def _region(parts: Update, together: int, known: Known) -> _Region | Refused:
    """The region begins one further in every round and ends where it ended."""
    loop, rows, columns, index = parts.loop, parts.rows, parts.columns, parts.store.index
    p, i, j = loop.sym, rows.sym, columns.sym
    known = (*known, poly(p) - loop.low, loop.high - poly(p) - together)
    row, column = _axis(index, i), _axis(index, j)
    if row is None or column is None or row == column or parts.store.buffer.rows is not None or parts.store.buffer.local:
        return Refused("the array is not written at its rows and columns")
    if any(p in q.leaves() for k, q in enumerate(index) if k not in (row, column)):
        return Refused("a round writes another plane of the array")
    bounds = (loop.low, loop.high, rows.low, rows.high, columns.low, columns.high, *index)
    if not all(map(plain, bounds)) or i is j or {i, j} & {a for q in known for a in q.leaves()}:
        return Refused("the ends of the region are data")
    down, right = index[row] - i, index[column] - j
    top, left, bottom = rows.low + down, columns.low + right, rows.high + down
    here = Sym(i.name)
    end = (columns.high + right).subst({i: poly(here) - down})
    if i in (left.leaves() | down.leaves() | right.leaves()) or j in down.leaves() | rows.high.leaves() | rows.low.leaves():
        return Refused("rows do not begin and end alike for all columns")
    steps = all(first.slope(p) == poly(1) and p not in (first - p).leaves() for first in (top, left))
    if not steps or p in bottom.leaves() | end.leaves():
        return Refused("the region does not begin one further in every round")
    last: dict[Atom, Poly] = {p: poly(p) + together - 1}  # of the rounds, when p is the first
    first_row, first_column = top.subst(last), left.subst(last)
    ctx = facts((*known, poly(here) - first_row, bottom - poly(here) - 1))
    if not facts(known).proves(bottom - first_row) or not ctx.proves(end - first_column):
        return Refused("the region of the last round is not seen to be there")
    return _Region(known, row, column, down, right, top, bottom, here, end, first_row, first_column)


class _Blocks:
    def __init__(self, parts: Update, region: _Region, together: int, least: int) -> None:
        self.loop, self.before, self.rows, self.columns, self.store = (
            parts.loop,
            parts.before,
            parts.rows,
            parts.columns,
            parts.store,
        )
        self.region, self.known, self.together, self.least = region, region.known, together, least
        self.written, self.read = accesses(self.before)
        self.updated, every = accesses([self.rows])
        self.reads = {a: None for a in every if a.buffer is self.store.buffer and a.index != self.store.index}

    # -- whether it may be done

    def why_not(self) -> Refused | None:
        if not self.nothing_else():
            return Refused("something else that the update reads changes in these rounds")
        if not self.outside():
            return Refused("these rounds may touch what is updated behind them")
        return None if self.undisturbed() else Refused("what an update reads may be written by it, or by a later round")

    def nothing_else(self) -> bool:
        """Of what the update reads, only the array changes in these rounds; D changes no variables of it."""
        changed = {a.buffer for a in self.written} - {self.store.buffer}
        if any(x.buffer in changed for x in loads([self.rows])) or len(self.updated) != 1:
            return False
        every = list(lp.walk(self.loop.body))
        made = {s.var for s in every if isinstance(s, (lp.Let, lp.Declare))} | {
            a.var for s in every if isinstance(s, lp.Accumulate) for a in s.accs
        }
        outer = {s.var for s in every if isinstance(s, (lp.Assign, lp.Add))} - made
        return outer.isdisjoint(lp.used_vars([self.rows]))

    def outside(self) -> bool:
        """What the rounds read and write before the last pass is not in B."""
        ours = [(a, k) for a in {**self.written, **self.read} if a.buffer is self.store.buffer for k in range(1, self.together)]
        ours += [(a, k) for a in self.reads for k in range(self.together)]
        for access, k in ours:
            touched = self.at(access, k)
            if touched is None:
                return False
            ctx = facts((*self.known, *touched.known))
            bounds = (
                (touched.index[self.region.row], self.region.first_row),
                (touched.index[self.region.column], self.region.first_column),
            )
            if not any(plain(index) and ctx.proves(first - index - 1) for index, first in bounds):
                return False
        return True

    def undisturbed(self) -> bool:
        """What an update reads beside its own place is not written by it, nor by later rounds."""
        (update,) = self.updated
        for read in self.reads:
            for k in range(self.together):
                writes = [(update, n) for n in range(k, self.together)]
                writes += [(w, n) for w in self.written if w.buffer is self.store.buffer for n in range(k + 1, self.together)]
                if not all(never_meet(self.at(read, k), self.at(w, n), self.known) for w, n in writes):
                    return False
        return True

    def at(self, access: Access, k: int) -> Place | None:
        """An element touched in one of the rounds."""
        return place(access, {self.loop.sym: poly(self.loop.sym) + k})

    # -- what becomes of it

    def loops(self) -> list[lp.Stmt]:
        loop, block = self.loop, Sym(f"{self.loop.sym.name}_by_{self.together}")
        first = first_of(loop, self.together, block)
        body: list[lp.Stmt] = []
        copiers = []
        for k in range(self.together):
            copier = _Round({loop.sym: first + k}, self.store)
            copiers.append(copier)
            body += copier.stmts(self.before)
            if k < self.together - 1:
                body += self.needed(copier, {loop.sym: first}, k)
        body.append(self.rest(copiers, {loop.sym: first}))
        rows = (self.region.bottom - self.region.top).subst({loop.sym: loop.low})
        enough = (lp.Test("ge", length(loop) - self.together), lp.Test("ge", rows - self.least))
        some, blocks = counted("blocks", loop, self.together, [enough])
        return [some, *blocks_and_rest(loop, self.together, block, body, blocks)]

    def needed(self, copier: _Round, start: dict[Atom, Poly], k: int) -> list[lp.Stmt]:
        """The update of one round where the next ones read it: rows before B, then columns before B."""
        rows, columns = self.rows, self.columns
        top, left = self.region.first_row.subst(start), self.region.first_column.subst(start)
        down, right = copier.poly(self.region.down), copier.poly(self.region.right)
        inner = _Round(copier.env, self.store, copier.vars)
        low, high = inner.poly(rows.low), top - down
        above = lp.For(rows.sym, low, high, inner.stmts(rows.body), False)
        here = Sym(rows.sym.name)
        row = _Round({**copier.env, rows.sym: poly(here) - down}, self.store, copier.vars)
        beside = row.stmts(rows.body[:-1])
        for c in range(self.together - 1 - k):
            cell = _Round({**row.env, columns.sym: left - (self.together - 1 - k) + c - right}, self.store, row.vars)
            beside += cell.stmts(columns.body)
        return [above, lp.For(here, top, self.region.bottom.subst(start), beside, False)]

    def rest(self, copiers: list[_Round], start: dict[Atom, Poly]) -> lp.Stmt:
        """B, with the updates of all rounds."""
        here, there = Sym(self.rows.sym.name), Sym(self.columns.sym.name)
        row: list[lp.Stmt] = []
        cells: list[lp.Stmt] = []
        place = list(self.store.index)
        place[self.region.row], place[self.region.column] = poly(here), poly(there)
        value = fresh_like(self.store.buffer.name, self.store.buffer.dtype)
        cells.append(lp.Declare(value, lp.Load(self.store.buffer, tuple(place))))
        for copier in copiers:
            env: dict[Atom, Poly] = {
                **copier.env,
                self.rows.sym: poly(here) - copier.poly(self.region.down),
                self.columns.sym: poly(there) - copier.poly(self.region.right),
            }
            mine = _Round(env, self.store, copier.vars, value)
            row += mine.stmts(self.rows.body[:-1])
            cells += mine.stmts(self.columns.body[:-1])
            cells.append(
                lp.Assign(
                    value, mine.expr(self.store.value), instance=self.store.instance and self.store.instance.subst(mine.env)
                )
            )
        kept: dict[lp.Load, lp.Var] = {}
        cells = [
            replace(s, value=self.once(s.value, here, there, start, kept))
            if isinstance(s, (lp.Declare, lp.Let, lp.Assign)) and s.value is not None
            else s
            for s in cells
        ]
        row += [lp.Let(var, load) for load, var in kept.items()]
        cells.append(lp.Store(self.store.buffer, tuple(place), lp.Use(value)))
        end = self.region.end.subst({self.region.here: poly(here), **start})
        inner = lp.For(there, self.region.first_column.subst(start), end, cells, False)
        return lp.For(here, self.region.first_row.subst(start), self.region.bottom.subst(start), [*row, inner], False)

    def once(self, e: lp.Expr, here: Sym, there: Sym, start: dict[Atom, Poly], kept: dict[lp.Load, lp.Var]) -> lp.Expr:
        """Elements that are the same for the whole row, and are there also when it is empty, are read before it."""
        if isinstance(e, lp.Call) and e.op not in ("select", "and", "or"):
            return lp.Call(e.op, tuple(self.once(a, here, there, start, kept) for a in e.args), e.dtype, e.origin)
        if isinstance(e, lp.Cast):
            return lp.Cast(self.once(e.arg, here, there, start, kept), e.dtype, e.origin)
        if not isinstance(e, lp.Load) or any(there in p.leaves() or not plain(p) for p in e.index):
            return e
        ctx = facts(
            (
                *(q.subst(start) for q in self.known),
                poly(here) - self.region.first_row.subst(start),
                self.region.bottom.subst(start) - poly(here) - 1,
            )
        )
        if not all(ctx.proves_range(place, extent) for place, extent in zip(e.index, e.buffer.extents, strict=True)):
            return e
        return lp.Use(kept.setdefault(e, fresh_like(e.buffer.name, e.dtype)))


class _Round(Forwarded):
    """A copy of one round; the element that it updates is a variable where one is given."""

    def __init__(
        self, env: dict[Atom, Poly], store: lp.Store, names: dict[lp.Var, lp.Var] | None = None, value: lp.Var | None = None
    ) -> None:
        super().__init__(env, {} if value is None else {lp.Load(store.buffer, store.index): value})
        self.vars = dict(names or {})
