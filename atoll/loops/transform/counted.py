"""Loops that count: a `while` whose variable goes up or down by one until it meets something that stands still is a `for`.

    forever:  break unless p >= 1;  a[p] = a[p - 1];  p := p - 1
becomes
    first = p
    for in order t in 0..first:  a[first - t] = a[first - t - 1]
    p := first - first if first >= 1 else first

    counted(loop, steps, fits)     the loop as a range, and the value its variable has afterwards

What is known of loops over a range then holds for it: its checks are made at the ends, it looks for Ctrl-C once in a stretch of rounds, it may run in
vectors. Right where a round looks at one way out before it does anything, which is how far the variable still has to go, and where nothing else of that changes; where the only assignment
to the variable is what a round does last with it, in every round, by one (`steps`, of what is known of a round); and where neither the count nor the variable is near to overflow (`fits`, of what is
known before the loop). Values made before the way out that are the same in every round are made before the loop, as the first round makes them in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import I64


def counted(loop: lp.Forever, steps: Mapping[lp.Var, int], fits: Callable[[Poly], bool]) -> list[lp.Stmt] | Refused:
    """`steps`: by how much a round changes variables; `fits`: far from overflow before the loop."""
    body = loop.body
    place = next((k for k, s in enumerate(body) if isinstance(s, lp.BreakUnless)), None)
    if place is None:
        return Refused("it looks at no way out of its own")
    assigned = {s.var for s in lp.walk(body) if isinstance(s, (lp.Assign, lp.Add))}
    still = [s for s in body[:place] if isinstance(s, lp.Let) and _stands_still(s, assigned, body)]  # made once, in the first round at the latest
    if not all(s in still or (isinstance(s, lp.Declare) and (s.value is None or isinstance(s.value, lp.Const))) for s in body[:place]):
        return Refused("a round does something before it looks at the way out")
    leave, rest = body[place], [s for s in (*body[:place], *body[place + 1 :]) if s not in still]
    assert isinstance(leave, lp.BreakUnless)
    left = _test(leave)
    if left is None or not copyable(rest) or any(isinstance(s, lp.BreakUnless) for s in rest):
        return Refused("it ends in another way than by one test of an integer, or not everything in it is seen")
    moving = [a.var for a in left.leaves() if isinstance(a, lp.VarAtom) and a.var in assigned]
    if len(moving) != 1 or steps.get(moving[0]) not in (1, -1) or moving[0].dtype is not I64:
        return Refused("what it tests does not step by one")
    var, step = moving[0], steps[moving[0]]
    if left.terms.get((var.atom,), 0) != -step or var.atom in (left + step * poly(var.atom)).leaves():
        return Refused("what it tests is not how far the variable has to go")
    if not fits(left) or not fits(poly(var.atom)):
        return Refused("the count may overflow")
    last = _last(rest, var)
    if last is None or any(var in lp.used_vars(s) for s in rest[last + 1 :]):
        return Refused("the step is not what a round does last with the variable")
    return [*still, *_range(rest[:last] + rest[last + 1 :], var, step, left)]


def _range(body: lp.Stmts, var: lp.Var, step: int, left: Poly) -> list[lp.Stmt]:
    """The loop and what the variable is after it. `body`: without the step; `left`: how far it has to go."""
    first, sym = fresh_like("first", I64), Sym(var.name)
    now = poly(first.atom) + step * poly(sym)
    rounds = (left + 1).subst({var.atom: poly(first.atom)})
    inside = _Moving(var, now).stmts(body)
    after = lp.Choose((lp.Test("ge", rounds - 1),), lp.Index(poly(first.atom) + step * rounds), lp.Use(first))
    return [lp.Let(first, lp.Use(var)), lp.For(sym, poly(0), rounds, inside, False), lp.Assign(var, after)]


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


def _last(stmts: lp.Stmts, var: lp.Var) -> int | None:
    """Where the variable is assigned, if that is once, in every round."""
    every = [s for s in lp.walk(stmts) if isinstance(s, (lp.Assign, lp.Add)) and s.var is var]
    return next((k for k, s in enumerate(stmts) if isinstance(s, lp.Assign) and len(every) == 1 and s is every[0]), None)


class _Moving(Copier):
    """A round with the variable written as what it is in that round."""

    def __init__(self, var: lp.Var, now: Poly) -> None:
        super().__init__({var.atom: now})
        self.moving, self.now = var, now

    def expr(self, e: lp.Expr) -> lp.Expr:
        return lp.Index(self.now) if isinstance(e, lp.Use) and e.var is self.moving else super().expr(e)
