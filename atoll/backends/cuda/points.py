"""Nests of parallel loops as kernels: a thread for every point, or four points a thread.

    for i in 0..n: for j in 0..m: body(i, j)      point p of n * m is (p // m, p % m)

Points that cost little are taken four by a thread, 256 apart, so that neighbouring threads read neighbouring elements; whether all of a block's points
are there is asked once for the block, and not at every point (docs/sources.md G1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.consumed import sums_together
from atoll.backends.cuda.threads import Names, Scratch, Thread, by_element, neutral
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.coalesce import places
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64

THREADS = 256
ITEMS = 4
WORKERS = 1 << 14  # threads that have memory of their own, at least: points are taken by so many in turn
MOST_WORKERS, MEMORY = 1 << 18, 1 << 27  # at most, and as long as that takes no more bytes


@dataclass(frozen=True, slots=True)
class Nest:
    """Points of parallel loops: what their indices are called and how many there are; what is done at each."""

    syms: tuple[Sym, ...]
    extents: tuple[Poly, ...]
    env: dict[Atom, Poly]
    body: lp.Stmts


def points(stmts: lp.Stmts, env: dict[Any, Poly], names: Names, given: tuple[tuple[Sym, Poly], ...] = ()) -> Nest:
    """The loops around a body that can all run at once. `given` are indices that are there already."""
    syms, extents, env = [s for s, _ in given], [e for _, e in given], dict(env)
    while len(stmts) == 1 and isinstance(stmts[0], lp.For) and stmts[0].parallel:
        loop = stmts[0]
        low, high = loop.low.subst(env), loop.high.subst(env)
        count = high - low
        if count == poly(1):
            env[loop.sym] = low
        elif any(s in count.leaves() for s in syms) or any(isinstance(a, lp.VarAtom) and syms for a in count.leaves()):
            break
        else:
            i = names.sym(loop.sym.name)
            syms.append(i)
            extents.append(count)
            env[loop.sym] = low + poly(i)
        stmts = loop.body
    stmts = _without_rounds(stmts, env)
    shared = common_axis(stmts, env)
    if shared is not None and not any(s in (shared[1] - shared[0]).leaves() for s in syms):
        i = names.sym("j")
        syms.append(i)
        extents.append(shared[1] - shared[0])
        return Nest(tuple(syms), tuple(extents), env, _at(stmts, env, shared, poly(i)))
    return Nest(tuple(syms), tuple(extents), env, stmts)


def _without_rounds(stmts: lp.Stmts, env: dict[Any, Poly]) -> list[lp.Stmt]:
    """Loops of one round among statements are their bodies."""
    out: list[lp.Stmt] = []
    for s in stmts:
        if isinstance(s, lp.For) and len(stmts) > 1 and s.parallel and (s.high - s.low).subst(env) == poly(1) and s.sym not in env:
            env[s.sym] = s.low.subst(env)
            out += _without_rounds(s.body, env) if len(s.body) > 1 else s.body
        else:
            out.append(s)
    return out


def common_axis(stmts: lp.Stmts, env: dict[Any, Poly]) -> tuple[Poly, Poly] | None:
    """The range of one parallel loop that all statements consist of, perhaps inside loops in order, such that what a round stores it alone reads:
    rows added up one after the other are columns added up at once."""
    loops: list[lp.For] = []

    def visit(body: lp.Stmts) -> bool:
        for s in body:
            if isinstance(s, lp.For) and s.parallel:
                loops.append(s)
            elif isinstance(s, lp.For):
                if not visit(s.body):
                    return False
            elif isinstance(s, lp.If):
                if not (visit(s.then) and visit(s.orelse)):
                    return False
            elif not isinstance(s, (lp.Let, lp.Note)):
                return False
        return True

    if not visit(stmts) or len(loops) < 2:
        return None
    low, high = loops[0].low.subst(env), loops[0].high.subst(env)
    inside = {s.sym for s in lp.walk(stmts) if isinstance(s, lp.For)} | {s.var.atom for s in lp.walk(stmts) if isinstance(s, (lp.Let, lp.Declare))}
    if (high - low) == poly(1) or inside & {*low.leaves(), *high.leaves()}:
        return None
    if any((x.low.subst(env), x.high.subst(env)) != (low, high) for x in loops):
        return None
    return (low, high) if _own_elements(stmts, loops) else None


def _own_elements(stmts: lp.Stmts, loops: list[lp.For]) -> bool:
    """Every buffer that rounds store into is stored and read, wherever it is, at the index of the round along one axis."""
    stored: dict[lp.Buffer, int] = {}
    for loop in loops:
        for s in lp.walk(loop.body):
            if isinstance(s, (lp.Alloc, lp.Helper, lp.Product, lp.CopyBuffer, lp.Swap, lp.Print, lp.Chunks, lp.Check)):
                return False
            if isinstance(s, (lp.Store, lp.Update)):
                axis = next((a for a, q in enumerate(s.index) if q.single() is loop.sym), None)
                if axis is None or stored.setdefault(s.buffer, axis) != axis:
                    return False
    for loop in loops:
        for x in loads(loop.body):
            if x.buffer in stored and x.index[stored[x.buffer]].single() is not loop.sym:
                return False
    outside = [x for s in lp.walk(stmts) if isinstance(s, lp.Let) for x in loads(s)]
    inner = {id(x) for loop in loops for x in loads(loop.body)}
    return not any(x.buffer in stored and id(x) not in inner for x in outside)


def _at(stmts: lp.Stmts, env: dict[Any, Poly], shared: tuple[Poly, Poly], i: Poly) -> list[lp.Stmt]:
    """The statements with the common loop at one round: loops of exactly that round, which are none (Single)."""
    out: list[lp.Stmt] = []
    for s in stmts:
        if isinstance(s, lp.For) and s.parallel:
            out.append(lp.For(s.sym, shared[0] + i, shared[0] + i + 1, s.body, True))
        elif isinstance(s, lp.For):
            out.append(lp.For(s.sym, s.low, s.high, _at(s.body, env, shared, i), False))
        elif isinstance(s, lp.If):
            out.append(lp.If(s.tests, _at(s.then, env, shared, i), _at(s.orelse, env, shared, i)))
        else:
            out.append(s)
    return out


class Single(Thread):
    """A thread at one point: a loop of exactly one round is no loop."""

    def stmt(self, stmt: k.Statement) -> list[k.Statement]:
        if isinstance(stmt, (lp.For, lp.Accumulate)) and self.poly(stmt.high - stmt.low) == poly(1):
            saved = self.env
            self.env = {**saved, stmt.sym: self.poly(stmt.low)}
            first: list[k.Statement] = []
            if isinstance(stmt, lp.Accumulate):
                first = [lp.Declare(a.var, neutral(a)) for a in stmt.accs]
            found = [*first, *self.stmts(stmt.body)]
            self.env = saved
            return found
        return super().stmt(stmt)


def is_light(stmts: lp.Stmts) -> bool:
    """So little that a thread does it several times: no loops, no checks, few statements."""
    allowed = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.If, lp.Note)
    found = list(lp.walk(stmts))
    return len(found) <= 40 and all(isinstance(s, allowed) for s in found)


def flat_kernel(lowering: Any, nest: Nest, extents: tuple[Poly, ...]) -> list[k.Statement]:
    """The kernel of a nest, and its launch."""
    names: Names = lowering.names
    nest = replace(nest, body=sums_together(names, nest.body))
    total = names.var("points", I64, True)
    lowering.host.add(total)
    out: list[k.Statement] = [lp.Let(total, lp.Index(product(extents)))]
    n = poly(total.atom)
    scratch = Scratch(poly(0), poly(0))
    p = names.var("p", I64, True)
    at = poly(p.atom)
    thread = Single(names, nest.env, at, scratch)
    thread.by_element = by_element(nest.body)
    worker = THREADS * poly(k.BLOCK) + poly(k.THREAD)
    blocks = names.var("grid", I64, True)
    lowering.host.add(blocks)
    scratch.worker, scratch.workers = worker, THREADS * poly(blocks.atom)
    index, env = indices(names, nest, extents, at)
    thread.env |= {s: q.subst(env) for s, q in thread.env.items()}
    thread.env |= env
    for sym, extent in zip(nest.syms, extents, strict=True):
        thread.ranges[sym] = (poly(0), extent - 1)
        for leaf in env[sym].leaves():
            thread.ranges.setdefault(leaf, (poly(0), extent - 1))
    thread.ranges[p.atom] = (poly(0), n - 1)
    body = [*index, *thread.stmts(nest.body)]
    ranges = {leaf.var: extent for sym, extent in list(zip(nest.syms, extents, strict=True))[1:] for leaf in env[sym].leaves() if isinstance(leaf, lp.VarAtom)}

    def both(launched: list[k.Statement]) -> list[k.Statement]:
        return list(lowering.in_both_widths(launched, ranges)) if len(nest.syms) > 1 else launched  # a flat index is one number

    if scratch.buffers:
        step = names.sym("t")
        workers = scratch.workers
        work = lp.For(step, poly(0), (n - worker + workers - 1) // workers, [lp.Let(p, lp.Index(worker + workers * poly(step))), *body], parallel=False)  # type: ignore[list-item]
        launch = lambda: lowering.launch("points", [k.Region((work,))], THREADS, poly(blocks.atom), note=_note(nest))  # noqa: E731
        return [*out, *lowering.known(scratch.bytes), lp.Let(blocks, _blocks(n, scratch.bytes)), *lowering.with_scratch(scratch, launch)]
    if is_light(nest.body):
        step = names.sym("e")
        first = THREADS * ITEMS * poly(k.BLOCK)
        place = lp.Let(p, lp.Index(first + THREADS * poly(step) + poly(k.THREAD)))
        begin, body, go_on = _without_division(names, nest, extents, at, first + poly(k.THREAD), body, ranges)
        full = lp.For(step, poly(0), poly(ITEMS), [place, *body, *go_on], parallel=False, unroll=True)  # type: ignore[list-item]
        guard = lp.If((lp.Test("ge", n - at - 1),), body)  # type: ignore[arg-type]
        some = lp.For(step, poly(0), poly(ITEMS), [place, guard, *go_on], parallel=False, unroll=True)
        all_of_it = lp.If((lp.Test("ge", n - first - THREADS * ITEMS),), [full], [some])
        return [*out, *both(lowering.launch("points", [k.Region((*begin, all_of_it))], THREADS, (n + (THREADS * ITEMS - 1)) // (THREADS * ITEMS), note=_note(nest)))]
    point = lp.Let(p, lp.Index(worker))
    guard = lp.If((lp.Test("ge", n - at - 1),), body)  # type: ignore[arg-type]
    return [*out, *both(lowering.launch("points", [k.Region((point, guard))], THREADS, (n + (THREADS - 1)) // THREADS, note=_note(nest)))]


def _blocks(n: Poly, size: Poly) -> lp.Expr:
    """How many blocks have memory of their own, `size` bytes a thread: no more than there are points, and many where that takes little."""

    def call(op: str, a: lp.Expr, b: lp.Expr) -> lp.Expr:
        return lp.Call(op, (a, b), I64)

    fit = call("floordiv", lp.Const(MEMORY // THREADS, I64), call("max", lp.Index(size), lp.Const(1, I64)))
    most = call("max", call("min", fit, lp.Const(MOST_WORKERS // THREADS, I64)), lp.Const(WORKERS // THREADS, I64))
    return call("max", call("min", lp.Index((n + (THREADS - 1)) // THREADS), most), lp.Const(1, I64))


def _without_division(names: Names, nest: Nest, extents: tuple[Poly, ...], at: Poly, first: Poly, body: list[k.Statement], ranges: dict[lp.Var, Poly]) -> tuple[list[k.Statement], list[k.Statement], list[lp.Stmt]]:
    """The innermost index of a thread's points, 256 apart, is counted on where rows are at least that long: a division for the first point only. What is done before
    the points, at each, and after each. How large its variables are at most goes to `ranges`."""
    if len(nest.syms) < 2:
        return [], body, []
    width = extents[-1]
    row, column = names.var("row", I64, True), names.var("column", I64, True)
    begin: list[k.Statement] = [lp.Declare(row, lp.Index(first // width)), lp.Declare(column, lp.Index(first - poly(row.atom) * width))]
    quotient, rest = body[0], body[1]
    assert isinstance(quotient, lp.Let) and isinstance(rest, lp.Let)  # as indices makes them
    ranges |= {row: (product(extents) + 2 * THREADS * ITEMS) // width + 1, column: width + THREADS}
    over: lp.Stmt = lp.If((lp.Test("ge", poly(column.atom) - width),), [lp.Assign(column, lp.Index(poly(column.atom) - width)), lp.Assign(row, lp.Index(poly(row.atom) + 1))])
    counted: list[lp.Stmt] = [lp.Assign(column, lp.Index(poly(column.atom) + THREADS)), over]
    divided: list[lp.Stmt] = [lp.Assign(row, lp.Index((at + THREADS) // width)), lp.Assign(column, lp.Index(at + THREADS - poly(row.atom) * width))]
    return begin, [lp.Let(quotient.var, lp.Use(row)), lp.Let(rest.var, lp.Use(column)), *body[2:]], [lp.If((lp.Test("ge", width - THREADS),), counted, divided)]


def indices(names: Names, nest: Nest, extents: tuple[Poly, ...], p: Poly) -> tuple[list[lp.Stmt], dict[Atom, Poly]]:
    """The indices of a point."""
    made: list[lp.Stmt] = []

    def keep(axis: int | None, value: Poly) -> Poly:
        if axis == 0:
            return value
        var = names.var("q" if axis is None else nest.syms[axis].name.split("__")[0], I64, True)
        made.append(lp.Let(var, lp.Index(value)))
        return poly(var.atom)

    return made, dict(zip(nest.syms, places(p, extents, keep), strict=True))


def _note(nest: Nest) -> str:
    return "a thread for every " + ", ".join(s.name.split("__")[0] for s in nest.syms)
