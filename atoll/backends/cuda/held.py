"""Rows that threads hold in registers: a point is done by a block, and all its loops go over the same range.

    thread l of a block of B      holds the elements l, l + B, ..., l + (T - 1) B of what several loops read, and of arrays that the point makes
    accumulate s over r: s += e   a thread adds its own elements in their order; then threads are added up in a tree, and all know s
    for j: b[j] = e               a thread does its own

So a row comes from memory once, all of it at the same time, and what is made of it never goes there (softmax, norms). B and T are literal, because registers have no
index; which of CLASSES is taken depends on the length of rows when it runs. Longer rows, and those a class has no registers for, go the way of group.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.points import Nest, Single, indices
from atoll.backends.cuda.reduce import in_warp, reducible
from atoll.backends.cuda.threads import Names, neutral
from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import I64

CLASSES = ((128, 8, 64), (256, 16, 64), (512, 32, 64), (1024, 32, 32))
"""Threads, elements of each, and how many registers they may take of a thread's."""
LEAST = 256  # elements of a row; warps are better for shorter ones
MOST_STATEMENTS = 24  # of all loops, each of which is there T times
MOST_CALLS = 2  # of functions

_INSIDE = (lp.Let, lp.Declare, lp.Assign, lp.Add, lp.Store, lp.If, lp.Note)
_AROUND = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Alloc, lp.Free, lp.Note)
Loop = (lp.For, lp.Accumulate)
_SELF = Sym("element")  # the index of a loop, whichever it is


@dataclass(frozen=True, slots=True)
class Row:
    """A nest whose points are rows of `length` elements. `own`: arrays that points make; `shared`: elements that several loops read; `words`: registers of a held element at once."""

    nest: Nest
    length: Poly
    own: tuple[lp.Buffer, ...]
    shared: tuple[lp.Load, ...]
    words: int


def find_row(nest: Nest) -> Row | None:
    """The rows that the points of a nest are, if holding them saves anything."""
    loops = [s for s in nest.body if isinstance(s, Loop)]
    if len(loops) < 2 or not all(isinstance(s, (*Loop, *_AROUND)) for s in nest.body):
        return None
    length = loops[0].high.subst(nest.env)
    if any(s.low.subst(nest.env) != poly(0) or s.high.subst(nest.env) != length for s in loops) or not _is_plain(loops):
        return None
    declared = {s.var.atom for s in lp.walk(nest.body) if isinstance(s, (lp.Let, lp.Declare))} | {a.var.atom for s in loops if isinstance(s, lp.Accumulate) for a in s.accs}
    if length.const() is not None or length.leaves() & {*nest.syms, *declared}:
        return None
    own = tuple(s.buffer for s in nest.body if isinstance(s, lp.Alloc))
    if any(len(b.extents) != 1 or b.rows is not None or b.extents[0].subst(nest.env) != length for b in own) or not _own_elements(nest.body, own):
        return None
    stored = {_memory(s.buffer) for s in lp.walk(nest.body) if isinstance(s, lp.Store)} - set(own)
    if stored & {_memory(x.buffer) for x in loads(nest.body)}:
        return None
    uses = [_surely(s, nest, declared) for s in loops]
    shared = tuple(x for x in dict.fromkeys(x for found in uses for x in found) if sum(x in found for found in uses) > 1 and x.buffer not in own)
    held: list[lp.Buffer | lp.Load] = [*own, *shared]
    if not held or any(x.dtype.is_complex for x in held):
        return None
    return Row(nest, length, own, shared, _words(loops, own, shared, nest))


def _memory(b: lp.Buffer) -> lp.Buffer:
    return b.copy_of or b


def _expressions(s: lp.Stmt) -> Iterator[lp.Expr]:
    match s:
        case lp.Let(_, value) | lp.Declare(_, value) | lp.Assign(_, value) | lp.Add(_, _, value) | lp.Store(_, _, value) if value is not None:
            yield value
        case lp.If(tests):
            yield from (t.expr for t in tests if t.expr is not None)


def _is_plain(loops: list[Any]) -> bool:
    """Loops that threads can share: short bodies without loops, whose rounds leave what they add and elements of their own."""
    inside = [s for loop in loops for s in lp.walk(loop.body)]
    if len(inside) > MOST_STATEMENTS or not all(isinstance(s, _INSIDE) for s in inside):
        return False
    if any(not reducible(s) or s.exact if isinstance(s, lp.Accumulate) else not s.parallel for s in loops):
        return False
    for loop in loops:
        accs = {a.var for a in loop.accs} if isinstance(loop, lp.Accumulate) else set()
        made = {s.var for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare))}
        if any(s.var not in made | accs for s in lp.walk(loop.body) if isinstance(s, (lp.Assign, lp.Add))):
            return False
    called = [x for s in inside for e in _expressions(s) for x in lp.subexprs(e) if isinstance(x, lp.Call) and x.op in profit.CALLS]
    return len(called) <= MOST_CALLS


