"""docs/sources.md, CertiCoq, row by row: the number in a test's name is the row."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import i64
from atoll.functions import ir
from atoll.functions.check import check
from atoll.functions.closure_convert import CLOSURE
from atoll.functions.evaluate import evaluate, observe
from atoll.functions.inline import inline
from atoll.functions.lambda_lift import EVERYTHING, Criteria, lambda_lift
from atoll.functions.link import link, link_converted
from atoll.functions.pipeline import DEFAULT, PASSES, SELECTIONS, compile_away, passes
from atoll.functions.program import FunctionProgram
from atoll.functions.shrink import shrink
from tests.functions.little import CONS, NIL, Little, random_program
from tests.functions.test_passes import SAME_COST, apply_pass, bound_holds

INT_LIST = ("int", "list")


def run(p: ir.Program) -> Any:
    return observe(evaluate(p).values)


def count(p: ir.Program, kind: type, *, con: ir.Constructor | None = None) -> int:
    return sum(isinstance(b, kind) and (con is None or b.con is con) for each in ir.blocks(p.block) for b in each.binds)  # type: ignore[attr-defined]


def named(p: ir.Program, name: str) -> list[ir.Fun]:
    return [f for f in ir.functions(p.block).values() if f.name.name == name]


def test_F1_fuel_is_monotone() -> None:
    for seed in range(40):
        p = random_program(seed, 4)
        needed = evaluate(p).fuel
        for fuel in (0, 1, needed // 2, needed - 1):
            assert evaluate(p, min(fuel, needed - 1)).out_of_time
        assert not evaluate(p, needed).out_of_time and not evaluate(p, needed + 1).out_of_time


@pytest.mark.parametrize("name", sorted(PASSES))
def test_F2_each_pass(name: str) -> None:
    for seed in range(30):
        p = random_program(seed, 4, seed % 2 == 0)
        if name in ("hoist", "dead_parameters"):
            p = PASSES["closure_convert"](p)
        if name == "dead_parameters":
            p = PASSES["hoist"](p)
        before = evaluate(p)
        after, result = apply_pass(name, p)
        check(after, closed=name == "hoist")
        outcome = evaluate(after)
        assert observe(outcome.values) == observe(before.values)
        bound_holds(name, before, outcome, p, result)
    assert name in SAME_COST or name in ("inline", "shrink", "specialise")


def test_F3_any_subset_and_order() -> None:
    import itertools

    optional = ["uncurry", "inline", "shrink", "lambda_lift"]
    for seed in range(6):
        p = random_program(seed, 4)
        value = run(p)
        for order in itertools.permutations(optional, 3):
            q = p
            for name in (*order, "closure_convert", "hoist", "dead_parameters"):
                q = PASSES[name](q)
                check(q)
            assert run(q) == value, order


def test_F4_linked_parts() -> None:
    f = ir.Var("add3", "data")
    library = Little(True).program(_ADD3)
    x, r = ir.Var("x", "i64"), ir.Var("r", "i64")
    b, c = ir.Var("b", "data"), ir.Var("c", "data")
    client = ir.Program(
        ir.Block((ir.Literal(x, 5), ir.Call((b,), f, (x,)), ir.Call((c,), b, (x,)), ir.Call((r,), c, (x,))), ir.Ret((r,))), ("i64",)
    )
    value = run(link(library, client, (f,)))
    assert value == (15,)
    for one in SELECTIONS.values():
        for other in SELECTIONS.values():
            parts = []
            for part, selection in ((library, one), (client, other)):
                for _, step in passes(selection):
                    part = step(part)
                parts.append(part)
            linked = link_converted(*parts, (f,))
            check(linked)
            assert run(linked) == value, (one.name, other.name)


_ADD3 = ("lam", [("a", "int"), ("b", "int"), ("c", "int")], "int", ("+", "a", ("+", "b", "c")))


def _diverging() -> dict[str, ir.Program]:
    f, g = ir.Var("f", "data"), ir.Var("g", "data")
    itself = ir.Fun(f, (), ir.Block((), ir.Tail(f, ())))
    one = ir.Program(ir.Block((ir.Funs((itself,)),), ir.Tail(f, ())))
    f, g = ir.Var("f", "data"), ir.Var("g", "data")
    mutual = (ir.Fun(f, (), ir.Block((), ir.Tail(g, ()))), ir.Fun(g, (), ir.Block((), ir.Tail(f, ()))))
    two = ir.Program(ir.Block((ir.Funs(mutual),), ir.Tail(f, ())))
    f, x, h = ir.Var("f", "data"), ir.Var("x", "data"), ir.Var("h", "data")
    apply_self = ir.Fun(f, (x,), ir.Block((), ir.Tail(x, (x,))))
    three = ir.Program(ir.Block((ir.Funs((apply_self,)), ir.Call((h,), f, (f,))), ir.Ret((h,))))
    return {"itself": one, "mutual": two, "closure": three}


@pytest.mark.parametrize("which", ["itself", "mutual", "closure"])
def test_F5_divergence_stays(which: str) -> None:
    p = _diverging()[which]
    for selection in SELECTIONS.values():
        q = p
        for _, step in passes(selection):
            q = step(q)
            assert evaluate(q, 500).out_of_time
        for fuel in (0, 10, 5000):
            assert evaluate(q, fuel).out_of_time


def _interleave() -> ir.Program:
    """interleave(x, y, l) puts x and y between the elements; called directly, and handed to map."""
    body = ("case", "l", ("nil",), ("h", "t"), ("cons", "x", ("cons", "h", ("cons", "y", ("app", "interleave", "t")))))
    lists = ("cons", 1, ("cons", 2, ("nil",)))
    map_ = ("rec", [("map", [("f", ("fn", ("list",), "list")), ("l", "list")], "list", _MAP)], "map")
    e = (
        "let",
        "map",
        map_,
        (
            "app",
            ("lam", [("x", "int"), ("y", "int")], "list", ("rec", [("interleave", [("l", "list")], "list", body)], ("app", "map", "interleave", ("app", "interleave", lists)))),
            7,
            8,
        ),
    )
    return Little(False).program(e)


_MAP = ("case", "l", ("nil",), ("h", "t"), ("case", ("app", "f", ("cons", "h", ("nil",))), ("app", "map", "f", "t"), ("a", "b"), ("cons", "a", ("app", "map", "f", "t"))))


def test_F6_interleave_allocates_one_closure() -> None:
    p = _interleave()
    value = run(p)
    q = p
    for name in DEFAULT:
        q = PASSES[name](q)
    assert run(q) == value
    assert evaluate(q).closures == 1
    assert count(q, ir.Make, con=CLOSURE) == 1
    known = named(q, "interleave")
    assert known and all(p.name not in ("env",) and not p.name.startswith("env_") for f in known for p in f.params)
    (mapping,) = named(q, "map")
    assert len(mapping.params) == 2
    assert evaluate(compile_away(p)).closures == 0  # specialisation makes the function given to map known as well


def test_F7_curried_add3_in_a_loop() -> None:
    loop = ("if", ("<=", "n", 0), "acc", ("app", "loop", ("-", "n", 1), ("app", "add3", "n", "acc", 1)))
    body = ("rec", [("loop", [("n", "int"), ("acc", "int")], "int", loop)], ("app", "loop", 100, 0))
    p = Little(True).program(("let", "add3", _ADD3, body))
    q = compile_away(p, SELECTIONS["selective"])
    outcome = evaluate(q)
    assert outcome.closures == 0 and outcome.cells == 0
    assert observe(outcome.values) == (5150,)
    assert not any(f.marked for f in ir.functions(q.block).values())


def test_F8_closed_function_has_no_environment() -> None:
    f = ("rec", [("f", [("n", "int")], "int", ("if", ("<=", "n", 0), 0, ("+", "n", ("app", "f", ("-", "n", 1)))))], ("app", "f", 10))
    q = compile_away(Little(True).program(f), SELECTIONS["selective"])
    (fun,) = ir.functions(q.block).values()
    assert len(fun.params) == 1
    assert count(q, ir.Make, con=CLOSURE) == 0 and evaluate(q).cells == 0


def test_F9_unused_parameter_of_mutual_recursion() -> None:
    step = [("-", "n", 1), "junk", "acc"]
    even = ("if", ("<=", "n", 0), "acc", ("app", "odd", *step))
    odd = ("if", ("<=", "n", 0), ("+", "acc", 1), ("app", "even", *step))
    params = [("n", "int"), ("junk", "int"), ("acc", "int")]
    p = Little(False).program(("rec", [("even", params, "int", even), ("odd", params, "int", odd)], ("app", "even", 7, 99, 0)))
    q = p
    for name in ("closure_convert", "hoist", "dead_parameters"):
        q = PASSES[name](q)
    assert all(len(f.params) == 2 for f in ir.functions(q.block).values())
    assert run(q) == run(p) == (1,)


def test_F10_known_constructors_fold() -> None:
    one, nil, cell, h = ir.Var("one", "i64"), ir.Var("nil"), ir.Var("cell"), ir.Var("h", "i64")
    no = ir.Block((), ir.Ret((one,)))
    yes = ir.Block((ir.Take(h, cell, CONS, 0),), ir.Ret((h,)))
    binds = (ir.Literal(one, 1), ir.Make(nil, NIL, ()), ir.Make(cell, CONS, (one, nil)))
    p = ir.Program(ir.Block(binds, ir.Case(cell, ((NIL, no), (CONS, yes)))), ("i64",))
    q = shrink(p)
    assert len(q.block.binds) == 1 and isinstance(q.block.term, ir.Ret)
    assert run(q) == (1,)


def test_F11_a_function_called_once_is_inlined_a_recursive_one_never() -> None:
    once = Little(False).program(("app", ("lam", [("x", "int")], "int", ("*", "x", "x")), 5))
    q = shrink(once)
    assert not ir.functions(q.block) and run(q) == (25,)
    recursive = Little(False).program(
        ("rec", [("f", [("n", "int")], "int", ("if", ("<=", "n", 0), 0, ("app", "f", ("-", "n", 1))))], ("app", "f", 5))
    )
    assert len(ir.functions(shrink(recursive).block)) == 1


def test_F12_one_join_for_what_follows() -> None:
    """let x = f(n) in big, where f's body ends in a case: one join, `big` once."""
    n, x, y, f, p = ir.Var("n", "i64"), ir.Var("x", "i64"), ir.Var("y", "i64"), ir.Var("f", "code"), ir.Var("p", "i64")
    from atoll.functions.operators import scalar

    t = ir.Var("t", "bool")
    less = ir.Op((t,), scalar("lt", "i64"), (p, p))
    body = ir.Block((less,), ir.Case(t, ((ir.TRUE, ir.Block((), ir.Ret((p,)))), (ir.FALSE, ir.Block((), ir.Ret((p,)))))))
    fun = ir.Fun(f, (p,), body, ("i64",))
    big = [ir.Op((y,), scalar("mul", "i64"), (x, x))]
    call2 = ir.Call((ir.Var("z", "i64"),), f, (y,))
    program = ir.Program(ir.Block((ir.Literal(n, 3), ir.Funs((fun,)), ir.Call((x,), f, (n,)), *big, call2), ir.Ret(call2.results)), ("i64",))
    q = inline(program)
    check(q)
    joins = [b for each in ir.blocks(q.block) for b in each.binds if isinstance(b, ir.Join)]
    products = [b for each in ir.blocks(q.block) for b in each.binds if isinstance(b, ir.Op) and b.op.name == "mul.i64"]
    assert len(joins) == 2 and len(products) == 1  # one per inlined call
    assert run(q) == run(program) == (9,)


