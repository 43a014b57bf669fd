"""Two loops over one range as one loop (fusion), and a statement past others (of which fission is the case that takes it out of a loop).

    for i: A(i);   for i: B(i)          becomes          for i: A(i); B(i)

    fused(first, second, known)     one loop, or pieces, for two that follow each other
    past(stmt, others, known)       a statement may be done after others instead of before them
    checks_joined(checks, loop)     a loop of nothing but checks with the loop after it, also where both are nests
    once(body)                      equal values of a round under one name, equal checks once

B(i) is now done before A(k) for every later k. So it is right where these never touch an element that the other writes; of pieces, which are done in any order, where this holds
of two different pieces, whichever comes first. The two have the same range, no variable goes from one to the other, and no two of them print. Which of two checks fails first is
not part of the meaning of a program, but what is printed before a check fails is. The fused loop has the index of the second; the first is copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.dependence import Order
from atoll.loops.questions import changed, loads, only_checks
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.refused import Refused
from atoll.sizes import Atom, Poly, Sym, poly

Known = tuple[Poly, ...]
Loop = lp.For | lp.Accumulate | lp.Chunks
_TOUCHES = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.For, lp.Accumulate, lp.Add, lp.If, lp.Check, lp.Note, lp.Chunks)  # what they touch is in their indices


def fused(first: Loop, second: Loop, known: Known = ()) -> Loop | Refused:
    """The second loop with the rounds of the first in it, each before its own."""
    if isinstance(first, lp.Chunks) or isinstance(second, lp.Chunks):
        if not isinstance(first, lp.Chunks) or not isinstance(second, lp.Chunks):
            return Refused("one of them is in pieces")
        return _pieces(first, second, known)
    if isinstance(first, lp.Accumulate) or (first.low, first.high) != (second.low, second.high):
        return Refused("they do not run through the same range")
    why = _why_not(first, second)
    if why is not None:
        return why
    earlier, later = Sym(first.sym.name), Sym(first.sym.name)
    order = Order((*known, poly(earlier) - first.low, poly(later) - poly(earlier) - 1, first.high - poly(later) - 1))
    if not order.apart(order.touched(first.body, {first.sym: poly(later)}), order.touched(second.body, {second.sym: poly(earlier)})):
        return Refused("a round of the second may touch what a later round of the first one does")
    body = [*Copier({first.sym: poly(second.sym)}).stmts(first.body), *second.body]
    if isinstance(second, lp.Accumulate):
        return replace(second, body=body)
    return replace(second, body=body, parallel=first.parallel and second.parallel)


def _pieces(first: lp.Chunks, second: lp.Chunks, known: Known) -> lp.Chunks | Refused:
    if first.extent != second.extent or first.accs or first.buffers or second.buffers:
        return Refused("they are not pieces of the same range, or one of them adds up what its pieces have")
    why = _why_not(first, second)
    if why is not None:
        return why
    ends: list[tuple[Sym, Sym]] = [(Sym(c.low.name), Sym(c.high.name)) for c in (first, second)]
    inside = [p for low, high in ends for p in (poly(low), poly(high) - poly(low), first.extent - poly(high))]
    envs: list[dict[Atom, Poly]] = [{c.low: poly(low), c.high: poly(high)} for c, (low, high) in zip((first, second), ends, strict=True)]
    for one, other in ((0, 1), (1, 0)):
        order = Order((*known, *inside, poly(ends[other][0]) - poly(ends[one][1])))
        if not order.apart(order.touched(first.body, envs[0]), order.touched(second.body, envs[1])):
            return Refused("a piece of the second may touch what another piece of the first one does")
    copied = Copier({first.low: poly(second.low), first.high: poly(second.high)}).stmts(first.body)
    return replace(second, body=[*copied, *second.body], work=first.work + second.work)


def _why_not(first: Loop, second: Loop) -> Refused | None:
    """What does not depend on the indices."""
    if any(isinstance(x, lp.For) and (x.vector or x.unroll or x.scan) for x in (first, second)):
        return Refused("one of them is scheduled as it stands")
    if not copyable([s for s in first.body if not isinstance(s, lp.Chunks)]) or not all(isinstance(s, _TOUCHES) for s in lp.walk([first, second])):
        return Refused("something in them is told as a whole, not by elements")
    mine, theirs = changed([first])[0], changed([second])[0]
    if not mine.isdisjoint(lp.used_vars(second)) or not theirs.isdisjoint(lp.used_vars(first)) or not mine.isdisjoint(theirs):
        return Refused("a variable goes from one to the other")
    return None


def past(stmt: lp.Stmt, others: lp.Stmts, known: Known = ()) -> Refused | None:
    """Why a statement may not be done after others that it stands before; None where it may."""
    if not all(isinstance(s, _TOUCHES) for s in lp.walk([stmt, *others])):
        return Refused("something in them is told as a whole, not by elements")
    mine, theirs = changed([stmt])[0], changed(others)[0]
    if not mine.isdisjoint(lp.used_vars(others)) or not theirs.isdisjoint(lp.used_vars(stmt)) or not mine.isdisjoint(theirs):
        return Refused("a variable goes from one to the other")
    order = Order(known)
    return None if order.apart(order.touched([stmt], {}), order.touched(others, {})) else Refused("one may touch what the other writes")


def checks_joined(checks: lp.Stmt, loop: lp.Stmt) -> Loop | Refused:
    """The loop with the checks of another one in its rounds, made where their values are used: a nest with a nest, and equal values and checks once."""
    if not isinstance(checks, (lp.For, lp.Chunks)) or not isinstance(loop, (lp.For, lp.Chunks)) or not only_checks(checks):
        return Refused("the first is no loop of checks, or the second no loop")
    if any(isinstance(s, lp.Print) for s in lp.walk([loop])):
        return Refused("what is printed is printed before a check that comes after it fails")
    if isinstance(made := fused(checks, loop), Refused):
        return made
    if isinstance(loop, lp.For) and not loop.parallel:
        return Refused("rounds that are in order stay as they are")
    inner = checks.body[0] if len(checks.body) == 1 else None
    if isinstance(inner, (lp.For, lp.Chunks)) or isinstance(checks, lp.Chunks):
        found = checks_joined(made.body[0], made.body[1]) if len(made.body) == 2 else Refused("there is more in a round than one loop in each")
        return found if isinstance(found, Refused) else replace(made, body=[found])
    if any(isinstance(s, (lp.For, lp.Accumulate)) for s in made.body):
        return Refused("there are loops in one of them and none in the other")
    body = once(made.body)
    return body if isinstance(body, Refused) else replace(made, body=body)


def once(body: lp.Stmts) -> list[lp.Stmt] | Refused:
    """The statements of a round with equal values under one name and equal checks made once, also in loops and branches inside. Right where what a value is made of does not change
    in between: what is made of elements of an array or of a variable is computed again once that is written."""
    return _Once(body).stmts(body) if copyable(body) else Refused("not everything in it is seen")


class _Once(Copier):
    def __init__(self, body: lp.Stmts) -> None:
        super().__init__({})
        self.written = changed(body)[1]
        self.assigned = {s.var for s in lp.walk(body) if isinstance(s, (lp.Assign, lp.Add))}
        self.seen: dict[lp.Expr, lp.Var] = {}  # values of the round itself, which are there until they are forgotten
        self.made_of: dict[lp.Var | lp.Buffer, list[lp.Expr]] = {}  # by what may change
        self.tested: set[tuple[lp.Test, ...]] = set()
        self.depth = 0

    def stmts(self, stmts: lp.Stmts) -> list[lp.Stmt]:
        self.depth += 1
        made = super().stmts(stmts)
        self.depth -= 1
        return made

    def forget(self, changing: Iterable[lp.Var | lp.Buffer]) -> None:
        for x in changing:
            for value in self.made_of.pop(self.vars.get(x, x) if isinstance(x, lp.Var) else x, ()):
                self.seen.pop(value, None)

    def learn(self, value: lp.Expr, var: lp.Var) -> None:
        self.seen[value] = var
        parts: list[lp.Var | lp.Buffer] = [*lp.used_vars(value), *(load.buffer for load in loads(value))]
        for x in parts:
            self.made_of.setdefault(x, []).append(value)

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        if isinstance(s, lp.Let):
            value = self.expr(s.value)
            known = self.seen.get(value)
            if known is not None and known.dtype is s.var.dtype:
                self.vars[s.var], self.env[s.var.atom] = known, poly(known.atom)
                return []
            new = super().stmt(s)
            if self.depth == 1:
                self.learn(value, self.vars[s.var])
            return new
        if isinstance(s, (lp.For, lp.Accumulate)):  # a later round reads what an earlier one wrote
            variables, buffers = changed([s])
            self.forget((*variables, *buffers))
        new = super().stmt(s)
        if isinstance(s, (lp.Assign, lp.Add)):
            self.forget((s.var,))
        elif isinstance(s, (lp.Store, lp.Update)):
            self.forget((s.buffer,))
        if not isinstance(s, lp.Check):
            return new
        kept = [x for x in new if not isinstance(x, lp.Check) or x.tests not in self.tested]
        steady = self.depth == 1 and self.assigned.isdisjoint(lp.used_vars(s.tests)) and not any(x.buffer in self.written for x in loads(s.tests))
        self.tested |= {x.tests for x in kept if isinstance(x, lp.Check)} if steady else set()
        return kept
