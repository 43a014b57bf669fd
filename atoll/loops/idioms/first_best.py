"""argmin and argmax in vectors: the best value of every block and the first block that has it, then the place in that block.

    for in order r:  if v(r) better than best:  best = v(r); at = r
becomes
    for every block of 4096:  m = min or max of the block;  if m better than best: best = m; start = its first
    forever, while no element of start..start+256 is best: start += 256;   then the least place in 256

Right where the search begins with nothing found (the worst value, place 0), a NaN is better than any number, and
nobody reads the best value itself afterwards: looked for below. A few elements are compared one by one; floats
plainly, and as before when there was a NaN among them. When the best is a NaN, which is better than any number, the
first NaN is looked for. Only where the values are read from memory, as those of one block are read twice.
"""

from __future__ import annotations

from collections.abc import Callable

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import begins_as
from atoll.loops.transform.copier import Copier, fresh_like
from atoll.loops.transform.pieces import pieces
from atoll.loops.transform.regroup import neutral
from atoll.loops.transform.split import begun, block_end
from atoll.loops.transform.walk import with_bodies
from atoll.sizes import Sym, poly
from atoll.types.dtypes import BOOL, I32, I64


def first_best(stmts: lp.Stmts, decisions: list[str], alone: bool = True) -> list[lp.Stmt]:
    """alone: not in a loop, so that blocks may be shared by threads."""
    out: list[lp.Stmt] = []
    for k, stmt in enumerate(stmts):
        inside = alone and isinstance(stmt, lp.If)
        stmt = with_bodies(stmt, lambda body, inside=inside: first_best(body, decisions, inside))  # type: ignore[misc]
        found = _in_blocks(stmt, alone, out, stmts[k + 1 :]) if isinstance(stmt, lp.For) else None
        if found is None or not isinstance(stmt, lp.For):
            out.append(stmt)
            continue
        decisions.append(f"the best over {stmt.sym} is found by blocks and then looked for")
        out.append(lp.If((lp.Test("ge", stmt.high - profit.BEST_SHORT),), found, _one_by_one(stmt)))
    return out


def _in_blocks(loop: lp.For, alone: bool, before: lp.Stmts, after: lp.Stmts) -> list[lp.Stmt] | None:
    if loop.parallel or loop.low.const() != 0 or not loop.body or not all(isinstance(s, lp.Let) for s in loop.body[:-1]):
        return None
    choice = loop.body[-1]
    if not isinstance(choice, lp.If) or choice.orelse or len(choice.tests) != 1 or len(choice.then) != 2:
        return None
    first, second = choice.then
    if not (isinstance(first, lp.Assign) and isinstance(second, lp.Assign) and isinstance(first.value, lp.Use)):
        return None
    if second.value != lp.Index(poly(loop.sym)):
        return None
    value, best, at = first.value.var, first.var, second.var
    way = _way(choice.tests[0], value, best)
    lets = [s for s in loop.body[:-1] if isinstance(s, lp.Let)]
    if way is None or not lets or lets[-1].var is not value or not all(isinstance(s.value, lp.Load) for s in lets) or value.dtype is BOOL:
        return None
    worst = neutral(way, value.dtype)
    if not begins_as(best, worst, before) or not begins_as(at, lp.Const(0, I64), before) or best in set(lp.used_vars(after)):
        return None  # a search goes on from what was found before, or the best itself is wanted
    total, start = fresh_like("best", value.dtype), fresh_like("start", I64)
    tops = _in_turn(loop, lets, value, way, total, start)
    if alone:
        tops = [lp.If((lp.Test("ge", loop.high - profit.BEST_SHARED),), _shared(loop, lets, value, way, total, start), tops)]
    out: list[lp.Stmt] = [lp.Declare(total, worst), lp.Declare(start, lp.Const(0, I64)), *tops]

    def same(v: lp.Var) -> lp.Expr:
        return lp.Call("eq", (lp.Use(v), lp.Use(total)), BOOL)

    def is_nan(v: lp.Var) -> lp.Expr:
        return lp.Call("ne", (lp.Use(v), lp.Use(v)), BOOL)

    look = _first(loop, lets, value, start, same)
    if value.dtype.is_float:
        look = [lp.If((lp.Test("true", None, lp.Call("eq", (lp.Use(total), lp.Use(total)), BOOL)),), look, _first(loop, lets, value, start, is_nan))]
    return [*out, *look, lp.Assign(at, lp.Index(poly(start.atom)))]


def _block(loop: lp.For, lets: list[lp.Let], value: lp.Var, way: str, begin: lp.Var, top: lp.Var) -> list[lp.Stmt]:
    """top, the best of the block that begins there."""
    sym = Sym(loop.sym.name)
    until, end = block_end("end", poly(begin.atom), profit.BEST_BLOCK, loop.high)
    copier = Copier({loop.sym: poly(sym)})
    body = copier.stmts(list(lets))
    body.append(lp.Add(top, way, lp.Use(copier.vars[value])))
    return [until, lp.Accumulate(sym, poly(begin.atom), end, body, [lp.Acc(top, way)])]


def _take(way: str, top: lp.Var, begin: lp.Var, total: lp.Var, start: lp.Var) -> lp.Stmt:
    """The best so far, and the block it is in."""
    better: lp.Expr = lp.Call("lt" if way == "minimum" else "gt", (lp.Use(top), lp.Use(total)), BOOL)
    if top.dtype.is_float:
        nan, had = (lp.Call("ne", (lp.Use(x), lp.Use(x)), BOOL) for x in (top, total))
        better = lp.Call("or", (better, lp.Call("and", (nan, lp.Call("not", (had,), BOOL)), BOOL)), BOOL)
    return lp.If((lp.Test("true", None, better),), [lp.Assign(total, lp.Use(top)), lp.Assign(start, lp.Use(begin))])


