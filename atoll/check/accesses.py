"""What loops read and write, each with the loops and tests around it. Opaque sections are not looked into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.prover import Facts, facts


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """A loop around a statement. `low..high` is its whole range, also when it runs in pieces."""

    loop: lp.For
    low: Poly
    high: Poly
    pieces: bool  # on several threads

    @property
    def sym(self) -> Sym:
        return self.loop.sym

    @property
    def independent(self) -> bool:
        return self.loop.parallel

    def known(self) -> tuple[Poly, ...]:
        return poly(self.sym) - self.low, self.high - 1 - poly(self.sym)


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """One side of a test around a statement; `node` is the `if` (or the choice inside an expression)."""

    node: object
    tests: tuple[lp.Test, ...]
    taken: bool

    def known(self) -> tuple[Poly, ...]:
        return test_facts(self.tests) if self.taken else negated_facts(self.tests)


Frame = Around | Branch
Frames = tuple[Frame, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """A read or write of an element. `kind`: read, store, update."""

    kind: str
    buffer: lp.Buffer
    index: tuple[Poly, ...]
    stmt: lp.Stmt
    frames: Frames
    known: tuple[Poly, ...]  # hypotheses on the path, outermost first
    order: int  # position in the text

    @property
    def facts(self) -> Facts:
        return facts().add(self.known)

    @property
    def loops(self) -> tuple[Around, ...]:
        return tuple(f for f in self.frames if isinstance(f, Around))


@dataclass(slots=True)
class Walk:
    accesses: list[Access]
    allocated: dict[lp.Buffer, int]  # how many loops are around an allocation
    loops: list[tuple[Around, int]]  # every loop, and how many are around it
    polys: list[tuple[Poly, tuple[Poly, ...]]]  # every polynomial, with what is known there
    sections: list[lp.Section]


def walk(fn: lp.Function, known: tuple[Poly, ...]) -> Walk:
    """Everything a function does, in the order of its text."""
    walker = _Walker(known)
    walker.stmts(fn.body, ())
    return walker.found


class _Walker:
    def __init__(self, known: tuple[Poly, ...]) -> None:
        self.found = Walk([], {}, [], [], [])
        self.order = 0
        self.known = known

    def path(self, frames: Frames) -> tuple[Poly, ...]:
        return self.known + tuple(p for f in frames for p in f.known())

    def stmts(self, stmts: lp.Stmts, frames: Frames) -> None:
        for stmt in stmts:
            self.order += 1
            self.stmt(stmt, frames)

    def stmt(self, stmt: lp.Stmt, frames: Frames) -> None:
        match stmt:
            case lp.For():
                self.loop(Around(stmt, stmt.low, stmt.high, False), frames)
            case lp.Chunks(low, high, extent, _, [lp.For() as inner], [], []) if inner.high - inner.low == poly(high) - low:
                start = inner.low - low
                self.loop(Around(inner, start, start + extent, True), frames)
            case lp.If(tests, then, orelse):
                self.tests(tests, frames, stmt)
                self.stmts(then, (*frames, Branch(stmt, tests, True)))
                self.stmts(orelse, (*frames, Branch(stmt, tests, False)))
            case lp.Store(buffer, index, value):
                self.expr(value, frames, stmt)
                self.access("store", buffer, index, stmt, frames)
            case lp.Update(buffer, index, _, value):
                self.expr(value, frames, stmt)
                self.access("update", buffer, index, stmt, frames)
            case lp.Let(_, value) | lp.Assign(_, value):
                self.expr(value, frames, stmt)
            case lp.Declare(_, value):
                if value is not None:
                    self.expr(value, frames, stmt)
            case lp.Alloc(buffer):
                self.found.allocated[buffer] = sum(isinstance(f, Around) for f in frames)
                self.found.polys += [(p, self.path(frames)) for p in buffer.extents]
            case lp.Section():
                self.found.sections.append(stmt)
            case lp.Free() | lp.Note():
                pass
            case _:
                raise AssertionError(f"scheduled loops have no {type(stmt).__name__}")

    def loop(self, around: Around, frames: Frames) -> None:
        self.found.loops.append((around, sum(isinstance(f, Around) for f in frames)))
        self.found.polys += [(around.low, self.path(frames)), (around.high, self.path(frames))]
        self.stmts(around.loop.body, (*frames, around))

    def access(self, kind: str, buffer: lp.Buffer, index: tuple[Poly, ...], stmt: lp.Stmt, frames: Frames) -> None:
        known = self.path(frames)
        self.found.accesses.append(Access(kind, buffer, index, stmt, frames, known, self.order))
        self.found.polys += [(p, known) for p in index]

    def expr(self, e: lp.Expr, frames: Frames, stmt: lp.Stmt) -> None:
        match e:
            case lp.Load(buffer, index):
                self.access("read", buffer, index, stmt, frames)
            case lp.Index(p):
                self.found.polys.append((p, self.path(frames)))
            case lp.Call(_, args, _):
                for a in args:
                    self.expr(a, frames, stmt)
            case lp.Cast(arg, _):
                self.expr(arg, frames, stmt)
            case lp.Choose(tests, then, orelse):
                self.tests(tests, frames, stmt)
                self.expr(then, (*frames, Branch(e, tests, True)), stmt)
                self.expr(orelse, (*frames, Branch(e, tests, False)), stmt)
            case lp.Truth(tests):
                self.tests(tests, frames, stmt)

    def tests(self, tests: tuple[lp.Test, ...], frames: Frames, stmt: lp.Stmt) -> None:
        for k, t in enumerate(tests):
            before = (*frames, Branch(t, tests[:k], True)) if k else frames  # tests are looked at in order
            if t.poly is not None:
                self.found.polys.append((t.poly, self.path(before)))
            else:
                assert t.expr is not None
                self.expr(t.expr, before, stmt)


def test_facts(tests: tuple[lp.Test, ...]) -> tuple[Poly, ...]:
    """What holds when all tests do."""
    found: list[Poly] = []
    for t in tests:
        if t.poly is not None and t.kind in ("ge", "eq"):
            found.append(t.poly)
            if t.kind == "eq":
                found.append(-t.poly)
    return tuple(found)


def negated_facts(tests: tuple[lp.Test, ...]) -> tuple[Poly, ...]:
    """What holds when not all tests do: known for a single comparison."""
    if len(tests) == 1 and tests[0].kind == "ge" and tests[0].poly is not None:
        return (-tests[0].poly - 1,)
    return ()


def same_frame(a: Frame, b: Frame) -> bool:
    if isinstance(a, Around) and isinstance(b, Around):
        return a.loop is b.loop
    return isinstance(a, Branch) and isinstance(b, Branch) and a.node is b.node and a.taken == b.taken


def common(a: Access, b: Access) -> int:
    """How many loops two accesses share."""
    n = 0
    for x, y in zip(a.frames, b.frames, strict=False):
        if not same_frame(x, y):
            break
        n += isinstance(x, Around)
    return n


def pairs(accesses: list[Access]) -> Iterator[tuple[Access, Access]]:
    for k, a in enumerate(accesses):
        for b in accesses[k:]:
            yield a, b
