"""Reductions to scalars: one launch, and the same order of operations whenever the sizes are the same.

    every thread        its elements, W apart, in blocks (threads.py)
    every warp          its 32 threads by shuffles: l with l + 16, then + 8, 4, 2, 1
    every block         its warps in the same way
    the last block      the blocks, which left their results in memory; it knows it is the last by counting

How many blocks there are is a formula of the number of elements, so the bits depend on nothing else (docs/sources.md G2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.consumed import sums_together
from atoll.backends.cuda.jam import jammed
from atoll.backends.cuda.points import Single
from atoll.backends.cuda.threads import Names, Scratch, by_element, neutral
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import BOOL, I64, U32

THREADS = 256
WARPS = THREADS // k.WARP
MOST_BLOCKS = 528  # which are all at work at once: four on each multiprocessor
EACH = 4  # elements of a thread, before there are more blocks


def reducible(loop: lp.Accumulate) -> bool:
    """Rounds leave nothing but what they add and elements of their own."""
    inside = list(lp.walk(loop.body))
    made = {s.var for s in inside if isinstance(s, (lp.Let, lp.Declare))} | {a.var for s in inside if isinstance(s, lp.Accumulate) for a in s.accs}
    accs = {a.var for a in loop.accs}
    private = {s.buffer for s in inside if isinstance(s, lp.Alloc)}
    read = loads(loop.body)
    for s in inside:
        if isinstance(s, lp.Assign) and s.var not in made:
            return False
        if isinstance(s, lp.Add) and s.var not in made | accs:
            return False
        if isinstance(s, (lp.Store, lp.Update)) and s.buffer not in private:
            axis = next((a for a, q in enumerate(s.index) if q.single() is loop.sym), None)
            if axis is None or any(x.index[axis].single() is not loop.sym for x in read if x.buffer is s.buffer):
                return False
        if isinstance(s, (lp.Chunks, lp.Helper, lp.CopyBuffer, lp.Swap, lp.Print, lp.Product)):
            return False
    return True


def combine(acc: lp.Acc, a: lp.Expr, b: lp.Expr) -> lp.Call:
    return lp.Call(MONOIDS[acc.monoid][0], (a, b), acc.var.dtype)


def in_warp(names: Names, accs: Sequence[lp.Acc], values: list[lp.Var], lanes: int = k.WARP) -> list[k.Statement]:
    """values := what all lanes of a warp have together, in lane 0; every lane takes part."""
    out: list[k.Statement] = []
    lane = poly(k.THREAD) % k.WARP
    half = lanes // 2
    while half:
        for acc, value in zip(accs, values, strict=True):
            other = names.var(value.name.split("__")[0], value.dtype)
            out.append(k.Shuffle(other, lp.Use(value), (lane + half) % k.WARP))
            out.append(lp.Assign(value, combine(acc, lp.Use(value), lp.Use(other))))
        half //= 2
    return out


def in_block(names: Names, accs: Sequence[lp.Acc], values: list[lp.Var], threads: int, shared: list[lp.Buffer]) -> list[k.Statement]:
    """values := what all threads of a block have together, in thread 0. `shared`: a place for each warp and value."""
    out = in_warp(names, accs, values)
    warps = threads // k.WARP
    if warps == 1:
        return out
    warp = poly(k.THREAD) // k.WARP
    first = lp.Test("eq", poly(k.THREAD) % k.WARP)
    out.append(lp.If((first,), [lp.Store(s, (warp,), lp.Use(v)) for s, v in zip(shared, values, strict=True)]))
    out.append(k.Barrier())
    there = lp.Test("ge", warps - 1 - poly(k.THREAD))
    for acc, value, s in zip(accs, values, shared, strict=True):
        out.append(lp.If((there,), [lp.Assign(value, lp.Load(s, (poly(k.THREAD),)))], [lp.Assign(value, neutral(acc))]))
    lanes = 1
    while lanes < warps:
        lanes *= 2
    inner = in_warp(names, accs, values, lanes)
    return [*out, *inner]


def reduction(lowering: Any, accs: Sequence[lp.Acc], body: lp.Stmts, env: dict[Atom, Poly], i: Sym, extent: Poly) -> list[k.Statement]:
    """accs := what body adds to them for i in 0..extent."""
    names: Names = lowering.names
    body = sums_together(names, body)
    blocks = names.var("grid", I64, True)
    lowering.host.add(blocks)
    many = lp.Call("min", (lp.Index((extent + (THREADS * EACH - 1)) // (THREADS * EACH)), lp.Index(poly(MOST_BLOCKS))), I64)
    out: list[k.Statement] = [lp.Let(blocks, lp.Call("max", (many, lp.Const(1, I64)), I64))]
    grid = poly(blocks.atom)
    workers = THREADS * grid
    worker = THREADS * poly(k.BLOCK) + poly(k.THREAD)
    scratch = Scratch(worker, workers)
    t = names.sym(i.name.split("__")[0])
    here = worker + workers * poly(t)
    at_i = names.var("i", I64, True)
    index = poly(at_i.atom)
    thread = Single(names, {s: q.subst({i: index}) for s, q in env.items()}, index, scratch)
    thread.ranges[at_i.atom] = (poly(0), extent - 1)
    thread.by_element = by_element(body)
    mine = [names.var(a.var.name, a.var.dtype) for a in accs]
    own = [lp.Acc(v, a.monoid) for v, a in zip(mine, accs, strict=True)]
    each = [lp.Let(at_i, lp.Index(here)), *renamed(body, {a.var: v for a, v in zip(accs, mine, strict=True)})]
    rounds = (extent - worker + workers - 1) // workers
    several = jammed(names, each[1:], own, t, rounds, {s: q.subst({i: here}) for s, q in env.items()}, {})
    made = thread.stmts(several) if several is not None else thread.stmt(lp.Accumulate(t, poly(0), rounds, each, own))
    declared = [s for s in made if isinstance(s, lp.Declare)]
    shared = [names.buffer("warps", a.var.dtype, (poly(WARPS),), "shared") for a in accs]
    parts = [names.buffer(f"{a.var.name}_parts", a.var.dtype, (poly(MOST_BLOCKS),), "temp", "what the blocks of a reduction amount to") for a in accs]
    last = names.buffer("last", U32, (poly(1),), "shared")
    counter = lowering.counter()
    cells = [lowering.cell(a.var) for a in accs]
    arrived = names.var("arrived", U32)
    zero = lp.Test("eq", poly(k.THREAD))
    tail, sets = lowering.following()
    tail = [*(lp.Let(a.var, lp.Use(v)) for a, v in zip(accs, mine, strict=True)), *tail] if tail else []
    code: list[k.Statement] = [*declared, k.Region(tuple(s for s in made if not isinstance(s, lp.Declare)))]
    code += in_block(names, own, mine, THREADS, shared)
    told: list[lp.Stmt] = [lp.Store(p, (poly(k.BLOCK),), lp.Use(v)) for p, v in zip(parts, mine, strict=True)]
    told += [k.Fence(), k.Atomic(counter, (), "add", lp.Const(1, U32), arrived), lp.Store(last, (poly(0),), lp.Use(arrived))]  # type: ignore[list-item]
    code += [lp.If((zero,), told), k.Barrier()]
    done = lp.Call("eq", (lp.Cast(lp.Load(last, (poly(0),)), I64), lp.Index(poly(k.BLOCKS) - 1)), BOOL)
    end: list[lp.Stmt] = [k.Fence()]  # type: ignore[list-item]
    q = names.sym("b")
    at = THREADS * poly(q) + poly(k.THREAD)
    end += [lp.Assign(v, neutral(a)) for v, a in zip(mine, own, strict=True)]
    gather: list[lp.Stmt] = [lp.Assign(v, combine(a, lp.Use(v), lp.Load(p, (at,)))) for v, a, p in zip(mine, own, parts, strict=True)]
    end.append(lp.For(q, poly(0), (poly(k.BLOCKS) - poly(k.THREAD) + (THREADS - 1)) // THREADS, gather, parallel=False))
    end += in_block(names, own, mine, THREADS, shared)  # type: ignore[arg-type]
    end.append(lp.If((zero,), [*(lp.Store(c, (), lp.Use(v)) for c, v in zip(cells, mine, strict=True)), lp.Store(counter, (), lp.Const(0, U32)), *tail]))
    code.append(lp.If((lp.Test("true", None, done),), end))
    scratch.buffers += parts
    note = "reduce " + ", ".join(a.var.name for a in accs)
    launch = lambda: lowering.launch("reduce", code, THREADS, grid, (*shared, last), sets=(*(a.var for a in accs), *sets), own=tuple(a.var for a in accs), note=note)  # noqa: E731
    return [*out, *lowering.with_scratch(scratch, launch)]


def renamed(stmts: lp.Stmts, names: dict[lp.Var, lp.Var]) -> list[lp.Stmt]:
    """The same statements adding to other variables."""
    out: list[lp.Stmt] = []
    for s in stmts:
        match s:
            case lp.Add(var, monoid, value) if var in names:
                out.append(lp.Add(names[var], monoid, value))
            case lp.For(sym, low, high, body):
                out.append(lp.For(sym, low, high, renamed(body, names), s.parallel))
            case lp.Accumulate(sym, low, high, body, accs):
                out.append(lp.Accumulate(sym, low, high, renamed(body, names), accs, s.exact))
            case lp.If(tests, then, orelse):
                out.append(lp.If(tests, renamed(then, names), renamed(orelse, names)))
            case lp.Forever(body):
                out.append(lp.Forever(renamed(body, names)))
            case lp.Chunks():
                out.append(lp.Chunks(s.low, s.high, s.extent, s.work, renamed(s.body, names), s.accs))
            case _:
                out.append(s)
    return out
