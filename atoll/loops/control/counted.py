"""Loops that count: a `while` whose variable goes up or down by one until it meets something that stands still is a `for`.

    forever:  break unless p >= 1;  a[p] = a[p - 1];  p := p - 1
becomes
    first = p
    for in order t in 0..first:  a[first - t] = a[first - t - 1]
    p := first - first if first >= 1 else first

What is known of loops over a range then holds for it: its checks are made at the ends, it looks for Ctrl-C once in a stretch of rounds, it may run in
vectors. That the count does not overflow is for the caller to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64


def counted(body: lp.Stmts, steps: Mapping[lp.Var, int], fits: Callable[[Poly], bool]) -> list[lp.Stmt] | None:
    """The loop as a range, if it counts. `steps`: by how much a round changes variables; `fits`: far from overflow before the loop."""
    place = next((k for k, s in enumerate(body) if isinstance(s, lp.BreakUnless)), None)
    if place is None:
        return None
    assigned = {s.var for s in lp.walk(body) if isinstance(s, (lp.Assign, lp.Add))}
    still = [s for s in body[:place] if isinstance(s, lp.Let) and _stands_still(s, assigned, body)]  # made once, in the first round at the latest
    if not all(s in still or (isinstance(s, lp.Declare) and (s.value is None or isinstance(s.value, lp.Const))) for s in body[:place]):
        return None
    leave, rest = body[place], [s for s in (*body[:place], *body[place + 1 :]) if s not in still]
    assert isinstance(leave, lp.BreakUnless)
    left = _test(leave)
    if left is None or not copyable(rest) or any(isinstance(s, lp.BreakUnless) for s in rest):
        return None
    moving = [a.var for a in left.leaves() if isinstance(a, lp.VarAtom) and a.var in assigned]
    if len(moving) != 1 or steps.get(moving[0]) not in (1, -1) or moving[0].dtype is not I64:
        return None
    var, step = moving[0], steps[moving[0]]
    if left.terms.get((var.atom,), 0) != -step or var.atom in (left + step * poly(var.atom)).leaves() or not fits(left) or not fits(poly(var.atom)):
        return None
    last = next(k for k, s in reversed(list(enumerate(rest))) if isinstance(s, lp.Assign) and s.var is var) if _once_at_top(rest, var) else None
    if last is None or any(var in lp.used_vars(s) for s in rest[last + 1 :]):
        return None
    first, sym = fresh_like("first", I64), Sym(var.name)
    now = poly(first.atom) + step * poly(sym)
    rounds = (left + 1).subst({var.atom: poly(first.atom)})
    inside = _Moving(var, now).stmts([s for k, s in enumerate(rest) if k != last])
    after = lp.Choose((lp.Test("ge", rounds - 1),), lp.Index(poly(first.atom) + step * rounds), lp.Use(first))
    return [*still, lp.Let(first, lp.Use(var)), lp.For(sym, poly(0), rounds, inside, False), lp.Assign(var, after)]


def _stands_still(s: lp.Let, assigned: set[lp.Var], body: lp.Stmts) -> bool:
    """The same in every round: made of what the loop does not change."""
    written = {x.buffer for x in lp.walk(body) if isinstance(x, (lp.Store, lp.Update))}
    made = assigned | {x.var for x in lp.walk(body) if isinstance(x, (lp.Let, lp.Declare))}
    return made.isdisjoint(lp.used_vars(s)) and not any(x.buffer in written for x in loads(s))


def _test(leave: lp.BreakUnless) -> Poly | None:
    """p where the loop goes on as long as p >= 0."""
    tests = leave.tests
    if len(tests) == 1 and tests[0].kind == "true" and isinstance(tests[0].expr, lp.Truth):
        tests = tests[0].expr.tests
    return tests[0].poly if len(tests) == 1 and tests[0].kind == "ge" else None


def _once_at_top(stmts: lp.Stmts, var: lp.Var) -> bool:
    every = [s for s in lp.walk(stmts) if isinstance(s, (lp.Assign, lp.Add)) and s.var is var]
    return len(every) == 1 and any(s is every[0] for s in stmts)


class _Moving(Copier):
    """A round with the variable written as what it is in that round."""

    def __init__(self, var: lp.Var, now: Poly) -> None:
        super().__init__({var.atom: now})
        self.moving, self.now = var, now

    def expr(self, e: lp.Expr) -> lp.Expr:
        return lp.Index(self.now) if isinstance(e, lp.Use) and e.var is self.moving else super().expr(e)
