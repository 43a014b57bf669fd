"""argmin and argmax in vectors: the best value of every block and the first block that has it, then the place in that block.

    for in order r:  if v(r) better than best:  best = v(r); at = r
becomes
    for every block of 4096:  m = min or max of the block;  if m better than best: best = m; start = its first
    forever, while no element of start..start+256 is best: start += 256;   then one by one

A few elements are compared one by one; floats plainly, and as before when there was a NaN among them. Equal means equal or both NaN, because NaN is better than any number. Only where the values are read from memory, as those of one block are
read twice.
"""

from __future__ import annotations

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.rewrite import Copier, fresh_like
from atoll.sizes import Sym, poly
from atoll.types.dtypes import BOOL, I32, I64

BLOCK = 256
SHORT = 64  # elements that are compared one by one: nothing to gain
LONG = 4096  # a block whose best is found before it is compared: stays in the cache, and its tree of lanes costs little


def first_best(stmts: list[lp.Stmt], decisions: list[str]) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    for stmt in stmts:
        for body in lp.bodies(stmt):
            body[:] = first_best(body, decisions)
        found = _in_blocks(stmt) if isinstance(stmt, lp.For) else None
        if found is not None:
            assert isinstance(stmt, lp.For)
            decisions.append(f"the best over {stmt.sym} is found by blocks and then looked for")
            out.append(lp.If((lp.Test("ge", stmt.high - SHORT),), found, _one_by_one(stmt)))
        else:
            out.append(stmt)
    return out


def _in_blocks(loop: lp.For) -> list[lp.Stmt] | None:
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
    total, of_block = fresh_like("best", value.dtype), fresh_like("top", value.dtype)
    begin, start = fresh_like("begin", I64), fresh_like("start", I64)
    end = fresh_like("end", I64)
    sym = Sym(loop.sym.name)
    copier = Copier({loop.sym: poly(sym)})
    body = copier.stmts(list(lets))
    body.append(lp.Add(of_block, way, lp.Use(copier.vars[value])))
    at_block = poly(begin.atom)
    better: lp.Expr = lp.Call("lt" if way == "minimum" else "gt", (lp.Use(of_block), lp.Use(total)), BOOL)
    if value.dtype.is_float:
        nan, had = (lp.Call("ne", (lp.Use(x), lp.Use(x)), BOOL) for x in (of_block, total))
        better = lp.Call("or", (better, lp.Call("and", (nan, lp.Call("not", (had,), BOOL)), BOOL)), BOOL)
    each: list[lp.Stmt] = [
        lp.BreakUnless((lp.Test("ge", loop.high - at_block - 1),)),
        lp.Let(end, lp.Call("min", (lp.Index(at_block + LONG), lp.Index(loop.high)), I64)),
        lp.Accumulate(sym, at_block, poly(end.atom), body, [lp.Acc(of_block, way)]),
        lp.If((lp.Test("true", None, better),), [lp.Assign(total, lp.Use(of_block)), lp.Assign(start, lp.Index(at_block))]),
        lp.Assign(begin, lp.Index(at_block + LONG)),
    ]
    zero = lp.Const(0, I64)
    neutral = lp.Const(MONOIDS[way][1](value.dtype), value.dtype)
    out: list[lp.Stmt] = [lp.Declare(total, neutral), lp.Declare(begin, zero), lp.Declare(start, zero), lp.Forever(each)]

    def same(v: lp.Var) -> lp.Expr:
        equal: lp.Expr = lp.Call("eq", (lp.Use(v), lp.Use(total)), BOOL)
        if not v.dtype.is_float:
            return equal
        nans = [lp.Call("ne", (lp.Use(x), lp.Use(x)), BOOL) for x in (v, total)]
        return lp.Call("or", (equal, lp.Call("and", tuple(nans), BOOL)), BOOL)

    here = poly(start.atom)
    kind = I32 if value.dtype.size <= 4 else I64
    hit = fresh_like("hit", kind)
    scan = Sym(loop.sym.name)
    copier = Copier({loop.sym: poly(scan)})
    look = copier.stmts(list(lets))
    yes, no = lp.Const(1, kind), lp.Const(0, kind)
    look.append(lp.Add(hit, "or", lp.Choose((lp.Test("true", None, same(copier.vars[value])),), yes, no)))
    blocks: list[lp.Stmt] = [
        lp.BreakUnless((lp.Test("ge", loop.high - here - BLOCK),)),
        lp.Accumulate(scan, here, here + BLOCK, look, [lp.Acc(hit, "or")]),
        lp.BreakUnless((lp.Test("eq", poly(hit.atom)),)),
        lp.Assign(start, lp.Index(here + BLOCK)),
    ]
    copier = Copier({loop.sym: here})
    one = copier.stmts(list(lets))
    singles: list[lp.Stmt] = [
        lp.BreakUnless((lp.Test("ge", loop.high - here - 1),)),
        *one,
        lp.BreakUnless((lp.Test("false", None, same(copier.vars[value])),)),
        lp.Assign(start, lp.Index(here + 1)),
    ]
    out += [lp.Forever(blocks), lp.Forever(singles), lp.Assign(at, lp.Index(here))]
    return out


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
    neutral = lp.Const(MONOIDS[str(way)][1](best.dtype), best.dtype)
    again: list[lp.Stmt] = [lp.Assign(best, neutral), lp.Assign(at, lp.Const(0, I64)), loop]
    return [lp.Declare(nan, lp.Const(0, I64)), lp.For(sym, loop.low, loop.high, body, False), lp.If((lp.Test("ne", poly(nan.atom)),), again)]


def _way(test: lp.Test, value: lp.Var, best: lp.Var) -> str | None:
    """minimum or maximum, from the comparison that replaces the best."""
    e = test.expr
    if test.kind != "true" or e is None:
        return None
    if isinstance(e, lp.Call) and e.op == "or":
        e = e.args[0]
    if isinstance(e, lp.Call) and e.op in ("lt", "gt") and e.args == (lp.Use(value), lp.Use(best)):
        return "minimum" if e.op == "lt" else "maximum"
    return None
