"""False steps of the rules for blocks and rounds (rescale, factor, let_join, nest_round, let_dead), each beside a right one that differs in that one thing only.

Side conditions are decided here by trying small numbers, not looked up: a forger's proofs may be as good as they can be, and what is left to refuse is what is false. Then whole
certificates, whose steps, sections and licences were exchanged. Of all these one class was accepted on 19 November: operations on numbers of two types, whose sum is one of small integers."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.rules import Rules
from atoll.check.sums import ONE, ZERO, Rejected, add, const, sub, var
from atoll.check.terms import ALIKE, ASKED, Term, kids
from atoll.core.prims import PRIMS
from tests.check.rules_at_random import TABLES, Decided, M, N, applied, check, differs, top
from tests.conformance.test_schedules_programs import load

I, J, K, P = var("i"), var("j"), var("k"), var("p")
Data = dict[str, Any]


def get(x: str, *index: Any) -> Term:
    return ("get", x, index)


def op(name: str, *args: Term, d: str = "f64") -> Term:
    return ("op", name, args, d)


def step(t: Term, path: tuple[int, ...], rule: str, **args: Any) -> None:
    env, u = top(), t
    for k in path:
        env, u = env.down(u, k), kids(u)[k]
    whole = applied(Rules(TABLES, Decided()), t, rule, args, path, env, u)  # type: ignore[arg-type]
    assert differs(t, whole) is None


# -- rescale


def rescale(of: Term | None = None, monoid: str = "maximum", low: Any = ZERO, high: Any = M, around: Callable[[Term], Term] = lambda x: x, a: Term | None = None, row: Any = I, name: str = "exp",
            minus: str = "sub", block: Any = (ONE, M), at: Any = None, first: Any = ONE, turned: bool = False, named: bool = True, d: str = "f64") -> None:  # fmt: skip
    """y[i] = the sum over j from `first` of exp(s[i, j] - top[i]), top[h] the maximum of s[h, k]."""
    whole = around(("sum", "k", low, high, get("s", var("h"), K) if of is None else of, monoid))
    pair = (get("s", I, J) if a is None else a, get("top", row) if named else get("v", row))
    power = op(name, op(minus, *(pair[::-1] if turned else pair)), d=d)
    t: Term = ("let", "top", ("gen", "h", ZERO, N, whole), ("gen", "i", ZERO, N, ("sum", "j", first, M, power, "add")), None)
    step(t, (1, 0, 0), "rescale", at=J if at is None else at, low=block[0], high=block[1])


RESCALE: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {  # what is right, what is not beside it, and why
    "a minimum": ({}, {"monoid": "minimum"}, "no maximum over a range"),
    "a sum": ({}, {"monoid": "add"}, "no maximum over a range"),
    "a product": ({}, {"monoid": "mul"}, "no maximum over a range"),
    "of another row": ({}, {"row": ZERO}, "a maximum of something else"),
    "of the row from below": ({}, {"row": sub(sub(N, ONE), I)}, "a maximum of something else"),
    "of another array": ({}, {"of": get("t", var("h"), K)}, "a maximum of something else"),
    "of a column": ({}, {"of": get("s", var("h"), ZERO)}, "a maximum of something else"),
    "of the neighbour": ({}, {"at": sub(J, ONE), "block": (ZERO, M)}, "a maximum of something else"),
    "of the negative": ({}, {"of": op("neg", get("s", var("h"), K))}, "a maximum of something else"),
    "the smaller of it and others": ({"around": lambda x: op("max", x, get("v", var("h")))}, {"around": lambda x: op("min", x, get("v", var("h")))}, "no maximum over a range"),
    "it and something": ({"around": lambda x: op("max", get("v", var("h")), x)}, {"around": lambda x: op("add", x, get("v", var("h")))}, "no maximum over a range"),
    "under a condition": ({}, {"around": lambda x: ("guard", (sub(var("h"), ONE),), x)}, "no maximum over a range"),
    "of a shorter range": ({"block": (ONE, M)}, {"high": sub(M, ONE)}, "the block, or the place in it"),
    "of a later range": ({"low": ONE}, {"low": const(2)}, "the block, or the place in it"),
    "a block that is larger": ({"low": ONE}, {"low": ONE, "block": (ZERO, M)}, "the block, or the place in it"),
    "a block that goes on": ({}, {"block": (ONE, add(M, ONE))}, "the block, or the place in it"),
    "an empty block": ({}, {"block": (ONE, ONE)}, "the block, or the place in it"),
    "a block from behind": ({}, {"block": (M, ONE)}, "the block, or the place in it"),
    "a place before the block": ({}, {"first": ZERO}, "the block, or the place in it"),
    "a place behind the block": ({}, {"block": (ONE, sub(M, ONE))}, "the block, or the place in it"),
    "a place that is none": ({}, {"at": var("q")}, "the block, or the place in it"),
    "a sum instead of a difference": ({}, {"minus": "add"}, "no exponential of a difference"),
    "arguments exchanged": ({}, {"turned": True}, "what is subtracted has no name"),
    "another function": ({}, {"name": "exp2"}, "no exponential of a difference"),
    "an argument": ({}, {"named": False}, "what is subtracted has no name"),
}


@pytest.mark.parametrize("what", RESCALE)
def test_exponentials_that_are_no_product(what: str) -> None:
    right, wrong, why = RESCALE[what]
    rescale(**right)
    with pytest.raises(Rejected, match=why):
        rescale(**{**right, **wrong})


# -- factor

SMALL: Term = ("cast", op("mul", get("ix", I, J), ("lit", "40", "i64"), d="i64"), "i8")


def factor(body: Term, part: Any, monoid: str = "add", low: Any = ZERO, high: Any = M) -> None:
    step(("gen", "i", ZERO, N, ("sum", "j", low, high, body, monoid)), (0,), "factor", part=part)


S, T, V, W = get("s", I, J), get("t", I, J), get("v", I), get("w", J)
PRODUCT = op("mul", S, V)
FACTOR: dict[str, tuple[tuple[Any, ...], tuple[Any, ...], str]] = {
    "one that changes": ((PRODUCT, (1,)), (op("mul", S, W), (1,)), "a factor that changes"),
    "one that changes inside": ((op("mul", op("mul", S, V), W), (0, 1)), (op("mul", op("mul", S, T), W), (0, 1)), "a factor that changes"),
    "looked up by what changes": ((op("mul", S, ("look", "w", (get("ix", I, ZERO),))), (1,)), (op("mul", S, ("look", "w", (get("ix", I, J),))), (1,)), "a factor that changes"),
    "under what changes": ((op("mul", S, ("guard", (sub(I, ONE),), V)), (1,)), (op("mul", S, ("guard", (sub(J, ONE),), V)), (1,)), "a factor that changes"),
    "the number of the round": ((op("mul", S, ("cast", ("index", I), "f64")), (1,)), (op("mul", S, ("cast", ("index", J), "f64")), (1,)), "a factor that changes"),
    "something added": ((PRODUCT, (1,)), (op("add", S, V), (1,)), "no product"),
    "something subtracted inside": ((PRODUCT, (1,)), (op("mul", op("sub", S, V), W), (0, 1)), "no product"),
    "what is divided": ((op("div", S, V), (1,), "add", ZERO, const(2)), (op("div", V, S), (0,), "add", ZERO, const(2)), "not a factor"),
    "a divisor of a divisor": ((op("div", op("mul", V, S), W), (0, 0)), (op("div", S, op("mul", V, W)), (1, 0)), "not a factor"),
    "a divisor of nothing": ((op("div", S, V), (1,), "add", ZERO, const(1)), (op("div", S, V), (1,)), "that something is added"),
    "of a range from behind": ((op("div", S, V), (1,), "add", ZERO, const(1)), (op("div", S, V), (1,), "add", const(2), ONE), "that something is added"),
    "of a product": ((PRODUCT, (1,)), (PRODUCT, (1,), "mul"), "no factor of what a sum adds"),
    "of a maximum": ((PRODUCT, (1,)), (PRODUCT, (1,), "maximum"), "no factor of what a sum adds"),
    "all of it": ((PRODUCT, (1,)), (PRODUCT, ()), "no factor of what a sum adds"),
    "no place": ((PRODUCT, (1,)), (PRODUCT, (2,)), "no product"),
    "a place from behind": ((PRODUCT, (1,)), (PRODUCT, (-1,)), "no product"),
    "small integers": ((op("div", ("cast", SMALL, "f64"), V), (1,), "add", ZERO, const(2)), (op("div", SMALL, V), (1,), "add", ZERO, const(2)), "div of several types"),
    "whole numbers": ((PRODUCT, (1,)), (op("mul", get("ix", I, J), get("ix", I, ZERO), d="i64"), (1,)), "no factor of what a sum adds"),
}


@pytest.mark.parametrize("what", FACTOR)
def test_factors_that_are_none(what: str) -> None:
    right, wrong, why = FACTOR[what]
    factor(*right)
    with pytest.raises(Rejected, match=why):
        factor(*wrong)


def test_nothing_times_infinity_has_a_licence() -> None:
    """A sum of nothing is 0, and times a factor that is not finite it is none: accepted without a licence until seed 914874 of rules_at_random."""
    for high, wanted in ((M, {"reassociate", "finite"}), (const(2), {"reassociate"}), (add(M, ONE), {"reassociate"})):
        rules = Rules(TABLES, Decided())  # type: ignore[arg-type]
        t: Term = ("gen", "i", ZERO, N, ("sum", "j", ZERO, high, PRODUCT, "add"))
        applied(rules, t, "factor", {"part": (1,)}, (0,), top().down(t, 0), t[4])
        assert rules.licences == wanted
    assert [problem for _, problem in map(check, (914_874, 917_822)) if problem] == []


# -- let_join


def joined(second: Any = I, range2: Any = (ZERO, N), again: Any = None, read: Any = I, column: Any = ZERO, count: int = 2, d: str = "f64", looked: bool = False, deep: bool = False, extent: Any = M,
           rolled: Any = None, low: Any = ZERO, between: bool = False) -> None:  # fmt: skip
    """x[i] = v[i]; y[i, p] = s[i, p] + x[i]; and both are read."""
    x: Term = ("gen", "i", low, add(N, low), get("v", sub(I, low)))
    row: Term = op("add", get("s", sub(I, low), P), get("x", sub(second, low) if again is None else again))
    row = row if d == "f64" else ("cast", row, d)
    y: Term = ("gen", "i2", *(add(e, low) for e in range2), _with("i", "i2", ("gen", "p", ZERO, extent, ("gen", "q", ZERO, M, row) if deep else row)))
    end: Term = get("y", read, *((column, ZERO) if deep else (column,)))
    end = ("cast", end, "f64") if d != "f64" else end
    last = op("add", end, ("look", "x", (get("ix", var("e"), ZERO),)) if looked else get("x", var("e")))
    body: Term = ("gen", "e", ZERO, N, ("guard", (sub(extent, ONE),), _with("i", "e", last)))
    t: Term = ("let", "y", y, body, rolled)
    t = ("let", "b", get("v", ZERO), t, None) if between else t
    step(("let", "x", x, t, None), (), "let_join", count=count, name="z")


def _with(old: str, new: str, t: Term) -> Term:
    from atoll.check.terms import set_vars

    return set_vars(t, {old: var(new)})


JOIN: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "the round before": ({}, {"again": sub(I, ONE)}, "read at another round"),
    "the first round": ({}, {"again": ZERO}, "read at another round"),
    "rounds that do not start at 0": ({"low": ONE}, {"low": ONE, "again": I}, "read at another round"),
    "one range longer": ({}, {"range2": (ZERO, add(N, ONE))}, "an equation is not proved"),
    "one range moved": ({}, {"range2": (ONE, add(N, ONE))}, "an equation is not proved"),
    "beside the row": ({}, {"column": M}, "a side condition"),
    "before the row": ({}, {"column": const(-1)}, "a side condition"),
    "a row that may have no such element": ({"column": sub(M, ONE)}, {"column": ONE}, "a side condition"),
    "two types": ({}, {"d": "f32"}, "neither numbers nor rows"),
    "looked up by data": ({}, {"looked": True}, "looked up by data"),
    "rows of rows": ({}, {"deep": True}, "neither numbers nor rows"),
    "one value": ({}, {"count": 1}, "no number of values"),
    "three values of two": ({}, {"count": 3}, "not values built by loops"),
    "a number that is none": ({}, {"count": True}, "no number of values"),
    "some rows kept": ({}, {"rolled": (ZERO, 2)}, "not values built by loops"),
    "a number between them": ({}, {"between": True}, "not values built by loops"),
}


@pytest.mark.parametrize("what", JOIN)
def test_values_that_do_not_share_a_loop(what: str) -> None:
    right, wrong, why = JOIN[what]
    joined(**right)
    with pytest.raises(Rejected, match=why):
        joined(**{**right, **wrong})


# -- rounds of opaque parts


def a_round(index: Any = (I,), read: Any = I, rows: int = 1, x: str = "h", rule: str = "nest_round", path: tuple[int, ...] = (0, 0, 0), promise: Any = (), alone: bool = False) -> None:
    inner: Term = get("g", I, J) if alone else get("h", read, J)
    body: Term = ("gen", "i", ZERO, N, ("gen", "j", ZERO, M, inner))
    nest: Term = ("nest", (("h", "f64"), *([("g", "f64")] if alone and rule == "nest_round" else [])), ((N, M),) * (2 if alone and rule == "nest_round" else 1), "part", ("s",), body, promise, rows, ())
    if alone and rule == "let_dead":
        nest = (*nest[:5], ("gen", "i", ZERO, N, get("v", I)), *nest[6:])
    step(nest, path, rule, **({"x": x, "index": index} if rule == "nest_round" else {}))


DEAD = {"rule": "let_dead", "path": (), "alone": True}
ROUNDS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no rounds": ({}, {"rows": 0}, "rounds that are not independent"),
    "more rounds than there are": ({"index": (I, J), "rows": 2, "path": (0, 0, 0)}, {"index": (I, J), "rows": 1}, "rounds that are not independent"),
    "of an argument": ({}, {"x": "s"}, "not of an opaque part"),
    "of nothing": ({}, {"x": "z"}, "not of an opaque part"),
    "the round before": ({}, {"index": (sub(I, ONE),)}, "a side condition"),
    "a round behind all": ({}, {"index": (add(I, ONE),)}, "a side condition"),
    "a round of another range": ({}, {"index": (J,)}, "a side condition"),
    "a round where no round is known": ({}, {"index": (I,), "path": (0,)}, "a side condition|not in scope"),
    "no round at all": ({}, {"index": ()}, "rounds that are not independent"),
    "a part that checks": (DEAD, {"promise": (sub(N, ONE),)}, "more than values"),
    "a part whose effects are not known": (DEAD, {"rows": 0}, "more than values"),
    "a part that is read": (DEAD, {"alone": False}, "still read"),
}


@pytest.mark.parametrize("what", ROUNDS)
def test_rounds_that_are_none(what: str) -> None:
    right, wrong, why = ROUNDS[what]
    a_round(**right)
    with pytest.raises(Rejected, match=why):
        a_round(**{**right, **wrong})


def test_what_rules_accept_at_random_is_so() -> None:
    """`python -m tests.check.rules_at_random 0 40000` does more of them."""
    found = [check(seed) for seed in range(912_000, 912_700)]
    assert [problem for _, problem in found if problem] == []
    for rule in ("rescale", "factor", "let_join", "nest_round", "let_dead"):
        assert sum(kind == f"{rule} accepted" for kind, _ in found) >= 3, rule


def test_every_operation_of_one_type_is_known_to_be() -> None:
    """The checker has a table of its own, which may not fall behind the compiler's."""
    same = {p.name for p in PRIMS.values() if p.gives == "same"}
    asked = {p.name for p in PRIMS.values() if p.gives == "bool"}
    assert same <= ALIKE and ALIKE - same <= {"minimum", "maximum", "mulacc"} and asked == ASKED
    assert not (ALIKE | ASKED) & {p.name for p in PRIMS.values() if p.gives not in ("same", "bool")}


