"""Loops in order that leave one running value: scans, and filters, whose running value is how many were kept.

    s = s0; for r in 0..n: ...; s := op(s, v(r)); ...       every tile of 8192 rounds (4096 of a filter) is done by a block, which must know s before it

One launch, and v is computed once (textbook: a scan by decoupled look-back). A block takes the number of its tile from a counter, so tiles before it have been begun:

    1. a warp has neighbouring rounds, 32 at a time: v, scanned by shuffles, kept by the threads
    2. what the tile amounts to is told; the first warp awaits the tiles before it among its 32; the last tile of 32 tells what these amount to, before it waits for more
    3. the first warp awaits the 32s before among its 32, and s before these 1024, and combines them in this order; the last tile of 1024 tells what s is after them
    4. the body of the loop, with s as it is before its round

Unlike the usual look-back nobody takes what happens to be ready: what is combined with what depends on n only, so the bits do too (docs/sources.md G3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.points import Single
from atoll.backends.cuda.reduce import combine, in_warp
from atoll.backends.cuda.threads import Names, neutral
from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64, U32

THREADS = 256
ROUNDS = 16  # of a thread
PLAIN = 2  # times as many, where rounds do nothing but go on
WARPS = THREADS // k.WARP

_MONOID = {op: name for name, (op, _) in MONOIDS.items()}


@dataclass(frozen=True, slots=True)
class Scan:
    """The running value, what a round adds to it, and the statements that this needs first."""

    loop: lp.For
    acc: lp.Acc
    before: list[lp.Stmt]
    value: lp.Expr

    @property
    def rounds(self) -> int:
        """Of a thread."""
        return ROUNDS if any(isinstance(s, lp.If) for s in self.loop.body) else ROUNDS * PLAIN

    @property
    def tile(self) -> int:
        return THREADS * self.rounds


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


def scan_kernels(lowering: Any, scan: Scan, start: dict[lp.Var, lp.Expr]) -> list[k.Statement]:
    """The launch of a scan. `start`: what the running value is before the loop, where that is not in a cell."""
    names: Names = lowering.names
    loop, var = scan.loop, scan.acc.var
    out: list[k.Statement] = []
    n = lowering.extent(loop.high - loop.low, out)
    tiles = names.var("tiles", I64, True)
    lowering.host.add(tiles)
    out.append(lp.Let(tiles, lp.Call("max", (lp.Index((n + (scan.tile - 1)) // scan.tile), lp.Const(1, I64)), I64)))
    made = _Tiles(lowering, scan, n, poly(tiles.atom), start.get(var))
    several = lp.If((lp.Test("ge", poly(tiles.atom) - 2),), [k.Clear(made.told)])  # type: ignore[list-item]
    out += [lp.Alloc(made.parts), lp.Alloc(made.told), several]
    out += lowering.launch("scan", [k.Region(tuple(made.code()))], THREADS, poly(tiles.atom), made.shared, sets=(var,), note=f"a scan, {scan.tile} rounds a block", own=(var,))
    return [*out, lp.Free(made.told), lp.Free(made.parts)]


class _Tiles:
    """The kernel of a scan."""

    def __init__(self, lowering: Any, scan: Scan, n: Poly, tiles: Poly, start: lp.Expr | None) -> None:
        names: Names = lowering.names
        self.names, self.scan, self.acc, self.n, self.tiles, self.each = names, scan, scan.acc, n, tiles, scan.rounds
        t = scan.acc.var.dtype
        self.cell, self.counter = lowering.cell(scan.acc.var), lowering.counter()
        self.start = start if start is not None else lp.Load(self.cell, ())
        self.groups = (tiles + (k.WARP - 1)) // k.WARP
        room = tiles + self.groups + (self.groups + (k.WARP - 1)) // k.WARP + 1
        self.parts = names.buffer(f"{scan.acc.var.name}_tiles", t, (room,), "temp", "what the tiles of a scan amount to")
        self.told = names.buffer("told", U32, (room,), "temp", "which tiles have said so")
        self.number = names.buffer("number", U32, (poly(1),), "shared")
        self.warps = names.buffer("warps", t, (poly(WARPS),), "shared")
        self.before = names.buffer("before", t, (poly(1),), "shared")
        self.shared = (self.number, self.warps, self.before)
        self.tile, self.kept = names.var("tile", I64, True), names.buffer("kept", t, (poly(self.each),), "temp")
        self.kept.local = True
        self.warp, self.lane = poly(k.THREAD) // k.WARP, poly(k.THREAD) % k.WARP

    def var(self, name: str) -> lp.Var:
        return self.names.var(name, self.acc.var.dtype)

    def round(self, e: Sym) -> Poly:
        """Which round a thread does: warps have neighbouring ones, 32 at a time."""
        return self.scan.tile * poly(self.tile.atom) + (k.WARP * self.each) * self.warp + k.WARP * poly(e) + self.lane

    def both(self, a: lp.Expr, b: lp.Expr) -> lp.Call:
        return combine(self.acc, a, b)

    def code(self) -> list[Any]:
        zero = lp.Test("eq", poly(k.THREAD))
        start, arrived, total = self.var("start"), self.names.var("arrived", U32), self.var("total")
        out: list[Any] = [lp.Declare(start, neutral(self.acc))]
        out.append(lp.If((zero,), [lp.Assign(start, self.start), k.Atomic(self.counter, (), "add", lp.Const(1, U32), arrived), lp.Store(self.number, (poly(0),), lp.Use(arrived))]))  # type: ignore[list-item]
        out += [k.Barrier(), lp.Let(self.tile, lp.Cast(lp.Load(self.number, (poly(0),)), I64)), lp.Alloc(self.kept), *self.values(), k.Barrier()]
        w = self.names.sym("w")
        adding: list[lp.Stmt] = [lp.Assign(total, self.both(lp.Use(total), lp.Load(self.warps, (poly(w),))))]
        out += [lp.Declare(total, neutral(self.acc)), lp.For(w, poly(0), poly(WARPS), adding, parallel=False, unroll=True)]
        out += [lp.If((lp.Test("eq", self.warp),), self.look_back(start, total)), k.Barrier()]
        return [*out, *self.rounds()]

    def values(self) -> list[Any]:
        """Scans of the parts of warps, kept; and what each amounts to."""
        carry, value, e, last = self.var("carry"), self.var("value"), self.names.sym("e"), self.var("last")
        body: list[Any] = [lp.Declare(value, lp.Load(self.kept, (poly(e),))), *warp_scan(self.names, self.acc, value)]
        body += [lp.Assign(value, self.both(lp.Use(carry), lp.Use(value))), lp.Store(self.kept, (poly(e),), lp.Use(value))]
        body += [k.Shuffle(last, lp.Use(value), poly(k.WARP - 1)), lp.Assign(carry, lp.Use(last))]
        out: list[Any] = [self.elements(), lp.Declare(carry, neutral(self.acc)), lp.For(e, poly(0), poly(self.each), body, parallel=False, unroll=True)]
        return [*out, lp.If((lp.Test("eq", self.lane),), [lp.Store(self.warps, (self.warp,), lp.Use(carry))])]

    def elements(self) -> lp.Stmt:
        """All of a thread's v, before anything is done with them, so that they are on their way at once; whether the tile is full is asked once."""
        e, value = self.names.sym("e"), self.var("value")
        made, known = _element(self.names, self.scan, self.round(e))
        start, store = lp.Declare(value, neutral(self.acc)), lp.Store(self.kept, (poly(e),), lp.Use(value))
        full = lp.For(e, poly(0), poly(self.each), [*made, lp.Store(self.kept, (poly(e),), known)], parallel=False, unroll=True)
        some: list[Any] = [start, lp.If((lp.Test("ge", self.n - 1 - self.round(e)),), [*made, lp.Assign(value, known)]), store]
        return lp.If((lp.Test("ge", self.n - self.scan.tile * (poly(self.tile.atom) + 1)),), [full], [lp.For(e, poly(0), poly(self.each), some, parallel=False, unroll=True)])

    def tell(self, place: Poly, value: lp.Expr) -> list[Any]:
        return [lp.Store(self.parts, (place,), value), k.Tell(self.told, (place,))]

    def awaited(self, among: Poly, first: Poly, name: str) -> tuple[lp.Var, list[Any]]:
        """What those before a number, among its 32, amount to; in lane 0."""
        value, begin = self.var(name), among - among % k.WARP
        place = first + begin + self.lane
        take: list[Any] = [k.Await(self.told, (place,)), lp.Assign(value, lp.Load(self.parts, (place,)))]
        return value, [lp.Declare(value, neutral(self.acc)), lp.If((lp.Test("ge", among % k.WARP - 1 - self.lane),), take), *in_warp(self.names, [self.acc], [value])]

    def look_back(self, start: lp.Var, total: lp.Var) -> list[Any]:
        """The first warp: what is before the tile; its first thread tells what others wait for."""
        tile, group, thousand = poly(self.tile.atom), self.names.var("group", I64, True), self.names.var("thousand", I64, True)
        zero = lp.Test("eq", poly(k.THREAD))
        out: list[Any] = [lp.If((zero,), self.tell(tile, lp.Use(total))), lp.Let(group, lp.Index(tile // k.WARP)), lp.Let(thousand, lp.Index(poly(group.atom) // k.WARP))]
        tiles, made = self.awaited(tile, poly(0), "tiles")
        groups, more = self.awaited(poly(group.atom), self.tiles, "groups")
        supers = self.tiles + self.groups + poly(thousand.atom)
        here, before = self.var("group"), self.var("before")
        told: list[Any] = [lp.Let(here, self.both(lp.Use(tiles), lp.Use(total)))]  # before anything else is awaited: else all groups would wait for each other
        told.append(lp.If((zero, lp.Test("eq", tile % k.WARP - (k.WARP - 1))), self.tell(self.tiles + poly(group.atom), lp.Use(here))))
        last: list[Any] = [lp.Declare(before, lp.Use(start))]
        last.append(lp.If((lp.Test("ge", poly(thousand.atom) - 1),), [k.Await(self.told, (supers,)), lp.Assign(before, lp.Load(self.parts, (supers,)))]))  # type: ignore[list-item]
        whole = self.both(lp.Use(before), self.both(lp.Use(groups), lp.Use(here)))
        last.append(lp.If((lp.Test("eq", tile % (k.WARP * k.WARP) - (k.WARP * k.WARP - 1)),), self.tell(supers + 1, whole)))
        last += [lp.Assign(before, self.both(self.both(lp.Use(before), lp.Use(groups)), lp.Use(tiles))), lp.Store(self.before, (poly(0),), lp.Use(before))]
        end: list[lp.Stmt] = [lp.Store(self.cell, (), self.both(lp.Use(before), lp.Use(total))), lp.Store(self.counter, (), lp.Const(0, U32))]
        last.append(lp.If((lp.Test("eq", tile - self.tiles + 1),), end))
        return [*out, *made, *told, *more, k.WarpBarrier(), lp.If((zero,), last)]

    def rounds(self) -> list[Any]:
        """The body of the loop at every round: before it s is what was kept of the round before."""
        loop, var = self.scan.loop, self.acc.var
        prefix, w, e = self.var("prefix"), self.names.sym("w"), self.names.sym("e")
        out: list[Any] = [lp.Declare(prefix, lp.Load(self.before, (poly(0),)))]
        earlier: list[lp.Stmt] = [lp.If((lp.Test("ge", self.warp - poly(w) - 1),), [lp.Assign(prefix, self.both(lp.Use(prefix), lp.Load(self.warps, (poly(w),))))])]
        out.append(lp.For(w, poly(0), poly(WARPS), earlier, parallel=False, unroll=True))
        kept, neighbour, last = self.var("value"), self.var("neighbour"), self.var("last")
        at = self.round(e)
        thread = Single(self.names, {loop.sym: loop.low + at}, at)
        here: list[lp.Stmt] = [lp.Assign(var, self.both(lp.Use(prefix), lp.Use(last)))]
        beside: list[lp.Stmt] = [lp.Assign(var, self.both(lp.Use(prefix), lp.Use(neighbour)))]
        body: list[Any] = [lp.Let(kept, lp.Load(self.kept, (poly(e),))), k.Shuffle(neighbour, lp.Use(kept), (self.lane + (k.WARP - 1)) % k.WARP), lp.Declare(var, lp.Use(prefix))]
        body.append(lp.If((lp.Test("ge", self.lane - 1),), beside, [lp.If((lp.Test("ge", poly(e) - 1),), here)]))
        work = thread.stmts(_stepping(self.scan, self.both(lp.Use(prefix), lp.Use(kept))))
        body += [lp.If((lp.Test("ge", self.n - 1 - at),), work), lp.Assign(last, lp.Use(neighbour))]  # type: ignore[arg-type]
        return [*out, lp.Declare(last, neutral(self.acc)), lp.For(e, poly(0), poly(self.each), body, parallel=False, unroll=True)]


def _stepping(scan: Scan, after: lp.Expr) -> list[lp.Stmt]:
    """The body of the loop, its step replaced by what s is after it, without what only the step needed; a count under a test stays as it is."""
    out: list[lp.Stmt] = []
    for s in reversed(scan.loop.body):
        if not isinstance(s, lp.Let) or any(s.var in set(lp.used_vars(x)) for x in out):
            out.insert(0, lp.Assign(scan.acc.var, after) if isinstance(s, lp.Assign) else s)
    return out


def _element(names: Names, scan: Scan, r: Poly) -> tuple[list[Any], lp.Expr]:
    """What makes v(r), and it."""
    thread = Single(names, {scan.loop.sym: scan.loop.low + r}, r)
    return thread.stmts(scan.before), thread.expr(scan.value)


def warp_scan(names: Names, acc: lp.Acc, running: lp.Var) -> list[k.Statement]:
    """running := what it is in all lanes up to this one together."""
    lane, out, distance = poly(k.THREAD) % k.WARP, list[k.Statement](), 1
    while distance < k.WARP:
        other = names.var("other", acc.var.dtype)
        out.append(k.Shuffle(other, lp.Use(running), (lane + (k.WARP - distance)) % k.WARP))
        out.append(lp.If((lp.Test("ge", lane - distance),), [lp.Assign(running, combine(acc, lp.Use(other), lp.Use(running)))]))
        distance *= 2
    return out


def block_scan(names: Names, acc: lp.Acc, value: lp.Var, carry: lp.Var, before: lp.Var, shared: lp.Buffer) -> list[k.Statement]:
    """before = carry and the values of all threads before this one; carry := the same with all threads. Between two barriers at least."""
    t = acc.var.dtype
    out: list[k.Statement] = []
    lane, warp = poly(k.THREAD) % k.WARP, poly(k.THREAD) // k.WARP
    running = names.var("running", t)
    out.append(lp.Declare(running, lp.Use(value)))
    out += warp_scan(names, acc, running)
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
