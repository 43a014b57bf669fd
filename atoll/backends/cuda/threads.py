"""Loops as one thread does them: everything in order, sums in blocks, memory of its own.

    accumulate s over r in low..high: s += e      s = 0; for each block of 128: p = 0; for r in the block: p := p + e; s := s + p
    pieces lo..hi of n: body                      body with lo = 0 and hi = n
    check                                         ensure, with the rank of the point that the thread computes
    alloc b                                       an array of the thread, in registers or local memory where it is small and its size is known;
                                                  else a part of memory that the host allocates for all threads (`Scratch`): where elements are only read and
                                                  stored, the same elements of neighbouring threads are neighbours

What has no place in a thread is refused by the name the user knows it by.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from atoll.backends.cuda import language as k
from atoll.backends.cuda.sorting import sort_in_thread
from atoll.core.prims import MONOIDS
from atoll.errors import NOWHERE, Span, fail
from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

BLOCK = 128  # elements of a sum that are added one after the other
LOCAL = 512  # bytes of an array that a thread keeps by itself


@dataclass
class Names:
    """Names that no other thing of the program has."""

    count: int = 0

    def var(self, name: str, dtype: object, small: bool = False) -> lp.Var:
        self.count += 1
        return lp.Var(f"{name}__k{self.count}", dtype, small)  # type: ignore[arg-type]

    def sym(self, name: str) -> Sym:
        self.count += 1
        return Sym(f"{name}__k{self.count}")

    def buffer(self, name: str, dtype: object, extents: tuple[Poly, ...], kind: str, reason: str = "") -> lp.Buffer:
        self.count += 1
        return lp.Buffer(f"{name}__k{self.count}", dtype, extents, kind, reason)  # type: ignore[arg-type]


@dataclass
class Scratch:
    """Memory of threads that the host allocates: for each array a buffer with a part for every worker."""

    worker: Poly
    workers: Poly
    buffers: list[lp.Buffer] = field(default_factory=list)
    bytes: Poly = field(default_factory=lambda: poly(0))  # of a worker


class Thread:
    """Statements of loops as statements of a thread. `env` replaces indices. `rank` orders what may fail."""

    def __init__(self, names: Names, env: dict[Atom, Poly], rank: Poly, scratch: Scratch | None = None, cells: dict[lp.Var, lp.Buffer] | None = None) -> None:
        self.names, self.env, self.rank, self.scratch = names, dict(env), rank, scratch
        self.adders: dict[lp.Var, lp.Var] = {}
        self.declared: set[lp.Var] = set()
        self.own: dict[lp.Buffer, lp.Buffer] = {}  # arrays of the thread, whose extents are those of this point
        self.by_element: set[lp.Buffer] = set()  # arrays of which nothing is asked but elements
        self.homes: dict[lp.Buffer, lp.Buffer] = {}  # where they are: with an axis more, for threads
        self.ranges: dict[Atom, tuple[Poly, Poly]] = {}  # least and greatest value of indices around

    # -- expressions

    def array(self, buffer: lp.Buffer) -> lp.Buffer:
        return self.own.get(buffer, buffer)

    def made_here(self, buffer: lp.Buffer) -> lp.Buffer:
        """The array that an allocation makes: with its extents as they are at this point."""
        extents = self.index(buffer.extents)
        if extents != buffer.extents:
            made = self.names.buffer(buffer.name, buffer.dtype, extents, buffer.kind, buffer.reason)
            made.span, made.label, made.origin, made.rows, made.local = buffer.span, buffer.label, buffer.origin, buffer.rows, buffer.local
            self.own[buffer] = made
        return self.array(buffer)

    def place(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> tuple[lp.Buffer, tuple[Poly, ...]]:
        """Where an element is."""
        array = self.array(buffer)
        home = self.homes.get(array)
        if home is None:
            return array, self.index(index)
        assert self.scratch is not None
        return home, (*self.index(index), self.scratch.worker)

    def poly(self, p: Poly) -> Poly:
        return p.subst(self.env) if self.env else p

    def index(self, index: tuple[Poly, ...]) -> tuple[Poly, ...]:
        return tuple(map(self.poly, index))

    def expr(self, e: lp.Expr) -> lp.Expr:
        match e:
            case lp.Use() | lp.Const():
                return e
            case lp.Index(p):
                return lp.Index(self.poly(p))
            case lp.Load(buffer, index):
                return lp.Load(*self.place(buffer, index))
            case lp.Call(op, args, dtype, origin):
                return lp.Call(op, tuple(map(self.expr, args)), dtype, origin)
            case lp.Cast(arg, dtype, origin):
                return lp.Cast(self.expr(arg), dtype, origin)
            case lp.Choose(tests, then, orelse, origin):
                return lp.Choose(self.tests(tests), self.expr(then), self.expr(orelse), origin)
            case lp.Truth(tests):
                return lp.Truth(self.tests(tests))
        raise AssertionError(e)

    def tests(self, tests: tuple[lp.Test, ...]) -> tuple[lp.Test, ...]:
        return tuple(lp.Test(t.kind, None if t.poly is None else self.poly(t.poly), None if t.expr is None else self.expr(t.expr)) for t in tests)

    # -- statements

    def stmts(self, stmts: lp.Stmts) -> list[k.Statement]:
        return [made for stmt in stmts for made in self.stmt(stmt)]

    def inner(self, stmts: lp.Stmts) -> list[lp.Stmt]:
        return self.stmts(stmts)  # type: ignore[return-value]

    def stmt(self, stmt: k.Statement) -> list[k.Statement]:
        match stmt:
            case lp.Let(var, value):
                self.declared.add(var)
                return [lp.Let(var, self.expr(value))]
            case lp.Declare(var, value):
                self.declared.add(var)
                return [lp.Declare(var, None if value is None else self.expr(value))]
            case lp.Assign(var, value):
                return [lp.Assign(var, self.expr(value))]
            case lp.Store(buffer, index, value):
                return [lp.Store(*self.place(buffer, index), self.expr(value))]
            case lp.Update(buffer, index, op, value):
                return [lp.Update(*self.place(buffer, index), op, self.expr(value))]
            case k.Atomic(buffer, index, op, value):
                return [k.Atomic(buffer, self.index(index), op, self.expr(value))]
            case lp.Add(var, monoid, value):
                into = self.adders.get(var, var)
                return [lp.Assign(into, lp.Call(MONOIDS[monoid][0], (lp.Use(into), self.expr(value)), var.dtype))]
            case lp.For():
                return [self.loop(stmt)]
            case lp.Accumulate():
                return self.accumulate(stmt)
            case lp.Chunks():
                return self.chunks(stmt)
            case lp.If(tests, then, orelse):
                return [lp.If(self.tests(tests), self.inner(then), self.inner(orelse))]
            case lp.Forever(body):
                return [lp.Forever(self.inner(body))]
            case lp.BreakUnless(tests):
                return [lp.BreakUnless(self.tests(tests))]
            case lp.Check(tests, site, args):
                return [k.Ensure(self.tests(tests), site, tuple(map(self.expr, args)), self.rank)]
            case lp.Alloc(buffer):
                return self.allocated(buffer)
            case lp.Free():
                return []
            case lp.CopyBuffer(target, source):
                return self.copy(self.array(target), self.array(source))
            case lp.Swap(one, other):
                return [lp.Swap(self.array(one), self.array(other))]
            case lp.Note():
                return [stmt]
            case lp.Product(body=body, after=after):
                return [*self.stmts(body), *self.stmts(after)]
            case lp.Section(_, body):
                return self.stmts(body)
            case lp.Helper("argsort" | "sort", ((keys, first), (out, at)), (n,)):
                made = sort_in_thread(self.names, stmt.name, self.array(keys), self.index(first), self.array(out), self.index(at), self.poly(n))
                return [x for s in made for x in ([self.alloc(s.buffer)] if isinstance(s, lp.Alloc) else [s])]
            case lp.Print(_, span):
                refuse("print", span)
        raise AssertionError(f"{type(stmt).__name__} in a thread")

    def loop(self, loop: lp.For, body: lp.Stmts | None = None) -> lp.For:
        low, high = self.poly(loop.low), self.poly(loop.high)
        self.ranges[loop.sym] = (low, high - 1)
        return lp.For(loop.sym, low, high, self.inner(loop.body), parallel=False)

    def chunks(self, chunk: lp.Chunks) -> list[k.Statement]:
        saved = dict(self.env)
        self.env[chunk.low], self.env[chunk.high] = poly(0), self.poly(chunk.extent)
        found = self.stmts(chunk.body)
        self.env = saved
        return found

    def accumulate(self, loop: lp.Accumulate) -> list[k.Statement]:
        low, high = self.poly(loop.low), self.poly(loop.high)
        self.ranges[loop.sym] = (low, high - 1)
        out: list[k.Statement] = [lp.Declare(a.var, neutral(a)) for a in loop.accs]
        self.declared |= {a.var for a in loop.accs}
        rounded = [a for a in loop.accs if a.monoid == "add" and (a.var.dtype.is_float or a.var.dtype.is_complex)]
        count = (high - low).const()
        if loop.exact or not rounded or (count is not None and count <= 2 * BLOCK):
            return [*out, lp.For(loop.sym, low, high, self.inner(loop.body), parallel=False, unroll=count is None and _is_light(loop.body))]
        saved = dict(self.adders)
        block, end = self.names.sym(loop.sym.name), self.names.var("end", I64, True)
        parts = {a.var: self.names.var(a.var.name, a.var.dtype) for a in rounded}
        self.adders |= parts
        first = low + BLOCK * poly(block)
        body: list[lp.Stmt] = [lp.Declare(parts[a.var], neutral(a)) for a in rounded]
        body.append(lp.Let(end, lp.Call("min", (lp.Index(first + BLOCK), lp.Index(high)), I64)))
        body.append(lp.For(loop.sym, first, poly(end.atom), self.inner(loop.body), parallel=False, unroll=_is_light(loop.body)))
        self.adders = saved
        for a in rounded:
            into = self.adders.get(a.var, a.var)
            body.append(lp.Assign(into, lp.Call("add", (lp.Use(into), lp.Use(parts[a.var])), a.var.dtype)))
        return [*out, lp.For(block, poly(0), (high - low + (BLOCK - 1)) // BLOCK, body, parallel=False)]

    # -- memory

    def allocated(self, buffer: lp.Buffer) -> list[k.Statement]:
        """An array of a point, which has its memory already where the same elements of all threads are together."""
        made = self.made_here(buffer)
        known = product(made.extents).const()
        if buffer not in self.by_element or (known is not None and max(1, known) * made.dtype.size <= LOCAL):
            return [self.alloc(made)]
        assert self.scratch is not None
        most = tuple(self.greatest(p, buffer) for p in made.extents)
        home = self.home_of(made, (*most, self.scratch.workers), product(most))
        self.homes[made] = home
        return []

    def home_of(self, buffer: lp.Buffer, extents: tuple[Poly, ...], most: Poly) -> lp.Buffer:
        """Memory of all threads for their arrays, of so many elements each."""
        assert self.scratch is not None
        home = self.names.buffer(f"{buffer.name}_all", buffer.dtype, extents, "temp", buffer.reason or "memory of threads")
        home.span, home.label, home.origin = buffer.span, buffer.label, buffer.origin
        self.scratch.buffers.append(home)
        self.scratch.bytes = self.scratch.bytes + most * buffer.dtype.size
        return home

    def alloc(self, buffer: lp.Buffer) -> k.Statement:
        """A small array of literal size is the thread's own; for others the host has memory."""
        count = product(buffer.extents if buffer.rows is None else (poly(buffer.rows), *buffer.extents[1:]))
        known = count.const()
        if known is not None and max(1, known) * buffer.dtype.size <= LOCAL:
            return lp.Alloc(buffer)
        most = self.greatest(count, buffer)
        assert self.scratch is not None
        home = self.home_of(buffer, (most * self.scratch.workers,), most)
        return k.Part(buffer, home, self.scratch.worker * most)

    def greatest(self, p: Poly, buffer: lp.Buffer) -> Poly:
        """A bound that the host can compute: indices at the end of their range where they make the size greater."""
        p = self.poly(p)
        for _ in range(16):
            inside = [a for a in p.leaves() if a in self.ranges]
            if not inside:
                break
            atom = inside[-1]
            least, most = self.ranges[atom]
            rest = p.slope(atom)
            if rest is None or atom in rest.leaves():
                refuse("an array whose size depends on an index in this way", buffer.span)
            grows = all(c > 0 for c in rest.terms.values())
            p = p.subst({atom: most if grows else least})
        if any((isinstance(a, lp.VarAtom) and a.var in self.declared) or a in k.COORDINATES for a in p.leaves()):
            refuse("an array inside a parallel loop whose size is computed there", buffer.span)
        return p

    def copy(self, target: lp.Buffer, source: lp.Buffer) -> list[k.Statement]:
        syms = [self.names.sym("c") for _ in target.extents]
        index = tuple(poly(s) for s in syms)
        body: list[lp.Stmt] = [lp.Store(target, index, lp.Load(source, index))]
        for sym, extent in zip(reversed(syms), reversed(target.extents), strict=True):
            body = [lp.For(sym, poly(0), self.poly(extent), body, parallel=False)]
        return [*body]


def by_element(body: lp.Stmts) -> set[lp.Buffer]:
    """Arrays made in it that are read and stored element by element, and in no other way."""
    inside = list(lp.walk(body))
    made = {s.buffer for s in inside if isinstance(s, lp.Alloc) and s.buffer.rows is None and s.buffer.extents}
    whole = {b for s in inside if isinstance(s, (lp.Swap, lp.CopyBuffer, lp.Helper, lp.Product, lp.Chunks)) for b in mentions([s])}
    return made - whole


def _is_light(body: lp.Stmts) -> bool:
    """So little that several rounds may read before the first adds: then more of memory is on its way at once."""
    found = list(lp.walk(body))
    return len(found) <= 8 and all(isinstance(s, (lp.Let, lp.Add, lp.Note)) for s in found)


def neutral(acc: lp.Acc) -> lp.Const:
    return lp.Const(MONOIDS[acc.monoid][1](acc.var.dtype), acc.var.dtype)


def refuse(what: str, span: Span = NOWHERE) -> NoReturn:
    """There is no kernel for it."""
    fail("E0838", span, what=what)