def _own_elements(body: lp.Stmts, own: tuple[lp.Buffer, ...]) -> bool:
    """Arrays of a point are stored and read at the index of a loop over all of them."""
    places = [(x.buffer, x.index) for s in body if not isinstance(s, Loop) for x in loads([s])]
    places += [(s.buffer, s.index) for s in body if isinstance(s, lp.Store)]
    if any(b in own for b, _ in places):
        return False
    for loop in body:
        if isinstance(loop, Loop):
            inside = [(s.buffer, s.index) for s in lp.walk(loop.body) if isinstance(s, lp.Store)] + [(x.buffer, x.index) for x in loads(loop.body)]
            if any(b in own and index != (poly(loop.sym),) for b, index in inside):
                return False
    return True


def _surely(loop: Any, nest: Nest, declared: set[Any]) -> list[lp.Load]:
    """What every round of a loop reads at places known before the first loop, by the index _SELF."""
    found: list[lp.Load] = []

    def go(e: lp.Expr) -> None:
        match e:
            case lp.Load(buffer, index):
                at = tuple(q.subst(nest.env).subst({loop.sym: poly(_SELF)}) for q in index)
                if any(_SELF in q.leaves() for q in at) and not any(declared & q.leaves() for q in at):
                    found.append(lp.Load(buffer, at))
            case lp.Call(_, args):
                for x in args:
                    go(x)
            case lp.Cast(arg):
                go(arg)

    for s in loop.body:
        if not isinstance(s, lp.If):  # what a branch reads is perhaps not there
            for e in _expressions(s):
                go(e)
    return found


