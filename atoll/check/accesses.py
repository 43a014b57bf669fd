"""What loops read and write, each with the loops around it and the conditions in force. Opaque sections are not looked into."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """A read or write of an element. `kind`: read, store, update."""

    kind: str
    buffer: lp.Buffer
    index: tuple[Poly, ...]
    stmt: lp.Stmt
    loops: tuple[Around, ...]
    known: tuple[Poly, ...]  # hypotheses on the path, outermost first
    order: int  # position in the text
    branch: tuple[tuple[int, int], ...]  # which side of which test

    @property
    def facts(self) -> Facts:
        return facts().add(self.known)

    def inside(self, buffer: lp.Buffer, allocated: dict[lp.Buffer, int]) -> tuple[Around, ...]:
        """The loops between the buffer's allocation and here."""
        return self.loops[allocated.get(buffer, 0) :]


@dataclass(slots=True)
class Walk:
    accesses: list[Access]
    allocated: dict[lp.Buffer, int]  # how many loops are around an allocation
    loops: list[tuple[Around, tuple[Around, ...], tuple[Poly, ...]]]  # every loop, what is around it, what is known there
    polys: list[tuple[Poly, tuple[Poly, ...]]]  # every polynomial, with what is known there
    sections: list[lp.Section]


def walk(fn: lp.Function, known: tuple[Poly, ...]) -> Walk:
    """Everything a function does, in the order of its text."""
    found = Walk([], {}, [], [], [])
    _Walker(found).stmts(fn.body, (), known, ())
    return found


class _Walker:
    def __init__(self, found: Walk) -> None:
        self.found = found
        self.order = 0

    def stmts(self, stmts: list[lp.Stmt], loops: tuple[Around, ...], known: tuple[Poly, ...], branch: tuple[tuple[int, int], ...]) -> None:
        for stmt in stmts:
            self.order += 1
            self.stmt(stmt, loops, known, branch)

    def stmt(self, stmt: lp.Stmt, loops: tuple[Around, ...], known: tuple[Poly, ...], branch: tuple[tuple[int, int], ...]) -> None:
        match stmt:
            case lp.For():
                self.loop(stmt, stmt.low, stmt.high, False, loops, known, branch)
            case lp.Chunks(low, high, extent, _, [lp.For() as inner], [], []) if inner.high - inner.low == poly(high) - low:
                start = inner.low - low
                self.loop(inner, start, start + extent, True, loops, known, branch)
            case lp.If(tests, then, orelse):
                self.tests(tests, loops, known, branch, stmt)
                self.stmts(then, loops, known + test_facts(tests), (*branch, (id(stmt), 0)))
                self.stmts(orelse, loops, known + negated_facts(tests), (*branch, (id(stmt), 1)))
            case lp.Store(buffer, index, value):
                self.expr(value, loops, known, branch, stmt)
                self.access("store", buffer, index, stmt, loops, known, branch)
            case lp.Update(buffer, index, _, value):
                self.expr(value, loops, known, branch, stmt)
                self.access("update", buffer, index, stmt, loops, known, branch)
            case lp.Let(_, value) | lp.Assign(_, value):
                self.expr(value, loops, known, branch, stmt)
            case lp.Declare(_, value):
                if value is not None:
                    self.expr(value, loops, known, branch, stmt)
            case lp.Alloc(buffer):
                self.found.allocated[buffer] = len(loops)
                self.found.polys += [(p, known) for p in buffer.extents]
            case lp.Section():
                self.found.sections.append(stmt)
            case lp.Free() | lp.Note():
                pass
            case _:
                raise AssertionError(f"scheduled loops have no {type(stmt).__name__}")

    def loop(
        self,
        loop: lp.For,
        low: Poly,
        high: Poly,
        pieces: bool,
        loops: tuple[Around, ...],
        known: tuple[Poly, ...],
        branch: tuple[tuple[int, int], ...],
    ) -> None:
        around = Around(loop, low, high, pieces)
        self.found.loops.append((around, loops, known))
        self.found.polys += [(low, known), (high, known)]
        i = poly(loop.sym)
        self.stmts(loop.body, (*loops, around), (*known, i - low, high - 1 - i), branch)

    def access(
        self,
        kind: str,
        buffer: lp.Buffer,
        index: tuple[Poly, ...],
        stmt: lp.Stmt,
        loops: tuple[Around, ...],
        known: tuple[Poly, ...],
        branch: tuple[tuple[int, int], ...],
    ) -> None:
        self.found.accesses.append(Access(kind, buffer, index, stmt, loops, known, self.order, branch))
        self.found.polys += [(p, known) for p in index]

    def expr(self, e: lp.Expr, loops: tuple[Around, ...], known: tuple[Poly, ...], branch: tuple[tuple[int, int], ...], stmt: lp.Stmt) -> None:
        match e:
            case lp.Load(buffer, index):
                self.access("read", buffer, index, stmt, loops, known, branch)
            case lp.Index(p):
                self.found.polys.append((p, known))
            case lp.Call(_, args, _):
                for a in args:
                    self.expr(a, loops, known, branch, stmt)
            case lp.Cast(arg, _):
                self.expr(arg, loops, known, branch, stmt)
            case lp.Choose(tests, then, orelse):
                self.tests(tests, loops, known, branch, stmt)
                self.expr(then, loops, known + test_facts(tests), branch, stmt)
                self.expr(orelse, loops, known + negated_facts(tests), branch, stmt)
            case lp.Truth(tests):
                self.tests(tests, loops, known, branch, stmt)

    def tests(
        self, tests: tuple[lp.Test, ...], loops: tuple[Around, ...], known: tuple[Poly, ...], branch: tuple[tuple[int, int], ...], stmt: lp.Stmt
    ) -> None:
        for t in tests:
            if t.poly is not None:
                self.found.polys.append((t.poly, known))
                known = known + test_facts((t,))  # tests are looked at in order
            else:
                assert t.expr is not None
                self.expr(t.expr, loops, known, branch, stmt)


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


def common(a: Access, b: Access) -> int:
    """How many loops two accesses share."""
    n = 0
    for x, y in zip(a.loops, b.loops, strict=False):
        if x is not y and x.loop is not y.loop:
            break
        n += 1
    return n


def pairs(accesses: list[Access]) -> Iterator[tuple[Access, Access]]:
    for k, a in enumerate(accesses):
        for b in accesses[k:]:
            yield a, b