# -- whole certificates


@cache
def rounds() -> str:
    """A histogram per row, rows by eight on threads, and what is left."""
    data = load("rounds").per_row().certificate().data
    assert prove(data)
    return json.dumps(data)


def body_of(data: Data, name: str) -> list[Any]:
    """The statements of the loop called so."""
    todo = [data["loops"]["body"]]
    while todo:
        for x in todo.pop():
            if x[0] == "for":
                if x[1].startswith(name):
                    return x[5]  # type: ignore[no-any-return]
                todo.append(x[5])
    raise AssertionError(name)


def shared_memory(data: Data) -> None:
    """One memory for the rounds of all threads."""
    outer, inner = body_of(data, "r_o"), body_of(data, "r_i")
    outer.insert(0, inner.pop(0))
    outer.append(inner.pop())


def shared_by_all(data: Data) -> None:
    inner, body = body_of(data, "r_i"), data["loops"]["body"]
    body.insert(0, inner.pop(0))
    body.append(inner.pop())


def not_run(data: Data) -> None:
    del body_of(data, "r_i")[1]


def run_late(data: Data) -> None:
    inner = body_of(data, "r_i")
    inner[1], inner[2] = inner[2], inner[1]


def run_twice(data: Data) -> None:
    inner = body_of(data, "r_i")
    inner.insert(1, inner[1])


