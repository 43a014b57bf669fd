"""A range cut where its tests change, so that its parts have none (index-set splitting by what tests say).

    for j in 0..m:  a[j] = f if i >= 1 and j >= 1 else g;  b[j] = h if m - j >= 2 else k
becomes
    if i >= 1:  for j in 0..1: as it was, j >= 1 is false;  for j in 1..m-1: a[j] = f, b[j] = h;  for j in m-1..m: as it was, m - j >= 2 is false
    else:       as it was, i >= 1 is false, and cut like this

    without_tests(loop, known)           the parts of a loop
    sum_in_parts(sum, known)             the parts of a sum, each added to what it had
    sum_where_tests_hold(sum, known)     a sum over the range where tests hold that all its terms are under
    signed(loop, known)                  tests on equality as tests on signs, where the range says on which side the index is
    spelled(loop)                        tests of conditions by name as the tests of indices that they are

Tests that do not mention the index go before the loop; those that step by one with it cut its range where the last
of them begins to hold and where the first ceases to (cut.py). Right because a test is decided in a part only where
it holds for all rounds of it, or for none: what it says is of the index, of sizes and of what stays as it is in the
loop, and exact. Tests inside sums of a round count as what has to hold for all their terms. Of a test that holds at
an end of the range only (i == 0) the negation is what holds inside, and a condition by name (x = i == 0 and j == 0)
is false where one of its tests is. False as a whole tests of sums are taken to be only where that is all they say.
A loop has no loops inside but sums; the parts are done one after the other, so its rounds may be in order. A sum
may be made in parts where its operator allows it, and floats are then added in another order (`Pass.regroups`). A
term that a test leaves out adds the neutral element.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.loops.questions import divides, parts, told
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.cut import Cut, cut, part_of_sum, regroupable, totals, without_terms
from atoll.loops.transform.refused import Made, Refused
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.prover import Facts, facts
from atoll.types.dtypes import BOOL, I64

Decide = Callable[[lp.Test], bool | None]
Known = tuple[Poly, ...]
_NOTHING = Refused("no test in it is decided in a part of its range")


def without_tests(loop: lp.For, known: Known) -> Made:
    if loop.scan or loop.vector or loop.unroll or not copyable(loop.body):
        return Refused("it is scheduled as it stands, or cannot be copied")
    if any(isinstance(s, lp.For) for s in lp.walk(loop.body)):
        return Refused("there are loops in it")
    return _cut(loop, known)


def _cut(loop: lp.For, known: Known) -> Made:
    tests = _Tests(loop, _tested(loop.body), known)
    cuts = tests.cuts(loop)
    if isinstance(cuts, Refused):
        return cuts
    before, start, stop = cuts.before, cuts.start, cuts.stop
    low = [_part(loop, loop.low, start, tests.false(tests.lower))] if tests.lower else []
    high = [_part(loop, stop, loop.high, tests.false(tests.upper))] if tests.upper else []
    inside = [*before, *(part for part in (*low, _part(loop, start, stop, tests.true), *high) if part.body)]
    if not tests.fixed:
        return inside
    outside = _part(loop, loop.low, loop.high, tests.false(tests.fixed))
    again = _cut(outside, known) if len(tests.fixed) == 1 and tests.exact.issuperset(tests.fixed) else _NOTHING
    return [lp.If(tuple(dict.fromkeys(tests.fixed.values())), inside, [outside] if isinstance(again, Refused) else again)]


def sum_in_parts(loop: lp.Accumulate, known: Known) -> Made:
    """A sum cut where tests of some of its terms change: each part has none of them."""
    if not straight_sum(loop) or not regroupable(loop):
        return Refused("there are loops in it, or it may not be made in parts")
    tests = _Tests(loop, _tested(loop.body), known)
    cuts = tests.cuts(loop)
    if isinstance(cuts, Refused):
        return cuts
    if not (tests.fixed or tests.lower or tests.upper):  # all of them hold: the sum stays in one
        return [dataclasses.replace(loop, body=_Decided(loop.body, tests.true).stmts(loop.body))]
    inside: list[lp.Stmt] = [*cuts.before]
    if tests.lower:
        inside += part_of_sum(loop, loop.low, cuts.start, _Decided(loop.body, tests.false(tests.lower)))
    inside += part_of_sum(loop, cuts.start, cuts.stop, _Decided(loop.body, tests.true))
    if tests.upper:
        inside += part_of_sum(loop, cuts.stop, loop.high, _Decided(loop.body, tests.false(tests.upper)))
    if not tests.fixed:
        return [*totals(loop), *inside]
    outside = part_of_sum(loop, loop.low, loop.high, _Decided(loop.body, tests.false(tests.fixed)))
    return [*totals(loop), lp.If(tuple(dict.fromkeys(tests.fixed.values())), inside, outside)]


def sum_where_tests_hold(loop: lp.Accumulate, known: Known) -> Made:
    """A sum over the range where tests hold that all its terms are under."""
    common = _common(loop.body) if straight_sum(loop) else []
    if not common:
        return Refused("its terms have no tests in common, or there are loops in it")
    tests = _Tests(loop, common, known, turned=False)
    cuts = tests.cuts(loop)
    if isinstance(cuts, Refused):
        return cuts
    before, start, stop = cuts.before, cuts.start, cuts.stop
    if tests.fixed:
        end = fresh_like("end", I64)
        end.small = True
        before.append(lp.Let(end, lp.Choose(tuple(tests.fixed.values()), lp.Index(stop), lp.Index(start))))
        stop = poly(end.atom)
    copier = Copier({}, tests.true)
    return [*before, lp.Accumulate(loop.sym, start, stop, copier.stmts(loop.body), loop.accs, loop.exact)]


def straight_sum(loop: lp.Accumulate) -> bool:
    """No loops inside."""
    return copyable(loop.body) and not any(isinstance(s, (lp.For, lp.Accumulate)) for s in lp.walk(loop.body))


def signed(loop: lp.For | lp.Accumulate, known: Known) -> lp.For | lp.Accumulate:
    """The loop with tests on equality made tests on signs, where its range says on which side the index is: i != 0 is i >= 1, i == 0 is i <= 0."""
    if not copyable(loop.body):
        return loop
    made = {s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}

    def sign_of(t: lp.Test, ctx: Facts) -> lp.Test:
        p = t.poly
        if t.kind not in ("eq", "ne") or p is None or not made.isdisjoint(p.leaves()) or divides(p):
            return t
        sign = 1 if _certain(p, ctx) else -1 if _certain(-p, ctx) else 0
        if not sign:
            return t
        return lp.Test("ge", p * sign - 1) if t.kind == "ne" else lp.Test("ge", -p * sign)

    class Signed(Copier):
        around = (*known, *told(loop))

        def other(self, tests: tuple[lp.Test, ...]) -> tuple[lp.Test, ...] | None:
            """The test that holds inside, for a lone one that holds at an edge."""
            found = sign_of(tests[0].negated(), facts(self.around)) if len(tests) == 1 and tests[0].kind == "eq" else None
            return (found,) if found is not None and found.kind == "ge" else None

        def tests(self, tests: tuple[lp.Test, ...]) -> tuple[lp.Test, ...] | None:
            return super().tests(tuple(sign_of(t, facts(self.around)) for t in tests))

        def expr(self, e: lp.Expr) -> lp.Expr:
            if isinstance(e, lp.Choose) and (inside := self.other(e.tests)) is not None:
                return super().expr(lp.Choose(inside, e.orelse, e.then))
            return super().expr(e)

        def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
            if isinstance(s, lp.If) and (inside := self.other(s.tests)) is not None:
                s = lp.If(inside, s.orelse, s.then)
            before = self.around
            self.around = (*before, *told(s))
            found = super().stmt(s)
            self.around = before
            return found

    return dataclasses.replace(loop, body=Signed({}).stmts(loop.body))


def spelled(loop: lp.For | lp.Accumulate) -> lp.For | lp.Accumulate:
    """The loop with conditions by name spelled out where they are tested: x = i == 0 and j == 0;  ... if x  becomes  ... if i == 0 and j == 0."""
    if not copyable(loop.body):
        return loop
    named = _conjunctions(loop.body)
    if not any(t.expr.var in named for t in tests_in(loop.body) if isinstance(t.expr, lp.Use)):
        return loop

    class Spelled(Copier):
        def tests(self, tests: tuple[lp.Test, ...]) -> tuple[lp.Test, ...] | None:
            found: list[lp.Test] = []
            for t in tests:
                parts = named.get(t.expr.var, ()) if isinstance(t.expr, lp.Use) else ()
                found += parts if parts and t.kind == "true" else (parts[0].negated(),) if len(parts) == 1 else (t,)
            return super().tests(tuple(found))

    return dataclasses.replace(loop, body=Spelled({}).stmts(loop.body))


def _conjunctions(stmts: lp.Stmts) -> dict[lp.Var, tuple[lp.Test, ...]]:
    """Conditions by name that hold where some tests of indices do, all of them."""
    inside = list(lp.walk(stmts))
    changing = {s.var.atom for s in inside if isinstance(s, (lp.Declare, lp.Assign, lp.Add))}
    found: dict[lp.Var, tuple[lp.Test, ...]] = {}

    def parts(e: lp.Expr) -> tuple[lp.Test, ...] | None:
        match e:
            case lp.Truth(tests) if all(t.poly is not None and changing.isdisjoint(t.poly.leaves()) for t in tests):
                return tests
            case lp.Use(var):
                return found.get(var)
            case lp.Call("not", (a,), _):
                inner = parts(a)
                return (inner[0].negated(),) if inner is not None and len(inner) == 1 else None
            case lp.Call("and", (a, b), _):
                first, second = parts(a), parts(b)
                return None if first is None or second is None else (*first, *second)
        return None

    for s in inside:
        if isinstance(s, lp.Let) and s.var.dtype is BOOL and (tests := parts(s.value)):
            found[s.var] = tests
    return found


class _Decided(Copier):
    """A copy in which some tests are decided, and with them conditions by name."""

    def __init__(self, stmts: lp.Stmts, decide: Decide) -> None:
        self.named = _conjunctions(stmts)
        super().__init__({}, lambda t: self.by_name(t, decide))

    def by_name(self, t: lp.Test, decide: Decide) -> bool | None:
        if t.poly is not None or not isinstance(t.expr, lp.Use) or t.expr.var not in self.named:
            return decide(t)
        each = [decide(part) for part in self.named[t.expr.var]]
        holds = False if False in each else None if None in each else True
        return None if holds is None else holds == (t.kind == "true")


def tests_in(x: Any) -> list[lp.Test]:
    """Tests of choices and of conditional statements."""
    return [t for guard in parts(x, lp.Choose, lp.If) for t in guard.tests]


def _tested(stmts: lp.Stmts) -> list[lp.Test]:
    """Tests of choices and of conditional statements, those of conditions by name among them."""
    named = _conjunctions(stmts)
    return [part for t in tests_in(stmts) for part in (named.get(t.expr.var, (t,)) if isinstance(t.expr, lp.Use) else (t,))]


class _Tests:
    """Some tests of a loop, in the order they stand, by how they move with its index: what has to hold for all rounds of the sums inside.

    Those that move otherwise are left alone. Of those that hold at an end of the range only the negation counts (`turned`: for those that have to hold, it does not).
    """

    def __init__(self, loop: lp.For | lp.Accumulate, tests: list[lp.Test], known: Known, turned: bool = True) -> None:
        inside = list(lp.walk(loop.body))
        sums = [s for s in inside if isinstance(s, lp.Accumulate)]
        changing: set[Any] = {s.var.atom for s in inside if isinstance(s, (lp.Let, lp.Declare, lp.Assign))} | {
            acc.var.atom for s in sums for acc in s.accs
        }
        counts = Counter([loop.sym, *(s.sym for s in sums)])
        changing |= {sym for sym, count in counts.items() if count > 1}
        self.certain: set[lp.Test] = set()
        self.fixed: dict[lp.Test, lp.Test] = {}  # what to test before the loop
        self.lower: dict[lp.Test, Poly] = {}  # the least index where it holds
        self.upper: dict[lp.Test, Poly] = {}  # the greatest
        self.exact: set[lp.Test] = set()  # false as a whole where it does not hold for all rounds of sums
        self.turned: dict[lp.Test, lp.Test] = {}  # tests that do not hold inside, and their negations, which do
        for test in dict.fromkeys(tests):
            if (
                test.kind != "ge"
                or test.poly is None
                or self.inside(test)
                or not changing.isdisjoint(test.poly.leaves())
                or divides(test.poly)
            ):
                continue
            around = [s for s in sums if s.sym in test.poly.leaves()]
            ctx = facts((*known, *told(loop), *(p for s in around for p in told(s))))
            other = test.negated()
            if (
                turned
                and other not in self.turned
                and not _certain(test.poly, ctx)
                and (self.inside(other) or _certain(-test.poly, ctx))
            ):
                self.turned[test] = test = other
                if self.inside(test):
                    continue
            assert test.poly is not None
            if _certain(test.poly, ctx):
                self.certain.add(test)
                continue
            least = _least(test.poly, sums)
            if least is None or not changing.isdisjoint(least.leaves()) or divides(least):
                continue
            step = _step(least, loop.sym)
            if step == 0:
                self.fixed[test] = lp.Test("ge", least)
            elif step == 1:
                self.lower[test] = loop.sym - least
            elif step == -1:
                self.upper[test] = least + loop.sym
            if least == test.poly:
                self.exact.add(test)

    def cuts(self, loop: lp.For | lp.Accumulate) -> Cut | Refused:
        """Where the range is cut, if any of them is decided."""
        if not (self.certain or self.fixed or self.lower or self.upper):
            return _NOTHING
        return cut(loop, self.lower.values(), self.upper.values())

    def inside(self, test: lp.Test) -> bool:
        return test in self.certain or test in self.fixed or test in self.lower or test in self.upper

    def true(self, test: lp.Test) -> bool | None:
        return True if self.inside(test) else False if test in self.turned and self.inside(self.turned[test]) else None

    def false(self, group: Iterable[lp.Test]) -> Decide:
        """Where one of the tests of a group does not hold: known which if there is only one. What is tested before the loop holds in all its parts."""
        tests = list(group)
        holds = self.certain | (set() if group is self.fixed else self.fixed.keys())
        only = tests[0] if len(tests) == 1 and tests[0] in self.exact else None

        def decide(test: lp.Test) -> bool | None:
            if test in self.turned:
                other = decide(self.turned[test])
                return None if other is None else not other
            return False if test == only else True if test in holds else None

        return decide


def _common(stmts: lp.Stmts) -> list[lp.Test]:
    """Tests without which none of the statements adds anything."""
    found: list[lp.Test] | None = None
    for s in stmts:
        match s:
            case lp.Let() | lp.Note():
                continue
            case lp.If(tests, then, []):
                these = [*tests, *_common(then)]
            case lp.Add(var, monoid, lp.Choose(tests, _, lp.Const(value, _))) if value == MONOIDS[monoid][1](var.dtype):
                these = [*tests]
            case _:
                return []
        found = these if found is None else [t for t in found if t in these]
    return found or []


def _least(p: Poly, sums: list[lp.Accumulate]) -> Poly | None:
    """The least value over all rounds of sums, from the innermost on."""
    for loop in reversed(sums):
        step = _slope(p, loop.sym)
        if step is None:
            return None
        p = p.subst({loop.sym: loop.low if step >= 0 else loop.high - 1})
    return p


def _slope(p: Poly, sym: Sym) -> int | None:
    step = p.slope(sym)
    return None if step is None or sym in (p - step * sym).leaves() else step.const()


def _step(p: Poly, sym: Sym) -> int | None:
    """How a test's polynomial moves with the index: -1, 0 or 1, or None."""
    found = _slope(p, sym)
    return found if found in (-1, 0, 1) else None


def _certain(p: Poly, ctx: Facts) -> bool:
    """Seen to hold; arithmetic of variables may wrap around, what is known of them is not used."""
    return not any(isinstance(leaf, lp.VarAtom) and not leaf.var.small for leaf in p.leaves()) and ctx.proves(p)


def _part(loop: lp.For, low: Poly, high: Poly, decide: Decide) -> lp.For:
    """The loop over a part of its range where some tests are decided."""
    return lp.For(loop.sym, low, high, without_terms(_Decided(loop.body, decide).stmts(loop.body)), loop.parallel)