def _across(calls: int) -> ir.Program:
    """A local recursive function with a free variable v that is needed after `calls` calls in its body."""
    from atoll.functions.operators import scalar

    v, n, g, r = ir.Var("v", "i64"), ir.Var("n", "i64"), ir.Var("g", "data"), ir.Var("r", "i64")
    binds: list[ir.Bind] = []
    for _ in range(calls):
        binds.append(ir.Call((ir.Var("c", "i64"),), g, (n,)))
    binds.append(ir.Op((r,), scalar("add", "i64"), (n, v)))
    fun = ir.Fun(g, (n,), ir.Block(tuple(binds), ir.Ret((r,))), ("i64",))
    three = ir.Var("three", "i64")
    outer = ir.Block((ir.Literal(v, 1), ir.Literal(three, 3), ir.Funs((fun,))), ir.Tail(g, (three,)))
    return ir.Program(outer, ("i64",))


@pytest.mark.parametrize(("calls", "lifted"), [(0, True), (1, True), (2, False)])
def test_F13_criterion_2(calls: int, lifted: bool) -> None:
    q = lambda_lift(_across(calls))
    check(q)
    longest = max(len(f.params) for f in ir.functions(q.block).values())
    assert (longest == 2) == lifted
    everything = lambda_lift(_across(calls), EVERYTHING)
    assert max(len(f.params) for f in ir.functions(everything.block).values()) == 2