def given_the_other_way(data: Data) -> None:
    body_of(data, "r_i")[1][3].reverse()


def of_keys_that_were_not_checked(data: Data) -> None:
    body_of(data, "r_i")[1][3][1] = "keys"


def another_part(data: Data) -> None:
    body_of(data, "r_i")[1][1] = data["loops"]["body"][1][1]


def the_first_of_a_block(data: Data) -> None:
    """The round r_o instead of r_i + 8 r_o."""
    data["P"].append([[1, "r_o#0"]])
    body_of(data, "r_i")[1][2] = [len(data["P"]) - 1]


def the_whole(data: Data) -> None:
    body_of(data, "r_i")[1][2] = []


def a_round_of_a_round(data: Data) -> None:
    body_of(data, "r_i")[1][2] *= 2


def more_memory(data: Data) -> None:
    body_of(data, "r_i")[0][3].insert(0, data["arrays"][0][2][0])


def on_the_stack(data: Data) -> None:
    body_of(data, "r_i")[0][4] = True


def freed_early(data: Data) -> None:
    inner = body_of(data, "r_i")
    inner[2], inner[3] = inner[3], inner[2]


def of_the_other_loop(data: Data) -> None:
    text = json.dumps(body_of(data, "r_i")[2]).replace('"load", "h"', '"load", "h_1"')
    body_of(data, "r_i")[2] = json.loads(text)


