"""A point done by many threads: by a warp or by a block.

    accumulate s over r in low..high: s += e       lane l adds the elements low + l, low + l + L, ...; then lanes are added up in a tree, and all know s
    for j in low..high: body                       lane l does the rounds low + l, low + l + L, ...
    x = e, if, loops in order                      every lane, in the same way: they all know the same scalars
    b[i] = e                                       lane 0

Barriers stand wherever lanes may read what another stored, or store what another reads. Which of the three a nest is done by is decided by its sizes when
it runs: many short rows by threads, many rows by warps, long rows by blocks (notes/cuda_shapes.md 2).
"""

from __future__ import annotations

from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.points import Nest, Single, indices
from atoll.backends.cuda.reduce import in_block, in_warp, reducible
from atoll.backends.cuda.threads import Names, Scratch
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

THREADS = 256
WORKERS = 2112  # groups that have memory of their own
SHORT = 32  # rounds of inner loops that a thread does as well
LONG = 2048  # that are better for a block than for a warp
FEW = 4096  # points that are too few for warps

def is_wide(body: lp.Stmts, env: dict[Any, Poly]) -> bool:
    """There are loops inside for many threads, and nothing that a group cannot do."""
    return any(_rounds(s, env) for s in _level(body, env)) and not any(isinstance(s, (lp.Check, lp.Helper, lp.Print, lp.Chunks)) for s in lp.walk(body))


def _level(stmts: lp.Stmts, env: dict[Any, Poly]) -> list[lp.Stmt]:
    """Statements that a group does together: not those inside the loops it spreads."""
    out: list[lp.Stmt] = []
    for s in stmts:
        out.append(s)
        if isinstance(s, (lp.If, lp.Forever, lp.Product, lp.Section)) or (isinstance(s, (lp.For, lp.Accumulate)) and not _rounds(s, env)):
            for body in lp.bodies(s):
                out += _level(body, env)
    return out


def _rounds(s: lp.Stmt, env: dict[Any, Poly]) -> bool:
    """A loop that a group spreads."""
    if isinstance(s, (lp.For, lp.Accumulate)) and (count := (s.high - s.low).subst(env).const()) is not None and count < SHORT:
        return False
    if isinstance(s, lp.For) and s.parallel:
        return True
    return isinstance(s, lp.Accumulate) and not s.exact and reducible(s)


def inner_extent(body: lp.Stmts, env: dict[Any, Poly]) -> list[Poly]:
    """Numbers of rounds of the loops that a group spreads."""
    return [(s.high - s.low).subst(env) for s in _level(body, env) if isinstance(s, (lp.For, lp.Accumulate)) and _rounds(s, env)]