def _words(loops: list[Any], own: tuple[lp.Buffer, ...], shared: tuple[lp.Load, ...], nest: Nest) -> int:
    """The most registers of four bytes that one element takes between two loops."""
    spans: list[tuple[int, int, int]] = []
    for b in own:
        at = [n for n, s in enumerate(loops) if any(x.buffer is b for x in loads(s.body)) or any(isinstance(x, lp.Store) and x.buffer is b for x in lp.walk(s.body))]
        spans += [(min(at), max(at), b.dtype.size)] if at else []
    for x in shared:
        spans.append((-1, max(n for n, s in enumerate(loops) if x in _surely(s, nest, set())), x.buffer.dtype.size))
    return max((sum(-(-size // 4) for first, last, size in spans if first <= n < last) for n in range(-1, len(loops))), default=0)


class _Thread(Single):
    """What a thread does of a row."""

    def __init__(self, names: Names, row: Row, env: dict[Atom, Poly], rank: Poly, threads: int, each: int) -> None:
        super().__init__(names, env, rank)
        self.row, self.threads, self.each = row, threads, each
        self.places: list[lp.Buffer] = []
        self.t = names.sym("t")  # which of the thread's elements
        self.around: Sym | None = None  # the loop that this is a round of
        self.held: dict[Any, lp.Buffer] = {}
        held: list[lp.Buffer | lp.Load] = [*row.own, *row.shared]
        for x in held:
            b = x.buffer if isinstance(x, lp.Load) else x
            made = names.buffer(b.name, b.dtype, (poly(each),), "temp")
            made.local = True
            self.held[x] = made

    def expr(self, e: lp.Expr) -> lp.Expr:
        if isinstance(e, lp.Load) and self.around is not None:
            at = tuple(q.subst(self.row.nest.env).subst({self.around: poly(_SELF)}) for q in e.index)
            mine = self.held.get(e.buffer) or self.held.get(lp.Load(e.buffer, at))
            if mine is not None:
                return lp.Load(mine, (poly(self.t),))
        return super().expr(e)

    def rounds(self, sym: Sym, body: Any) -> lp.For:
        """The thread's elements; `body` makes the statements of one."""
        saved, self.env = self.env, dict(self.env)
        self.t, here = self.names.sym("t"), self.names.var(sym.name, I64, True)
        self.env[sym] = poly(here.atom)
        place = lp.Let(here, lp.Index(poly(k.THREAD) + self.threads * poly(self.t)))
        self.around = sym
        made = body(lp.Test("ge", self.poly(self.row.length) - poly(here.atom) - 1))
        self.around, self.env = None, saved
        return lp.For(self.t, poly(0), poly(self.each), [place, *made], parallel=False, unroll=True)

    def first(self) -> Iterator[k.Statement]:
        """What several loops read, asked for at once."""
        for x in self.row.shared:
            mine = self.held[x]
            yield lp.Alloc(mine)

            def taken(there: lp.Test, x: lp.Load = x, mine: lp.Buffer = mine) -> list[lp.Stmt]:
                load = lp.Load(x.buffer, self.index(x.index))
                return [lp.Store(mine, (poly(self.t),), lp.Choose((there,), load, lp.Const(_nothing(x.dtype), x.dtype)))]

            yield self.rounds(_SELF, taken)

    def stmt(self, stmt: k.Statement) -> list[k.Statement]:
        if isinstance(stmt, Loop):
            accs = stmt.accs if isinstance(stmt, lp.Accumulate) else []
            declared: list[k.Statement] = [lp.Declare(a.var, neutral(a)) for a in accs]
            return [*declared, self.rounds(stmt.sym, lambda there: [lp.If((there,), self.inner(stmt.body))]), *self.agreed(accs)]
        match stmt:
            case lp.Alloc(buffer):
                return [lp.Alloc(self.held[buffer])]
            case lp.Store(buffer, _, value) if self.around is not None and buffer in self.held:
                return [lp.Store(self.held[buffer], (poly(self.t),), self.expr(value))]
            case lp.Store() if self.around is None:
                return [lp.If((lp.Test("eq", poly(k.THREAD)),), super().stmt(stmt))]  # type: ignore[arg-type]
        return super().stmt(stmt)

    def agreed(self, accs: Any) -> list[k.Statement]:
        """Every thread knows what all have together: every warp adds up the warps, in the same way."""
        values, warps = [a.var for a in accs], self.threads // k.WARP
        out = in_warp(self.names, accs, values)
        shared = [self.names.buffer("warps", v.dtype, (poly(warps),), "shared") for v in values]
        self.places += shared
        lane, none = poly(k.THREAD) % k.WARP, lp.Test("eq", poly(k.THREAD) % k.WARP)
        if accs:
            out += [lp.If((none,), [lp.Store(b, (poly(k.THREAD) // k.WARP,), lp.Use(v)) for b, v in zip(shared, values, strict=True)]), k.Barrier()]
        for a, v, b in zip(accs, values, shared, strict=True):
            out.append(lp.If((lp.Test("ge", warps - 1 - lane),), [lp.Assign(v, lp.Load(b, (lane,)))], [lp.Assign(v, neutral(a))]))
        out += in_warp(self.names, accs, values, 1 << (warps - 1).bit_length())
        for v in values:
            total = self.names.var(v.name, v.dtype)
            out += [k.Shuffle(total, lp.Use(v), poly(0)), lp.Assign(v, lp.Use(total))]
        return out


def _nothing(dtype: Any) -> Any:
    return False if dtype.kind == "b" else 0.0 if dtype.is_float else 0


def held_kernels(lowering: Any, row: Row, extents: tuple[Poly, ...], rounds: Poly, otherwise: list[k.Statement]) -> list[k.Statement]:
    """The launch of rows by the first class that has room for them; `rounds`: how long they are; `otherwise` where none has."""
    found = otherwise
    for threads, each, registers in reversed(CLASSES):
        if row.words * each <= registers:
            found = [lp.If((lp.Test("ge", threads * each - rounds),), _launch(lowering, row, extents, threads, each), found)]  # type: ignore[arg-type]
    return found


def _launch(lowering: Any, row: Row, extents: tuple[Poly, ...], threads: int, each: int) -> list[k.Statement]:
    names, nest = lowering.names, row.nest
    p, points = names.var("p", I64, True), names.var("points", I64, True)
    lowering.host.add(points)
    total = poly(1)
    for extent in extents:
        total = total * extent
    index, env = indices(names, nest, extents, poly(p.atom))
    known = {**{s: q.subst(env) for s, q in nest.env.items()}, **env}
    thread = _Thread(names, row, known, poly(p.atom), threads, each)
    body: list[Any] = [lp.Let(p, lp.Index(poly(k.BLOCK))), *index, *thread.first(), *thread.stmts(nest.body)]
    note = f"a block for every {', '.join(s.name.split('__')[0] for s in nest.syms)}, {each} elements in registers of a thread"
    return [lp.Let(points, lp.Index(total)), *lowering.launch("rows", [k.Region(tuple(body))], threads, poly(points.atom), tuple(thread.places), note=note)]