def as_a_vector(data: Data) -> None:
    next(x for x in body_of(data, "r_o") if x[0] == "for")[4][1] = 8


def of_an_older_form(data: Data) -> None:
    data["format"] = "atoll certificate 2"


def the_check_forgotten(data: Data) -> None:
    """What looks at the keys is not run: the histogram is of them all the same."""
    body = data["loops"]["body"]
    del body[1]


def rounds_of_the_check(data: Data) -> None:
    """That what looks at the keys has rounds of its own."""
    for t in data["T"]:
        if t[0] == "nest" and t[7] == 0:
            t[7] = 3


WHOLE = (shared_memory, shared_by_all, not_run, run_late, run_twice, given_the_other_way, of_keys_that_were_not_checked, another_part, the_first_of_a_block, the_whole, a_round_of_a_round,
         more_memory, on_the_stack, freed_early, of_the_other_loop, as_a_vector, of_an_older_form, the_check_forgotten, rounds_of_the_check)  # fmt: skip


@pytest.mark.parametrize("edit", WHOLE, ids=lambda f: f.__name__)
def test_forged_sections(edit: Callable[[Data], None]) -> None:
    data = json.loads(rounds())
    edit(data)
    assert data != json.loads(rounds())
    with pytest.raises(Rejected):
        prove(data)