class Group(Single):
    """Statements as a group of `lanes` threads does them together."""

    def __init__(self, names: Names, env: dict[Atom, Poly], rank: Poly, lanes: int, own: Scratch, shared: Scratch) -> None:
        super().__init__(names, env, rank, own)
        self.lanes, self.together = lanes, shared
        self.lane = poly(k.THREAD) % lanes if lanes < THREADS else poly(k.THREAD)
        self.buffers: list[lp.Buffer] = []  # shared memory
        self.alone = 0  # inside a loop that is spread: this thread's own rounds
        self.careful = True

    def whole(self, body: lp.Stmts) -> list[k.Statement]:
        stored = {s.buffer for s in lp.walk(body) if isinstance(s, (lp.Store, lp.Update))} | {s.target for s in lp.walk(body) if isinstance(s, lp.CopyBuffer)}
        read = {x.buffer for x in loads(body)} | {s.source for s in lp.walk(body) if isinstance(s, lp.CopyBuffer)}
        updated = {s.buffer for s in lp.walk(body) if isinstance(s, lp.Update)}
        self.careful = bool(stored & read or updated)
        return self.stmts(body)

    def barrier(self) -> list[k.Statement]:
        if not self.careful:
            return []
        return [k.WarpBarrier() if self.lanes == k.WARP else k.Barrier()]

    def stmt(self, stmt: k.Statement) -> list[k.Statement]:
        if self.alone:
            return super().stmt(stmt)
        match stmt:
            case lp.For(parallel=True) if _rounds(stmt, self.env):
                return self.spread(stmt)
            case lp.Accumulate() if _rounds(stmt, self.env):
                return self.reduce(stmt)
            case lp.Store() | lp.Update() | k.Atomic():
                return [*self.barrier(), lp.If((lp.Test("eq", self.lane),), super().stmt(stmt)), *self.barrier()]  # type: ignore[arg-type]
            case lp.Alloc(buffer):
                return [self.alloc_together(self.made_here(buffer))]
            case lp.CopyBuffer(target, source):
                syms = [self.names.sym("c") for _ in target.extents]
                index = tuple(poly(s) for s in syms)
                body: list[lp.Stmt] = [lp.Store(target, index, lp.Load(source, index))]
                for sym, extent in zip(reversed(syms), reversed(target.extents), strict=True):
                    body = [lp.For(sym, poly(0), extent, body, parallel=True)]
                return self.stmt(body[0])
        return super().stmt(stmt)

    def rounds(self, low: Poly, high: Poly) -> tuple[Sym, Poly, Poly]:
        """The rounds of a lane: a counter, how far it goes, and the index of a round."""
        t = self.names.sym("t")
        return t, (high - low - self.lane + (self.lanes - 1)) // self.lanes, low + self.lane + self.lanes * poly(t)

    def spread(self, loop: lp.For) -> list[k.Statement]:
        low, high = self.poly(loop.low), self.poly(loop.high)
        t, count, here = self.rounds(low, high)
        self.ranges[t] = (poly(0), high - low)
        i = self.names.var(loop.sym.name, I64, True)
        self.ranges[i.atom] = (low, high - 1)
        saved, self.env = self.env, {**self.env, loop.sym: poly(i.atom)}
        self.alone += 1
        body = [lp.Let(i, lp.Index(here)), *self.inner(loop.body)]
        self.alone -= 1
        self.env = saved
        return [lp.For(t, poly(0), count, body, parallel=False), *self.barrier()]

    def reduce(self, loop: lp.Accumulate) -> list[k.Statement]:
        low, high = self.poly(loop.low), self.poly(loop.high)
        t, count, here = self.rounds(low, high)
        self.ranges[t] = (poly(0), high - low)
        i = self.names.var(loop.sym.name, I64, True)
        self.ranges[i.atom] = (low, high - 1)
        saved, self.env = self.env, {**self.env, loop.sym: poly(i.atom)}
        self.alone += 1
        out = self.accumulate(lp.Accumulate(t, poly(0), count, [lp.Let(i, lp.Index(here)), *loop.body], loop.accs))
        self.alone -= 1
        self.env = saved
        values = [a.var for a in loop.accs]
        if self.lanes == k.WARP:
            out += in_warp(self.names, loop.accs, values)
            for v in values:
                first = self.names.var(v.name, v.dtype)
                out += [k.Shuffle(first, lp.Use(v), poly(0)), lp.Assign(v, lp.Use(first))]
            return [*out, *self.barrier()]
        places = [self.names.buffer("warps", v.dtype, (poly(THREADS // k.WARP),), "shared") for v in values]
        self.buffers += places
        out += in_block(self.names, loop.accs, values, THREADS, places)
        zero = lp.Test("eq", poly(k.THREAD))
        out += [k.Barrier(), lp.If((zero,), [lp.Store(b, (poly(0),), lp.Use(v)) for b, v in zip(places, values, strict=True)]), k.Barrier()]
        return [*out, *(lp.Assign(v, lp.Load(b, (poly(0),))) for b, v in zip(places, values, strict=True)), k.Barrier()]

    def alloc_together(self, buffer: lp.Buffer) -> k.Statement:
        """Memory that the lanes share."""
        count = product(buffer.extents if buffer.rows is None else (poly(buffer.rows), *buffer.extents[1:]))
        most = self.greatest(count, buffer)
        home = self.names.buffer(f"{buffer.name}_all", buffer.dtype, (most * self.together.workers,), "temp", buffer.reason or "memory of groups of threads")
        home.span, home.label, home.origin = buffer.span, buffer.label, buffer.origin
        self.together.buffers.append(home)
        return k.Part(buffer, home, self.together.worker * most)


def group_kernel(lowering: Any, nest: Nest, extents: tuple[Poly, ...], lanes: int) -> list[k.Statement]:
    """The kernel of a nest whose points are done by groups, and its launch."""
    names: Names = lowering.names
    total = names.var("points", I64, True)
    lowering.host.add(total)
    out: list[k.Statement] = [lp.Let(total, lp.Index(product(extents)))]
    n = poly(total.atom)
    groups = THREADS // lanes  # in a block
    group = groups * poly(k.BLOCK) + (poly(k.THREAD) // lanes if groups > 1 else poly(0))
    own, together = Scratch(THREADS * poly(k.BLOCK) + poly(k.THREAD), poly(WORKERS * lanes)), Scratch(group, poly(WORKERS))
    p = names.var("p", I64, True)
    at = poly(p.atom)
    thread = Group(names, nest.env, at, lanes, own, together)
    index, env = indices(names, nest, extents, at)
    thread.env |= {s: q.subst(env) for s, q in thread.env.items()}
    thread.env |= env
    for sym, extent in zip(nest.syms, extents, strict=True):
        for leaf in (sym, *env[sym].leaves()):
            thread.ranges.setdefault(leaf, (poly(0), extent - 1))
    thread.ranges[p.atom] = (poly(0), n - 1)
    body: list[Any] = [*index, *thread.whole(nest.body)]
    scratch = Scratch(poly(0), poly(0), [*own.buffers, *together.buffers])
    note = f"{'a warp' if lanes == k.WARP else 'a block'} for every " + ", ".join(s.name.split("__")[0] for s in nest.syms)
    what = "warps" if lanes == k.WARP else "blocks"
    if scratch.buffers:
        step = names.sym("t")
        rounds = (n - group + (WORKERS - 1)) // WORKERS
        work: k.Statement = lp.For(step, poly(0), rounds, [lp.Let(p, lp.Index(group + WORKERS * poly(step))), *body], parallel=False)
        grid = poly(WORKERS // groups)
        whole: list[k.Statement] = [work]
    else:
        whole = [lp.Let(p, lp.Index(group)), lp.If((lp.Test("ge", n - at - 1),), body)]
        grid = (n + (groups - 1)) // groups
    launch = lambda: lowering.launch(what, [k.Region(tuple(whole))], THREADS, grid, tuple(thread.buffers), note=note)  # noqa: E731
    return [*out, *lowering.with_scratch(scratch, launch)]


def by_size(lowering: Any, nest: Nest, extents: tuple[Poly, ...], flat: Any) -> list[k.Statement]:
    """A nest with loops inside: threads, warps or blocks, by how many rounds there are and how many points."""
    known = [q for q in inner_extent(nest.body, nest.env) if all((isinstance(a, Sym) and a not in nest.syms) or (isinstance(a, lp.VarAtom) and a.var in lowering.host) for a in q.leaves())]
    inside = {s.sym for s in lp.walk(nest.body) if isinstance(s, (lp.For, lp.Accumulate))}
    known = [q for q in known if not inside & q.leaves()]
    if not known:
        return group_kernel(lowering, nest, extents, k.WARP)
    names: Names = lowering.names
    rounds, points = names.var("rounds", I64, True), names.var("points", I64, True)
    lowering.host |= {rounds, points}
    most: lp.Expr = lp.Index(known[0])
    for q in known[1:]:
        most = lp.Call("max", (most, lp.Index(q)), I64)
    out: list[k.Statement] = [lp.Let(rounds, most), lp.Let(points, lp.Index(product(extents)))]
    r, n = poly(rounds.atom), poly(points.atom)
    few = (lp.Test("ge", FEW - n), lp.Test("ge", r - SHORT * 8))
    blocks = group_kernel(lowering, nest, extents, THREADS)
    warps = group_kernel(lowering, nest, extents, k.WARP)
    threads = flat(lowering, nest, extents)
    by_block: Any = lp.If((lp.Test("ge", r - LONG),), blocks, [lp.If(few, blocks, warps)])  # type: ignore[arg-type]
    return [*out, lp.If((lp.Test("ge", SHORT - r),), threads, [by_block])]
