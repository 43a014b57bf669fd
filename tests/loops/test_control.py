"""What is done with checks and branches is a transformation with its condition: each refuses programs that match but for one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import atoll as at
from atoll.ainf.ir import Site
from atoll.errors import NOWHERE
from atoll.loops import ir as lp
from atoll.loops.show import statements
from atoll.loops.transform.branches import Joined, goes_before, joined, positive
from atoll.loops.transform.checks import checked_once
from atoll.loops.transform.counted import counted
from atoll.loops.transform.decided import something_left, without_proved
from atoll.loops.transform.fuse import checks_joined, once
from atoll.loops.transform.guard import guarded
from atoll.loops.transform.leave import left_at_once
from atoll.loops.transform.read_first import read_in_any_case
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, DTYPES, I64

F64 = DTYPES["f64"]
N, M, I, J, T = (Sym(name) for name in "nmijt")
X, Y = (lp.Buffer(name, F64, (poly(N),), "temp") for name in "xy")
A, AT = lp.Buffer("a", F64, (poly(N), poly(M)), "temp"), lp.Buffer("at", I64, (poly(N),), "temp")
SITE = Site("E0703", NOWHERE, {"text": "the index"})
P, Q, K, GOING = lp.Var("p", I64), lp.Var("q", I64), lp.Var("k", I64), lp.Var("going", BOOL)
V, W = lp.Var("v", F64), lp.Var("w", F64)
TRUE, FALSE, ONE = lp.Const(True, BOOL), lp.Const(False, BOOL), lp.Const(1.0, F64)


def ge(p: Poly) -> lp.Test:
    return lp.Test("ge", p)


def index(p: Poly | Sym | lp.VarAtom | int) -> lp.Index:
    return lp.Index(poly(p))


def inside(p: Poly, size: Poly) -> lp.Check:
    return lp.Check((ge(p), ge(size - 1 - p)), SITE, ())


def fill(buffer: lp.Buffer, *at_: Poly | Sym) -> lp.Store:
    return lp.Store(buffer, tuple(map(poly, at_)), ONE)


def over(sym: Sym, size: Sym | Poly, *body: lp.Stmt, parallel: bool = True) -> lp.For:
    return lp.For(sym, poly(0), poly(size), list(body), parallel)


def why(made: object) -> str:
    assert isinstance(made, Refused), made
    return made.why


def text(made: lp.Stmts) -> list[str]:
    return [line.strip() for line in statements(list(made))]


# -- a flag that ends a loop

ASKS = lp.BreakUnless((lp.Test("true", None, lp.Use(GOING)),))
ASKS_BOTH = lp.BreakUnless((*ASKS.tests, ge(poly(P.atom))))
OUT = lp.BreakUnless((ge(poly(N) - P.atom - 1),))
SETS = lp.Assign(GOING, lp.Choose((lp.Test("true", None, lp.Use(GOING)),), lp.Truth((ge(poly(P.atom)),)), FALSE))
MOVES = lp.Assign(P, index(poly(P.atom) + 1))
SET_TRUE = lp.Declare(GOING, TRUE)


def test_a_flag_is_looked_at_where_it_is_made() -> None:
    made = left_at_once(lp.Forever([OUT, ASKS, SETS, MOVES]), [SET_TRUE])
    assert isinstance(made, lp.Forever) and made.body[-1] is ASKS and made.body[0] is OUT and made.body[-2] is MOVES


def test_a_flag_among_other_conditions() -> None:
    made = left_at_once(lp.Forever([lp.If((*ASKS.tests, ge(poly(P.atom))), [MOVES]), ASKS_BOTH, SETS, MOVES]), [SET_TRUE])
    assert isinstance(made, lp.Forever) and made.body[-1] == ASKS
    first, second = made.body[:2]
    assert isinstance(first, lp.If) and first.tests == (ge(poly(P.atom)),)
    assert isinstance(second, lp.BreakUnless) and GOING not in set(lp.used_vars(second))


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ([lp.Declare(GOING, FALSE)], [OUT, ASKS, SETS]),  # the first round is left at once
        ([SET_TRUE, lp.Assign(GOING, FALSE)], [OUT, ASKS, SETS]),
        ([SET_TRUE, lp.If((ge(poly(N)),), [lp.Assign(GOING, FALSE)])], [ASKS, SETS]),
        ([], [OUT, ASKS, SETS]),  # declared somewhere else
        ([SET_TRUE], [MOVES, ASKS, SETS]),  # a round would move once more
        ([SET_TRUE], [OUT, inside(poly(P.atom), poly(N)), ASKS, SETS]),  # or fail
        ([SET_TRUE], [lp.BreakUnless((lp.Test("false", None, lp.Use(GOING)),)), SETS]),
        ([SET_TRUE], [lp.If((ge(poly(P.atom)),), [MOVES]), ASKS_BOTH, SETS]),  # moves whether it holds or not
        ([SET_TRUE], [lp.If(ASKS.tests, [MOVES], [MOVES]), ASKS, SETS]),
        ([SET_TRUE], [lp.If(ASKS.tests, [SETS]), ASKS]),
    ],
)
def test_a_flag_that_is_not_known_to_hold_stays(before: list[lp.Stmt], body: list[lp.Stmt]) -> None:
    assert "flag" in why(left_at_once(lp.Forever(body), before))


# -- loops that count


def count(body: Sequence[lp.Stmt], steps: dict[lp.Var, int] | None = None, fits: bool = True) -> list[lp.Stmt] | Refused:
    return counted(lp.Forever(list(body)), {P: 1} if steps is None else steps, lambda p: fits)


WRITES = fill(Y, poly(P.atom))


def test_a_loop_that_counts_is_a_range() -> None:
    made = count([OUT, WRITES, MOVES])
    assert not isinstance(made, Refused)
    first, loop, after = made
    assert isinstance(loop, lp.For) and not loop.parallel and isinstance(first, lp.Let) and isinstance(after, lp.Assign) and after.var is P
    assert loop.high == poly(N) - first.var.atom


@pytest.mark.parametrize(
    ("body", "steps", "fits", "reason"),
    [
        ([WRITES, MOVES], None, True, "no way out"),
        ([WRITES, OUT, MOVES], None, True, "before it looks"),
        ([OUT, MOVES], {P: 2}, True, "by one"),
        ([OUT, MOVES], {}, True, "by one"),
        ([OUT, WRITES, MOVES], None, False, "overflow"),
        ([OUT, MOVES, WRITES], None, True, "does last"),  # the element behind the step
        ([OUT, WRITES, lp.If((ge(poly(M)),), [MOVES])], None, True, "does last"),  # not in every round
        ([OUT, WRITES, MOVES, ASKS], None, True, "another way"),
        ([OUT, lp.BreakUnless((ge(poly(M) - P.atom),)), MOVES], None, True, "another way"),
        ([lp.BreakUnless((lp.Test("ne", poly(N) - P.atom),)), MOVES], None, True, "another way"),
        ([lp.BreakUnless((ge(poly(N) - poly(P.atom) * P.atom),)), MOVES], None, True, "how far"),
        ([lp.BreakUnless((ge(poly(P.atom) - N),)), MOVES], None, True, "how far"),  # it goes away from its end
        ([lp.BreakUnless((ge(poly(Q.atom) - P.atom),)), lp.Assign(Q, index(3)), MOVES], None, True, "by one"),  # the end moves too
        ([lp.Let(K, lp.Load(AT, (poly(0),))), lp.BreakUnless((ge(poly(K.atom) - P.atom),)), lp.Store(AT, (poly(0),), index(1)), MOVES], None, True, "before it looks"),
        ([OUT, lp.Print((), NOWHERE), MOVES], None, True, "not everything"),
    ],
)
def test_a_loop_that_nearly_counts_stays(body: list[lp.Stmt], steps: dict[lp.Var, int] | None, fits: bool, reason: str) -> None:
    assert reason in why(count(body, steps, fits))


# -- what is decided


def test_tests_that_hold_are_not_made() -> None:
    check = inside(poly(P.atom), poly(N))
    (made,) = without_proved(check, lambda t: t == ge(poly(P.atom)))  # type: ignore[misc]
    assert isinstance(made, lp.Check) and made.tests == check.tests[1:] and made.site is SITE
    assert without_proved(check, lambda t: True) == []
    assert "none of its tests" in why(without_proved(check, lambda t: False))


def test_what_has_nothing_inside_is_gone_unless_it_is_seen() -> None:
    assert something_left(lp.If((ge(poly(N)),), [], [])) == something_left(over(I, N)) == something_left(lp.Chunks(I, J, poly(N), poly(1), [])) == []
    endless, adds = lp.Forever([]), lp.Accumulate(I, poly(0), poly(N), [], [lp.Acc(V, "add")])
    assert something_left(endless) == [endless] and something_left(adds) == [adds]  # which never ends; whose name is 0 afterwards
    other = lp.If((ge(poly(N)),), [], [fill(X, I)])
    assert something_left(other) == [other]


# -- elements before a loop

READS = lp.Let(V, lp.Load(X, (poly(0),)))
USES = lp.Store(Y, (poly(I),), lp.Use(V))


def test_an_element_that_is_there_is_read_before_the_loop() -> None:
    loop = over(I, N, lp.If((ge(poly(M) - I),), [READS, USES]), parallel=False)
    made = read_in_any_case(loop, lambda load: True, 4)
    assert not isinstance(made, Refused) and made[0] is READS and len(text(made)) == 4
    assert not isinstance(read_in_any_case(lp.Forever([OUT, READS]), lambda load: True, 4), Refused)


@pytest.mark.parametrize(
    ("body", "there", "most", "parallel", "reason"),
    [
        ([READS, USES], False, 4, False, "there in any case"),
        ([READS, USES], True, 0, False, "there in any case"),
        ([READS, USES], True, 4, True, "on threads"),
        ([READS, USES, fill(X, I)], True, 4, False, "the same in every round"),  # written
        ([READS, USES, lp.CopyBuffer(X, Y)], True, 4, False, "the same in every round"),
        ([READS, USES, lp.Swap(X, Y)], True, 4, False, "the same in every round"),
        ([lp.Let(V, lp.Load(X, (poly(I),))), USES], True, 4, False, "the same in every round"),
        ([lp.Let(K, lp.Load(AT, (poly(I),))), lp.Let(V, lp.Load(X, (poly(K.atom),))), USES], True, 4, False, "the same in every round"),
        ([lp.Let(V, lp.Load(X, (poly(P.atom),))), MOVES], True, 4, False, "the same in every round"),
    ],
)
def test_an_element_that_may_be_another_stays(body: list[lp.Stmt], there: bool, most: int, parallel: bool, reason: str) -> None:
    assert reason in why(read_in_any_case(over(I, N, *body, parallel=parallel), lambda load: there, most))


# -- branches on one condition

C = (ge(poly(M) - 1),)
FIRST = lp.If(C, [lp.Assign(V, lp.Load(X, (poly(0),)))])
SECOND = lp.If(C, [lp.Assign(W, lp.Load(Y, (poly(0),)))])


def test_a_branch_joins_the_one_on_its_condition() -> None:
    made = joined(FIRST, SECOND, [fill(A, I, J)])
    assert isinstance(made, Joined) and made.branch.then == [*FIRST.then, *SECOND.then] and not made.before
    further = joined(FIRST, lp.If((*C, ge(poly(N) - 3)), SECOND.then), [])
    assert isinstance(further, Joined) and isinstance(further.branch.then[1], lp.If)
    value = joined(FIRST, lp.Let(W, lp.Choose((C[0].negated(),), ONE, lp.Load(Y, (poly(0),)))), [])
    assert isinstance(value, Joined) and value.before == [lp.Declare(W, None)] and value.branch.orelse == [lp.Assign(W, ONE)]
    neither = lp.If((lp.Test("false", None, lp.Call("and", (lp.Truth(C), lp.Truth((ge(poly(N)),))), BOOL)),), [], SECOND.then)
    assert positive(neither).tests == (*C, ge(poly(N))) and positive(neither).then == SECOND.then


TEST_OF_DATA = (lp.Test("true", None, lp.Call("lt", (lp.Load(X, (poly(0),)), ONE), BOOL)),)


@pytest.mark.parametrize(
    ("branch", "stmt", "between", "reason"),
    [
        (FIRST, fill(X, I), [], "no branch"),
        (FIRST, lp.If((ge(poly(M) - 2),), SECOND.then), [], "another condition"),
        (lp.If((*C, ge(poly(N))), FIRST.then), SECOND, [], "another condition"),
        (lp.If((ge(poly(P.atom)),), [MOVES]), lp.If((ge(poly(P.atom)),), SECOND.then), [], "after the branch"),
        (lp.If(TEST_OF_DATA, [fill(X, I)]), lp.If(TEST_OF_DATA, SECOND.then), [], "after the branch"),
        (FIRST, lp.If((*C, ge(poly(N))), SECOND.then, [fill(X, I), fill(Y, I)]), [], "twice"),
        (FIRST, SECOND, [over(I, N, fill(X, I))], "is seen"),
        (FIRST, SECOND, [inside(poly(P.atom), poly(N))], "is seen"),
        (FIRST, SECOND, [lp.Print((), NOWHERE)], "is seen"),
        (FIRST, SECOND, [OUT], "is seen"),
        (FIRST, lp.If(C, [OUT]), [fill(X, I)], "is seen"),  # which would not be stored
        (FIRST, SECOND, [fill(Y, I)], "in between makes"),
        (FIRST, SECOND, [lp.Assign(W, ONE)], "in between makes"),
        (FIRST, SECOND, [lp.Store(X, (poly(0),), lp.Use(W))], "in between makes"),
        (FIRST, SECOND, [lp.If((ge(poly(N)),), [lp.Let(lp.Var("u", F64), lp.Use(W))])], "in between makes"),
    ],
)
def test_a_branch_that_may_not_join(branch: lp.If, stmt: lp.Stmt, between: list[lp.Stmt], reason: str) -> None:
    assert reason in why(joined(branch, stmt, between))


def test_values_before_a_branch() -> None:
    number = lp.Let(K, index(poly(N) + 1))
    assert goes_before(number, FIRST, []) is None
    assert "no value" in why(goes_before(fill(X, I), FIRST, []))
    assert "reads memory" in why(goes_before(READS, FIRST, []))
    assert "reads memory" in why(goes_before(lp.Let(K, lp.Call("floordiv", (lp.Use(P), lp.Use(Q)), I64)), FIRST, []))
    assert "reads memory" in why(goes_before(lp.Let(K, index(poly(N) // poly(M))), FIRST, []))  # by a size that may be 0
    assert "the branch makes" in why(goes_before(lp.Let(W, lp.Use(V)), FIRST, []))
    assert "in between" in why(goes_before(lp.Let(K, lp.Use(P)), FIRST, [MOVES]))


# -- checks and values once, and where they are used


def test_a_check_is_made_once_in_a_round() -> None:
    check = inside(poly(I) + P.atom, poly(N))
    made = checked_once(over(I, N, check, fill(X, I), check))
    assert not isinstance(made, Refused) and sum(isinstance(s, lp.Check) for s in made.body) == 1
    assert "made twice" in why(checked_once(over(I, N, check, MOVES, check, parallel=False)))  # of another p
    assert "made twice" in why(checked_once(over(I, N, check, inside(poly(I) + P.atom, poly(M)))))
    data = lp.Check(TEST_OF_DATA, SITE, ())
    assert "made twice" in why(checked_once(over(I, N, data, fill(X, I), data)))


def test_checks_go_to_the_loop_that_uses_their_values() -> None:
    checks = over(I, N, lp.Let(K, lp.Load(AT, (poly(I),))), inside(poly(K.atom), poly(N)))
    again = lp.Var("k", I64)
    uses = over(J, N, lp.Let(again, lp.Load(AT, (poly(J),))), lp.Store(Y, (poly(J),), lp.Load(X, (poly(again.atom),))))
    made = checks_joined(checks, uses)
    assert isinstance(made, lp.For) and sum(isinstance(s, lp.Let) for s in made.body) == 1
    assert "no loop of checks" in why(checks_joined(over(I, N, fill(A, I, 0 * poly(I))), uses))
    assert "printed" in why(checks_joined(checks, replace(uses, body=[lp.Print((), NOWHERE), *uses.body])))
    assert "same range" in why(checks_joined(checks, replace(uses, high=poly(N) - 1)))
    assert "in order" in why(checks_joined(checks, replace(uses, parallel=False)))
    assert "touch" in why(checks_joined(checks, replace(uses, body=[*uses.body, lp.Store(AT, (poly(J) + 1,), index(0))])))  # what a later check looks at
    assert "not everything" in why(once([lp.Print((), NOWHERE)]))


# -- rounds that do nothing


def test_rounds_that_would_do_nothing_are_not_run() -> None:
    made = guarded(over(I, N, over(J, M, fill(A, I, J))), (N, M))
    assert isinstance(made, lp.If) and made.tests == (ge(poly(M) - 1),)
    both = guarded(over(I, N, over(J, M, fill(A, I, J)), over(J, poly(M) * 2, fill(A, I, J))), (N, M))
    assert isinstance(both, lp.If) and both.tests == (ge(poly(M) - 1),)


@pytest.mark.parametrize(
    "body",
    [
        [fill(X, I)],
        [over(J, M, fill(A, I, J)), fill(X, I)],
        [over(J, M, fill(A, I, J)), over(T, N, fill(A, I, T))],  # either of two sizes
        [over(J, poly(I) + 1, fill(A, I, J))],  # none but in the first round
        [lp.Let(K, index(poly(M))), over(J, poly(K.atom), fill(A, I, J))],  # which is not known before
        [over(J, M, fill(A, I, J)), lp.Print((), NOWHERE)],
        [over(J, M, fill(A, I, J)), lp.Swap(X, Y)],
        [over(J, M, lp.BreakUnless((ge(poly(N)),)))],
        [lp.If((ge(poly(N)),), [over(J, M, fill(A, I, J))], [fill(X, I)])],
        [over(J, poly(3), fill(A, I, J))],
    ],
)
def test_rounds_that_do_something_are_run(body: list[lp.Stmt]) -> None:
    assert "may do something" in why(guarded(over(I, N, *body), (N, M)))


def test_an_index_may_be_less_than_0_where_a_size_is_not() -> None:
    """Of an extent t * t the size t would have to be 1 or more; the index t may be -3."""
    loop = over(I, N, over(J, poly(T) * T, fill(A, I, J)))
    size, other = guarded(loop, (N, T)), guarded(loop, (N,))
    assert isinstance(size, lp.If) and size.tests == (ge(poly(T) - 1),)
    assert isinstance(other, lp.If) and other.tests == (ge(poly(T) * T - 1),)


def test_a_time_loop_of_rounds_without_elements() -> None:
    f = at.fn(source="import atoll as at\nfrom atoll import *\nn = at.sizes('n')\n@at.fn\ndef f(x: f64[n]):\n    s = 0.0\n    for t in range(-3, 3):\n        y = sort([x[0] * f64(i) for i in range(t * t)])\n        s += y[len(y) // 2] if len(y) > 0 else 0.0\n    return s\n")
    given = np.array([2.0, 1.0])
    assert float(f(given)) == float(f.interpret(given)) != 0.0
