"""The obligations on lowered loops, for all sizes (docs/sources.md, ATL), each proved by the prover of sizes/.

    C1   every write is inside its buffer, per index                       C6   extents mention sizes only
    C2   a store writes a cell in one round of its building loops only     C7   reindexers keep variables (by construction of to_loops.Reach)
    C3   stores of different parts never meet                              C8   every name is bound once
    C4   a truncation cuts off nothing but padding                         C9   a cell is written before it is read or added to,
    C5   every read is inside its buffer                                        and every cell of a result is written
    race rounds of parallel and vector loops touch different cells         C10  divisors are positive

C2, C3 and freedom from races are also consequences of C4: where no truncation drops anything, every reindexer is one-to-one on what is
stored (to_loops.py), so different cells of the term are different cells of the buffer. They are proved per index tuple as well; where the
prover finds no order, the argument stands alone and the report says so ("by reindexers"). C11, running the loops in a checked
executor at awkward sizes, is a test: see `executed`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from atoll.check.accesses import Access, Around, Branch, Frame, Walk, common, pairs, same_frame, walk
from atoll.check.separate import Line, disjoint, injective, no_race
from atoll.errors import fail
from atoll.errors.caller import caller
from atoll.loops import ir as lp
from atoll.loops.execute import execute
from atoll.schedule.arith import Answer, Trusted, counterexample, describe, prove
from atoll.schedule.context import Context
from atoll.schedule.cover import Hit, Split, Tree
from atoll.schedule.lowering import lower, prepare
from atoll.schedule.place import NotLowered
from atoll.sizes import Poly, Quot, Sym, poly
from atoll.sizes.describe import condition
from atoll.sizes.prover import Facts, facts

if TYPE_CHECKING:
    from atoll.schedule.api import Schedule
    from atoll.schedule.to_loops import Lowered


@dataclass(frozen=True, slots=True)
class Proved:
    """One obligation: goal >= 0 follows from the facts."""

    kind: str
    facts: Facts
    goal: Poly
    why: Answer


@dataclass
class Report:
    """What was proved of a program's loops, and how."""

    walk: Walk
    proved: list[Proved] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    by_reindexers: Counter[str] = field(default_factory=Counter)
    injective: dict[int, list[Line] | None] = field(default_factory=dict)  # by position of the access
    disjoint: dict[tuple[int, int], list[Line] | None] = field(default_factory=dict)
    races: list[tuple[Around, Access, Access, list[Line] | None]] = field(default_factory=list)
    covers: list[tuple[Access, Tree]] = field(default_factory=list)
    results: list[tuple[lp.Buffer, tuple[Sym, ...], Tree, bool]] = field(default_factory=list)
    alignment: list[tuple[str, str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [f"{kind} {n}" for kind, n in sorted(self.counts.items())]
        lemma = [f"{kind} {n}" for kind, n in sorted(self.by_reindexers.items())]
        return ", ".join(parts) + (f"; by reindexers: {', '.join(lemma)}" if lemma else "")

    @property
    def trusted(self) -> list[Trusted]:
        return [p.why for p in self.proved if isinstance(p.why, Trusted)]


class _Checker:
    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        self.report = Report(walk(lowered.function, lowered.known))
        self.accesses = self.report.walk.accesses
        self.position = {id(a): k for k, a in enumerate(self.accesses)}

    def run(self) -> Report:
        self.names()
        self.extents()
        for a in self.accesses:
            self.in_range(a)
        self.divisors()
        self.drops()
        self.first_written()
        self.separated()
        self.parallel()
        self.vectors()
        return self.report

    # -- proving

    def need(self, kind: str, known: tuple[Poly, ...] | Facts, goal: Poly, what: str) -> None:
        ctx = known if isinstance(known, Facts) else facts().add(known)
        why = prove(ctx, goal)
        if why is None:
            self.refuse(kind, ctx, goal, what)
        else:
            self.proved(kind, ctx, goal, why)

    def proved(self, kind: str, ctx: Facts, goal: Poly, why: Answer) -> None:
        self.report.counts[kind] += 1
        if goal.const() is None:
            self.report.proved.append(Proved(kind, ctx, goal, why))

    def refuse(self, kind: str, ctx: Facts, goal: Poly, what: str) -> None:
        values = counterexample(ctx, goal)
        shown = [condition(f) for f in ctx.known if f.leaves() & goal.leaves()]
        notes = [f"needed ({kind}): {condition(goal)}", "known: " + (", ".join(shown) or "nothing")]
        notes.append(f"it fails for {describe(values)}" if values else "no counterexample was found, and no proof")
        fail("E0505", caller(), problem=what, notes=notes)

    # -- C8, C6, C1, C5, C10, C4

    def names(self) -> None:
        seen: set[Any] = set(self.lowered.function.sizes)
        named: set[str] = set()
        for x in (*self.lowered.function.inputs, *(o.buffer for o in self.lowered.function.outputs), *self.lowered.function.consts):
            named.add(x.name)
        for around, _ in self.report.walk.loops:
            if around.sym in seen:
                fail("E0505", caller(), problem=f"the loop {around.sym} stands twice")
            seen.add(around.sym)
            self.report.counts["C8"] += 1
        for buffer in self.report.walk.allocated:
            if buffer.name in named:
                fail("E0505", caller(), problem=f"two buffers are called {buffer.name}")
            named.add(buffer.name)
            self.report.counts["C8"] += 1

    def extents(self) -> None:
        loops = {around.sym for around, _ in self.report.walk.loops}
        for buffer in self.report.walk.allocated:
            for n in buffer.extents:
                if n.leaves() & loops:
                    fail("E0505", caller(), problem=f"the extent {n} of {buffer} changes from round to round")
                self.report.counts["C6"] += 1

    def in_range(self, a: Access) -> None:
        kind = "C5" if a.kind == "read" else "C1"
        word = "read" if a.kind == "read" else "written"
        ctx = a.facts
        for k, (p, n) in enumerate(zip(a.index, a.buffer.extents, strict=True)):
            where = f"{a.buffer}{list(a.index)} is {word} outside axis {k} of size {n}"
            self.need(kind, ctx, p, where)
            self.need(kind, ctx, n - 1 - p, where)

    def divisors(self) -> None:
        done: set[tuple[tuple[Poly, ...], Poly]] = set()
        for p, known in self.report.walk.polys:
            for den in _divisors(p):
                if den.const() is not None:
                    self.report.counts["C10"] += 1
                elif (known, den) not in done:
                    done.add((known, den))
                    self.need("C10", known, den - 1, f"{p} divides by {den}")

    def drops(self) -> None:
        for a in self.accesses:
            if a.kind == "read":
                continue
            for p in self.lowered.drops.get(id(a.stmt), ()):
                self.need("C4", a.facts, p, f"a truncation would cut off {a.buffer}{list(a.index)}, which is not padding")

    # -- C9

    def first_written(self) -> None:
        for a in self.accesses:
            if a.kind == "read" and a.buffer in self.lowered.covers:
                cover, index = self.lowered.covers[a.buffer], a.index
            elif a.kind == "update" or (a.kind == "read" and a.buffer.kind == "out") or self.adds(a):
                if id(a.stmt) not in self.lowered.firsts:
                    continue
                cover, index = self.lowered.firsts[id(a.stmt)]
            else:
                continue
            tree = cover(index, Context(a.facts, {}, {}, a.facts), {})
            if tree is None:
                fail("E0505", caller(), problem=f"{a.buffer}{list(a.index)} may be read before it is written")
            self.cover(a.facts, tree, a)
            self.report.covers.append((a, tree))
            if a.buffer in self.lowered.rolled:
                around = {x.sym for x in a.loops}
                newest = next((poly(sym) + ahead for sym, ahead in self.lowered.rolled[a.buffer] if sym in around), None)
                assert a.buffer.rows is not None and newest is not None
                kept = a.index[0] - newest + a.buffer.rows - 1
                self.need("C9", a.facts, kept, f"row {a.index[0]} of {a.buffer} is no longer kept when it is read")
        for buffer, cover, extents, context, main in self.lowered.finals:
            syms = tuple(Sym(f"u{k}") for k in range(len(extents)))
            index = tuple(poly(s) for s in syms)
            known = tuple(p for u, n in zip(index, extents, strict=True) for p in (u, n - 1 - u))
            inside = context.know(*known)
            tree = cover(index, inside, {})
            if tree is None:
                fail("E0505", caller(), problem=f"some element of {buffer} is never written")
            end = Access("read", buffer, index, lp.Note("end"), self.dispatch(main), inside.facts.known, 1 << 60)
            self.cover(inside.facts, tree, end)
            self.report.results.append((buffer, syms, tree, main))

    def dispatch(self, main: bool) -> tuple[Frame, ...]:
        """Where a result is complete: at the end of the program, or of its side of the test on sizes."""
        body = self.lowered.function.body
        if len({m for *_, m in self.lowered.finals}) == 1:
            return ()
        assert len(body) == 1 and isinstance(body[0], lp.If)
        return (Branch(body[0], body[0].tests, main),)

    def adds(self, a: Access) -> bool:
        """A read of the cell that the same statement writes: an addition with one rounding."""
        return a.kind == "read" and isinstance(a.stmt, lp.Store) and a.stmt.buffer is a.buffer and a.stmt.index == a.index

    def cover(self, ctx: Facts, tree: Tree, reader: Access) -> None:
        """The store a tree names runs before the reader, in the round it says, and writes that cell."""
        if isinstance(tree, Split):
            self.cover(ctx.add((tree.test,)), tree.then, reader)
            self.cover(ctx.add((-tree.test - 1,)), tree.orelse, reader)
            return
        writer = self.writer(tree)
        target, theirs, same = reader.index, reader.frames, True
        what = f"the cell {writer.buffer}{list(target)} was written before"
        for k, frame in enumerate(writer.frames):
            same = same and k < len(theirs) and same_frame(frame, theirs[k])
            self.reached(ctx, frame, tree.env, same, what)
            same = same and not (isinstance(frame, Around) and frame.sym in tree.env)
        for p, q in zip(writer.index, target, strict=True):
            self.equal("C9", ctx, p.subst(dict(tree.env)), q, what)
        if writer.order >= reader.order:
            fail("E0505", caller(), problem=f"{writer.buffer}{list(target)} would be read before it is written")
        self.report.counts["C9"] += 1

    def reached(self, ctx: Facts, frame: Frame, env: dict[Sym, Poly], shared: bool, what: str) -> None:
        """The store's loop has that round, its test goes that way; in a loop it shares with the reader the round comes first."""
        if isinstance(frame, Around):
            if frame.sym in env:
                if shared:
                    if frame.independent or frame.pieces:
                        fail("E0505", caller(), problem=f"{what}: it would be carried from round to round of {frame.sym}")
                    self.need("C9", ctx, poly(frame.sym) - env[frame.sym], what)
                for p in frame.known():
                    self.need("C9", ctx, p.subst(dict(env)), what)
            elif not shared:
                fail("E0505", caller(), problem=f"{what}: in no particular round of {frame.sym}")
            return
        if shared:
            return
        tests = [t.poly.subst(dict(env)) for t in frame.tests if t.poly is not None and t.kind == "ge"]
        if frame.taken:
            if len(tests) != len(frame.tests):
                fail("E0505", caller(), problem=f"{what}: under a test on data")
            for p in tests:
                self.need("C9", ctx, p, what)
            return
        for p in tests:
            why = prove(ctx, -p - 1, optional=True)
            if why is not None:
                self.proved("C9", ctx, -p - 1, why)
                return
        fail("E0505", caller(), problem=f"{what}: no test is known to fail")

    def equal(self, kind: str, ctx: Facts, a: Poly, b: Poly, what: str) -> None:
        if a != b:
            self.need(kind, ctx, a - b, what)
            self.need(kind, ctx, b - a, what)

    def writer(self, hit: Hit) -> Access:
        for a in self.accesses:
            if a.kind != "read" and a.stmt is hit.store:
                return a
        raise AssertionError("a cover names a store that is not there")

    # -- C2, C3, races

    def separated(self) -> None:
        allocated = self.report.walk.allocated
        stores = [a for a in self.accesses if a.kind != "read"]
        rolling = {j for advance in self.lowered.rolled.values() for j, _ in advance}
        for a in stores:
            lines = injective(a, a.loops[allocated.get(a.buffer, 0) :], rolling)
            self.note("C2", lines)
            self.report.injective[self.position[id(a)]] = lines
        for a, b in pairs(stores):
            if a is b or a.buffer is not b.buffer or not self.apart(a, b):
                continue
            outside = allocated.get(a.buffer, 0)
            n = common(a, b)
            lines = disjoint(a, b, a.loops[outside:n], {x.sym for x in a.loops[: min(outside, n)]})
            self.note("C3", lines)
            self.report.disjoint[(self.position[id(a)], self.position[id(b)])] = lines

    def apart(self, a: Access, b: Access) -> bool:
        """In different halves of a concatenation."""
        mine = dict(self.lowered.arms.get(id(a.stmt), ()))
        return any(node in mine and mine[node] != side for node, side in self.lowered.arms.get(id(b.stmt), ()))

    def note(self, kind: str, lines: list[Line] | None) -> None:
        if lines is None:
            self.report.by_reindexers[kind] += 1
            return
        for line in lines:
            self.proved(kind, line.facts, line.goal, line.why)

    def parallel(self) -> None:
        """Every loop whose rounds may run together: on threads, in vectors, or merely declared independent to the C compiler."""
        allocated = self.report.walk.allocated
        for around, depth in self.report.walk.loops:
            if not (around.pieces or around.loop.vector or (around.independent and _innermost(around.loop))):
                continue
            if not around.independent:
                fail("E0508", caller(), step="compile", name=around.sym, problem="it is a sum")
            inside = [a for a in self.accesses if len(a.loops) > depth and a.loops[depth].loop is around.loop]
            for a, b in pairs(inside):
                if a.buffer is not b.buffer or (a.kind == "read" and b.kind == "read"):
                    continue
                if allocated.get(a.buffer, 0) > depth or a.buffer.kind in ("in", "const"):
                    continue
                if a.kind == "read":
                    a, b = b, a
                lines = no_race(a, b, around, depth)
                self.note("race", lines)
                self.report.races.append((around, a, b, lines))

    # -- vectors

    def plain(self, around: Around) -> None:
        """Nothing inside a vector loop can fail or run on threads: no memory is asked for there."""
        for x in lp.walk(around.loop.body):
            if isinstance(x, lp.Alloc) and not x.buffer.local:
                fail("E0508", caller(), step="vectorize", name=around.sym, problem=f"{x.buffer} inside it needs memory in every round; stage it outside")
            if isinstance(x, lp.Chunks):
                fail("E0508", caller(), step="vectorize", name=around.sym, problem="a loop inside it runs on several threads")

    def vectors(self) -> None:
        """How the elements of a vector loop lie in memory: side by side, the same one, or apart; and whether it starts on a boundary."""
        for around, _ in self.report.walk.loops:
            width = around.loop.vector
            if not width:
                continue
            self.plain(around)
            for a in self.accesses:
                if all(x.loop is not around.loop for x in a.loops):
                    continue
                flat = poly(0)
                for p, n in zip(a.index, a.buffer.extents, strict=True):
                    flat = flat * n + p
                stride = flat.coefficient(around.sym)
                text = "unknown stride" if stride is None else f"stride {stride}"
                start = flat.subst({around.sym: around.low})
                aligned = stride == poly(1) and (start % width) == poly(0)
                place = "aligned" if aligned else "any alignment"
                self.report.alignment.append((around.sym.name, f"{a.kind} {a.buffer}{list(a.index)}", f"{text}, {place}"))
                self.report.counts["alignment"] += 1


def _innermost(loop: lp.For) -> bool:
    return not any(isinstance(s, (lp.For, lp.Chunks)) for s in lp.walk(loop.body))


def _divisors(p: Poly) -> set[Poly]:
    found: set[Poly] = set()
    for atom in p.atoms():
        if isinstance(atom, Quot):
            found |= {atom.den} | _divisors(atom.num) | _divisors(atom.den)
    return found


def check_loops(lowered: Lowered) -> Report:
    """All obligations, or the error of the first that fails."""
    return _Checker(lowered).run()


def check(s: Schedule) -> Lowered:
    """The loops of a schedule, checked."""
    try:
        ready = prepare(s._work)
        lowered = lower(s.source, ready)
    except NotLowered as problem:
        fail("E0505", caller(), problem=str(problem))
    lowered.work = ready
    lowered.report = check_loops(lowered)
    return lowered


def executed(s: Schedule, inputs: list[Any], sizes: dict[Sym, int]) -> list[Any]:
    """C11: the results of the checked executor at these sizes."""
    return execute(s.lowered.function, inputs, sizes)
