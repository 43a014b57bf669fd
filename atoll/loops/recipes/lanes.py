"""Recurrences of independent rounds, a round in every lane of a vector.

    for i:  p[0] = a[i];  for in order j:  p[j + 1] = 1 / (p[j] + b[i, j]);  for j:  y[i, j] = p[j]
becomes, for eight neighbouring i at a time,
    for lane: q[0, lane] = a[i + lane];  for in order j:  for lane:  q[j + 1, lane] = 1 / (q[j, lane] + b[i + lane, j]);  ...

A recurrence leaves most of a core idle: each step waits for the one before. Eight of them do not wait for each other. What a round has for
itself gets an axis for the lanes: arrays their last one, variables a small array where a later loop reads them. Every round does what it did
in the order it did it. Rounds that do not fill the lanes run as before.

A sum over rounds keeps what the eight of them add and then adds it in their order: the same additions as before.

Where steps read rows, the lanes are far apart in memory, which costs as much as a short step gains (and far more where rows meet in the same
cache sets: measured 0.4 times on running sums of 1024 columns); so then a step must divide, or call a function.

Where every step reads or writes along a row of its own (running sums down the columns), two kilobytes of a row go at a time: memory is read as it lies.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads, mentions, slow
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.expand import in_lanes, lane_array
from atoll.loops.transform.split import Aligned, counted, first_of, left_over, length, over_blocks, summed_in_blocks
from atoll.loops.transform.walk import Known, innermost_first, not_products
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store)


def lanes(stmts: lp.Stmts, decisions: list[str]) -> list[lp.Stmt]:
    everywhere = mentions(stmts)
    aligned = Aligned()

    def rewrite(stmt: lp.Stmt, known: Known) -> list[lp.Stmt] | None:
        if isinstance(stmt, lp.Chunks):
            return [aligned.pieces(stmt)]
        alone = isinstance(stmt, lp.Accumulate) or (isinstance(stmt, lp.For) and stmt.parallel and not stmt.vector and not stmt.unroll)
        rounds = _rounds(stmt, everywhere) if alone and isinstance(stmt, (lp.For, lp.Accumulate)) else None
        if rounds is None:
            return None
        decisions.append(f"{rounds.lanes}{' or fewer' if rounds.along else ''} rounds of {rounds.loop.sym} side by side, as each of them waits for itself")
        aligned.from_its_low(rounds.loop, rounds.lanes)
        return rounds.loops()

    return innermost_first(stmts, rewrite, not_products)


def _rounds(loop: lp.For | lp.Accumulate, everywhere: Counter[lp.Buffer]) -> _Rounds | None:
    """The loop as recurrences that may run side by side, where that pays. `everywhere`: how often the program mentions arrays."""
    inner = [s for s in loop.body if isinstance(s, lp.For)]
    if not _are_recurrences(loop, inner):
        return None
    every = list(lp.walk(loop.body))
    made = {s.var for s in every if isinstance(s, (lp.Let, lp.Declare))}
    private = _private(loop, everywhere, made)
    if private is None or not _pays(loop, inner, private):
        return None
    sizes = {s.var.dtype.size for s in every if isinstance(s, (lp.Let, lp.Declare, lp.Add))} | {x.dtype.size for x in loads(loop.body)}
    widest = max(sizes, default=8)
    along = isinstance(loop, lp.For) and not private and not any(isinstance(s, lp.Alloc) for s in loop.body) and _go_along(loop, inner)
    return _Rounds(loop, private, profit.LANE_ROW // widest if along else profit.LANE_BYTES // widest, along)


def _are_recurrences(loop: lp.For | lp.Accumulate, inner: list[lp.For]) -> bool:
    """Straight statements and loops over them, some in order, whose bounds are the same in all rounds; all that rounds hand on is what they add."""
    body = loop.body
    if all(s.parallel for s in inner) or any(s.vector or s.unroll for s in inner):
        return False
    if not all(isinstance(s, (*_STRAIGHT, lp.Add, lp.If, lp.For, lp.Alloc, lp.Free, lp.Note)) for s in body):
        return False
    if not all(isinstance(x, _STRAIGHT) for s in inner for x in s.body) or not copyable([s for s in body if not isinstance(s, (lp.Alloc, lp.Free))]):
        return False
    if not all(isinstance(x, (*_STRAIGHT, lp.If)) for s in body if isinstance(s, lp.If) for x in lp.walk([s])):
        return False
    every = list(lp.walk(body))
    made = {s.var for s in every if isinstance(s, (lp.Let, lp.Declare))}
    if any(isinstance(s, lp.Assign) and s.var not in made for s in every):
        return False
    bounds = [p for s in inner for p in (s.low, s.high)]
    if any(loop.sym in p.leaves() for p in bounds) or not made.isdisjoint(lp.used_vars(bounds)):
        return False
    adds = [s for s in body if isinstance(s, lp.Add)]
    read = lp.used_vars([s.value if isinstance(s, lp.Add) else s for s in body])
    return not any(s.var.dtype.is_complex for s in adds) and {s.var for s in adds}.isdisjoint(read)


def _go_along(rounds: lp.For | lp.Accumulate, inner: list[lp.For]) -> bool:
    """Every step has elements of a row, and nothing that is far."""
    i = rounds.sym
    for loop in inner:
        places = [x.index for x in loads(loop.body)] + [s.index for s in loop.body if isinstance(s, lp.Store)]
        moving = [index for index in places if any(i in p.leaves() for p in index)]
        if loop.parallel or not moving or any(slow(s.value) for s in loop.body if isinstance(s, _STRAIGHT)):
            return False
        for index in moving:
            next_to = index[-1].coefficient(i) == poly(1) and loop.sym not in index[-1].leaves()
            if not next_to or loop.sym not in {a for p in index[:-1] for a in p.leaves()}:
                return False
    return True


def _private(loop: lp.For | lp.Accumulate, everywhere: Counter[lp.Buffer], made: set[lp.Var]) -> list[lp.Buffer] | None:
    """Arrays that rounds write at places they share: each round has its own, which nobody reads after it. None where there are others."""
    i = loop.sym
    body = loop.body
    stores = [s for s in lp.walk(body) if isinstance(s, lp.Store)]
    allocated = {s.buffer for s in body if isinstance(s, lp.Alloc)}
    here = mentions(body)
    found: list[lp.Buffer] = []
    for buffer in dict.fromkeys(s.buffer for s in stores):
        index = [s.index for s in stores if s.buffer is buffer] + [x.index for x in loads(body) if x.buffer is buffer]
        moves = [any(i in p.leaves() for p in each) for each in index]
        if all(moves) and buffer not in allocated and isinstance(loop, lp.For):
            continue
        if any(moves) or buffer.kind != "temp" or buffer.local or buffer.rows is not None or here[buffer] != everywhere[buffer]:
            return None
        if any(i in p.leaves() for p in buffer.extents) or not made.isdisjoint(lp.used_vars(buffer)):
            return None
        found.append(buffer)
    return found if allocated <= set(found) else None


def _pays(loop: lp.For | lp.Accumulate, inner: list[lp.For], private: list[lp.Buffer]) -> bool:
    i, body = loop.sym, loop.body
    shared = [x.index for x in loads(body) if x.buffer not in private]
    shared += [s.index for s in lp.walk(body) if isinstance(s, lp.Store) and s.buffer not in private]
    chosen = {s.var.atom for loop in inner for s in loop.body if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}
    if any(not chosen.isdisjoint(p.leaves()) for index in shared for p in index):
        return False
    steps = [s for loop in inner for s in loop.body]
    read = [x.index for x in loads(steps) if x.buffer not in private] + [s.index for s in steps if isinstance(s, lp.Store) and s.buffer not in private]
    far = any(i in p.leaves() for index in read for p in index[:-1]) or any(index and i in index[-1].leaves() and index[-1].coefficient(i) != poly(1) for index in read)
    return not far or any(slow(x.value) for s in inner if not s.parallel for x in s.body)  # type: ignore[union-attr]


class _Rounds:
    """The loops that are made of a loop whose rounds are independent, but for what they add to sums."""

    def __init__(self, loop: lp.For | lp.Accumulate, private: list[lp.Buffer], lanes: int, along: bool) -> None:
        self.loop, self.lanes, self.along = loop, lanes, along  # along: lanes are a stretch of a row, the last of them shorter
        self.terms: dict[int, lp.Buffer] = {}  # what a statement adds, for all lanes
        self.count = poly(0)  # of the lanes
        self.block = Sym(f"{loop.sym.name}_by_lanes")
        self.wide = {b: self.row_of_lanes(b) for b in private}  # what a round has for itself, for all lanes
        self.across: dict[lp.Var, lp.Buffer] = {}  # variables that a later loop reads, for all lanes

    def row_of_lanes(self, buffer: lp.Buffer) -> lp.Buffer:
        name = fresh_like(buffer.name, buffer.dtype).name
        wide = lp.Buffer(name, buffer.dtype, (*buffer.extents, poly(self.lanes)), "temp", "a row for every lane", buffer.span).called(buffer.shown)
        wide.private = buffer.private
        return wide

    def loops(self) -> list[lp.Stmt]:
        for buffer, wide in self.wide.items():
            buffer.home = wide
        loop = self.loop
        self.count = poly(self.lanes)
        width = fresh_like("width", I64)
        if self.along:
            self.count = poly(width.atom)
        groups = self.groups()
        self.keep(groups)
        space = sum((self.lanes * b.dtype.size * product(b.extents[:-1]) for b in self.wide.values()), poly(0))
        enough = (lp.Test("ge", length(loop) - self.lanes), lp.Test("ge", profit.LANE_MEMORY - space))
        for s in loop.body:
            if isinstance(s, lp.Add):
                self.terms[id(s)] = lane_array(s.var.name, s.var.dtype, self.lanes)
        work: list[lp.Stmt] = [lp.Alloc(b) for b in (*self.across.values(), *self.terms.values())]
        for group in groups:
            if isinstance(group, lp.For):
                work.append(lp.For(group.sym, group.low, group.high, [self.each(group.body)], group.parallel))
            else:
                work.append(self.each(group))
        if isinstance(loop, lp.Accumulate):
            work += self.added()
        work += [lp.Free(b) for b in (*self.across.values(), *self.terms.values())]
        if self.along:
            left = loop.high - first_of(loop, self.lanes, self.block)
            work.insert(0, lp.Let(width, lp.Call("min", (lp.Index(poly(self.lanes)), lp.Index(left)), I64)))
            whole = over_blocks(loop, self.lanes, self.block, work, True)
            return [lp.If((lp.Test("ge", length(loop) - profit.LANE_ROUNDS),), [whole], [loop])]
        known, full = counted("blocks", loop, self.lanes, [enough])
        begin, end = [lp.Alloc(b) for b in self.wide.values()], [lp.Free(b) for b in self.wide.values()]
        if isinstance(loop, lp.Accumulate):
            return [known, *begin, summed_in_blocks(loop, self.lanes, self.block, work, full), *end]
        return [known, lp.If((lp.Test("ge", full - 1),), [*begin, lp.For(self.block, poly(0), full, work, True), *end]), left_over(loop, self.lanes, full)]

    def added(self) -> list[lp.Stmt]:
        """What the lanes add, in their order."""
        lane = Sym("lane")
        return [lp.For(lane, poly(0), poly(self.lanes), [lp.Add(s.var, s.monoid, lp.Load(self.terms[id(s)], (poly(lane),))) for s in self.loop.body if isinstance(s, lp.Add)], False)]

    def groups(self) -> list[lp.For | list[lp.Stmt]]:
        """Loops, and the statements between them."""
        found: list[lp.For | list[lp.Stmt]] = []
        for s in self.loop.body:
            if isinstance(s, lp.For):
                found.append(s)
            elif not isinstance(s, (lp.Alloc, lp.Free, lp.Note)):
                if not found or isinstance(found[-1], lp.For):
                    found.append([])
                last = found[-1]
                assert isinstance(last, list)
                last.append(s)
        return found

    def keep(self, groups: list[lp.For | list[lp.Stmt]]) -> None:
        """Lanes for the variables that one group makes and another one reads."""
        for k, group in enumerate(groups):
            if isinstance(group, list):
                others = [s for j, g in enumerate(groups) if j != k for s in (g.body if isinstance(g, lp.For) else g)]
                used = set(lp.used_vars(others)) | {s.var for s in lp.walk(others) if isinstance(s, lp.Assign)}
                for s in group:
                    if isinstance(s, (lp.Let, lp.Declare)) and s.var in used:
                        self.across[s.var] = lane_array(s.var.name, s.var.dtype, self.lanes)

    def each(self, stmts: lp.Stmts) -> lp.For:
        """These statements for every lane."""
        lane = Sym("lane")
        copier = _Lane({self.loop.sym: first_of(self.loop, self.lanes, self.block) + lane}, self.wide, self.terms, poly(lane))
        body = in_lanes(stmts, copier, self.across, poly(lane))
        calls = any(slow(s.value) for s in lp.walk(stmts) if isinstance(s, (*_STRAIGHT, lp.Add)))
        return lp.For(lane, poly(0), self.count, body, True, vector=self.lanes if calls else 0)  # else C compilers write them out, and call scalar functions


class _Lane(Copier):
    """A copy for one lane: arrays of the round have an element for each of them."""

    def __init__(self, env: Any, wide: dict[lp.Buffer, lp.Buffer], terms: dict[int, lp.Buffer], lane: Poly) -> None:
        super().__init__(env)
        self.wide, self.terms, self.lane = wide, terms, lane

    def expr(self, e: lp.Expr) -> lp.Expr:
        if isinstance(e, lp.Load) and e.buffer in self.wide:
            return lp.Load(self.wide[e.buffer], (*self.index(e.index), self.lane))
        return super().expr(e)

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        if isinstance(s, lp.Store) and s.buffer in self.wide:
            return [lp.Store(self.wide[s.buffer], (*self.index(s.index), self.lane), self.expr(s.value))]
        if isinstance(s, lp.Add):
            return [lp.Store(self.terms[id(s)], (self.lane,), self.expr(s.value))]
        return super().stmt(s)
