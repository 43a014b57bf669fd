"""Tests that are the same in every round stand around the loop: an update of a whole array under a condition looks at it once, and does nothing
at all where it does not hold."""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.sizes import Atom, Sym

_PLAIN = (lp.Store, lp.Update, lp.Let, lp.Declare, lp.Assign, lp.For, lp.If)


def tests_outside(stmts: lp.Stmts, syms: set[Sym]) -> tuple[tuple[lp.Test, ...], lp.Stmts]:
    """Tests that all of a loop's body is under and that no round changes, and the body without them."""
    if len(stmts) != 1 or not isinstance(stmts[0], lp.If) or stmts[0].orelse or not all(isinstance(s, _PLAIN) for s in lp.walk(stmts[0].then)):
        return (), stmts
    tests, body = stmts[0].tests, stmts[0].then
    changed = {s.buffer for s in lp.walk(body) if isinstance(s, (lp.Store, lp.Update))}
    made: set[Atom] = {*syms, *(s.var.atom for s in lp.walk(body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign)))}
    return (tests, body) if all(_same_always(t, made, changed) for t in tests) else ((), stmts)


def _same_always(test: lp.Test, made: set[Atom], changed: set[lp.Buffer]) -> bool:
    parts = list(lp.subexprs(test.expr)) if test.expr is not None else []
    polys = [] if test.poly is None else [test.poly]
    for part in parts:
        if isinstance(part, (lp.Choose, lp.Truth)) or (isinstance(part, lp.Load) and part.buffer in changed):
            return False
        if isinstance(part, lp.Use) and part.var.atom in made:
            return False
        polys += part.index if isinstance(part, lp.Load) else [part.poly] if isinstance(part, lp.Index) else []
    return not any(p.leaves() & made for p in polys)