def test_F14_criterion_1() -> None:
    names = [f"v{k}" for k in range(9)]
    total: Any = "n"
    for name in names:
        total = ("+", total, name)
    e: Any = ("rec", [("g", [("n", "int")], "int", total)], ("+", ("app", "g", 1), ("app", "g", 2)))
    for k, name in enumerate(names):
        e = ("let", name, k, e)
    p = Little(False).program(e)
    for registers, params in ((1, 1), (4, 4), (6, 6), (20, 10)):
        q = lambda_lift(p, Criteria(registers, None))
        check(q)
        assert max(len(f.params) for f in ir.functions(q.block).values()) == params
        assert run(q) == run(p)


def test_F14_criterion_3_leaves_calls_where_a_closure_would_grow() -> None:
    inner = ("lam", [("z", "int")], "int", ("+", "z", ("app", "g", "z")))
    fun = ("rec", [("g", [("n", "int")], "int", ("+", "n", "v"))], ("let", "h", inner, ("app", ("lam", [("f", ("fn", ("int",), "int"))], "int", ("app", "f", 1)), "h")))
    p = Little(False).program(("let", "v", 5, ("+", fun, 1)))
    for criteria in (Criteria(), Criteria(no_growth=True)):
        q = lambda_lift(p, criteria)
        check(q)
        assert run(q) == run(p)


