"""A point done by many threads: by a warp or by a block.

    accumulate s over r in low..high: s += e       lane l adds the elements low + l, low + l + L, ...; then lanes are added up in a tree, and all know s
    for j in low..high: body                       lane l does the rounds low + l, low + l + L, ...; loops of loops are numbered through
    check                                          all lanes hear of it when a loop is done, and leave (tried.py)
    x = e, if, loops in order                      every lane, in the same way: they all know the same scalars
    b[i] = e                                       lane 0

Arrays of a point are in the block's shared memory where they fit, which is asked when it runs: then nothing of them goes through the device's memory, and every point
has its group. Longer ones are in memory that so many groups have as are at work at once.

Barriers stand wherever lanes may read what another stored, or store what another reads. Which of the three a nest is done by is decided by its sizes when
it runs: many short rows by threads, many rows by warps, long rows by blocks unless there are very many (docs/sources.md G2), in registers where that saves something (held.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.held import LEAST, find_row, held_kernels
from atoll.backends.cuda.jam import jammed
from atoll.backends.cuda.points import Nest, Single, indices
from atoll.backends.cuda.reduce import in_block, in_warp, reducible
from atoll.backends.cuda.threads import Names, Scratch
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.coalesce import Coalescible, coalescible, places
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64, U32

THREADS = 256
WORKERS = 2112  # groups that have memory of their own
SHORT = 32  # rounds of inner loops that a thread does as well
LONG = 2048  # that are better for a block than for a warp
MANY = 8192  # points that are enough for warps, however long their rows are
FEW = 4096  # points that are too few for warps
ROOM = 32 * 1024  # bytes of shared memory for the arrays of a block's points
A_BLOCK = 16384  # rounds of inner loops that a block does in the time of a few launches

def is_wide(body: lp.Stmts, env: dict[Any, Poly], checks: bool = False) -> bool:
    """There are loops inside for many threads, and nothing that a group cannot do; `checks` it can where what fails is done again."""
    cannot = (lp.Helper, lp.Print, lp.Chunks, *(() if checks else (lp.Check,)))
    return any(_rounds(s, env) for s in _level(body, env)) and not any(isinstance(s, cannot) for s in lp.walk(body))


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
    found: list[Poly] = []
    for s in _level(body, env):
        if isinstance(s, (lp.For, lp.Accumulate)) and _rounds(s, env):
            loops = flattened(s).loops if isinstance(s, lp.For) else (s,)
            found.append(product(tuple((x.high - x.low).subst(env) for x in loops)))
    return found


_LIGHT = ("add", "sub", "mul", "neg", "min", "max")


def flattened(loop: lp.For) -> Coalescible:
    """A parallel loop and those inside it that threads can do together with it; light scalars and checks before the inner ones are made anew in every round."""
    return coalescible(loop, lambda s: isinstance(s, lp.Check) or _is_light(s.value))


def _is_light(e: lp.Expr) -> bool:
    return all(isinstance(x, (lp.Use, lp.Const, lp.Index, lp.Load)) or (isinstance(x, lp.Call) and x.op in _LIGHT) for x in lp.subexprs(e))


def _is_short(body: lp.Stmts) -> bool:
    """So little that several rounds may read before the first stores."""
    found = list(lp.walk(body))
    return len(found) <= 8 and all(isinstance(s, (lp.Let, lp.Store, lp.Note)) for s in found)


_IN_A_BLOCK = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.For, lp.Accumulate, lp.Add, lp.Chunks, lp.If, lp.Note, lp.Section)


def loop_in_block(lowering: Any, loop: lp.For, on_host: Callable[[], list[k.Statement]]) -> list[k.Statement]:
    """A loop in order that has loops for many threads inside: one block goes through all of it where they are short, so that a round costs barriers and no launches;
    else the host goes through it and launches kernels (`on_host`)."""
    inside = list(lp.walk(loop.body))
    made = {s.var for s in inside if isinstance(s, (lp.Let, lp.Declare))} | {a.var for s in inside if isinstance(s, lp.Accumulate) for a in s.accs}
    fits = all(isinstance(s, _IN_A_BLOCK) for s in inside) and all(s.var in made for s in inside if isinstance(s, (lp.Assign, lp.Add)))
    work = _work(loop, lowering.host) if fits else None
    if work is None:
        return on_host()
    names: Names = lowering.names
    most = names.var("work", I64, True)
    lowering.host.add(most)
    out: list[k.Statement] = [*lowering.known((loop.low, loop.high)), lp.Let(most, work)]
    thread = Group(names, {}, poly(0), THREADS, Scratch(poly(0), poly(0)), Scratch(poly(0), poly(0)))
    body = thread.whole([loop])
    in_block = lowering.launch("loop", [k.Region(tuple(body))], THREADS, poly(1), tuple(thread.buffers), note="one block goes through a loop")
    return [*out, lp.If((lp.Test("ge", A_BLOCK - poly(most.atom)),), in_block, on_host())]  # type: ignore[arg-type]


def _work(loop: lp.For, host: set[lp.Var]) -> lp.Expr | None:
    """The most rounds of loops that threads share in one round of a loop, times those of loops inside them; None where the host cannot tell, or nothing is shared."""
    ranges: dict[Atom, tuple[Poly, Poly]] = {loop.sym: (loop.low, loop.high - 1)}
    found: list[lp.Expr] = []

    def visit(stmts: lp.Stmts, around: tuple[Poly, ...]) -> bool:
        for s in stmts:
            if isinstance(s, lp.Chunks):
                ranges[s.low], ranges[s.high] = (poly(0), poly(0)), (s.extent, s.extent)
            inner = around
            if isinstance(s, (lp.For, lp.Accumulate)):
                rounds = _most(s.high - s.low, ranges, host)
                shared = bool(around) or _rounds(s, {})
                if rounds is None or (not shared and not any(_rounds(x, {}) for x in lp.walk(s.body)) and (rounds.const() or SHORT + 1) > SHORT):
                    return False  # every thread would do all of it
                ranges[s.sym] = (s.low, s.high - 1)
                inner = (*around, rounds) if shared else ()
                found.append(lp.Index(product(inner)))
            if not all(visit(body, inner) for body in lp.bodies(s)):
                return False
        return True

    if not visit(loop.body, ()) or not any(_rounds(s, {}) for s in lp.walk(loop.body)):
        return None
    most = found[0]
    for x in found[1:]:
        most = lp.Call("max", (most, x), I64)
    return most


def _most(p: Poly, ranges: dict[Atom, tuple[Poly, Poly]], host: set[lp.Var]) -> Poly | None:
    """A bound that the host can compute: indices at the end of their range where they make it greater."""
    for _ in range(16):
        inside = [a for a in p.leaves() if a in ranges]
        if not inside:
            return p if all(not isinstance(a, lp.VarAtom) or a.var in host for a in p.leaves()) else None
        rest = p.slope(inside[-1])
        if rest is None or inside[-1] in rest.leaves():
            return None
        p = p.subst({inside[-1]: ranges[inside[-1]][1 if all(c > 0 for c in rest.terms.values()) else 0]})
    return None


class Group(Single):
    """Statements as a group of `lanes` threads does them together."""

    def __init__(self, names: Names, env: dict[Atom, Poly], rank: Poly, lanes: int, own: Scratch, shared: Scratch, failed: lp.Buffer | None = None) -> None:
        super().__init__(names, env, rank, own)
        self.lanes, self.together = lanes, shared
        self.failed = failed  # where it is told that a check failed
        self.fine: lp.Var | None = None  # no check of this lane's own rounds has failed
        self.lane = poly(k.THREAD) % lanes if lanes < THREADS else poly(k.THREAD)
        self.buffers: list[lp.Buffer] = []  # shared memory
        self.room = 0  # bytes of it for an array of a point; 0: none
        self.needs: list[tuple[Poly, int]] = []  # elements of these arrays, and the most there are
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
        if isinstance(stmt, lp.Check) and self.failed is not None:
            return self.checked(self.tests(stmt.tests))
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

    def checked(self, tests: tuple[lp.Test, ...]) -> list[k.Statement]:
        """A check: of a lane's own rounds, which it leaves, or of all lanes, which leave their points."""
        tell: list[lp.Stmt] = [lp.Assign(self.fine, lp.Const(0, I64))] if self.alone and self.fine is not None else [self.tell()]
        return [lp.If(tests, [], tell), k.Leave(tests)]

    def tell(self) -> lp.Stmt:
        assert self.failed is not None
        return lp.If((lp.Test("eq", self.lane),), [k.Atomic(self.failed, (), "or", lp.Const(1, U32))])  # type: ignore[list-item]

    def fails(self, loop: lp.For | lp.Accumulate) -> bool:
        return self.failed is not None and any(isinstance(s, lp.Check) for s in lp.walk(loop.body))

    def heard(self, fine: lp.Var) -> list[k.Statement]:
        """Every lane hears whether a check of one has failed; then all leave."""
        bad, good = lp.Test("eq", poly(fine.atom)), lp.Test("ne", poly(fine.atom))
        return [*self.agreed([lp.Acc(fine, "minimum")]), lp.If((bad,), [self.tell()]), k.Leave((good,))]

    def spread(self, loop: lp.For) -> list[k.Statement]:
        found = flattened(loop)
        loops = found.loops
        out: list[k.Statement] = []
        low, high = self.poly(loop.low), self.poly(loop.high)
        extents: list[Poly] = []
        if len(loops) > 1:
            for x in loops:
                extents.append(self.count_of(self.poly(x.high - x.low), out))
            low, high = poly(0), product(extents)
        t, count, here = self.rounds(low, high)
        self.ranges[t] = (poly(0), high - low)
        i = self.names.var(loop.sym.name, I64, True)
        self.ranges[i.atom] = (low, high - 1)
        begin: list[lp.Stmt] = [lp.Let(i, lp.Index(here))]
        env: dict[Atom, Poly] = {loop.sym: poly(i.atom)} if len(loops) == 1 else self.numbered(loops, extents, poly(i.atom), begin)
        saved, self.env = self.env, {**self.env, **env}
        fine, was = self.names.var("fine", I64) if self.fails(loop) else None, self.fine
        self.fine = fine or was
        self.alone += 1
        body = [*begin, *self.inner([*found.first, *found.body])]
        self.alone -= 1
        self.env, self.fine = saved, was
        spread = lp.For(t, poly(0), count, body, parallel=False, unroll=fine is None and _is_short(body))
        if fine is None:
            return [*out, spread, *self.barrier()]
        return [*out, lp.Declare(fine, lp.Const(1, I64)), k.Region((spread,)), *self.heard(fine), *self.barrier()]

    def count_of(self, p: Poly, out: list[k.Statement]) -> Poly:
        """A number of rounds, never negative."""
        known = p.const()
        if known is not None:
            return poly(max(known, 0))
        var = self.names.var("rounds", I64, True)
        out.append(lp.Let(var, lp.Call("max", (lp.Index(p), lp.Const(0, I64)), I64)))
        return poly(var.atom)

    def numbered(self, loops: tuple[lp.For, ...], extents: list[Poly], number: Poly, out: list[lp.Stmt]) -> dict[Atom, Poly]:
        """The indices of the round with a number."""

        def keep(axis: int | None, value: Poly) -> Poly:
            if axis is None:
                var = self.names.var("q", I64, True)
                out.append(lp.Let(var, lp.Index(value)))
                return poly(var.atom)
            loop = loops[axis]
            here, low = self.names.var(loop.sym.name, I64, True), self.poly(loop.low)
            out.append(lp.Let(here, lp.Index(low + value)))
            self.ranges[here.atom] = (low, self.poly(loop.high) - 1)
            return poly(here.atom)

        return {loop.sym: at for loop, at in zip(loops, places(number, extents, keep), strict=True)}

    def reduce(self, loop: lp.Accumulate) -> list[k.Statement]:
        low, high = self.poly(loop.low), self.poly(loop.high)
        t, count, here = self.rounds(low, high)
        self.ranges[t] = (poly(0), high - low)
        i = self.names.var(loop.sym.name, I64, True)
        self.ranges[i.atom] = (low, high - 1)
        saved, self.env = self.env, {**self.env, loop.sym: poly(i.atom)}
        fine, was = self.names.var("fine", I64) if self.fails(loop) else None, self.fine
        self.fine = fine or was
        self.alone += 1
        several = jammed(self.names, loop.body, loop.accs, t, count, {loop.sym: here}, saved)
        out = self.stmts(several) if several is not None else self.accumulate(lp.Accumulate(t, poly(0), count, [lp.Let(i, lp.Index(here)), *loop.body], loop.accs))
        self.alone -= 1
        self.env, self.fine = saved, was
        if fine is not None:
            declared = [s for s in out if isinstance(s, lp.Declare)]
            out = [*declared, lp.Declare(fine, lp.Const(1, I64)), k.Region(tuple(s for s in out if not isinstance(s, lp.Declare))), *self.heard(fine)]
        return [*out, *self.agreed(loop.accs)]

    def agreed(self, accs: Sequence[lp.Acc]) -> list[k.Statement]:
        """Every lane knows what all lanes have together."""
        values, out = [a.var for a in accs], list[k.Statement]()
        if self.lanes == k.WARP:
            out += in_warp(self.names, accs, values)
            for v in values:
                first = self.names.var(v.name, v.dtype)
                out += [k.Shuffle(first, lp.Use(v), poly(0)), lp.Assign(v, lp.Use(first))]
            return [*out, *self.barrier()]
        places = [self.names.buffer("warps", v.dtype, (poly(THREADS // k.WARP),), "shared") for v in values]
        self.buffers += places
        out += in_block(self.names, accs, values, THREADS, places)
        zero = lp.Test("eq", poly(k.THREAD))
        out += [k.Barrier(), lp.If((zero,), [lp.Store(b, (poly(0),), lp.Use(v)) for b, v in zip(places, values, strict=True)]), k.Barrier()]
        return [*out, *(lp.Assign(v, lp.Load(b, (poly(0),))) for b, v in zip(places, values, strict=True)), k.Barrier()]

    def alloc_together(self, buffer: lp.Buffer) -> k.Statement:
        """Memory that the lanes share."""
        count = product(buffer.extents if buffer.rows is None else (poly(buffer.rows), *buffer.extents[1:]))
        most = self.greatest(count, buffer)
        if self.room:
            groups, places = THREADS // self.lanes, self.room // buffer.dtype.size
            inside = self.names.buffer(buffer.name, buffer.dtype, (poly(groups * places),), "shared")
            self.buffers.append(inside)
            self.needs.append((most, places))
            return k.Part(buffer, inside, (poly(k.THREAD) // self.lanes) * places if groups > 1 else poly(0))
        home = self.names.buffer(f"{buffer.name}_all", buffer.dtype, (most * self.together.workers,), "temp", buffer.reason or "memory of groups of threads")
        home.span, home.label, home.origin = buffer.span, buffer.label, buffer.origin
        self.together.buffers.append(home)
        return k.Part(buffer, home, self.together.worker * most)


def group_kernel(lowering: Any, nest: Nest, extents: tuple[Poly, ...], lanes: int, failed: lp.Var | None = None) -> list[k.Statement]:
    """The launch of a nest whose points are done by groups, with their arrays in shared memory where they fit. `failed`: where it says that a check failed."""
    arrays = [s.buffer for s in _level(nest.body, nest.env) if isinstance(s, lp.Alloc)]
    in_memory, _ = _groups(lowering, nest, extents, lanes, failed, 0)
    room = ROOM // (THREADS // lanes) // max(1, len(arrays)) // 16 * 16
    if not arrays or not room:
        return in_memory
    inside, needs = _groups(lowering, nest, extents, lanes, failed, room)
    known = [s for most, _ in needs for s in lowering.known(most)]
    return [*known, lp.If(tuple(lp.Test("ge", places - most) for most, places in needs), inside, in_memory)]  # type: ignore[arg-type]


def _groups(lowering: Any, nest: Nest, extents: tuple[Poly, ...], lanes: int, failed: lp.Var | None, room: int) -> tuple[list[k.Statement], list[tuple[Poly, int]]]:
    """The kernel with its launch, and what must fit. `room`: bytes of shared memory for an array of a point, 0 where it is in the device's."""
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
    thread = Group(names, nest.env, at, lanes, own, together, None if failed is None else lowering.cell(failed))
    thread.room = room
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
    sets = () if failed is None else (failed,)
    launch = lambda: lowering.launch(what, [k.Region(tuple(whole))], THREADS, grid, tuple(thread.buffers), note=note, sets=sets)  # noqa: E731
    return [*out, *lowering.with_scratch(scratch, launch)], thread.needs


def by_size(lowering: Any, nest: Nest, extents: tuple[Poly, ...], flat: Callable[[], list[k.Statement]], grouped: Callable[[int], list[k.Statement]], after: Callable[[], list[k.Statement]] = list) -> list[k.Statement]:
    """A nest with loops inside: threads (`flat`), warps or blocks (`grouped`, and then `after`), by how many rounds there are and how many points."""
    known = [q for q in inner_extent(nest.body, nest.env) if all((isinstance(a, Sym) and a not in nest.syms) or (isinstance(a, lp.VarAtom) and a.var in lowering.host) for a in q.leaves())]
    inside = {s.sym for s in lp.walk(nest.body) if isinstance(s, (lp.For, lp.Accumulate))}
    known = [q for q in known if not inside & q.leaves()]
    if not known:
        return [*grouped(k.WARP), *after()]
    names: Names = lowering.names
    rounds, points = names.var("rounds", I64, True), names.var("points", I64, True)
    lowering.host |= {rounds, points}
    most: lp.Expr = lp.Index(known[0])
    for q in known[1:]:
        most = lp.Call("max", (most, lp.Index(q)), I64)
    out: list[k.Statement] = [lp.Let(rounds, most), lp.Let(points, lp.Index(product(extents)))]
    r, n = poly(rounds.atom), poly(points.atom)
    few = (lp.Test("ge", FEW - n), lp.Test("ge", r - SHORT * 8))
    blocks, warps, threads = grouped(THREADS), grouped(k.WARP), flat()
    row = find_row(nest)
    if row is not None:
        by_block: Any = lp.If((lp.Test("ge", r - LEAST),), held_kernels(lowering, row, extents, r, blocks), warps)  # type: ignore[arg-type]
    else:
        by_block = lp.If((lp.Test("ge", r - LONG), lp.Test("ge", MANY - n)), blocks, [lp.If(few, blocks, warps)])  # type: ignore[arg-type]
    return [*out, lp.If((lp.Test("ge", SHORT - r),), threads, [by_block, *after()])]  # type: ignore[arg-type, list-item]
