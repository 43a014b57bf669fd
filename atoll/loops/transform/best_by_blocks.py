"""The first place of the best value, by blocks: the best of every block and the first block that has it, then the place in that block.

    for in order r in 0..n:  if v(r) better than best:  best = v(r); at = r
becomes, from so many rounds on,
    for every block of 4096:  m = min or max of the block;  if m better than best: best = m; start = its first
    forever, while no element of start..start+256 is best: start += 256;   then the least place in 256

    best_search(loop, before, after)     the search, where the loop is one and stands between these statements
    by_blocks(search, sizes, alone)      the statements above; `alone`: blocks may be shared by threads

Right where the search begins with nothing found (the worst value, place 0), a NaN is better than any number, which values are looked at does not depend on the search, and nobody
reads the best value itself afterwards. The first block whose best
is better than that of all before it, and than no later one, has the first element that is best; elements before it in the block are none. Minimums and maximums may be taken in any
order, which of two zeros they are is not seen: they are equal. Where the best is a NaN, the first NaN is looked for. Only of values read from memory, as those of one block are read twice.

Few elements are compared one by one; floats plainly (a NaN is better than nothing), and as before when there was a NaN among them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.questions import begins_as
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.pieces import pieces
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.regroup import neutral
from atoll.loops.transform.split import begun, block_end
from atoll.sizes import Sym, poly
from atoll.types.dtypes import BOOL, I32, I64


@dataclass(frozen=True, slots=True)
class Search:
    """lets, the last of which is value;  if value is better than best:  best = value; at = the round"""

    loop: lp.For
    lets: list[lp.Let]
    value: lp.Var
    best: lp.Var
    at: lp.Var
    way: str  # minimum or maximum


@dataclass(frozen=True, slots=True)
class Sizes:
    """Elements: that are looked at one by one, of a block, from which on blocks are shared by threads, among which the best is looked for."""

    short: int
    block: int
    shared: int
    found: int


def best_search(loop: lp.For, before: lp.Stmts, after: lp.Stmts) -> Search | Refused:
    """`before` and `after`: what stands around the loop in its block."""
    search = _search(loop)
    if isinstance(search, Refused):
        return search
    if not begins_as(search.best, neutral(search.way, search.value.dtype), before) or not begins_as(search.at, lp.Const(0, I64), before):
        return Refused("it goes on from what was found before")
    return Refused("the best itself is read") if search.best in set(lp.used_vars(after)) else search


def _search(loop: lp.For) -> Search | Refused:
    lets, choice = [s for s in loop.body[:-1] if isinstance(s, lp.Let)], loop.body[-1] if loop.body else None
    if loop.parallel or loop.low.const() != 0 or len(lets) != len(loop.body) - 1:
        return Refused("it does not look at values from the first to the last")
    if not isinstance(choice, lp.If) or choice.orelse or len(choice.tests) != 1 or len(choice.then) != 2:
        return Refused("it is no search for the best")
    first, second = choice.then
    if not (isinstance(first, lp.Assign) and isinstance(second, lp.Assign) and isinstance(first.value, lp.Use) and second.value == lp.Index(poly(loop.sym))):
        return Refused("it is no search for the best")
    value, best, at = first.value.var, first.var, second.var
    way = _way(choice.tests[0], value, best)
    if way is None or value.dtype is BOOL or not lets or lets[-1].var is not value:
        return Refused("it is not known what is better")
    if not all(isinstance(s.value, lp.Load) for s in lets):
        return Refused("values are computed, which would be done twice")
    if not {best, at}.isdisjoint(lp.used_vars(lets)):
        return Refused("which values it looks at depends on what was found before")
    return Search(loop, lets, value, best, at, way)


def by_blocks(search: Search, sizes: Sizes, alone: bool) -> lp.Stmts:
    assert sizes.short >= 1  # there is a best
    loop, value = search.loop, search.value
    total, start = fresh_like("best", value.dtype), fresh_like("start", I64)
    tops = _in_turn(search, sizes, total, start)
    if alone:
        tops = [lp.If((lp.Test("ge", loop.high - sizes.shared),), _shared(search, sizes, total, start), tops)]
    look = _first(search, sizes, start, lambda v: lp.Call("eq", (lp.Use(v), lp.Use(total)), BOOL))
    if value.dtype.is_float:
        number = lp.Test("true", None, lp.Call("eq", (lp.Use(total), lp.Use(total)), BOOL))
        look = [lp.If((number,), look, _first(search, sizes, start, _is_nan))]
    out: list[lp.Stmt] = [lp.Declare(total, neutral(search.way, value.dtype)), lp.Declare(start, lp.Const(0, I64)), *tops, *look]
    found = [*out, lp.Assign(search.at, lp.Index(poly(start.atom)))]
    return [lp.If((lp.Test("ge", loop.high - sizes.short),), found, _one_by_one(search))]


def _is_nan(v: lp.Var) -> lp.Expr:
    return lp.Call("ne", (lp.Use(v), lp.Use(v)), BOOL)


def _block(search: Search, sizes: Sizes, begin: lp.Var, top: lp.Var) -> list[lp.Stmt]:
    """top, the best of the block that begins there."""
    sym = Sym(search.loop.sym.name)
    until, end = block_end("end", poly(begin.atom), sizes.block, search.loop.high)
    copier = Copier({search.loop.sym: poly(sym)})
    body = copier.stmts(search.lets)
    body.append(lp.Add(top, search.way, lp.Use(copier.vars[search.value])))
    return [until, lp.Accumulate(sym, poly(begin.atom), end, body, [lp.Acc(top, search.way)])]


def _take(way: str, top: lp.Var, begin: lp.Var, total: lp.Var, start: lp.Var) -> lp.Stmt:
    """The best so far, and the block it is in."""
    better: lp.Expr = lp.Call("lt" if way == "minimum" else "gt", (lp.Use(top), lp.Use(total)), BOOL)
    if top.dtype.is_float:
        nan, had = (lp.Call("ne", (lp.Use(x), lp.Use(x)), BOOL) for x in (top, total))
        better = lp.Call("or", (better, lp.Call("and", (nan, lp.Call("not", (had,), BOOL)), BOOL)), BOOL)
    return lp.If((lp.Test("true", None, better),), [lp.Assign(total, lp.Use(top)), lp.Assign(start, lp.Use(begin))])


def _in_turn(search: Search, sizes: Sizes, total: lp.Var, start: lp.Var) -> list[lp.Stmt]:
    begin, top = fresh_like("begin", I64), fresh_like("top", search.value.dtype)
    more = lp.BreakUnless((lp.Test("ge", search.loop.high - poly(begin.atom) - 1),))
    step = lp.Assign(begin, lp.Index(poly(begin.atom) + sizes.block))
    return [lp.Declare(begin, lp.Const(0, I64)), lp.Forever([more, *_block(search, sizes, begin, top), _take(search.way, top, begin, total, start), step])]


def _shared(search: Search, sizes: Sizes, total: lp.Var, start: lp.Var) -> list[lp.Stmt]:
    """The best of every block by all threads, then the best of these."""
    blocks = begun(search.loop.high, sizes.block)
    begin, top, b = fresh_like("begin", I64), fresh_like("top", search.value.dtype), Sym("block")
    tops = lp.Buffer(f"{top.name}_all", search.value.dtype, (blocks,), "temp", "the best of every block")
    each: list[lp.Stmt] = [lp.Let(begin, lp.Index(poly(b) * sizes.block)), *_block(search, sizes, begin, top), lp.Store(tops, (poly(b),), lp.Use(top))]
    of = Sym("block")
    begin, top = fresh_like("begin", I64), fresh_like("top", search.value.dtype)
    among: list[lp.Stmt] = [lp.Let(begin, lp.Index(poly(of) * sizes.block)), lp.Let(top, lp.Load(tops, (poly(of),))), _take(search.way, top, begin, total, start)]
    return [
        lp.Alloc(tops),
        pieces(lp.For(b, poly(0), blocks, each, True), poly(2 * sizes.block)),
        lp.For(of, poly(0), blocks, among, False),
        lp.Free(tops),
    ]


def _first(search: Search, sizes: Sizes, start: lp.Var, holds: Callable[[lp.Var], lp.Expr]) -> list[lp.Stmt]:
    """start, moved to the first element for which it holds; there is one."""
    loop, value, here = search.loop, search.value, poly(start.atom)
    kind = I32 if value.dtype.size <= 4 else I64

    def elements(sym: Sym) -> tuple[list[lp.Stmt], tuple[lp.Test, ...]]:
        copier = Copier({loop.sym: poly(sym)})
        read = copier.stmts(search.lets)
        return read, (lp.Test("true", None, holds(copier.vars[value])),)

    hit, scan = fresh_like("hit", kind), Sym(loop.sym.name)
    read, test = elements(scan)
    blocks: list[lp.Stmt] = [
        lp.BreakUnless((lp.Test("ge", loop.high - here - sizes.found),)),
        lp.Accumulate(scan, here, here + sizes.found, [*read, lp.Add(hit, "or", lp.Choose(test, lp.Const(1, kind), lp.Const(0, kind)))], [lp.Acc(hit, "or")]),
        lp.BreakUnless((lp.Test("eq", poly(hit.atom)),)),
        lp.Assign(start, lp.Index(here + sizes.found)),
    ]
    nearest, end, scan = fresh_like("nearest", kind), fresh_like("end", I64), Sym(loop.sym.name)
    read, test = elements(scan)
    place: lp.Expr = lp.Index(poly(scan) - here)
    far = 1 << 30  # not the neutral element, of which C compilers make a branch
    away = lp.Choose(test, place if kind is I64 else lp.Cast(place, kind), lp.Const(far, kind))
    return [
        lp.Forever(blocks),
        lp.Let(end, lp.Call("min", (lp.Index(here + sizes.found), lp.Index(loop.high)), I64)),
        lp.Accumulate(scan, here, poly(end.atom), [*read, lp.Add(nearest, "minimum", away)], [lp.Acc(nearest, "minimum")]),
        lp.Assign(start, lp.Call("add", (lp.Use(start), lp.Use(nearest) if kind is I64 else lp.Cast(lp.Use(nearest), I64)), I64)),
    ]


def _one_by_one(search: Search) -> list[lp.Stmt]:
    """Few elements. The comparison that knows of NaN is a branch nobody can foresee; a plain one is none."""
    loop, value, best, at = search.loop, search.value, search.best, search.at
    if not value.dtype.is_float:
        return [loop]
    nan = fresh_like("nan", I64)
    sym = Sym(loop.sym.name)
    copier = Copier({loop.sym: poly(sym)})
    body = copier.stmts(loop.body[:-1])
    v = lp.Use(copier.vars[value])
    better = lp.Call("lt" if search.way == "minimum" else "gt", (v, lp.Use(best)), BOOL)
    is_nan = lp.Choose((lp.Test("true", None, _is_nan(copier.vars[value])),), lp.Const(1, I64), lp.Const(0, I64))
    body.append(lp.Assign(nan, lp.Call("or", (lp.Use(nan), is_nan), I64)))
    body.append(lp.If((lp.Test("true", None, better),), [lp.Assign(best, v), lp.Assign(at, lp.Index(poly(sym)))]))
    again: list[lp.Stmt] = [lp.Assign(best, neutral(search.way, best.dtype)), lp.Assign(at, lp.Const(0, I64)), loop]
    return [lp.Declare(nan, lp.Const(0, I64)), lp.For(sym, loop.low, loop.high, body, False), lp.If((lp.Test("ne", poly(nan.atom)),), again)]


def _way(test: lp.Test, value: lp.Var, best: lp.Var) -> str | None:
    """minimum or maximum, from the comparison that replaces the best: of floats, a NaN is better than any number."""
    for op, way in (("lt", "minimum"), ("gt", "maximum")):
        better: lp.Expr = lp.Call(op, (lp.Use(value), lp.Use(best)), BOOL)
        if value.dtype.is_float:
            nan, had = (lp.Call("isnan", (lp.Use(x),), BOOL) for x in (value, best))
            better = lp.Call("or", (better, lp.Call("and", (nan, lp.Call("not", (had,), BOOL)), BOOL)), BOOL)
        if test == lp.Test("true", None, better):
            return way
    return None
