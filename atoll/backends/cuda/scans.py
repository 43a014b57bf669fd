"""Loops in order that leave one running value: scans, and filters, whose running value is how many were kept.

    s = s0; for r in 0..n: ...; s := op(s, v(r)); ...       every tile of 4096 rounds is done by a block, which must know s before it

    1. a block for every tile: what its v amount to
    2. one block: what is before every tile, and after the last
    3. a block for every tile: v again, a scan of 256 at a time, and the body of the loop with s as it is before its round

Within a warp by shuffles, warps one after the other; all in an order that depends on n only, so the bits do too (docs/sources.md G3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.points import Single
from atoll.backends.cuda.reduce import combine, in_block
from atoll.backends.cuda.threads import Names, neutral
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.sizes import Poly, poly
from atoll.types.dtypes import I64

THREADS = 256
ROUNDS = 16
TILE = THREADS * ROUNDS
WARPS = THREADS // k.WARP

_MONOID = {op: name for name, (op, _) in MONOIDS.items()}


@dataclass(frozen=True, slots=True)
class Scan:
    """The running value, what a round adds to it, and the statements that this needs first."""

    loop: lp.For
    acc: lp.Acc
    before: list[lp.Stmt]
    value: lp.Expr


def find_scan(loop: lp.For, reassociate: bool) -> Scan | None:
    """The scan that a loop in order is, if it is one."""
    inside = list(lp.walk(loop.body))
    if not all(isinstance(s, (lp.Let, lp.Assign, lp.Store, lp.If, lp.Note)) for s in inside):
        return None
    assigned = [s for s in inside if isinstance(s, lp.Assign)]
    if len(assigned) != 1 or not _own_places(loop, assigned[0].var):
        return None
    step, var = assigned[0], assigned[0].var
    if step in loop.body:
        place = loop.body.index(step)
        value = _added(step)
        if value is None or not (reassociate or var.dtype.is_integer):
            return None
        before: list[lp.Stmt] = [s for s in loop.body[:place] if isinstance(s, lp.Let) and var not in set(lp.used_vars(s))]
        if var in set(lp.used_vars(value[1])) or not _known(value[1], before, inside):
            return None
        return Scan(loop, lp.Acc(var, value[0]), before, value[1])
    place = next((n for n, s in enumerate(loop.body) if isinstance(s, lp.If)), -1)
    first: list[lp.Stmt]
    choice = loop.body[place]
    if place < 0 or not isinstance(choice, lp.If) or choice.orelse or step not in choice.then or not var.dtype.is_integer:
        return None
    if step.value != lp.Index(poly(var.atom) + 1) and not _is_one_more(step):
        return None
    first = [s for s in loop.body[:place] if isinstance(s, lp.Let) and var not in set(lp.used_vars(s))]
    if var in set(lp.used_vars(choice.tests)) or not _known(choice.tests, first, inside):
        return None
    one, none = lp.Const(1, var.dtype), lp.Const(0, var.dtype)
    return Scan(loop, lp.Acc(var, "add"), first, lp.Choose(choice.tests, one, none))


def _known(x: Any, before: list[lp.Stmt], inside: list[lp.Stmt]) -> bool:
    """Made of what is declared before it."""
    made = {s.var for s in inside if isinstance(s, lp.Let)}
    there = {s.var for s in before if isinstance(s, lp.Let)}
    needs = [x, *before]
    return all(v not in made or v in there for y in needs for v in lp.used_vars(y))


def _is_one_more(step: lp.Assign) -> bool:
    value = step.value
    return isinstance(value, lp.Call) and value.op == "add" and value.args[0] == lp.Use(step.var) and isinstance(value.args[1], lp.Const) and value.args[1].value == 1


def _added(step: lp.Assign) -> tuple[str, lp.Expr] | None:
    """monoid and v of s := op(s, v)."""
    value = step.value
    if isinstance(value, lp.Call) and value.op in _MONOID and len(value.args) == 2 and value.args[0] == lp.Use(step.var):
        return _MONOID[value.op], value.args[1]
    if isinstance(value, lp.Index):
        rest = value.poly - poly(step.var.atom)
        if step.var.atom not in rest.leaves():
            return "add", lp.Index(rest)
    return None


def _own_places(loop: lp.For, var: lp.Var) -> bool:
    """What a round stores is in places of its own, at its index or where the running value is, and is not read by others."""
    read = loads(loop.body)
    for s in lp.walk(loop.body):
        if isinstance(s, lp.Store):
            axis = next((a for a, q in enumerate(s.index) if q.single() in (loop.sym, var.atom)), None)
            if axis is None or any(x.buffer is s.buffer for x in read):
                return False
            if s.index[axis].single() is var.atom and not _once(loop, s):
                return False
    return True


def _once(loop: lp.For, store: lp.Store) -> bool:
    """The running value goes on in the same branch, so no other round has the same place."""
    for body in [loop.body, *(b for s in lp.walk(loop.body) for b in lp.bodies(s))]:
        if store in body:
            return any(isinstance(s, lp.Assign) for s in body)
    return False


def scan_kernels(lowering: Any, scan: Scan) -> list[k.Statement]:
    """The launches of a scan."""
    names: Names = lowering.names
    loop, acc, var = scan.loop, scan.acc, scan.acc.var
    out: list[k.Statement] = []
    n = lowering.extent(loop.high - loop.low, out)
    tiles = names.var("tiles", I64, True)
    lowering.host.add(tiles)
    out.append(lp.Let(tiles, lp.Index((n + (TILE - 1)) // TILE)))
    count = poly(tiles.atom)
    parts = names.buffer(f"{var.name}_tiles", var.dtype, (count,), "temp", "what the tiles of a scan amount to")
    cell = lowering.cell(var)
    out.append(lp.Alloc(parts))
    for what, (body, shared), grid in (("sums", _sums(names, scan, n, parts), count), ("carry", _carry(names, acc, count, parts, cell), poly(1)), ("scan", _tiles(names, scan, n, parts), count)):
        note = {"sums": "what every tile of a scan amounts to", "carry": "what is before every tile", "scan": "a scan, 4096 rounds a block"}[what]
        out += lowering.launch(what, [k.Region(tuple(body))], THREADS, grid, tuple(shared), sets=(var,) if what == "carry" else (), note=note, own=(var,))
    return [*out, lp.Free(parts)]


def _element(names: Names, scan: Scan, r: Poly, into: lp.Var, n: Poly) -> list[k.Statement]:
    """into := v(r) where there is such a round, else nothing."""
    thread = Single(names, {scan.loop.sym: scan.loop.low + r}, r)
    made: list[Any] = [*thread.stmts(scan.before), lp.Assign(into, thread.expr(scan.value))]
    return [lp.Declare(into, neutral(scan.acc)), lp.If((lp.Test("ge", n - 1 - r),), made)]


def _sums(names: Names, scan: Scan, n: Poly, parts: lp.Buffer) -> tuple[list[k.Statement], list[lp.Buffer]]:
    acc = scan.acc
    total, value, e = names.var("total", acc.var.dtype), names.var("value", acc.var.dtype), names.sym("e")
    shared = [names.buffer("warps", acc.var.dtype, (poly(WARPS),), "shared")]
    r = TILE * poly(k.BLOCK) + THREADS * poly(e) + poly(k.THREAD)
    body: list[Any] = [*_element(names, scan, r, value, n), lp.Assign(total, combine(acc, lp.Use(total), lp.Use(value)))]
    out: list[k.Statement] = [lp.Declare(total, neutral(acc)), lp.For(e, poly(0), poly(ROUNDS), body, parallel=False)]
    out += in_block(names, [acc], [total], THREADS, shared)
    out.append(lp.If((lp.Test("eq", poly(k.THREAD)),), [lp.Store(parts, (poly(k.BLOCK),), lp.Use(total))]))
    return out, shared


def block_scan(names: Names, acc: lp.Acc, value: lp.Var, carry: lp.Var, before: lp.Var, shared: lp.Buffer) -> list[k.Statement]:
    """before = carry and the values of all threads before this one; carry := the same with all threads. Between two barriers at least."""
    t = acc.var.dtype
    out: list[k.Statement] = []
    lane, warp = poly(k.THREAD) % k.WARP, poly(k.THREAD) // k.WARP
    running = names.var("running", t)
    out.append(lp.Declare(running, lp.Use(value)))
    distance = 1
    while distance < k.WARP:
        other = names.var("other", t)
        out.append(k.Shuffle(other, lp.Use(running), (lane + (k.WARP - distance)) % k.WARP))
        out.append(lp.If((lp.Test("ge", lane - distance),), [lp.Assign(running, combine(acc, lp.Use(other), lp.Use(running)))]))
        distance *= 2
    earlier = names.var("earlier", t)
    out.append(k.Shuffle(earlier, lp.Use(running), (lane + (k.WARP - 1)) % k.WARP))
    out.append(lp.If((lp.Test("eq", lane - (k.WARP - 1)),), [lp.Store(shared, (warp,), lp.Use(running))]))
    out.append(k.Barrier())
    w = names.sym("w")
    out.append(lp.Declare(before, lp.Use(carry)))
    take: list[lp.Stmt] = [
        lp.If((lp.Test("ge", warp - poly(w) - 1),), [lp.Assign(before, combine(acc, lp.Use(before), lp.Load(shared, (poly(w),))))]),
        lp.Assign(carry, combine(acc, lp.Use(carry), lp.Load(shared, (poly(w),)))),
    ]
    out.append(lp.For(w, poly(0), poly(WARPS), take, parallel=False, unroll=True))
    out.append(lp.If((lp.Test("ge", lane - 1),), [lp.Assign(before, combine(acc, lp.Use(before), lp.Use(earlier)))]))
    out.append(k.Barrier())
    return out


def _carry(names: Names, acc: lp.Acc, count: Poly, parts: lp.Buffer, cell: lp.Buffer) -> tuple[list[k.Statement], list[lp.Buffer]]:
    t = acc.var.dtype
    value, carry, before = (names.var(x, t) for x in ("value", "carry", "before"))
    shared = names.buffer("warps", t, (poly(WARPS),), "shared")
    step = names.sym("step")
    at = THREADS * poly(step) + poly(k.THREAD)
    there = (lp.Test("ge", count - 1 - at),)
    body: list[Any] = [lp.Declare(value, neutral(acc)), lp.If(there, [lp.Assign(value, lp.Load(parts, (at,)))])]
    body += block_scan(names, acc, value, carry, before, shared)
    body.append(lp.If(there, [lp.Store(parts, (at,), lp.Use(before))]))
    out: list[k.Statement] = [lp.Declare(carry, lp.Load(cell, ())), k.Barrier()]
    out.append(lp.For(step, poly(0), (count + (THREADS - 1)) // THREADS, body, parallel=False))
    out.append(lp.If((lp.Test("eq", poly(k.THREAD)),), [lp.Store(cell, (), lp.Use(carry))]))
    return out, [shared]


def _tiles(names: Names, scan: Scan, n: Poly, parts: lp.Buffer) -> tuple[list[k.Statement], list[lp.Buffer]]:
    loop, acc = scan.loop, scan.acc
    t = acc.var.dtype
    value, carry, before = (names.var(x, t) for x in ("value", "carry", "before"))
    shared = names.buffer("warps", t, (poly(WARPS),), "shared")
    e = names.sym("e")
    r = TILE * poly(k.BLOCK) + THREADS * poly(e) + poly(k.THREAD)
    body: list[Any] = [*_element(names, scan, r, value, n), *block_scan(names, acc, value, carry, before, shared)]
    thread = Single(names, {loop.sym: loop.low + r}, r)
    work: list[Any] = [lp.Declare(acc.var, lp.Use(before)), *thread.stmts(loop.body)]
    body.append(lp.If((lp.Test("ge", n - 1 - r),), work))
    return [lp.Declare(carry, lp.Load(parts, (poly(k.BLOCK),))), lp.For(e, poly(0), poly(ROUNDS), body, parallel=False)], [shared]
