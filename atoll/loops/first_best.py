"""argmin and argmax in vectors: first the best value, then the first place that has it, looked for in blocks.

    for in order r:  if v(r) better than best:  best = v(r); at = r
becomes
    best = min or max of v;   start = 0;   forever, while no element of start..start+256 is best: start += 256;   then one by one

Equal means equal or both NaN, because NaN is better than any number. Only where the values are read from memory, as they are read twice.
"""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.rewrite import Copier, fresh_like
from atoll.sizes import Sym, poly
from atoll.types.dtypes import BOOL, I32, I64

BLOCK = 256


def first_best(stmts: list[lp.Stmt], decisions: list[str]) -> list[lp.Stmt]:
    out: list[lp.Stmt] = []
    for stmt in stmts:
        for body in lp.bodies(stmt):
            body[:] = first_best(body, decisions)
        found = _in_blocks(stmt) if isinstance(stmt, lp.For) else None
        if found is not None:
            assert isinstance(stmt, lp.For)
            decisions.append(f"the best over {stmt.sym} is found first and then looked for")
            out += found
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
    total = fresh_like("best", value.dtype)
    sym = Sym(loop.sym.name)
    copier = Copier({loop.sym: poly(sym)})
    body = copier.stmts(list(lets))
    body.append(lp.Add(total, way, lp.Use(copier.vars[value])))
    out: list[lp.Stmt] = [lp.Accumulate(sym, loop.low, loop.high, body, [lp.Acc(total, way)])]

    def same(v: lp.Var) -> lp.Expr:
        equal: lp.Expr = lp.Call("eq", (lp.Use(v), lp.Use(total)), BOOL)
        if not v.dtype.is_float:
            return equal
        nans = [lp.Call("ne", (lp.Use(x), lp.Use(x)), BOOL) for x in (v, total)]
        return lp.Call("or", (equal, lp.Call("and", tuple(nans), BOOL)), BOOL)

    start = fresh_like("start", I64)
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
    out += [lp.Declare(start, lp.Const(0, I64)), lp.Forever(blocks), lp.Forever(singles), lp.Assign(at, lp.Index(here))]
    return out


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
