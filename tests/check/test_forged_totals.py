"""False certificates of compiles: values said once, checks made once, sums made in parts and in turns. Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import P, forged, v

Data = dict[str, Any]
SAME = {"i": "i"}


def at(b: str, *index: Any) -> Any:
    return ("load", b, index)


def plus(a: Any, b: Any, d: str = "f64") -> Any:
    return ("call", "add", (a, b), d)


def said_twice(between: Any = None, second: Any = None, d: str = "f64", inner: bool = False, reads: str = "p", late: bool = False) -> Data:
    """p = x[i] + 1; q = x[i] + 1; y[i] = q, with one name for both."""
    e = plus(at("x", "i"), 1.0)
    p, q = ("let", "p", "f64", e), ("let", "q", d, e if second is None else second)
    use = ("store", "y", ("i",), ("use", "q"))
    more = [] if between is None else [between]
    last = (("for", "j", 0, 2, (q, ("store", "y", ("i",), ("use", "q")), ("store", "x", ("i",), 2.0))),) if late else (("for", "j", 0, 2, (q, use)),) if inner else (q, use)
    before = (("for", "i", 0, "n", (p, *more, *last)),)
    k = 2 + len(more)
    if inner or late:
        body = [(("store", "y", ("i",), ("use", "p")), (k + 2, {**SAME, "j": "j"}))] + ([(("store", "x", ("i",), 2.0), (k + 3, {**SAME, "j": "j"}))] if late else [])
        end = [(("for", "j", 0, 2, body), (k, SAME))]
    else:
        end = [(("store", "y", ("i",), ("use", reads)), (k + 1, SAME))]
    return forged(before, [(("for", "i", 0, "n", [(p, (1, SAME)), *((m, (2, SAME)) for m in more), *end]), 0)])


def checked_twice(second: Any = None, between: Any = None, only_if: bool = False) -> Data:
    """check x[i] > 0; y[i] = 1; check x[i] > 0; z[i] = 2, with one check."""
    test = ("true", ("call", "gt", (at("x", "i"), 0.0), "bool"))
    other = test if second is None else second
    one, two = ("check", (test,), 0), ("check", (other,), 1)
    first = ("if", (("ge", v("i") - 3),), (one,), ()) if only_if else one
    more = [between] if between is not None else []
    before = (("for", "i", 0, "n", (first, *more, two, ("store", "z", ("i",), 2.0))),)
    k = 3 if only_if else 2
    new = (("if", (("ge", v("i") - 3),), [(one, (2, SAME))], []), (1, SAME)) if only_if else (one, (1, SAME))
    return forged(before, [(("for", "i", 0, "n", [new, *((m, (k, SAME)) for m in more), (("store", "z", ("i",), 2.0), (k + 1 + len(more), SAME))]), 0)])


def in_two_parts(cut: Any = 3, exact: bool = False, licensed: bool = True, op: str = "add", used: bool = False, again: bool = False, looks: bool = False, end: Any = "n", first: float = 0.0, monoid: str = "add", d: str = "f64") -> Data:
    """A sum over 0..n as a total of two sums."""
    number = (lambda x: x) if d == "f64" else (lambda x: ("const", int(x), d))
    e = at("x", "i") if d == "f64" else at("c", "i")
    before = (("accumulate", "i", 0, "n", (("add", "s", monoid, e),), [["s", monoid, d]], exact), ("store", "y" if d == "f64" else "k", (0,), ("use", "s")))
    many = ("ge", v("n") - 3)

    def part(p: str, low: Any, high: Any) -> list[Any]:
        value = plus(e, ("use", "s")) if looks else e
        give = (("assign", "s", ("call", op, (("use", "s"), ("use", p)), d)), None)
        return [(("accumulate", "i", low, high, [(("add", p, monoid, value), (1, SAME))], [[p, monoid, d]], False), None), give, *([give] if again else [])]

    inner = [*part("p", 0, cut), *part("q", 3, end)]
    store = ("store", "y" if d == "f64" else "k", (0,), ("use", "p" if used else "s"))
    body = [(("declare", "s", d, number(first)), None), *inner, (store, 2)] if used else [(("declare", "s", d, number(first)), None), (("if", (many,), inner, part("r", 0, "n")), None), (store, 2)]
    data = forged(before, body, roots={"p": "s", "q": "s", "r": "s"}, licensed=licensed, arrays="x y z a")
    data["arguments"] += [["c", "an array", "i64"], ["k", "an array", "i64"]]
    return data


def sum_in_turns(turn: Any = None, m: Any = "m", guard: int = 1, exact: bool = False, licensed: bool = True) -> Data:
    """A sum of x[i // m] whose rounds go in turns of m."""
    e = ("load", "x", ({"quotient": ("i", "m")},))
    before = (("accumulate", "i", 0, "n", (("add", "s", "add", e),), [["s", "add", "f64"]], exact), ("store", "y", (0,), ("use", "s")))
    steps = ("call", "max", (("index", P({("m", "turn"): 1}) + v("m") - v("at")), ("const", 1, "i64")), "i64")
    turns = [
        (("break", (("ge", v("n") - v("at") - 1),)), None),
        (("let", "turn", "i64", ("call", "floordiv", (("index", v("at") if turn is None else turn), ("index", m)), "i64")), None),
        (("let", "steps", "i64", steps), None),
        (("let", "stop", "i64", ("call", "min", (("index", "n"), ("index", v("at") + v("steps"))), "i64")), None),
        (("accumulate", "i", "at", "stop", [(("add", "p", "add", at("x", "turn")), (1, SAME))], [["p", "add", "f64"]], False), None),
        (("assign", "s", plus(("use", "s"), ("use", "p"))), None), (("assign", "at", ("index", "stop")), None),
    ]  # fmt: skip
    whole = [(("accumulate", "i", 0, "n", [(("add", "q", "add", e), (1, SAME))], [["q", "add", "f64"]], False), None), (("assign", "s", plus(("use", "s"), ("use", "q"))), None)]
    made = ("if", (("ge", v("m") - guard),), [(("declare", "at", "i64", ("index", 0)), None), (("forever", turns), None)], whole)
    return forged(before, [(("declare", "s", "f64", 0.0), None), (made, None), (("store", "y", (0,), ("use", "s")), 2)], sizes="n m", roots={"p": "s", "q": "s"}, licensed=licensed)



RIGHT: dict[str, Callable[[], Data]] = {
    "said twice": said_twice,
    "said twice, another array is written in between": lambda: said_twice(("store", "z", ("i",), 3.0)),
    "said twice, inside of a loop": lambda: said_twice(inner=True),
    "tested twice": checked_twice,
    "a sum in two parts": in_two_parts,
    "of integers, without a licence": lambda: in_two_parts(d="i64", licensed=False),
    "the largest, in two parts": lambda: in_two_parts(monoid="maximum", op="max", first=float("-inf")),
    "a sum in turns": sum_in_turns,
}
WRONG: dict[str, Callable[[], Data]] = {
    "said twice, but what it reads is written in between": lambda: said_twice(("store", "x", ("i",), 3.0)),
    "said twice, but another element may be it": lambda: said_twice(("store", "x", (0,), 3.0)),
    "said twice, but the second is another value": lambda: said_twice(second=plus(at("x", "i"), 2.0)),
    "said twice, but the second is of another type": lambda: said_twice(d="f32"),
    "said twice, but a later round sees what an earlier one wrote": lambda: said_twice(late=True),
    "tested twice, but what it reads is written in between": lambda: checked_twice(between=("store", "x", ("i",), 0.0)),
    "tested twice, but another test": lambda: checked_twice(second=("true", ("call", "ge", (at("x", "i"), 0.0), "bool"))),
    "tested twice, but the first only sometimes": lambda: checked_twice(only_if=True),
    "in parts that overlap": lambda: in_two_parts(cut=4),
    "in parts that leave something out": lambda: in_two_parts(cut=2),
    "in parts, the second too short": lambda: in_two_parts(end=v("n") - 1),
    "in parts, though the sum has an order": lambda: in_two_parts(exact=True),
    "in parts, without a licence": lambda: in_two_parts(licensed=False),
    "in parts that are multiplied": lambda: in_two_parts(op="mul"),
    "in parts that are read elsewhere": lambda: in_two_parts(used=True),
    "in parts that are added twice": lambda: in_two_parts(again=True),
    "in parts that read the total": lambda: in_two_parts(looks=True),
    "in parts, with a total that begins elsewhere": lambda: in_two_parts(first=1.0),
    "the largest, in parts, from 0": lambda: in_two_parts(monoid="maximum", op="max", first=0.0),
    "in turns of something else": lambda: sum_in_turns(turn=v("at") + 1),
    "in turns by another length": lambda: sum_in_turns(m=v("m") + 1),
    "in turns that may have no length": lambda: sum_in_turns(guard=0),
    "in turns, though the sum has an order": lambda: sum_in_turns(exact=True),
    "in turns, without a licence": lambda: sum_in_turns(licensed=False),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    assert "1 of 1 rewrites proved" in prove(RIGHT[name]())


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    with pytest.raises(Rejected):
        prove(WRONG[name]())
