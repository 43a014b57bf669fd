"""False certificates of compiles, fourth part: checks that are the same in every round, made once before their loop (loop-invariant code motion). Beside each stands what is
right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged, v
from tests.check.test_forged_memory import SAME, Data, at

ROUNDS = v("n") - 1
STORE = ("store", "y", ("i",), at("x", "i"))


def check(p: Any) -> Any:
    return ("check", (("ge", p),), 0)


def made_first(
    test: Callable[[Any], Any] = lambda i: v("n") - 5, guard: Any = ROUNDS, only: Any = None, start: int = 0, round_: int = 0, again: Callable[[Any], Any] | None = None
) -> Data:
    """for i: check n >= 5; y[i] = x[i], with the check before the loop, if there is a round."""
    stands = check(test(v("i")))
    if only is not None:
        stands = ("if", (("ge", only),), (stands,), ())
    number = 1 if only is None else 2
    moved = (check((again or test)(round_)), (number, {"i": round_}))
    before = (("for", "i", start, "n", (stands, STORE)),)
    return forged(before, [(("if", (("ge", guard),), [moved], []), None), (("for", "i", start, "n", [(STORE, (number + 1, SAME))]), 0)])


def of_two_loops(inner: Any = ROUNDS, mentions: bool = False) -> Data:
    """for i: for j: check n >= 5 (or n >= j + 5), before both loops."""
    test = v("n") - 5 - v("j") if mentions else v("n") - 5
    store = ("store", "y", ("j",), at("x", "j"))
    before = (("for", "i", 0, "n", (("for", "j", 0, "n", (check(test), store)),)),)
    moved = (check(v("n") - 5), (2, {"i": 0, "j": 0}))
    loops = [(("for", "i", 0, "n", [(("for", "j", 0, "n", [(store, (3, {"i": "i", "j": "j"}))]), 1)]), 0)]
    return forged(before, [(("if", (("ge", v("n") - 1),), [(("if", (("ge", inner),), [moved], []), None)], []), None), *loops])


def of_a_name(loop: bool) -> Data:
    """The check looks at a name: one that is there before the loop, or one of the round."""
    let = lambda name, i: ("let", name, "i64", ("cast", at("a", i), "i64"))
    stays = (("let", "k", "i64", ("cast", at("a", 0), "i64")), ("for", "i", 0, "n", (check(v("k")), STORE)))
    if not loop:
        return forged(stays, [(stays[0], 0), (("for", "i", 0, "n", [(check(v("k")), (2, SAME)), (STORE, (3, SAME))]), 1)])
    before = (("for", "i", 0, "n", (let("k", "i"), check(v("k")), STORE)),)
    moved = [(let("k2", 0), (1, {"i": 0})), (check(v("k2")), (2, {"i": 0}))]
    return forged(before, [(("if", (("ge", v("n") - 1),), moved, []), None), (("for", "i", 0, "n", [(STORE, (3, SAME))]), 0)], roots={"k2": "k"})


def of_a_variable() -> Data:
    """The check looks at a variable that rounds change: `w = 0; for i: check 3 - w >= 0; w = w + 1`."""
    more = ("assign", "w", ("call", "add", (("use", "w"), ("index", 1)), "i64"))
    declared = ("declare", "w", "i64", ("index", 0))
    test = v("w") * -1 + 3
    before = (declared, ("for", "i", 0, "n", (check(test), STORE, more)))
    after = [(declared, 0), (("if", (("ge", v("n") - 1),), [(check(test), (2, {"i": 0}))], []), None), (("for", "i", 0, "n", [(STORE, (3, SAME)), (more, (4, SAME))]), 1)]
    return forged(before, after)


def of_an_element() -> Data:
    """The check looks at an element that rounds change."""
    test = (("true", ("call", "gt", (at("z", 0), 0.0), "bool")),)
    store = ("store", "z", (0,), at("x", "i"))
    before = (("for", "i", 0, "n", (("check", test, 0), store)),)
    return forged(before, [(("if", (("ge", v("n") - 1),), [(("check", test, 0), (1, {"i": 0}))], []), None), (("for", "i", 0, "n", [(store, (2, SAME))]), 0)])


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data]]] = {
    "it moves with the index": (made_first, lambda: made_first(lambda i: v("n") - 5 - i)),
    "another test": (made_first, lambda: made_first(again=lambda i: v("n") - 4)),
    "only where there are more rounds": (made_first, lambda: made_first(guard=v("n") - 7)),
    "also where there is no round": (made_first, lambda: made_first(guard=v("n"))),
    "of a loop that begins later": (lambda: made_first(start=1, round_=1, guard=v("n") - 2), lambda: made_first(start=1, round_=1)),
    "of a round that is none": (made_first, lambda: made_first(round_=-1)),
    "it was made in some rounds only": (made_first, lambda: made_first(only=v("i") - 3)),
    "of the inner loop's index": (of_two_loops, lambda: of_two_loops(mentions=True)),
    "only where the inner loop has more rounds": (of_two_loops, lambda: of_two_loops(inner=v("n") - 6)),
    "of a name of the round": (lambda: of_a_name(False), lambda: of_a_name(True)),
    "of a variable that changes": (made_first, of_a_variable),
    "of an element that changes": (made_first, of_an_element),
}


@pytest.mark.parametrize(("right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data]) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected):
        prove(wrong())
