"""Loops in order whose rounds do nothing but combine a value into an element that data choose: histograms and scatters with an operator.

    for r in 0..n: if test(r): for j in 0..m: b[key(r), j] op= v(r, j)

Integers of 32 and 64 bits by atomics: their order does not matter. Where there are few bins a block has bins of its own in shared memory, one for each warp if
they are very few, and adds them to those of all when it is done (docs/sources.md G4). Others, where there are few: rows by a thread for every element (owners.py), single ones in bins of warps (ranks.py); else by sorting the rounds by their key, which keeps rounds of one key in their order;
then a group of threads for every (key, j) adds up the rounds of its key. The bits depend on sizes and keys only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda import owners, ranks
from atoll.backends.cuda.free import Mentioned
from atoll.backends.cuda.points import Single
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.coalesce import places
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import BOOL, I64, U32

THREADS, WARPS = 256, 8
ROOM = 4096  # bins of a block
BLOCKS = 1056

_MONOID = {op: name for name, (op, _) in MONOIDS.items()}


@dataclass(frozen=True, slots=True)
class Histogram:
    """A loop of updates: `first` is declared in every round, `tests` decide whether it updates, `inner` loops go through parts of an element."""

    loop: lp.For
    first: list[lp.Stmt]
    tests: tuple[lp.Test, ...]
    inner: list[lp.For]
    last: list[lp.Stmt]  # declared inside the inner loops
    update: lp.Update


def find_histogram(loop: lp.For) -> Histogram | None:
    """The histogram that a loop in order is, if it is one."""
    first: list[lp.Stmt] = []
    last: list[lp.Stmt] = []
    tests: tuple[lp.Test, ...] = ()
    inner: list[lp.For] = []
    body = loop.body
    while True:
        body = [s for s in body if not isinstance(s, lp.Note)]
        if not body or not all(isinstance(s, lp.Let) for s in body[:-1]):
            return None
        for s in body[:-1]:  # what does not change in the inner loops belongs to the round
            changing = {x.sym for x in inner} | {x.var.atom for x in last if isinstance(x, lp.Let)}
            (last if inner and _leaves(s) & changing else first).append(s)
        end = body[-1]
        if isinstance(end, lp.Update):
            break
        if isinstance(end, lp.If) and not end.orelse and not inner and not tests and not last:
            tests, body = end.tests, end.then
            if any(isinstance(s, lp.Let) for s in body):
                return None  # what is declared under the test may be read only there
        elif isinstance(end, lp.For) and end.parallel and not loop_indices(loop, first) & (end.high - end.low).leaves() and end.low == poly(0):
            inner.append(end)
            body = end.body
        else:
            return None
    update = end
    if update.op not in _MONOID or any(x.buffer is update.buffer for x in loads(loop.body)):
        return None
    syms = [x.sym for x in inner]
    for q in update.index:
        if any(s in q.leaves() for s in syms) and q.single() not in syms:
            return None
        if any(v in {s.var for s in last if isinstance(s, lp.Let)} for v in lp.used_vars(q)):
            return None
    used = [q.single() for q in update.index if q.single() in syms]
    return Histogram(loop, first, tests, inner, last, update) if sorted(map(id, used)) == sorted(map(id, syms)) else None


def _leaves(s: lp.Stmt) -> set[Any]:
    """Indices and variables that a statement reads."""
    found = Mentioned([s])
    return {*found.syms, *(v.atom for v in found.vars)}


def loop_indices(loop: lp.For, first: list[lp.Stmt]) -> set[Any]:
    return {loop.sym, *(s.var.atom for s in first if isinstance(s, lp.Let))}


def histogram_kernels(lowering: Any, h: Histogram) -> list[k.Statement]:
    """The launches of a histogram."""
    dtype = h.update.buffer.dtype
    if dtype.is_integer and dtype.bits >= 32 and h.update.op in k.ATOMIC_OPS:
        return _by_atomics(lowering, h)
    if not lowering.reassociate:
        return _by_sorting(lowering, h)
    out: list[k.Statement] = []
    n = lowering.extent(h.loop.high - h.loop.low, out)
    out += lowering.known(h.update.buffer.extents)
    bins, rounds = lowering.names.var("bins", I64, True), lowering.names.var("rounds", I64, True)
    lowering.host |= {bins, rounds}
    out += [lp.Let(bins, lp.Call("max", (lp.Index(product(h.update.buffer.extents)), lp.Const(1, I64)), I64)), lp.Let(rounds, lp.Index(n))]
    many = poly(bins.atom)
    found = _by_sorting(lowering, h)
    for warps in sorted(ranks.WARPS):  # few bins are asked for first
        found = [lp.If((lp.Test("ge", ranks.bins_of(h, warps) - many),), ranks.by_ranks(lowering, h, poly(rounds.atom), many, warps), found)]  # type: ignore[arg-type]
    if h.inner:
        found = [lp.If((lp.Test("ge", owners.MOST_ROWS - owners.rows_of(h)),), owners.by_owners(lowering, h, poly(rounds.atom)), found)]  # type: ignore[arg-type]
    return [*out, *found]


def _by_atomics(lowering: Any, h: Histogram) -> list[k.Statement]:
    u = h.update
    body: list[Any] = [k.Atomic(u.buffer, u.index, u.op, u.value)]
    body = [*h.last, *body]
    for loop in reversed(h.inner):
        body = [lp.For(loop.sym, loop.low, loop.high, body, parallel=True)]
    if h.tests:
        body = [lp.If(h.tests, body)]
    everywhere = lowering.parallel([lp.For(h.loop.sym, h.loop.low, h.loop.high, [*h.first, *body], parallel=True)])
    if h.inner or u.op != "add":
        return everywhere  # type: ignore[no-any-return]
    out: list[k.Statement] = []
    n = lowering.extent(h.loop.high - h.loop.low, out)
    out += lowering.known(u.buffer.extents)
    bins, rounds = lowering.names.var("bins", I64, True), lowering.names.var("rounds", I64, True)
    lowering.host |= {bins, rounds}
    out += [lp.Let(bins, lp.Index(product(u.buffer.extents))), lp.Let(rounds, lp.Index(n))]
    here = _in_blocks(lowering, h, poly(rounds.atom), poly(bins.atom))
    return [*out, lp.If((lp.Test("ge", ROOM - poly(bins.atom)), lp.Test("ge", poly(rounds.atom) - 4 * poly(bins.atom))), here, everywhere)]  # type: ignore[arg-type]


def _in_blocks(lowering: Any, h: Histogram, n: Poly, bins: Poly) -> list[k.Statement]:
    """Sums of integers in bins of blocks, then in those of all."""
    names, u = lowering.names, h.update
    dtype = U32 if u.value == lp.Const(1, u.buffer.dtype) else u.buffer.dtype  # a block counts less than 2 ** 32 rounds
    room = ROOM if dtype.size == 4 else ROOM // 2
    own = names.buffer("bins", dtype, (poly(ROOM),), "shared")
    blocks, copies = names.var("grid", I64, True), names.var("copies", I64, True)
    lowering.host |= {blocks, copies}
    few = lp.Choose((lp.Test("ge", room // WARPS - bins),), lp.Const(WARPS, I64), lp.Const(1, I64))
    out: list[k.Statement] = [lp.Let(copies, few)]
    out.append(lp.Let(blocks, lp.Call("min", (lp.Index((n + (THREADS * 16 - 1)) // (THREADS * 16)), lp.Index(poly(BLOCKS))), I64)))
    grid, many = poly(blocks.atom), poly(copies.atom)
    z, t, b, w = (names.sym(x) for x in "ztbw")
    thread_at = poly(k.THREAD)
    code: list[Any] = [_strided(z, many * bins, lambda at: [lp.Store(own, (at,), lp.Const(0, dtype))]), k.Barrier()]
    r = names.var("r", I64, True)
    thread = Single(names, {h.loop.sym: h.loop.low + poly(r.atom)}, poly(r.atom))
    first = thread.stmts(h.first)
    key = poly(0)
    for q, extent in zip(u.index, u.buffer.extents, strict=True):
        key = key * extent + thread.poly(q)
    copy = (thread_at // k.WARP) * bins  # of the warp, if there is one for each
    place = names.var("place", I64, True)
    where = lp.Choose((lp.Test("ge", many - 2),), lp.Index(copy + key), lp.Index(key))
    value: lp.Expr = lp.Const(1, U32) if dtype is U32 and u.buffer.dtype is not U32 else thread.expr(u.value)
    step: list[Any] = [lp.Let(place, where), k.Atomic(own, (poly(place.atom),), "add", value)]
    if h.tests:
        step = [lp.If(thread.tests(h.tests), step)]
    worker = THREADS * poly(k.BLOCK) + thread_at
    each: list[Any] = [lp.Let(r, lp.Index(worker + THREADS * grid * poly(t))), *first, *thread.stmts(h.last), *step]
    code += [lp.For(t, poly(0), (n - worker + THREADS * grid - 1) // (THREADS * grid), each, parallel=False), k.Barrier()]
    total = names.var("total", dtype)
    adding = lp.For(w, poly(0), many, [lp.Assign(total, lp.Call("add", (lp.Use(total), lp.Load(own, (poly(w) * bins + _at(b),))), dtype))], parallel=False)
    known = lp.Use(total) if dtype is u.buffer.dtype else lp.Cast(lp.Use(total), u.buffer.dtype)
    told = lp.If((lp.Test("true", None, lp.Call("ne", (lp.Use(total), lp.Const(0, dtype)), BOOL)),), [k.Atomic(u.buffer, tuple(places(_at(b), u.buffer.extents)), "add", known)])  # type: ignore[list-item]
    code.append(_strided(b, bins, lambda at: [lp.Declare(total, lp.Const(0, dtype)), adding, told]))
    return [*out, *lowering.launch("bins", [k.Region(tuple(code))], THREADS, grid, (own,), note="a histogram, in bins of blocks first")]


def _at(sym: Sym) -> Poly:
    return poly(k.THREAD) + THREADS * poly(sym)


def _strided(sym: Sym, count: Poly, body: Any) -> lp.For:
    """The threads of a block take turns."""
    return lp.For(sym, poly(0), (count - poly(k.THREAD) + (THREADS - 1)) // THREADS, body(_at(sym)), parallel=False)


def _by_sorting(lowering: Any, h: Histogram) -> list[k.Statement]:
    names, u, loop = lowering.names, h.update, h.loop
    syms = [x.sym for x in h.inner]
    own = [a for a, q in enumerate(u.index) if q.single() not in syms]
    extents = [u.buffer.extents[a] for a in own]
    out: list[k.Statement] = []
    n = lowering.extent(loop.high - loop.low, out)
    out += lowering.known(u.buffer.extents)
    keys = names.buffer("keys", I64, (n,), "temp", "where the rounds of a histogram go")
    order = names.buffer("rounds", I64, (n,), "temp", "the rounds of a histogram, sorted by where they go")
    sorted_keys = names.buffer("sorted", I64, (n,), "temp", "where the sorted rounds go")
    key = poly(0)
    for a in own:
        key = key * u.buffer.extents[a] + u.index[a]
    bins = product(extents)
    made = names.var("key", I64, True)
    r = poly(loop.sym) - loop.low
    there: list[lp.Stmt] = [lp.Assign(made, lp.Index(key))]
    body: list[lp.Stmt] = [*h.first, lp.Declare(made, lp.Index(bins)), *([lp.If(h.tests, there)] if h.tests else there), lp.Store(keys, (r,), lp.Use(made))]
    out += [lp.Alloc(keys), lp.Alloc(order), lp.Alloc(sorted_keys)]
    out += lowering.parallel([lp.For(loop.sym, loop.low, loop.high, body, parallel=True)])
    out += lowering.sort(lp.Helper("argsort", ((keys, (poly(0),)), (order, (poly(0),))), (n,), dtype=I64), bins)
    p, at = names.sym("p"), names.var("at", I64, True)
    out += lowering.parallel([lp.For(p, poly(0), n, [lp.Let(at, lp.Load(order, (poly(p),))), lp.Store(sorted_keys, (poly(p),), lp.Load(keys, (poly(at.atom),)))], parallel=True)])
    out += lowering.parallel(_bins(names, h, n, order, sorted_keys, own, extents, lowering.reassociate))
    return [*out, lp.Free(sorted_keys), lp.Free(order), lp.Free(keys)]


def _bins(names: Any, h: Histogram, n: Poly, order: lp.Buffer, keys: lp.Buffer, own: list[int], extents: list[Poly], reassociate: bool) -> list[lp.Stmt]:
    """For every key and part of an element: what the rounds of the key add."""
    u, loop = h.update, h.loop
    indices = [names.sym("b") for _ in own]
    b = poly(0)
    for s, extent in zip(indices, extents, strict=True):
        b = b * extent + poly(s)
    body: list[lp.Stmt] = []
    low = _first_at_least(names, keys, n, b, body)
    high = _first_at_least(names, keys, n, b + 1, body)
    q, at = names.sym("q"), names.var("round", I64, True)
    acc = lp.Acc(names.var("sum", u.buffer.dtype), _MONOID[u.op])
    here = loop.low + poly(at.atom)
    each = [lp.Let(at, lp.Load(order, (poly(q),))), *_replaced([*h.first, *h.last, lp.Add(acc.var, acc.monoid, u.value)], loop.sym, here)]
    place = list(u.index)
    for a, s in zip(own, indices, strict=True):
        place[a] = poly(s)
    body.append(lp.Accumulate(q, low, high, each, [acc], exact=not reassociate))
    body.append(lp.If((lp.Test("ge", high - low - 1),), [lp.Update(u.buffer, tuple(place), u.op, lp.Use(acc.var))]))
    for x in reversed(h.inner):
        body = [lp.For(x.sym, x.low, x.high, body, parallel=True)]
    for s, extent in zip(reversed(indices), reversed(extents), strict=True):
        body = [lp.For(s, poly(0), extent, body, parallel=True)]
    return body


def _replaced(stmts: list[lp.Stmt], sym: Sym, by: Poly) -> list[lp.Stmt]:
    """Statements of one round: the index is what was looked up."""
    return [lp.For(sym, by, by + 1, stmts, parallel=False)]


def _first_at_least(names: Any, keys: lp.Buffer, n: Poly, key: Poly, out: list[lp.Stmt]) -> Poly:
    """Where keys that are in order reach a key."""
    a, b, half, there = (names.var(x, I64, True) for x in ("from", "to", "half", "there"))
    lo, hi, mid = poly(a.atom), poly(b.atom), poly(half.atom)
    step: list[lp.Stmt] = [
        lp.BreakUnless((lp.Test("ge", hi - lo - 1),)),
        lp.Let(half, lp.Index((lo + hi) // 2)),
        lp.Let(there, lp.Load(keys, (mid,))),
        lp.If((lp.Test("ge", poly(there.atom) - key),), [lp.Assign(b, lp.Index(mid))], [lp.Assign(a, lp.Index(mid + 1))]),
    ]
    out += [lp.Declare(a, lp.Const(0, I64)), lp.Declare(b, lp.Index(n)), lp.Forever(step)]
    return lo
