"""Branches on one condition become one, past what they have nothing to do with, and what is computed twice in it is computed once."""

from __future__ import annotations

from atoll.loops import ir as lp
from atoll.loops.control.same_conditions import same_conditions
from atoll.loops.control.same_values import same_values
from atoll.loops.show import statements
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.cut import part_of_sum, regroupable, totals
from atoll.loops.transform.fuse import once as made_once
from atoll.loops.transform.refused import Refused
from atoll.sizes import Sym, poly
from atoll.types.dtypes import DTYPES

F64 = DTYPES["f64"]
n, i = Sym("n"), Sym("i")
x, y = (lp.Buffer(name, F64, (poly(n),), "temp") for name in "xy")
a, b, s, t, u = (lp.Var(name, F64) for name in "abstu")
HOLDS = (lp.Test("ge", poly(n) - 1),)


def at(buffer: lp.Buffer) -> lp.Load:
    return lp.Load(buffer, (poly(i),))


def twice(load: lp.Expr) -> lp.Call:
    return lp.Call("mul", (load, lp.Const(2.0, F64)), F64)


def once(body: list[lp.Stmt]) -> list[lp.Stmt]:
    made = made_once(body)
    assert not isinstance(made, Refused)
    return made


def branch(var: lp.Var, value: lp.Expr) -> list[lp.Stmt]:
    return [lp.Declare(var, lp.Const(0.0, F64)), lp.If(HOLDS, [lp.Assign(var, value)])]


def text(stmts: lp.Stmts) -> list[str]:
    return statements(list(stmts))


def test_a_branch_joins_one_before_it_past_a_sum() -> None:
    made = same_conditions([*branch(a, at(x)), lp.Add(s, "add", lp.Use(a)), *branch(b, at(y)), lp.Add(t, "add", lp.Use(b))], [])
    assert [type(z) for z in made] == [lp.Declare, lp.Declare, lp.If, lp.Add, lp.Add]


def test_it_stays_behind_what_it_reads_or_changes() -> None:
    for between in (lp.Store(y, (poly(i),), lp.Use(a)), lp.Update(y, (poly(i),), "add", lp.Use(a))):
        made = same_conditions([*branch(a, at(x)), between, *branch(b, at(y))], [])
        assert sum(isinstance(z, lp.If) for z in made) == 2, between
    made = same_conditions([*branch(a, at(x)), lp.Let(u, lp.Load(y, (poly(0),))), *branch(b, lp.Use(u))], [])
    assert sum(isinstance(z, lp.If) for z in made) == 2
    made = same_conditions([*branch(a, at(x)), lp.Assign(s, lp.Use(a)), lp.If(HOLDS, [lp.Assign(s, at(y))])], [])
    assert sum(isinstance(z, lp.If) for z in made) == 2  # which of the two comes last is seen


def test_a_loop_or_a_check_in_between_is_not_passed() -> None:
    loop = lp.For(Sym("j"), poly(0), poly(n), [lp.Store(x, (poly(0),), lp.Const(0.0, F64))], False)
    made = same_conditions([*branch(a, at(y)), loop, *branch(b, at(y))], [])
    assert sum(isinstance(z, lp.If) for z in made) == 2


def test_equal_values_have_one_name_until_what_they_are_made_of_changes() -> None:
    both = [lp.Let(a, twice(at(x))), lp.Let(b, twice(at(x))), lp.Store(y, (poly(i),), lp.Call("add", (lp.Use(a), lp.Use(b)), F64))]
    assert sum(isinstance(z, lp.Let) for z in once(both)) == 1
    written = [both[0], lp.Store(x, (poly(i),), lp.Const(1.0, F64)), *both[1:]]
    assert sum(isinstance(z, lp.Let) for z in once(written)) == 2
    assigned = [lp.Let(a, twice(lp.Use(s))), lp.If(HOLDS, [lp.Assign(s, lp.Use(a))]), lp.Let(b, twice(lp.Use(s))), both[2]]
    assert sum(isinstance(z, lp.Let) for z in once(assigned)) == 2
    rounds = lp.For(Sym("j"), poly(0), poly(n), [lp.Let(b, twice(lp.Use(s))), lp.Assign(s, lp.Use(b))], False)
    (_, inside) = once([lp.Let(a, twice(lp.Use(s))), rounds])
    assert isinstance(inside, lp.For) and isinstance(inside.body[0], lp.Let)  # the second round's is another


def test_the_pass_says_what_it_found() -> None:
    decisions: list[str] = []
    body = [lp.Let(a, twice(at(x))), lp.Let(b, twice(at(x))), lp.Store(y, (poly(i),), lp.Call("add", (lp.Use(a), lp.Use(b)), F64))]
    made = same_values([lp.For(i, poly(0), poly(n), body, True)], decisions)
    assert decisions == ["1 values are computed once"] and len(text(made)) == 3


def test_parts_of_a_sum_are_added_to_its_name() -> None:
    loop = lp.Accumulate(i, poly(0), poly(n), [lp.Add(s, "add", at(x))], [lp.Acc(s, "add")])
    made = text([*totals(loop), *part_of_sum(loop, poly(0), poly(1), Copier({})), *part_of_sum(loop, poly(1), poly(n), Copier({}))])
    assert made[0] == "var s = 0" and sum("accumulate" in line for line in made) == 2 and sum(line.startswith("s := (s + ") for line in made) == 2
    assert regroupable(loop) and not regroupable(lp.Accumulate(i, poly(0), poly(n), loop.body, loop.accs, True))
