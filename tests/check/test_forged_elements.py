"""False certificates of compiles: elements of small arrays as variables (rewrites/elements_back.py). Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged
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
