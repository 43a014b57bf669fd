"""Rounds that are recurrences of their own side by side, a lane for each (an outer loop in vectors, by scalar and
array expansion).

    for i:  p[0] = a[i];  for in order j:  p[j + 1] = 1 / (p[j] + b[i, j]);  for j:  y[i, j] = p[j]
becomes, for some neighbouring i at a time,
    for lane: q[0, lane] = a[i + lane];  for in order j:  for lane:  q[j + 1, lane] = 1 / (q[j, lane] + b[i + lane, j]);  ...

    recurrences(loop, everywhere)                    straight statements, and loops over them, some in order; `everywhere`: how often the program mentions arrays
    in_every_lane(found, lanes, along, limits)       the rounds in lanes, then those that are left; or by stretches of a row

Right where rounds are independent but for sums of what they add, and the ranges of loops inside are the same in all
of them: every round does what it did in the order it did it. What a round has for itself gets an axis for the
lanes: arrays that it writes at places it shares with others, of which nobody knows outside of the loop, their last
one; variables a small array where a later loop reads them. A sum keeps what the lanes add and then adds it in their
order: the same additions as before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.questions import loads, mentions, slow
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.expand import in_lanes, lane_array
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.split import counted, first_of, left_over, length, over_blocks, summed_in_blocks
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store)


@dataclass(frozen=True, slots=True)
class Recurrences:
    """The loop, the loops in it, and the arrays that each round has for itself."""

    loop: lp.For | lp.Accumulate
    inner: list[lp.For]
    private: list[lp.Buffer]


def recurrences(loop: lp.For | lp.Accumulate, everywhere: Counter[lp.Buffer]) -> Recurrences | Refused:
    if isinstance(loop, lp.For) and (not loop.parallel or loop.vector or loop.unroll):
        return Refused("its rounds are not independent, or scheduled as they stand")
    inner = [s for s in loop.body if isinstance(s, lp.For)]
    if not _are_recurrences(loop, inner):
        return Refused("its rounds are no recurrences over the same ranges")
    made = {s.var for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare))}
    private = _private(loop, everywhere, made)
    return Refused("rounds write elements that they share") if private is None else Recurrences(loop, inner, private)


@dataclass(frozen=True, slots=True)
class Limits:
    """Rounds that are worth a row, and bytes that what the lanes have for themselves may take."""

    rounds: int
    memory: int


def in_every_lane(found: Recurrences, lanes: int, along: bool, limits: Limits) -> list[lp.Stmt]:
    """`along`: lanes are a stretch of a row, the last of them shorter."""
    return _Lanes(found, lanes, along, limits).loops()


def _are_recurrences(loop: lp.For | lp.Accumulate, inner: list[lp.For]) -> bool:
    """Straight statements and loops over them, some in order, whose bounds are the same in all rounds; all that rounds hand on is what they add."""
    body = loop.body
    if all(s.parallel for s in inner) or any(s.vector or s.unroll for s in inner):
        return False
    if not all(isinstance(s, (*STRAIGHT, lp.Add, lp.If, lp.For, lp.Alloc, lp.Free, lp.Note)) for s in body):
        return False
    if not all(isinstance(x, STRAIGHT) for s in inner for x in s.body) or not copyable(
        [s for s in body if not isinstance(s, (lp.Alloc, lp.Free))]
    ):
        return False
    if not all(isinstance(x, (*STRAIGHT, lp.If)) for s in body if isinstance(s, lp.If) for x in lp.walk([s])):
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


class _Lanes:
    """The loops that are made of a loop whose rounds are independent, but for what they add to sums."""

    def __init__(self, found: Recurrences, lanes: int, along: bool, limits: Limits) -> None:
        self.loop, self.lanes, self.along, self.limits = found.loop, lanes, along, limits
        self.terms: dict[int, lp.Buffer] = {}  # what a statement adds, for all lanes
        self.count = poly(0)  # of the lanes
        self.block = Sym(f"{found.loop.sym.name}_by_lanes")
        self.wide = {b: self.row_of_lanes(b) for b in found.private}  # what a round has for itself, for all lanes
        self.across: dict[lp.Var, lp.Buffer] = {}  # variables that a later loop reads, for all lanes

    def row_of_lanes(self, buffer: lp.Buffer) -> lp.Buffer:
        name = fresh_like(buffer.name, buffer.dtype).name
        wide = lp.Buffer(
            name, buffer.dtype, (*buffer.extents, poly(self.lanes)), "temp", "a row for every lane", buffer.span
        ).called(buffer.shown)
        wide.private = buffer.private
        return wide

    def loops(self) -> list[lp.Stmt]:
        for buffer, wide in self.wide.items():
            buffer.home = wide
        loop, width = self.loop, fresh_like("width", I64)
        self.count = poly(width.atom) if self.along else poly(self.lanes)
        work = self.work()
        if self.along:
            left = loop.high - first_of(loop, self.lanes, self.block)
            shorter = lp.Let(width, lp.Call("min", (lp.Index(poly(self.lanes)), lp.Index(left)), I64))
            whole = over_blocks(loop, self.lanes, self.block, [shorter, *work], True)
            return [lp.If((lp.Test("ge", length(loop) - self.limits.rounds),), [whole], [loop])]
        space = sum((self.lanes * b.dtype.size * product(b.extents[:-1]) for b in self.wide.values()), poly(0))
        enough = (lp.Test("ge", length(loop) - self.lanes), lp.Test("ge", self.limits.memory - space))
        known, full = counted("blocks", loop, self.lanes, [enough])
        begin, end = [lp.Alloc(b) for b in self.wide.values()], [lp.Free(b) for b in self.wide.values()]
        if isinstance(loop, lp.Accumulate):
            return [known, *begin, summed_in_blocks(loop, self.lanes, self.block, work, full), *end]
        return [
            known,
            lp.If((lp.Test("ge", full - 1),), [*begin, lp.For(self.block, poly(0), full, work, True), *end]),
            left_over(loop, self.lanes, full),
        ]

    def work(self) -> list[lp.Stmt]:
        """What a block does."""
        loop, groups = self.loop, self.groups()
        self.keep(groups)
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
        return [*work, *(lp.Free(b) for b in (*self.across.values(), *self.terms.values()))]

    def added(self) -> list[lp.Stmt]:
        """What the lanes add, in their order."""
        lane = Sym("lane")
        return [
            lp.For(
                lane,
                poly(0),
                poly(self.lanes),
                [
                    lp.Add(s.var, s.monoid, lp.Load(self.terms[id(s)], (poly(lane),)))
                    for s in self.loop.body
                    if isinstance(s, lp.Add)
                ],
                False,
            )
        ]

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
        calls = any(slow(s.value) for s in lp.walk(stmts) if isinstance(s, (*STRAIGHT, lp.Add)))
        return lp.For(
            lane, poly(0), self.count, body, True, vector=self.lanes if calls else 0
        )  # else C compilers write them out, and call scalar functions


class _Lane(Copier):
    """A copy for one lane: arrays of the round have an element for each of them."""

    def __init__(
        self, env: Mapping[Atom, Poly], wide: dict[lp.Buffer, lp.Buffer], terms: dict[int, lp.Buffer], lane: Poly
    ) -> None:
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
