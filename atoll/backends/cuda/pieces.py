"""Sums of points by several threads each, in pieces where there are few points.

    for i in 0..n: accumulate s over r in 0..m: s += v(r, i); rest

    columns   neighbouring points read neighbouring elements: a block has 32 points and 8 lanes for each, so that a warp reads a line of memory
    rows      neighbouring rounds do: a block has one point
    pieces    few points: a block for every point (or 32) and piece of the rounds leaves its sum in memory, then for every point its pieces are added up

How many pieces there are is a formula of the sizes (docs/sources.md G2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.jam import jammed
from atoll.backends.cuda.points import Nest, Single, flat_kernel, indices
from atoll.backends.cuda.reduce import combine, in_block, reducible, renamed
from atoll.backends.cuda.threads import Names, Scratch
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.sizes import Poly, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

THREADS = 256
BLOCKS = 1584  # three for each place on a GPU, so that few places are empty at the end
SHORT = 32  # rounds that a thread does as well
LEAST_COLUMN, LEAST_ROW = 64, 4096  # rounds of a piece
_SIMPLE = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.If, lp.Note)
_SPLIT = (*_SIMPLE, lp.For, lp.Accumulate, lp.Add)


@dataclass(frozen=True, slots=True)
class Sums:
    """Points that declare a few things, add up the rounds of one loop, and do the rest."""

    first: list[lp.Stmt]
    loop: lp.Accumulate
    rest: list[lp.Stmt]
    columns: bool


def find_sums(nest: Nest, host: set[lp.Var]) -> Sums | None:
    """The sums that a nest is, if it is no more than that. `host`: variables that the host knows."""
    at = next((n for n, s in enumerate(nest.body) if isinstance(s, lp.Accumulate)), None)
    if at is None or not nest.syms:
        return None
    loop, first, rest = nest.body[at], list(nest.body[:at]), list(nest.body[at + 1 :])
    assert isinstance(loop, lp.Accumulate)
    rounds = (loop.high - loop.low).const()
    if (rounds is not None and rounds <= SHORT) or loop.exact or not reducible(loop) or any(isinstance(s, (lp.Store, lp.Update, lp.Alloc, lp.Check, lp.Forever)) for s in lp.walk(loop.body)):
        return None
    if not all(isinstance(s, (lp.Let, lp.Note)) for s in first) or not all(isinstance(s, _SIMPLE) for s in lp.walk(rest)):
        return None
    around = {*nest.syms, *(s.var.atom for s in lp.walk(nest.body) if isinstance(s, (lp.Let, lp.Declare)))}
    ends = {*loop.low.subst(nest.env).leaves(), *loop.high.subst(nest.env).leaves()}
    if around & ends or any(isinstance(a, lp.VarAtom) and a.var not in host for a in ends):
        return None
    return Sums(first, loop, rest, _by_columns(nest, loop))


def _by_columns(nest: Nest, loop: lp.Accumulate) -> bool:
    """Neighbouring points read memory better than neighbouring rounds do."""
    steps = {"point": 0, "round": 0}
    for x in loads(loop.body):
        index = [q.subst(nest.env) for q in x.index]
        for name, sym in (("point", nest.syms[-1]), ("round", loop.sym)):
            places = [n for n, q in enumerate(index) if sym in q.leaves()]
            if places and (places != [len(index) - 1] or index[-1].slope(sym) != poly(1)):
                steps[name] += 1
    return steps["round"] > steps["point"]


def segments(nest: Nest, names: Names) -> tuple[list[list[lp.Stmt]], list[lp.Buffer]]:
    """The body of a nest in parts that are nests of their own, sums of columns and maps that follow, and arrays for the scalars that later parts read. That
    is the same because points do not meet."""
    own = {s.buffer for s in nest.body if isinstance(s, lp.Alloc)}  # arrays of a point stay in one part
    body: list[lp.Stmt] = [s for s in nest.body if not isinstance(s, lp.Free)]
    if not all(isinstance(s, _SPLIT) for s in lp.walk([s for s in body if not isinstance(s, lp.Alloc)])):
        return [list(nest.body)], []
    out: list[list[lp.Stmt]] = [[]]
    arrays: dict[lp.Var, lp.Buffer] = {}
    for n, s in enumerate(body):
        before = [x for x in out[-1] if isinstance(x, (lp.Accumulate, lp.For))]
        crossing = _crossing(body[:n], body[n:]) if not _touched(body[:n], own) & _touched(body[n:], own) else None
        if isinstance(s, (lp.Accumulate, lp.For)) and before and crossing is not None:
            sums = any(_is_columns(nest, x) for x in (s, *before))
            if sums or (isinstance(s, lp.For) and not crossing and s.parallel and (s.high - s.low).const() is None):
                place = tuple(poly(i) for i in nest.syms)
                for v in crossing:
                    if v not in arrays:
                        arrays[v] = names.buffer(v.name, v.dtype, nest.extents, "temp", "scalars of points between two kernels")
                        out[-1].append(lp.Store(arrays[v], place, lp.Use(v)))
                out.append([lp.Let(v, lp.Load(arrays[v], place)) for v in crossing])
        out[-1].append(s)
    return out, list(arrays.values())


def _touched(stmts: list[lp.Stmt], arrays: set[lp.Buffer]) -> set[lp.Buffer]:
    found = {x.buffer for x in loads(stmts)} | {s.buffer for s in lp.walk(stmts) if isinstance(s, (lp.Store, lp.Update, lp.Alloc))}
    return found & arrays


def _is_columns(nest: Nest, s: lp.Stmt) -> bool:
    return isinstance(s, lp.Accumulate) and not s.exact and _by_columns(nest, s)


def _crossing(before: list[lp.Stmt], after: list[lp.Stmt]) -> list[lp.Var] | None:
    """Scalars that are made before and read after; None if any of them changes."""
    made = [s.var for s in before if isinstance(s, lp.Let)] + [a.var for s in before if isinstance(s, lp.Accumulate) for a in s.accs]
    changing = {s.var for s in lp.walk(before) if isinstance(s, lp.Declare)}
    used = {v for s in after for v in lp.used_vars(s)}
    return None if changing & used else [v for v in made if v in used]


def sum_kernels(lowering: Any, nest: Nest, extents: tuple[Poly, ...], found: Sums, whole: Any) -> list[k.Statement]:
    """The launches of sums. `whole`: how points are done where there are enough of them."""
    names: Names = lowering.names
    loop = found.loop
    out: list[k.Statement] = []
    low, high = loop.low.subst(nest.env), loop.high.subst(nest.env)
    rounds = lowering.extent(high - low, out)
    points, across, pieces, length = (names.var(x, I64, True) for x in ("points", "across", "pieces", "length"))
    lowering.host |= {points, across, pieces, length}
    n, count = poly(points.atom), poly(pieces.atom)
    together = 32 if found.columns else 1
    out.append(lp.Let(points, lp.Index(product(extents))))
    out.append(lp.Let(across, lp.Call("max", (lp.Index((n + (together - 1)) // together), lp.Const(1, I64)), I64)))
    most = lp.Call("min", (lp.Index(poly(BLOCKS) // poly(across.atom)), lp.Index(rounds // (LEAST_COLUMN if found.columns else LEAST_ROW))), I64)
    out.append(lp.Let(pieces, lp.Call("max", (most, lp.Const(1, I64)), I64)))
    out.append(lp.Let(length, lp.Index((rounds + count - 1) // count)))
    p = poly(0)
    for sym, extent in zip(nest.syms, extents, strict=True):
        p = p * extent + poly(sym)
    shape = (count, n) if found.columns else (n, count)
    parts = {a: names.buffer(f"{a.var.name}_parts", a.var.dtype, shape, "temp", "sums of pieces") for a in loop.accs}

    def place(piece: Poly, point: Poly) -> tuple[Poly, Poly]:
        return (piece, point) if found.columns else (point, piece)

    made = _Pieces(names, nest, extents, found, n, poly(length.atom), together)
    cut: list[k.Statement] = [lp.Alloc(b) for b in parts.values()]
    cut += made.launch(lowering, {a: (b, place) for a, b in parts.items()}, count)
    q = names.sym("q")
    adding = lp.Accumulate(q, poly(0), count, [lp.Add(a.var, a.monoid, lp.Load(b, place(poly(q), p))) for a, b in parts.items()], loop.accs)
    last = Nest(nest.syms, nest.extents, nest.env, [*found.first, adding, *found.rest])
    if found.columns:  # many pieces are too much for one thread after the other
        cut.append(lp.If((lp.Test("ge", count - SHORT - 1),), lowering.by_warps(last, extents), flat_kernel(lowering, last, extents)))  # type: ignore[arg-type]
    else:
        cut += lowering.by_warps(last, extents)
    cut += [lp.Free(b) for b in parts.values()]
    if found.columns:
        other: list[Any] = [lp.If((lp.Test("ge", SHORT - rounds),), flat_kernel(lowering, nest, extents), made.launch(lowering, None, count))]  # type: ignore[arg-type]
    else:
        other = whole()
    return [*out, lp.If((lp.Test("ge", count - 2),), cut, other)]  # type: ignore[arg-type]


class _Pieces:
    """The kernel of a block with `together` points and lanes for each of them."""

    def __init__(self, names: Names, nest: Nest, extents: tuple[Poly, ...], found: Sums, n: Poly, length: Poly, together: int) -> None:
        self.names, self.nest, self.extents, self.found, self.n, self.length, self.together = names, nest, extents, found, n, length, together
        self.lanes = THREADS // together
        self.lane = poly(k.THREAD) // together if together > 1 else poly(k.THREAD)
        self.point = names.var("p", I64, True)

    def thread(self) -> tuple[list[Any], Single]:
        """Indices and declarations of a point, and who goes on there."""
        at = poly(self.point.atom)
        thread = Single(self.names, self.nest.env, at, Scratch(poly(0), poly(0)))
        index, env = indices(self.names, self.nest, self.extents, at)
        thread.env |= {s: q.subst(env) for s, q in thread.env.items()}
        thread.env |= env
        return [*index, *thread.stmts(self.found.first)], thread

    def launch(self, lowering: Any, parts: dict[lp.Acc, Any] | None, count: Poly) -> list[k.Statement]:
        """With `parts`, what a piece amounts to goes there; else the whole sum is used."""
        names, loop = self.names, self.found.loop
        mine = [names.var(a.var.name, a.var.dtype) for a in loop.accs]
        own = [lp.Acc(v, a.monoid) for v, a in zip(mine, loop.accs, strict=True)]
        declared, adding = self.adding(mine, own, parts is not None)
        there = lp.Test("ge", self.n - 1 - poly(self.point.atom))
        code: list[Any] = [lp.Let(self.point, lp.Index(self.together * poly(k.BLOCK) + (poly(k.THREAD) % self.together if self.together > 1 else poly(0)))), *declared, lp.If((there,), adding)]
        shared, lanes = self.lanes_together(mine, own)
        code += lanes
        first = lp.Test("ge", self.together - 1 - poly(k.THREAD))
        if parts is not None:
            last: list[Any] = [lp.Store(b, place(poly(k.BLOCK_Y), poly(self.point.atom)), lp.Use(v)) for (b, place), v in zip(parts.values(), mine, strict=True)]
        else:
            before, thread = self.thread()
            last = [*before, *(lp.Let(a.var, lp.Use(v)) for a, v in zip(loop.accs, mine, strict=True)), *thread.stmts(self.found.rest)]
        code.append(lp.If((there, first), last))
        note = f"{'32 points' if self.together > 1 else 'a point'} a block: sums " + ("of pieces" if parts is not None else "and what follows")
        grid = (self.n + (self.together - 1)) // self.together
        return lowering.launch("sums", [k.Region(tuple(code))], THREADS, grid, tuple(shared), note=note, grid_y=count if parts is not None else poly(1))  # type: ignore[no-any-return]

    def adding(self, mine: list[lp.Var], own: list[lp.Acc], cut: bool) -> tuple[list[Any], list[Any]]:
        """What a thread adds up: declarations for all threads, and what those do that have a point."""
        names, loop = self.names, self.found.loop
        out, thread = self.thread()
        low, high = (thread.poly(p) for p in (loop.low, loop.high))
        begin, end = low, high
        if cut:
            start, stop = names.var("first", I64, True), names.var("end", I64, True)
            out.append(lp.Let(start, lp.Index(low + self.length * poly(k.BLOCK_Y))))
            out.append(lp.Let(stop, lp.Call("min", (lp.Index(poly(start.atom) + self.length), lp.Index(high)), I64)))
            begin, end = poly(start.atom), poly(stop.atom)
        t, r = names.sym("t"), names.var(loop.sym.name, I64, True)
        body, here = renamed(loop.body, {a.var: v for a, v in zip(loop.accs, mine, strict=True)}), begin + self.lane + self.lanes * poly(t)
        rounds = (end - begin - self.lane + (self.lanes - 1)) // self.lanes
        several = jammed(names, body, own, t, rounds, {loop.sym: here}, thread.env)
        thread.env = {**thread.env, loop.sym: poly(r.atom)}
        made = thread.stmts(several) if several is not None else thread.stmt(lp.Accumulate(t, poly(0), rounds, [lp.Let(r, lp.Index(here)), *body], own))
        return [s for s in made if isinstance(s, lp.Declare)], [*out, *(s for s in made if not isinstance(s, lp.Declare))]

    def lanes_together(self, mine: list[lp.Var], own: list[lp.Acc]) -> tuple[list[lp.Buffer], list[Any]]:
        """The lanes of a point added up, in its first thread."""
        names = self.names
        if self.together == 1:
            shared = [names.buffer("warps", v.dtype, (poly(THREADS // k.WARP),), "shared") for v in mine]
            return shared, in_block(names, own, mine, THREADS, shared)
        shared = [names.buffer("lanes", v.dtype, (poly(self.lanes), poly(self.together)), "shared") for v in mine]
        column = poly(k.THREAD) % self.together
        out: list[Any] = [lp.Store(b, (self.lane, column), lp.Use(v)) for b, v in zip(shared, mine, strict=True)]
        w = names.sym("w")
        adding: list[lp.Stmt] = [lp.Assign(v, combine(a, lp.Use(v), lp.Load(b, (poly(w), column)))) for a, b, v in zip(own, shared, mine, strict=True)]
        first = lp.Test("ge", self.together - 1 - poly(k.THREAD))
        return shared, [*out, k.Barrier(), lp.If((first,), [lp.For(w, poly(1), poly(self.lanes), adding, parallel=False, unroll=True)])]