def _in_turn(loop: lp.For, lets: list[lp.Let], value: lp.Var, way: str, total: lp.Var, start: lp.Var) -> list[lp.Stmt]:
    begin, top = fresh_like("begin", I64), fresh_like("top", value.dtype)
    more = lp.BreakUnless((lp.Test("ge", loop.high - poly(begin.atom) - 1),))
    step = lp.Assign(begin, lp.Index(poly(begin.atom) + profit.BEST_BLOCK))
    return [lp.Declare(begin, lp.Const(0, I64)), lp.Forever([more, *_block(loop, lets, value, way, begin, top), _take(way, top, begin, total, start), step])]


def _shared(loop: lp.For, lets: list[lp.Let], value: lp.Var, way: str, total: lp.Var, start: lp.Var) -> list[lp.Stmt]:
    """The best of every block by all threads, then the best of these."""
    blocks = begun(loop.high, profit.BEST_BLOCK)
    begin, top, b = fresh_like("begin", I64), fresh_like("top", value.dtype), Sym("block")
    tops = lp.Buffer(f"{top.name}_all", value.dtype, (blocks,), "temp", "the best of every block")
    each: list[lp.Stmt] = [lp.Let(begin, lp.Index(poly(b) * profit.BEST_BLOCK)), *_block(loop, lets, value, way, begin, top), lp.Store(tops, (poly(b),), lp.Use(top))]
    of = Sym("block")
    begin, top = fresh_like("begin", I64), fresh_like("top", value.dtype)
    among: list[lp.Stmt] = [lp.Let(begin, lp.Index(poly(of) * profit.BEST_BLOCK)), lp.Let(top, lp.Load(tops, (poly(of),))), _take(way, top, begin, total, start)]
    return [
        lp.Alloc(tops),
        pieces(lp.For(b, poly(0), blocks, each, True), poly(2 * profit.BEST_BLOCK)),
        lp.For(of, poly(0), blocks, among, False),
        lp.Free(tops),
    ]


def _first(loop: lp.For, lets: list[lp.Let], value: lp.Var, start: lp.Var, holds: Callable[[lp.Var], lp.Expr]) -> list[lp.Stmt]:
    """start, moved to the first element for which it holds; there is one."""
    here = poly(start.atom)
    kind = I32 if value.dtype.size <= 4 else I64

    def elements(sym: Sym) -> tuple[list[lp.Stmt], tuple[lp.Test, ...]]:
        copier = Copier({loop.sym: poly(sym)})
        read = copier.stmts(list(lets))
        return read, (lp.Test("true", None, holds(copier.vars[value])),)

    hit, scan = fresh_like("hit", kind), Sym(loop.sym.name)
    read, test = elements(scan)
    blocks: list[lp.Stmt] = [
        lp.BreakUnless((lp.Test("ge", loop.high - here - profit.FOUND_BLOCK),)),
        lp.Accumulate(scan, here, here + profit.FOUND_BLOCK, [*read, lp.Add(hit, "or", lp.Choose(test, lp.Const(1, kind), lp.Const(0, kind)))], [lp.Acc(hit, "or")]),
        lp.BreakUnless((lp.Test("eq", poly(hit.atom)),)),
        lp.Assign(start, lp.Index(here + profit.FOUND_BLOCK)),
    ]
    nearest, end, scan = fresh_like("nearest", kind), fresh_like("end", I64), Sym(loop.sym.name)
    read, test = elements(scan)
    place: lp.Expr = lp.Index(poly(scan) - here)
    far = 1 << 30  # not the neutral element, of which C compilers make a branch
    away = lp.Choose(test, place if kind is I64 else lp.Cast(place, kind), lp.Const(far, kind))
    return [
        lp.Forever(blocks),
        lp.Let(end, lp.Call("min", (lp.Index(here + profit.FOUND_BLOCK), lp.Index(loop.high)), I64)),
        lp.Accumulate(scan, here, poly(end.atom), [*read, lp.Add(nearest, "minimum", away)], [lp.Acc(nearest, "minimum")]),
        lp.Assign(start, lp.Call("add", (lp.Use(start), lp.Use(nearest) if kind is I64 else lp.Cast(lp.Use(nearest), I64)), I64)),
    ]


def _one_by_one(loop: lp.For) -> list[lp.Stmt]:
    """Few elements. The comparison that knows of NaN is a branch nobody can foresee; a plain one is none."""
    choice = loop.body[-1]
    assert isinstance(choice, lp.If)
    first, second = choice.then
    assert isinstance(first, lp.Assign) and isinstance(second, lp.Assign) and isinstance(first.value, lp.Use)
    value, best, at = first.value.var, first.var, second.var
    if not value.dtype.is_float:
        return [loop]
    nan = fresh_like("nan", I64)
    sym = Sym(loop.sym.name)
    copier = Copier({loop.sym: poly(sym)})
    body = copier.stmts(loop.body[:-1])
    v = lp.Use(copier.vars[value])
    way = _way(choice.tests[0], value, best)
    better = lp.Call("lt" if way == "minimum" else "gt", (v, lp.Use(best)), BOOL)
    is_nan = lp.Choose((lp.Test("true", None, lp.Call("ne", (v, v), BOOL)),), lp.Const(1, I64), lp.Const(0, I64))
    body.append(lp.Assign(nan, lp.Call("or", (lp.Use(nan), is_nan), I64)))
    body.append(lp.If((lp.Test("true", None, better),), [lp.Assign(best, v), lp.Assign(at, lp.Index(poly(sym)))]))
    worst = neutral(str(way), best.dtype)
    again: list[lp.Stmt] = [lp.Assign(best, worst), lp.Assign(at, lp.Const(0, I64)), loop]
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
