"""Statements that are done in any case, what they change kept only where a test holds (if-conversion, predication).

    break unless p(x);  x = g(x)          becomes          go = going and p(x);   x = g(x) if go else x

    defined(e)                        an operation has a value whatever its operands are
    total(stmts, known, changing)     why statements may not be done where nobody asked for them; None where they may
    masked(stmts, going, copier, kept)    their copy, which changes `kept` only where it is still going

Right where nothing in the statements can fail, and what they read is seen to be there: every operation has a value whatever its operands are, and every index is in its range. A
value that is computed for nothing is not kept, so every other one sees what it saw.
"""

from __future__ import annotations

from collections.abc import Collection

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.dependence import plain
from atoll.loops.questions import divides, loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly
from atoll.sizes.prover import facts
from atoll.types.dtypes import BOOL

STRAIGHT = (lp.Let, lp.Declare, lp.Assign)


def total(stmts: lp.Stmts, known: tuple[Poly, ...], changing: Collection[lp.Var]) -> Refused | None:
    """Of straight statements and breaks. `changing`: variables that are others in every round, of which indices may not be made."""
    straight = [s for s in stmts if isinstance(s, STRAIGHT)]
    breaks = [s for s in stmts if isinstance(s, lp.BreakUnless)]
    if len(straight) + len(breaks) != len(stmts) or not copyable(straight):
        return Refused("it does more than compute values")
    ctx, atoms = facts(known), {v.atom for v in changing}
    for x in loads(stmts):
        if x.buffer.rows is not None:
            return Refused("only some rows of what it reads are kept")
        for p, extent in zip(x.index, x.buffer.extents, strict=True):
            if not atoms.isdisjoint(p.leaves()) or not plain(p) or not ctx.proves(p) or not ctx.proves(extent - 1 - p):
                return Refused("what it reads is not seen to be there")
    tests = [t for s in breaks for t in s.tests]
    values = [s.value for s in straight if s.value is not None] + [t.expr for t in tests if t.expr is not None]
    if not all(defined(e) for value in values for e in lp.subexprs(value)) or any(t.poly is not None and divides(t.poly) for t in tests):
        return Refused("something in it may have no value")
    return None


def defined(e: lp.Expr) -> bool:
    """It has a value, and no other effect, whatever its operands are."""
    if isinstance(e, lp.Index):
        return not divides(e.poly)
    if isinstance(e, (lp.Choose, lp.Truth)):
        return not any(t.poly is not None and divides(t.poly) for t in e.tests)
    if isinstance(e, lp.Cast):
        return not (e.dtype.is_integer and e.arg.dtype.is_float)
    return not isinstance(e, lp.Call) or e.dtype.is_float or e.op in profit.QUICK


def masked(stmts: lp.Stmts, going: lp.Expr, copier: Copier, kept: Collection[lp.Var]) -> tuple[list[lp.Stmt], lp.Expr]:
    """The statements by a copier, and whether it is still going after them."""
    body: list[lp.Stmt] = []
    for s in stmts:
        if isinstance(s, lp.BreakUnless):
            tests = copier.tests(s.tests)
            assert tests is not None
            here = fresh_like("go", BOOL)
            body.append(lp.Let(here, lp.Call("and", (going, lp.Truth(tests)), BOOL)))
            going = lp.Use(here)
        elif isinstance(s, lp.Assign) and s.var in kept:
            value = lp.Choose((lp.Test("true", None, going),), copier.expr(s.value), lp.Use(copier.vars[s.var]))
            body.append(lp.Let(copier.var(s.var), value))
        else:
            body += copier.stmt(s)
    return body, going