@pytest.mark.parametrize("name", sorted(PASSES))
def test_F15_twice(name: str) -> None:
    from atoll.functions.show import show

    for seed in range(12):
        p = random_program(seed, 4)
        if name in ("hoist", "dead_parameters"):
            p = PASSES["hoist"](PASSES["closure_convert"](p))
        if name == "closure_convert":
            continue  # once by definition
        once = PASSES[name](p)
        twice = PASSES[name](once)
        if name in ("shrink", "dead_parameters", "hoist"):
            assert show(once) == show(twice)
        assert run(twice) == run(p)


def test_F16_shrink_is_linear() -> None:
    def chain(n: int) -> ir.Program:
        nil = ir.Var("nil")
        binds: list[ir.Bind] = [ir.Make(nil, NIL, ())]
        last: ir.Var = nil
        one = ir.Var("one", "i64")
        binds.append(ir.Literal(one, 1))
        for k in range(n):
            cell = ir.Var("c")
            binds.append(ir.Make(cell, CONS, (one, last)))
            if k % 2:
                head = ir.Var("h", "i64")
                binds.append(ir.Take(head, cell, CONS, 0))
                one = head
            last = cell
        return ir.Program(ir.Block(tuple(binds), ir.Ret((last,))))

    def calls(n: int) -> int:
        """Functions called, which no other load and no garbage collector changes."""
        p, count = chain(n), 0

        def counting(frame: object, event: str, arg: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(counting)
        try:
            shrink(p)
        finally:
            sys.setprofile(None)
        return count

    small, large = calls(1000), calls(8000)
    assert large < 10 * small, (small, large)


# -- compiled programs


@at.fn
def _countdown(k: i64, acc: i64) -> i64:
    return acc if k == 0 else _countdown(k - 1, acc + k % 3)


@at.fn
def _even(k: i64) -> at.bool_:
    return True if k == 0 else _odd(k - 1)


@at.fn
def _odd(k: i64) -> at.bool_:
    return False if k == 0 else _even(k - 1)


def test_F17_a_long_run_of_allocations_stays_in_bounded_memory() -> None:
    """10^8 steps are run by bench/functions/memory.py; here 10^6, every cell accounted for. Valgrind: tests/functions/test_native.py."""
    from tests.functions.test_native import churn

    p = FunctionProgram(churn.core, churn._arguments, counters=True)
    assert p.call(1000, 1000) == 1000 * 1000 * 1001
    assert p.live == 0 and p.made == 1000 * 1000


def test_F18_tail_calls_are_jumps() -> None:
    assert _countdown(10**7, 0) == 10**7  # the rests of three numbers in a row sum to 3
    assert _even(10**7)
    program = _even.compile()
    assert isinstance(program, FunctionProgram)
    text = _even.show("c")
    assert not re.search(r"\bf__?(even|odd)\w*\([^)]*\)\s*;", text.split("AT_DEEP(H);", 1)[1].split("\n}\n", 1)[0])  # no call inside the loop


def test_F18_constant_stack() -> None:
    """Each on a stack of one megabyte, which ten million frames would not fit in."""
    script = "import tests.conformance.test_functions as t\nassert t._even(10**7) and t._countdown(10**7, 0) > 0\nprint('fine')"
    root = Path(__file__).parents[2]
    environment = {**os.environ, "ATOLL_STACK_MB": "1"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=root, env=environment, check=True)
    assert done.stdout == "fine\n"


@pytest.mark.parametrize(("name", "entry", "args"), [("binomial_queues", "merged_greatest", (1000, 1)), ("sha256", "sha256", None), ("graph_colouring", "colour", None)])
def test_F19_benchmarks_agree_under_every_selection(name: str, entry: str, args: Any) -> None:
    from tests.functions.test_examples import program

    module = program(name)
    f = getattr(module, entry)
    if name == "sha256":
        text = (b"The quick brown fox jumps over the lazy dog. " * 11)[:484]
        args, want = (np.frombuffer(text, np.uint8),), np.frombuffer(hashlib.sha256(text).digest(), ">u4")
    elif name == "graph_colouring":
        args, want = (156, module.example(), 12), module.oracle(156, module.example(), 12)
    else:
        want = module.oracle_merged(*args)
    closures = {}
    for selection in ("none", "default"):
        p = FunctionProgram(f.core, f._arguments, "1", SELECTIONS[selection], counters=True)
        assert np.array_equal(p.call(*args), want)
        assert p.live == 0
        closures[selection] = p.closures
    assert closures["default"] == 0
