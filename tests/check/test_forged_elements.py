"""False certificates of compiles: elements of small arrays as variables (rewrites/elements_back.py). Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged, v
from tests.check.test_forged_totals import at, plus

Data = dict[str, Any]
SAME = {"i": "i"}


def in_variables(
    set_first: bool = True, second: str = "w", op: str = "add", reads: str = "u", outside: bool = False, stored: Any = None, d: str = "f64", told: bool = True, once: bool = True, length: int = 2,
    parallel: bool = False, early: bool = False, value: Any = None, lost: bool = False, under: bool = False, other: int = 4,
) -> Data:
    """b[0] = 0; b[1] = 1; for r: b[0] += x[r]; y[i] = b[0] + b[1], with variables u and w."""
    rounds = ("for", "r", 0, "n", (("update", "b", (0,), "add", at("x", "r")),))
    zero, one = ("store", "b", (0,), 0.0), ("store", "b", (1,), 1.0)
    inner = (zero, one, rounds, ("store", "y", ("i",), plus(at("b", 0), at("b", 1))))
    loop = ("for", "i", 0, "n", inner)
    before = (("alloc", "b", "f64", (length,)), loop, ("free", "b"))
    new = plus(("use", "u"), at("x", "r")) if op == "add" else ("call", op, (("use", "u"), at("x", "r")), "f64")
    sums = ("for", "r", 0, "n", [(("assign", "u", new if value is None else value), (5, {**SAME, "r": "r"}) if told else None)], parallel, 0, False, False)
    first: list[Any] = [(("assign", "u", 0.0), (2, SAME))] if set_first else []
    if under:
        first = [(("if", (("true", ("call", "gt", (at("x", "i"), 0.0), "bool")),), first, []), None)]
    names = [(("declare", "u", d, None), None), *([(("declare", "w", "f64", None), None)] if second == "w" else [])]
    last = (("store", "y", ("i",), plus(("use", reads), ("use", second))), (6, SAME))
    read_early = [(("store", "z", ("i",), ("use", "u")), None)] if early else []
    body = [*([] if outside else names), *read_early, *first, (("assign", second, 1.0 if stored is None else stored), (3, SAME)), (sums, (other, SAME)), *([] if lost else [last])]
    return forged(before, [*(names if outside else []), (("for", "i", 0, "n", body), 1)])


def carried(outside: bool) -> Data:
    """b[0] goes from round to round: the variable must be made before the rounds."""
    before = (("alloc", "b", "f64", (1,)), ("store", "b", (0,), 0.0), ("for", "i", 0, "n", (("update", "b", (0,), "add", at("x", "i")), ("store", "y", ("i",), at("b", 0)))), ("free", "b"))
    name, begin = (("declare", "u", "f64", None), None), (("assign", "u", 0.0), 1)
    rounds = [(("assign", "u", plus(("use", "u"), at("x", "i"))), (3, SAME)), (("store", "y", ("i",), ("use", "u")), (4, SAME))]
    if outside:
        return forged(before, [name, begin, (("for", "i", 0, "n", rounds), 2)])
    return forged(before, [(("for", "i", 0, "n", [name, *rounds]), 2)])


def exchanged(right: bool) -> Data:
    """b[1] = b[0]; b[0] = x[0]: in this order."""
    before = (("alloc", "b", "f64", (2,)), ("store", "b", (0,), 1.0), ("store", "b", (1,), at("b", 0)), ("store", "b", (0,), at("x", 0)), ("store", "y", (0,), plus(at("b", 0), at("b", 1))), ("free", "b"))
    one, two = (("assign", "w", ("use", "u")), 2), (("assign", "u", at("x", 0)), 3)
    names = [(("declare", "u", "f64", None), None), (("assign", "u", 1.0), 1), (("declare", "w", "f64", None), None)]
    return forged(before, [*names, *((one, two) if right else (two, one)), (("store", "y", (0,), plus(("use", "u"), ("use", "w"))), 4)])


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data]]] = {
    "set by nothing": (in_variables, lambda: in_variables(set_first=False)),
    "set only sometimes": (in_variables, lambda: in_variables(under=True)),
    "one variable of two elements": (in_variables, lambda: in_variables(second="u")),
    "another operator": (in_variables, lambda: in_variables(op="mul")),
    "another element is read": (in_variables, lambda: in_variables(reads="w")),
    "another value": (in_variables, lambda: in_variables(stored=2.0)),
    "of another type": (in_variables, lambda: in_variables(d="f32")),
    "set by nobody": (in_variables, lambda: in_variables(told=False)),
    "an element that is not there": (in_variables, lambda: in_variables(length=1)),
    "rounds in any order": (in_variables, lambda: in_variables(parallel=True)),
    "read before it is set": (in_variables, lambda: in_variables(early=True)),
    "not what it was": (in_variables, lambda: in_variables(value=at("x", "r"))),
    "nothing is done with it": (in_variables, lambda: in_variables(lost=True)),
    "made in each round": (lambda: carried(True), lambda: carried(False)),
    "in another order": (lambda: exchanged(True), lambda: exchanged(False)),
}


@pytest.mark.parametrize(("right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data]) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected):
        prove(wrong())


def in_an_array(value: Any = None, reads: Any = "l", high: Any = "n", size: Any = "n", early: bool = False, again: bool = False, under: bool = False, d: str = "f64", set_: bool = True) -> Data:
    """v = x[i]; y[i] = v for every i, with all v in an array meanwhile: the variable begins with nothing and is set first of all."""
    inner = (("declare", "u", "f64", None), ("assign", "u", at("x", "i")), ("store", "y", ("i",), ("use", "u")))
    round_ = {"i": "l"}
    name, given = (("declare", "w", d, None), (1, round_)), (("assign", "w", at("x", "l") if value is None else value), (2, round_))
    kept = (("store", "t", ("l",), ("use", "w")), None)
    if under:
        given = (("if", (("ge", v("l") - 1),), [given], []), None)
    more = [(("assign", "w", plus(("use", "w"), 1.0)), None)] if again else []
    one = [name, *([] if not set_ else [kept, given] if early else [given, *more, kept])]
    rounds = [(("for", "l", 0, high, one), None), (("for", "l", 0, "n", [(("store", "y", ("l",), at("t", reads)), (3, round_))]), None)]
    return forged((("for", "i", 0, "n", inner),), [(("alloc", "t", "f64", (size,)), None), *rounds, (("free", "t"), None)], roots={"w": "u"})


KEPT: dict[str, tuple[Callable[[], Data], Callable[[], Data]]] = {
    "another value": (in_an_array, lambda: in_an_array(at("x", 0))),
    "of another round": (in_an_array, lambda: in_an_array(reads=0)),
    "of the round before": (in_an_array, lambda: in_an_array(reads=v("l") - 1)),
    "not of all rounds": (in_an_array, lambda: in_an_array(high=v("n") - 1)),
    "an array that is too short": (in_an_array, lambda: in_an_array(size=v("n") - 1)),
    "kept before it is set": (in_an_array, lambda: in_an_array(early=True)),
    "set again": (in_an_array, lambda: in_an_array(again=True)),
    "set only sometimes": (in_an_array, lambda: in_an_array(under=True)),
    "of another type": (in_an_array, lambda: in_an_array(d="f32")),
    "not kept": (in_an_array, lambda: in_an_array(set_=False)),
}


@pytest.mark.parametrize(("right", "wrong"), KEPT.values(), ids=KEPT)
def test_variables_that_begin_with_nothing(right: Callable[[], Data], wrong: Callable[[], Data]) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected):
        prove(wrong())
