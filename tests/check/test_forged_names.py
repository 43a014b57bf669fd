"""False certificates of compiles, third part: names for elements that are known by number (rewrites/numbered.py), and choices by other tests that say the same (rewrites/values.py).
Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged, v
from tests.check.test_forged_memory import SAME, Data, at, plus

A, B = ("use", "p"), ("use", "q")
BOTH = plus(A, B)


def names(
    value: Any = BOTH, d: str = "f64", late: bool = False, between: tuple[Any, ...] = (), second: Any = 1, sometimes: bool = False, after: Any = None, size: int = 2, origin: int = 2
) -> Data:
    """t[0] = x[i]; t[1] = c[i]; z[i] = t[0] + t[1], with names for the two."""
    first = ("store", "t", (0,), at("x", "i"))
    stored = [("if", (("ge", v("i") - 3),), (first,), ())] if sometimes else [first]
    result = ("store", "z", ("i",), plus(at("t", 0), at("t", 1)))
    body = (*stored, ("store", "t", (second,), at("c", "i")), *between, result)
    body = (result, *body[:-1]) if late else body
    before = (("alloc", "t", "f64", (size,)), ("for", "i", 0, "n", body), *(() if after is None else (after,)), ("free", "t"))
    shift = 1 if late or sometimes else 0
    number = len(body) + 1 + sometimes if not late else 2
    made = [(("let", "p", d, at("x", "i")), (origin + shift, SAME)), (("let", "q", "f64", at("c", "i")), (3 + shift, SAME)), (("store", "z", ("i",), value), (number, SAME))]
    if sometimes:
        made = [(("if", (("ge", v("i") - 3),), [made[0]], []), None), *made[1:]]
    return forged(before, [(("for", "i", 0, "n", made), 1)])


def chosen(low: int = 1, then: Any = 0.0, orelse: Any = None, start: int = 0, both: bool = False) -> Data:
    """y[i] = x[i] if i == 0 else 0, where i >= 0, by i >= 1."""
    there = at("x", "i")
    was = ("choose", (("eq", v("i")), *((("ge", v("n") - 5),) if both else ())), there, 0.0)
    now = ("choose", (("ge", v("i") - low),), then, there if orelse is None else orelse)
    return forged((("for", "i", start, "n", (("store", "y", ("i",), was),)),), [(("for", "i", start, "n", [(("store", "y", ("i",), now), (1, SAME))]), 0)])


def by_data(test: Any) -> Data:
    """A choice by a value is not taken apart: y[i] = x[i] if z[0] > 0 else 0, when z[0] was asked about before it changed."""
    changes = ("store", "z", (0,), ("call", "neg", (at("z", 0),), "f64"))
    was = ("choose", (("true", ("call", "gt", (at("z", 0), 0.0), "bool")),), at("x", "i"), 0.0)
    before = (("for", "i", 0, "n", (changes, ("store", "y", ("i",), was))),)
    return forged(before, [(("for", "i", 0, "n", [(changes, (1, SAME)), (("store", "y", ("i",), test(was)), (2, SAME))]), 0)])


J = ("for", "j", 0, 2, (("store", "t", ("j",), 0.0),))
PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data]]] = {
    "another element": (names, lambda: names(plus(A, A))),
    "exchanged": (names, lambda: names(plus(B, A))),
    "narrower": (names, lambda: names(d="f32")),
    "what the round before stored": (names, lambda: names(late=True)),
    "another statement writes it": (names, lambda: names(between=(("store", "t", (0,), 0.0),))),
    "something is added to it": (names, lambda: names(between=(("update", "t", (0,), "add", 1.0),))),
    "a loop writes it": (names, lambda: names(between=(J,))),
    "an element outside": (names, lambda: names(size=1)),
    "an element of an unknown number": (names, lambda: names(second="i")),
    "stored only sometimes": (names, lambda: names(sometimes=True)),
    "all of it is read": (names, lambda: names(after=("copy", "y", "t"))),
    "the name of another statement": (names, lambda: names(origin=3)),
    "chosen by less": (chosen, lambda: chosen(low=2)),
    "chosen by more": (chosen, lambda: chosen(low=0)),
    "chosen: another value": (chosen, lambda: chosen(then=1.0)),
    "chosen: the other element": (chosen, lambda: chosen(orelse=at("x", v("i") + 1))),
    "chosen where i may be negative": (chosen, lambda: chosen(start=-2)),
    "chosen by a second test too": (chosen, lambda: chosen(both=True)),
    "chosen by data": (lambda: by_data(lambda was: was), lambda: by_data(lambda was: at("x", "i"))),
}


@pytest.mark.parametrize(("right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data]) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected, match="another|not known there|order|all"):
        prove(wrong())
