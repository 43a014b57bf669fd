"""Every pass on random programs: well scoped, same value, fuel bounds; any order; linked parts with different selections."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atoll.functions import ir
from atoll.functions.check import IllScoped, check
from atoll.functions.evaluate import evaluate, observe
from atoll.functions.inline import inline_counted
from atoll.functions.link import link, link_converted
from atoll.functions.pipeline import PASSES, SELECTIONS, compile_away, passes
from tests.functions.little import Little, RandomPrograms, random_program

FUEL = 10**6
SAME_COST = ("uncurry", "lambda_lift", "closure_convert", "hoist", "dead_parameters")
"""Passes after which a program never needs less fuel than before."""

programs = st.tuples(st.integers(0, 10**6), st.booleans())


def value_of(p: ir.Program) -> tuple[Any, Any]:
    outcome = evaluate(p, FUEL)
    return (None if outcome.out_of_time else observe(outcome.values)), outcome


def bound_holds(name: str, before: Any, after: Any, source: ir.Program, result: Any) -> None:
    """docs/sources.md, CertiCoq, per pass."""
    c1, t1, c2, t2 = before.fuel, before.trace, after.fuel, after.trace
    if name in SAME_COST:
        assert c1 <= c2, (name, c1, c2)
    elif name == "inline":
        g, main = result.most, result.main
        assert c1 <= c2 + 2 * g * t1 + 2 * main, (c1, c2, g, t1, main)
        assert t1 <= t2 + g * t2 + main, (t1, t2, g, main)
    elif name == "shrink":  # many steps, so the constants are those of the whole program
        count = len(ir.functions(source.block))
        assert c1 <= ir.size(source.block) * ((1 + count) * (t2 + 1) + 1)
        assert t1 <= (1 + count) * (t2 + 1)


def apply_pass(name: str, p: ir.Program) -> tuple[ir.Program, Any]:
    if name == "inline":
        done = inline_counted(p)
        return done.program, done
    return PASSES[name](p), None


@settings(max_examples=60, deadline=None)
@given(programs, st.integers(0, 10**6))
def test_any_order_of_any_passes(program: tuple[int, bool], seed: int) -> None:
    p = random_program(*program[:1], 4, program[1])
    value, before = value_of(p)
    if value is None:
        return
    r = random.Random(seed)
    optional = [n for n in PASSES if n not in ("closure_convert", "hoist")]
    first = r.choices(optional, k=r.randint(0, 6))
    closed = [n for n in optional if n not in ("lambda_lift", "specialise", "uncurry")]
    order = [*first, "closure_convert", *r.choices(closed, k=r.randint(0, 2)), "hoist", *r.choices(closed, k=r.randint(0, 4))]
    for name in order:
        after, result = apply_pass(name, p)
        check(after, closed=name == "hoist")
        found, outcome = value_of(after)
        assert found == value, (name, order)
        bound_holds(name, before, outcome, p, result)
        p, before = after, outcome


@settings(max_examples=15, deadline=None)
@given(programs)
def test_every_selection_keeps_the_value(program: tuple[int, bool]) -> None:
    p = random_program(*program[:1], 5, program[1])
    value, _ = value_of(p)
    if value is not None:
        for selection in SELECTIONS.values():
            done = compile_away(p, selection)
            check(done, closed=True)
            assert value_of(done)[0] == value, selection.name


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(SELECTIONS)), st.sampled_from(sorted(SELECTIONS)))
def test_parts_with_different_selections_link(seed: int, one: str, other: str) -> None:
    f = ir.Var("f", "data")
    library = Little(True).program(RandomPrograms(seed).expr(("fn", ("int",), "int"), [], 4))
    client_text = RandomPrograms(seed + 1).expr("int", [("f", ("fn", ("int",), "int"))], 4)
    client = _with(client_text, f)
    value, _ = value_of(link(library, client, (f,)))
    if value is None:
        return
    parts = _compiled(library, one), _compiled(client, other, (f,))
    linked = link_converted(*parts, (f,))
    check(linked)
    assert value_of(linked)[0] == value


def _with(text: Any, f: ir.Var) -> ir.Program:
    from tests.functions.little import _Builder, rep

    b = _Builder()
    x, t = Little(True).expr(text, {"f": (f, ("fn", ("int",), "int"))}, b)
    return ir.Program(b.close(ir.Ret((x,))), (rep(t),))


def _compiled(p: ir.Program, selection: str, given: tuple[ir.Var, ...] = ()) -> ir.Program:
    for _, step in passes(SELECTIONS[selection]):
        p = step(p)
        check(p, given=given)
    return p


def test_the_checker_refuses() -> None:
    x, y = ir.Var("x", "i64"), ir.Var("y", "i64")
    with pytest.raises(IllScoped, match="y is not in scope"):
        check(ir.Program(ir.Block((ir.Literal(x, 1),), ir.Ret((y,)))))
    with pytest.raises(IllScoped, match="two binders"):
        check(ir.Program(ir.Block((ir.Literal(x, 1), ir.Literal(x, 2)), ir.Ret((x,)))))
    f = ir.Var("f", "code")
    with pytest.raises(IllScoped, match="takes 0 arguments"):
        fun = ir.Fun(f, (), ir.Block((), ir.Tail(f, ())))
        check(ir.Program(ir.Block((ir.Literal(x, 1), ir.Funs((fun,))), ir.Tail(f, (x,)))))
    j = ir.Var("j", "code")
    with pytest.raises(IllScoped, match="not a join point here"):
        fun = ir.Fun(f, (), ir.Block((), ir.Jump(j, ())))
        check(ir.Program(ir.Block((ir.Join(j, (), ir.Block((), ir.Ret(()))), ir.Funs((fun,))), ir.Tail(f, ()))))


def test_deep_nests_are_ordinary_programs() -> None:
    """4000 joins inside each other, four times as deep as Python's stack: no pass recurses over it."""
    x = ir.Var("x", "i64")
    block = ir.Block((), ir.Ret((x,)))
    flag = ir.Var("flag", "bool")
    for _ in range(4000):
        j = ir.Var("j", "code")
        jump = ir.Block((), ir.Jump(j, ()))
        block = ir.Block((ir.Join(j, (), block),), ir.Case(flag, ((ir.TRUE, jump), (ir.FALSE, jump))))
    f = ir.Var("f", "code")
    fun = ir.Fun(f, (flag, x), block, ("i64",))
    y, z = ir.Var("y", "i64"), ir.Var("z", "bool")
    main = ir.Block((ir.Funs((fun,)), ir.Literal(y, 5), ir.Make(z, ir.TRUE, ())), ir.Tail(f, (z, y)))
    p = ir.Program(main, ("i64",))
    for name in ("none", "default"):
        done = compile_away(p, SELECTIONS[name])
        assert evaluate(done).values == (5,)
