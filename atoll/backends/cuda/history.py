"""Loops in order whose rounds combine something of all rounds before them: solving by substitution, renewal and integral equations, longest chains.

    for i in 0..n: accumulate s over r in 0..i: s += v(i, r, x[r]); x[i] = e(i, s)

One launch. A block has 32 rounds, of a number it takes from a counter, so blocks of earlier rounds have begun:

    1. for every 32 rounds before, in their order: awaits them; a warp has four rounds, its lanes 32 of the x, and every lane adds up what it meets; then lanes in a tree
    2. the first warp, a lane for every round: 32 times the next x is known, and later lanes add what it gives
    3. the 32 x are stored and told

What 1 and 2 read of other arrays is asked for before they wait, so that it is there when they need it: for 2 it lies in shared memory.

What is added to what depends on n only, so the bits do too. Where rounds were kernels each waited for the one before, which takes microseconds; here 32 do (docs/sources.md G3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.jam import Renaming
from atoll.backends.cuda.points import Single
from atoll.backends.cuda.reduce import in_warp, renamed
from atoll.backends.cuda.threads import Names, neutral
from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64, U32

THREADS = 256
WARPS = THREADS // k.WARP
EACH = k.WARP // WARPS  # rounds of a warp
_FIRST = (lp.Let, lp.Declare, lp.Assign, lp.If, lp.Note)
_IN_SUM = (lp.Let, lp.Declare, lp.Assign, lp.Add, lp.If, lp.Note)


@dataclass(frozen=True, slots=True)
class History:
    """`first` is made in every round; `body` is a round of the sum, at `past`; `rest` is made of it before the store."""

    loop: lp.For
    first: list[lp.Stmt]
    past: Sym
    body: list[lp.Stmt]
    accs: list[lp.Acc]
    rest: list[lp.Stmt]
    store: lp.Store


def find_history(loop: lp.For) -> History | None:
    """The sums over earlier rounds that a loop in order is, if it is no more than that."""
    whole: list[lp.Stmt] = [s for s in loop.body if not isinstance(s, lp.Note)]
    at = next((n for n, s in enumerate(whole) if isinstance(s, (lp.Chunks, lp.Accumulate))), None)
    if loop.parallel or loop.low != poly(0) or at is None or not isinstance(store := whole[-1], lp.Store):
        return None
    found = _sum(whole[at], poly(loop.sym))
    first, rest = whole[:at], whole[at + 1 : -1]
    if found is None or not all(isinstance(s, lp.Let) for s in rest):
        return None
    past, body, accs = _by_rounds(loop, store, *found)
    sums = {a.var for a in accs}
    lets: list[lp.Stmt] = [s for s in first if not (isinstance(s, lp.Declare) and s.var in sums)]
    inside = list(lp.walk(body))
    made = {s.var for s in inside if isinstance(s, (lp.Let, lp.Declare))}
    before = {s.var for s in lets if isinstance(s, (lp.Let, lp.Declare))}
    plain = all(isinstance(s, _FIRST) for s in lp.walk(lets)) and all(isinstance(s, _IN_SUM) for s in inside)
    own = all(s.var in before for s in lp.walk(lets) if isinstance(s, lp.Assign)) and all(s.var in made for s in inside if isinstance(s, lp.Assign)) and all(s.var in made | sums for s in inside if isinstance(s, lp.Add))
    numbers = all(t.is_float or (t.is_integer and t.bits >= 32) for t in (*(v.dtype for v in sums), store.buffer.dtype))
    if not (plain and own and numbers and _reads_the_past(loop, lets, body, rest, store, past)) or any(_may_trap(x) for x in (*rest, store)) or _looks_up(rest, store, sums):
        return None
    return History(loop, lets, past, body, accs, rest, store)


def _sum(s: lp.Stmt, rounds: Poly) -> tuple[Sym, list[lp.Stmt], list[lp.Acc]] | None:
    """Index, round and sums of what goes through all earlier rounds; pieces are put together."""
    if isinstance(s, lp.Accumulate):
        return (s.sym, list(s.body), list(s.accs)) if s.low == poly(0) and s.high == rounds and not s.exact else None
    if not isinstance(s, lp.Chunks) or s.extent != rounds or s.buffers:
        return None
    inner = s.body[0] if s.body else None
    if not isinstance(inner, lp.Accumulate) or inner.exact or (inner.low, inner.high) != (poly(s.low), poly(s.high)):
        return None
    into = {x.value.var: (x.var, x.monoid) for x in s.body[1:] if isinstance(x, lp.Add) and isinstance(x.value, lp.Use)}
    if len(into) != len(s.body) - 1 or any(into.get(a.var, (None, ""))[1] != a.monoid for a in inner.accs) or len(into) != len(inner.accs):
        return None
    if {v for v, _ in into.values()} != {a.var for a in s.accs}:
        return None
    return inner.sym, renamed(inner.body, {v: to for v, (to, _) in into.items()}), [lp.Acc(into[a.var][0], a.monoid) for a in inner.accs]


def _by_rounds(loop: lp.For, store: lp.Store, past: Sym, body: list[lp.Stmt], accs: list[lp.Acc]) -> tuple[Sym, list[lp.Stmt], list[lp.Acc]]:
    """The sum through rounds from the first on, where it goes back from the last."""
    back = poly(loop.sym) - 1 - poly(past)
    axis = _axis(loop, store)
    read = [x for x in loads(body) if x.buffer is store.buffer]
    if axis is None or not read or any(x.index[axis] != store.index[axis].subst({loop.sym: back}) for x in read):
        return past, body, accs
    return past, Copier({past: back}).stmts(body), accs


def _axis(loop: lp.For, store: lp.Store) -> int | None:
    """Along which rounds store one after the other, forwards or backwards."""
    return next((a for a, q in enumerate(store.index) if loop.sym in q.leaves() and q.slope(loop.sym) in (poly(1), poly(-1))), None)


def _reads_the_past(loop: lp.For, lets: list[lp.Stmt], body: list[lp.Stmt], rest: list[lp.Stmt], store: lp.Store, past: Sym) -> bool:
    """A round stores at its index, and reads of what the loop stores that of the round `past`, in the sum only."""
    x = store.buffer
    axis = _axis(loop, store)
    if axis is None or any(load.buffer is x for load in loads([*lets, *rest, store])):
        return False
    varies: set[Any] = {loop.sym, past, *(s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare)))}
    if any(varies & (q.leaves() - ({loop.sym} if a == axis else set())) for a, q in enumerate(store.index)):
        return False
    wanted = tuple(q.subst({loop.sym: poly(past)}) for q in store.index)
    return all(load.index == wanted for load in loads(body) if load.buffer is x)


def _may_trap(s: lp.Stmt) -> bool:
    """Divisions of whole numbers: what follows the sum is tried before the sum is whole."""
    value = s.value if isinstance(s, (lp.Let, lp.Store)) else None
    calls = [e for e in lp.subexprs(value) if isinstance(e, lp.Call)] if value is not None else []
    return any(c.op in ("floordiv", "mod", "div") and not c.dtype.is_float for c in calls)


def _looks_up(rest: list[lp.Stmt], store: lp.Store, sums: set[lp.Var]) -> bool:
    """A place to read is made of the sum, which may be any place before it is whole."""
    made: set[Any] = {v.atom for v in sums} | {s.var.atom for s in rest if isinstance(s, lp.Let)}
    return any(made & q.leaves() for x in loads([*rest, store]) for q in x.index)


class _Known(Renaming):
    """A round whose elements are known already, some of them: what stands for them."""

    def __init__(self, names: Names, of: Renaming, known: dict[lp.Expr, lp.Expr]) -> None:
        super().__init__(names, of.env)
        self.vars, self.known = dict(of.vars), known

    def expr(self, e: lp.Expr) -> lp.Expr:
        return self.known[e] if e in self.known else super().expr(e)


def _surely(stmts: Sequence[lp.Stmt], syms: set[Any]) -> list[lp.Load]:
    """What a round reads whatever data are, at places made of these indices and sizes."""
    found: list[lp.Load] = []

    def go(e: lp.Expr) -> None:
        match e:
            case lp.Load(_, index) if all(isinstance(a, Sym) for q in index for a in q.leaves()) and any(syms & q.leaves() for q in index):
                found.append(e)
            case lp.Call(op, args) if op != "select":
                for x in args:
                    go(x)
            case lp.Cast(arg):
                go(arg)

    for s in stmts:
        if isinstance(s, (lp.Let, lp.Add, lp.Store)) and s.value is not None:
            go(s.value)
    return list(dict.fromkeys(found))


def history_kernel(lowering: Any, h: History) -> list[k.Statement]:
    """The launch."""
    names: Names = lowering.names
    out: list[k.Statement] = []
    n = lowering.extent(h.loop.high, out)
    tiles = names.var("tiles", I64, True)
    lowering.host.add(tiles)
    many = poly(tiles.atom)
    told = names.buffer("told", U32, (many,), "temp", "which rounds are done, 32 at a time")
    made = _Tiles(lowering, h, n, many, told)
    several = lp.If((lp.Test("ge", many - 2),), [k.Clear(told)])  # type: ignore[list-item]
    out += [lp.Let(tiles, lp.Index((n + (k.WARP - 1)) // k.WARP)), lp.Alloc(told), several]
    out += lowering.launch("history", [k.Region(tuple(made.code()))], THREADS, many, (made.number, *made.sums, *made.near.values()), note="rounds that need all before them, 32 a block")
    return [*out, lp.Free(told)]


ROOM = 3  # elements of a round that lie in shared memory: 8 KB each


class _Tiles:
    """The kernel."""

    def __init__(self, lowering: Any, h: History, n: Poly, tiles: Poly, told: lp.Buffer) -> None:
        self.names: Names = lowering.names
        self.h, self.n, self.tiles, self.told, self.counter = h, n, tiles, told, lowering.counter()
        self.number = self.names.buffer("number", U32, (poly(1),), "shared")
        self.sums = [self.names.buffer("sums", a.var.dtype, (poly(k.WARP),), "shared") for a in h.accs]
        self.tile = self.names.var("tile", I64, True)
        others = [x for x in _surely(h.body, {h.loop.sym, h.past}) if x.buffer is not h.store.buffer]
        self.ahead = others[:ROOM]
        self.near = {x: self.names.buffer("near", x.dtype, (poly(k.WARP), poly(k.WARP + 1)), "shared") for x in self.ahead}
        self.warp, self.lane = poly(k.THREAD) // k.WARP, poly(k.THREAD) % k.WARP

    def code(self) -> list[Any]:
        zero, arrived = lp.Test("eq", poly(k.THREAD)), self.names.var("arrived", U32)
        take: list[Any] = [k.Atomic(self.counter, (), "add", lp.Const(1, U32), arrived), lp.Store(self.number, (poly(0),), lp.Use(arrived))]
        last = lp.If((zero, lp.Test("eq", poly(self.tile.atom) + 1 - self.tiles)), [lp.Store(self.counter, (), lp.Const(0, U32))])
        out: list[Any] = [lp.If((zero,), take), k.Barrier(), lp.Let(self.tile, lp.Cast(lp.Load(self.number, (poly(0),)), I64)), last]
        tell = lp.If((zero,), [k.Tell(self.told, (poly(self.tile.atom),))])  # type: ignore[list-item]
        begin, own = self.own()
        return [*out, *begin, *self.earlier(), k.Barrier(), lp.If((lp.Test("eq", self.warp),), own), k.Barrier(), tell]

    def at(self, place: Poly) -> tuple[Renaming, list[Any]]:
        """A round of the tile, the last of all where there are no more, with what it makes first."""
        i = self.names.var(self.h.loop.sym.name, I64, True)
        here = Renaming(self.names, {self.h.loop.sym: poly(i.atom)})
        begin = lp.Let(i, lp.Call("min", (lp.Index(k.WARP * poly(self.tile.atom) + place), lp.Index(self.n - 1)), I64))
        return here, [begin, *self.thread(here.stmts(self.h.first))]

    def thread(self, stmts: list[lp.Stmt]) -> list[Any]:
        return Single(self.names, {}, poly(self.tile.atom)).stmts(stmts)

    def earlier(self) -> list[Any]:
        """What rounds of earlier tiles give to those of this one."""
        c, r = self.names.sym("c"), self.names.var(self.h.past.name, I64, True)
        out: list[Any] = []
        asked: list[Any] = [lp.Let(r, lp.Index(k.WARP * poly(c) + self.lane))]
        body: list[Any] = [k.Await(self.told, (poly(c),))]
        end: list[Any] = []
        for q in range(EACH):
            here, first = self.at(EACH * self.warp + q)
            mine = [lp.Acc(here.var(a.var), a.monoid) for a in self.h.accs]
            out += [*first, *(lp.Declare(a.var, neutral(a)) for a in mine), *self.bring(here, EACH * self.warp + q)]
            here.env[self.h.past] = poly(r.atom)
            known = {x: self.names.var("ahead", x.dtype) for x in self.ahead}
            asked += [lp.Let(v, here.expr(x)) for x, v in known.items()]
            body += self.thread(_Known(self.names, here, {x: lp.Use(v) for x, v in known.items()}).stmts(self.h.body))
            end += in_warp(self.names, mine, [a.var for a in mine])
            kept: list[lp.Stmt] = [lp.Store(b, (EACH * self.warp + q,), lp.Use(a.var)) for a, b in zip(mine, self.sums, strict=True)]
            end.append(lp.If((lp.Test("eq", self.lane),), kept))
        return [*out, lp.For(c, poly(0), poly(self.tile.atom), [*asked, *body], parallel=False), *end]

    def bring(self, here: Renaming, row: Poly) -> list[Any]:
        """What a round reads with those before it in the tile, to shared memory: a lane for each."""
        past = k.WARP * poly(self.tile.atom) + self.lane
        there = (lp.Test("ge", row - self.lane - 1), lp.Test("ge", self.n - 1 - k.WARP * poly(self.tile.atom) - row))
        saved, here.env = here.env, {**here.env, self.h.past: past}
        stored: list[lp.Stmt] = [lp.Store(b, (row, self.lane), here.expr(x)) for x, b in self.near.items()]
        here.env = saved
        return [lp.If(there, stored)] if stored else []

    def own(self) -> tuple[list[Any], list[Any]]:
        """The rounds of the tile, a lane for each: what is asked for first, and what the first warp does."""
        names, h = self.names, self.h
        here, begin = self.at(self.lane)
        given = {x: names.var("given", x.dtype) for x in _surely([*h.rest, h.store], {h.loop.sym}) if x.buffer is not h.store.buffer}
        begin += [lp.Let(v, here.expr(x)) for x, v in given.items()]
        out: list[Any] = []
        mine = [lp.Acc(here.var(a.var), a.monoid) for a in h.accs]
        x, count, step = names.var("own", h.store.buffer.dtype), names.var("count", I64, True), names.sym("s")
        left = self.n - k.WARP * poly(self.tile.atom)
        out += [lp.Declare(a.var, lp.Load(b, (self.lane,))) for a, b in zip(mine, self.sums, strict=True)]
        out += [lp.Declare(x, lp.Const(0.0 if x.dtype.is_float else 0, x.dtype)), lp.Let(count, lp.Call("min", (lp.Const(k.WARP, I64), lp.Index(left)), I64))]
        value, next_ = names.var("value", x.dtype), names.var("next", x.dtype)
        tried = _Known(names, here, {x: lp.Use(v) for x, v in given.items()})
        body: list[Any] = [*self.thread(tried.stmts(h.rest)), lp.Let(value, tried.expr(h.store.value)), k.Shuffle(next_, lp.Use(value), poly(step))]
        body.append(lp.If((lp.Test("eq", self.lane - poly(step)),), [lp.Assign(x, lp.Use(next_))]))
        standing: dict[lp.Expr, lp.Expr] = {x: lp.Use(next_) for x in loads(h.body) if x.buffer is h.store.buffer}
        standing |= {x: lp.Load(b, (self.lane, poly(step))) for x, b in self.near.items()}
        known = _Known(names, here, standing)
        known.env[h.past] = k.WARP * poly(self.tile.atom) + poly(step)
        later = (lp.Test("ge", self.lane - poly(step) - 1), lp.Test("ge", poly(count.atom) - 1 - self.lane))
        body.append(lp.If(later, self.thread(known.stmts(h.body))))
        out.append(lp.For(step, poly(0), poly(count.atom), body, parallel=False, unroll=True))
        stored = lp.Store(h.store.buffer, here.index(h.store.index), lp.Use(x))
        return begin, [*out, lp.If((lp.Test("ge", poly(count.atom) - 1 - self.lane),), [stored]), k.Fence()]
