"""A scan in chunks: totals of runs, their scan, then every run from its own start.

    for in order r in 0..n:  s = s op v(r);  y[r] = s
becomes, for blocks of chunks,
    pieces of chunks:  totals[c] = op of v over chunk c
    for in order:      totals[c], s = s, s op totals[c]
    pieces of chunks:  s = totals[c];  for in order r in the chunk:  s = s op v(r);  y[r] = s

Right where all that a round leaves to the next is s, by an operator that is associative: then what comes before a run is the same however it was added up. Of floats it is so but for
rounding, which needs the program's word (`regroups`; never for minimum and maximum, which round nothing, but are told with the others). A value is computed twice, so it may
neither read what the rounds write nor be the running value; and rounds write different elements, as chunks are done side by side. Lengths are fixed, so results do not depend on threads.

A running minimum or maximum of floats must not lose a NaN: what comes out of a chunk tells whether there was one before its end, and where there was none a plain comparison is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.dependence import plain
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.pieces import pieces
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.regroup import monoid_of
from atoll.loops.transform.split import Known, begun, length, may_be_negative, whole_blocks
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.meeting import tells
from atoll.types.dtypes import BOOL, I64


@dataclass(frozen=True, slots=True)
class Scan:
    """for in order r:  lets;  s = s op value;  what is made of s          `needed` are the lets that the value is made of"""

    loop: lp.For
    step: lp.Assign
    op: str
    value: lp.Expr
    needed: list[lp.Let]

    @property
    def compares(self) -> bool:
        """A running minimum or maximum of floats."""
        return self.op in ("min", "max") and self.step.var.dtype.is_float


def scan_of(loop: lp.For) -> Scan | Refused:
    """A loop as a scan, if all that its rounds have to do with each other is the running value."""
    if loop.parallel or loop.vector or loop.unroll or loop.low.const() != 0:
        return Refused("these are not rounds in order from 0 on")
    assigned = [s for s in loop.body if isinstance(s, lp.Assign)]
    stores = [s for s in loop.body if isinstance(s, lp.Store)]
    if not copyable(loop.body) or not all(isinstance(s, (lp.Let, lp.Assign, lp.Store)) for s in loop.body) or len(assigned) != 1 or not stores:
        return Refused("a round does more than one step and what is made of it")
    step, value = assigned[0], assigned[0].value
    if not isinstance(value, lp.Call) or monoid_of(value.op) is None or len(value.args) != 2 or value.args[0] != lp.Use(step.var):
        return Refused("the step is not by an operator that is known to be associative")
    if step.var.dtype.is_complex or step.var.dtype is BOOL:
        return Refused("such values are not added up in parts")
    before = loop.body[: loop.body.index(step)]
    wanted = _wanted(value.args[1], before)
    needed = [s for s in before if isinstance(s, lp.Let) and s.var in wanted]
    if step.var in wanted:
        return Refused("what is added depends on the running value")
    written = {s.buffer for s in stores}
    if any(x.buffer in written for s in loop.body for x in loads(s.value)):  # type: ignore[union-attr]
        return Refused("a round reads what another one writes")
    if not all(tells(s.index, loop.sym) and all(map(plain, s.index)) for s in stores):
        return Refused("two rounds may write the same element")
    return Scan(loop, step, value.op, value.args[1], needed)


def _wanted(value: lp.Expr, before: lp.Stmts) -> set[lp.Var]:
    """The variables that a value is made of."""
    wanted = set(lp.used_vars(value))
    for s in reversed(before):
        if isinstance(s, lp.Let) and s.var in wanted:
            wanted |= set(lp.used_vars(s.value))
    return wanted


def in_runs(scan: Scan, number: int, size: int, chunks: int, regroups: bool, known: Known = ()) -> Made:
    """`number` runs of `size` elements in a chunk, `chunks` of them between two passes. `known`: what is not negative where it stands."""
    if may_be_negative(length(scan.loop), known):
        return Refused("rounds may be fewer than none")
    if scan.step.var.dtype.is_float and not regroups:
        return Refused("floats may not be added in another order here")
    return _Runs(scan, number, size, chunks).loops()


class _Runs:
    def __init__(self, scan: Scan, number: int, length: int, chunks: int) -> None:
        self.scan, self.loop, self.s = scan, scan.loop, scan.step.var
        self.number, self.length, self.chunks = number, length, chunks
        self.block, self.count = Sym("block"), fresh_like("chunks", I64)

        def memory(name: str, extents: tuple[Poly, ...], reason: str) -> lp.Buffer:
            return lp.Buffer(f"{self.s.name}_{name}", self.s.dtype, extents, "temp", reason).called(self.s.shown)

        self.ends = memory("ends", (poly(chunks),), "what comes out of the chunks of a scan")
        self.starts = memory("totals", (poly(chunks), poly(number)), "totals of the runs of a scan")

    def loops(self) -> list[lp.Stmt]:
        in_chunk = self.number * self.length
        whole = whole_blocks(self.loop.high, in_chunk)  # none, where there are fewer
        left = lp.Call("min", (lp.Index(poly(self.chunks)), lp.Index(whole - self.chunks * poly(self.block))), I64)
        body: list[lp.Stmt] = [lp.Let(self.count, left), self.pieces(self.totals), self.scanned(), self.pieces(self.each)]
        rest = lp.For(self.loop.sym, whole * in_chunk, self.loop.high, Copier({}).stmts(self.loop.body), False)
        made = [self.starts, self.ends] if self.scan.compares else [self.starts]
        return [*map(lp.Alloc, made), lp.For(self.block, poly(0), begun(whole, self.chunks), body, False), rest, *map(lp.Free, made)]

    def pieces(self, chunk_of: Callable[[Sym], list[lp.Stmt]]) -> lp.Chunks:
        chunk = Sym("chunk")
        return pieces(lp.For(chunk, poly(0), poly(self.count.atom), chunk_of(chunk), True), poly(profit.ADDED * self.number * self.length))

    def first(self, chunk: Sym, run: Poly) -> Poly:
        """The first element of a run."""
        return (self.chunks * poly(self.block) + chunk) * (self.number * self.length) + self.length * run

    def totals(self, chunk: Sym) -> list[lp.Stmt]:
        run, t = Sym("run"), Sym(self.loop.sym.name)
        copier = Copier({self.loop.sym: self.first(chunk, poly(run)) + t})
        inner = copier.stmts(list(self.scan.needed))
        total, monoid = fresh_like(self.s.name, self.s.dtype), str(monoid_of(self.scan.op))
        inner.append(lp.Add(total, monoid, copier.expr(self.scan.value)))
        summed: list[lp.Stmt] = [lp.Accumulate(t, poly(0), poly(self.length), inner, [lp.Acc(total, monoid)]), lp.Store(self.starts, (poly(chunk), poly(run)), lp.Use(total))]
        return [lp.For(run, poly(0), poly(self.number), summed, True)]

    def scanned(self) -> lp.For:
        """The totals become what is before each run."""
        c, q, here, s = Sym("chunk"), Sym("run"), fresh_like(self.s.name, self.s.dtype), self.s
        place = (poly(c), poly(q))
        each: list[lp.Stmt] = [
            lp.Let(here, lp.Load(self.starts, place)),
            lp.Store(self.starts, place, lp.Use(s)),
            lp.Assign(s, lp.Call(self.scan.op, (lp.Use(s), lp.Use(here)), s.dtype)),
        ]
        runs: list[lp.Stmt] = [lp.For(q, poly(0), poly(self.number), each, False)]
        if self.scan.compares:
            runs.append(lp.Store(self.ends, (poly(c),), lp.Use(s)))
        return lp.For(c, poly(0), poly(self.count.atom), runs, False)

    def each(self, chunk: Sym) -> list[lp.Stmt]:
        """Every run of a chunk from its start."""
        sums = [fresh_like(self.s.name, self.s.dtype) for _ in range(self.number)]
        going: list[lp.Stmt] = [lp.Declare(own, lp.Load(self.starts, (poly(chunk), poly(k)))) for k, own in enumerate(sums)]
        if not self.scan.compares:
            return [*going, self.rounds(chunk, sums, False)]
        end = fresh_like("end", self.s.dtype)
        is_number = lp.Call("eq", (lp.Use(end), lp.Use(end)), BOOL)
        tests = (lp.Test("true", None, is_number),)
        return [*going, lp.Let(end, lp.Load(self.ends, (poly(chunk),))), lp.If(tests, [self.rounds(chunk, sums, True)], [self.rounds(chunk, sums, False)])]

    def rounds(self, chunk: Sym, sums: list[lp.Var], plainly: bool) -> lp.For:
        t = Sym(self.loop.sym.name)
        body: list[lp.Stmt] = []
        for k, own in enumerate(sums):
            copy = _Renamed({self.loop.sym: self.first(chunk, poly(k)) + t}, self.s, own)
            for x in self.loop.body:
                body += self.compared(copy, own) if plainly and x is self.scan.step else copy.stmts([x])
        return lp.For(t, poly(0), poly(self.length), body, False, scan=self.number == 1)

    def compared(self, copy: Copier, own: lp.Var) -> list[lp.Stmt]:
        """own = own op v where neither is NaN."""
        value = fresh_like("v", own.dtype)
        stays = lp.Call("gt" if self.scan.op == "max" else "lt", (lp.Use(own), lp.Use(value)), BOOL)
        chosen = lp.Choose((lp.Test("true", None, stays),), lp.Use(own), lp.Use(value))
        return [lp.Let(value, copy.expr(self.scan.value)), lp.Assign(own, chosen)]


class _Renamed(Copier):
    """A copy in which the running value is another variable."""

    def __init__(self, env: dict[Atom, Poly], old: lp.Var, new: lp.Var) -> None:
        super().__init__({**env, old.atom: poly(new.atom)})
        self.vars[old] = new
