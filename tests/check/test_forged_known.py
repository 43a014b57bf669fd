"""False certificates of compiles: what is known of a name, a type or a place is believed where it is not so. Each was accepted once (18 November) and does something else, or touches memory
that is not there. Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged, v
from tests.check.test_forged_memory import SAME, Data, at, positive

STORE = ("store", "y", ("i",), at("x", "i"))


def in_two_branches(first: int) -> Data:
    """y[i] = x[i] for i in q..n, where q is 0 in one branch and `first` in the other: of two numbers of one name everything would follow."""
    def branch(q: str, low: int) -> Any:
        return [(("let", q, "i64", ("index", low)), None), (("for", "i", q, "n", [(STORE, (1, SAME))]), None)]

    names = ("q", "q") if first else ("q", "p")
    return forged((("for", "i", 0, "n", (STORE,)),), [(("if", (("ge", v("n") - 100),), branch(names[0], 0), branch(names[1], first)), None)])


def assigned_later(also: bool) -> Data:
    """q = 5, and 0 afterwards."""
    begin, less = ("let", "q", "i64", ("index", 5)), ("assign", "q", ("const", 0, "i64"))
    before = (begin, *((less,) if also else ()), ("for", "i", 0, "q", (STORE,)))
    k = len(before) - 1
    return forged(before, [*((s, j) for j, s in enumerate(before[:-1])), (("for", "i", 0, 5, [(STORE, (k + 1, SAME))]), k)])


def chosen_by_data(changes: bool) -> Data:
    """q = 1 where c[0] > 0, which may change."""
    test = (("true", positive(at("c", 0))),)
    q, write = ("let", "q", "i64", ("choose", test, ("const", 1, "i64"), ("const", 0, "i64"))), ("store", "c", (0,), at("x", 0))
    first: tuple[Any, ...] = (q, write) if changes else (q,)
    k = len(first)
    before = (*first, ("if", test, (("for", "i", 0, "q", (STORE,)),), ()))
    stop = 1 if changes else "q"
    return forged(before, [*((s, j) for j, s in enumerate(first)), (("if", (*test, ("ge", 5)), [(("for", "i", 0, stop, [(STORE, (k + 2, SAME))]), None)], []), None)])


def idle(guard: int) -> Data:
    """Under a test without which nothing is done: that w > 0 is not so any more further inside."""
    when, unless = (("true", positive(("use", "w"))),), (("false", positive(("use", "w"))),)
    write, less = ("store", "y", (0,), 1.0), ("assign", "w", -1.0)
    begin, inner = ("declare", "w", "f64", at("x", "i")), [(less, 3), (("if", unless, [(write, 5)], []), 4)]
    loop = ("for", "i", 0, "n", (begin, ("if", when, (less, ("if", unless, (write,), ())), ())))
    return forged((loop,), [(("if", (("ge", v("n") - guard),), [(("for", "i", 0, "n", [(begin, 1), (("if", when, inner, []), 2)]), 0)], []), None)])


def idle_rounds(guard: int) -> Data:
    """for i in 0..w:  w := -1;  for j in 0..-w: ..."""
    write, begin, less = ("store", "y", (0,), 1.0), ("declare", "w", "i64", ("const", 1, "i64")), ("assign", "w", ("const", -1, "i64"))
    before = ("for", "k", 0, "n", (begin, ("for", "i", 0, "w", (less, ("for", "j", 0, v("w") * -1, (write,))))))
    after = ("for", "k", 0, "n", [(begin, 1), (("for", "i", 0, "w", [(less, 3), (("for", "j", 0, v("w") * -1, [(write, 5)]), 4)]), 2)])
    return forged((before,), [(("if", (("ge", v("n") - guard),), [(after, 0)], []), None)])


def nothing_added(begins: bool) -> Data:
    """s += 0.0 does nothing to a sum that is not -0.0."""
    test = (("ge", v("i") - 3),)
    accs, zero, more = [["s", "add", "f64"]], ("assign", "s", -0.0), ("add", "s", "add", ("choose", test, at("x", "i"), 0.0))
    before = (("accumulate", "i", 0, "n", (*((zero,) if begins else ()), more), accs, True), ("store", "y", (0,), ("use", "s")))
    k = 1 + begins
    inner = [*([(zero, (1, SAME))] if begins else []), (("if", test, [(("add", "s", "add", at("x", "i")), (k, SAME))], []), None)]
    return forged(before, [(("accumulate", "i", 0, "n", inner, accs, True), 0), (before[1], k + 1)])


def steady_check(round_: Any, parallel: bool, first: bool) -> Data:
    """A check that is the same in every round guards every round: `round_` is the one in which it is made now, before that round's store, before all others when it is the `first`."""
    check = ("check", (("ge", v("m") - 1),), 0)
    before = (("for", "i", 0, "n", (check, STORE), parallel),)
    alone = (("if", (("ge", v("n") - 1),), [(check, (1, {"i": round_})), (("store", "y", (round_,), at("x", round_)), (2, {"i": round_}))], []), None)
    low, high = (1, "n") if round_ == 0 else (0, v("n") - 1)
    rest = (("for", "i", low, high, [(STORE, (2, SAME))], parallel), None)
    return forged(before, [alone, rest] if first else [rest, alone], sizes="n m")


def narrower(d: str) -> Data:
    """n as an i32 is another number."""
    before = (("let", "q", d, ("index", "n")), ("store", "c", (0,), ("cast", ("use", "q"), "f64")))
    return forged(before, [(("store", "c", (0,), ("cast", ("index", "n"), "f64")), 1)])


def large(k: int) -> Data:
    before = (("for", "i", 0, "n", (("if", (("ge", v("i") * k - 1),), (STORE,), ()),)),)
    return forged(before, [(("for", "i", 1, "n", [(STORE, (2, SAME))]), None)])


def compared(d: str) -> Data:
    """What a comparison gives is a truth."""
    test = ("call", "gt", (at("x", "i"), 0.0), d)
    before = (("for", "i", 0, "n", (("if", (("true", test),), (STORE,), ()),)),)
    return forged(before, [(("for", "i", 0, "n", [(("if", (("true", test),), [(STORE, (2, SAME))], []), (1, SAME))], False, 0, True), 0)])


def constant(x: int, d: str = "i8") -> Data:
    before = (("let", "q", d, ("const", x, d)), ("store", "c", (0,), ("cast", ("use", "q"), "f64")))
    return forged(before, [(("store", "c", (0,), ("cast", ("const", x, d), "f64")), 1)])


def of_another_rank(two: bool) -> Data:
    before = (("for", "i", 0, "n", (STORE, ("store", "y", ("i", 0) if two else ("i",), at("x", "i")))),)
    return forged(before, [(("for", "i", 0, "n", [(s, (k + 1, SAME)) for k, s in enumerate(before[0][4])], False, 0, True), 0)])


def in_parts(long: Any) -> Data:
    """Column sums of two parts of the rows, in an array that must be as long as a row."""
    made = at("a", "r", "j")
    before = (("for", "r", 0, 8, (("for", "j", 0, "n", (("update", "y", ("j",), "add", made),)),)),)
    zero = (("for", "q", 0, long, [(("store", "own", ("p", "q"), 0.0), None)]), None)
    inner = (("for", "j", 0, "n", [(("update", "own", ("p", "j"), "add", made), (2, {"r": "r", "j": "j"}))]), None)
    each = (("for", "p", "lo", "hi", [zero, (("for", "r", v("p") * 4, v("p") * 4 + 4, [inner]), None)]), None)
    adds = (("for", "o", 0, 2, [(("for", "e", 0, long, [(("update", "y", ("e",), "add", at("own", "o", "e")), None)]), None)]), None)
    room, making = (("alloc", "own", "f64", (2, long)), None), (("chunks", "lo", "hi", 2, [each], [], [], []), None)
    return forged(before, [room, making, adds, (("free", "own"), None)], licensed=True)


def made_in_its_place(asked: bool) -> Data:
    """y is stored where w was, before the check that says how long it is."""
    fill = lambda b: (("store", b, ("f",), at("x", "f")),)
    check = [(("check", (("ge", v("m") - v("n")),), 0), 3)] if asked else []
    last = ("for", "g", 0, "n", (("store", "y", ("g",), at("w", "g")),))
    before = (("alloc", "w", "f64", ("n",)), ("for", "f", 0, "n", fill("w")), *(s for s, _ in check), last, ("free", "w"))
    return forged(before, [(("for", "f", 0, "n", [(fill("y")[0], (2, {"f": "f"}))]), 1), *check], sizes="n m")


def on_the_stack(long: Any, local: bool = True) -> Data:
    before = (("for", "i", 0, long, (("let", "t", "f64", at("x", "i")), ("store", "y", ("i",), ("use", "t")))),)
    kept = (("for", "i", 0, long, [(before[0][4][0], (1, SAME)), (("store", "own", ("i",), ("use", "t")), None)]), None)
    back = (("for", "k", 0, long, [(("store", "y", ("k",), at("own", "k")), (2, {"i": "k"}))]), None)
    return forged(before, [(("alloc", "own", "f64", (long,), [local, None, False, None]), None), kept, back, (("free", "own"), None)])


def streamed(long: Any) -> Data:
    fill = [(("store", "l", ("k",), at("x", "k")), (1, {"i": "k"}))]
    room, stream = ("alloc", "l", "f64", (long,), [True, None, False, None]), ("helper", "stream", [["y", (0,)], ["l", (0,)]], (long,), None, [None, None])
    return forged((("for", "i", 0, long, (STORE,)),), [(room, None), (("for", "k", 0, long, fill), None), (stream, None), (("free", "l"), None)])


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data], str]] = {
    "two numbers of one name, in two branches": (lambda: in_two_branches(0), lambda: in_two_branches(1), "bound twice"),
    "a number that is assigned later": (lambda: assigned_later(False), lambda: assigned_later(True), "inside"),
    "a number chosen by data that changes": (lambda: chosen_by_data(False), lambda: chosen_by_data(True), "inside"),
    "nothing is done, by a variable that changes": (lambda: idle(1), lambda: idle(5), "all"),
    "nothing is done, by bounds that change": (lambda: idle_rounds(1), lambda: idle_rounds(5), "what decides"),
    "nothing is added to a sum that was set": (lambda: nothing_added(False), lambda: nothing_added(True), "all"),
    "a check made in the last round": (lambda: steady_check(0, False, True), lambda: steady_check(v("n") - 1, False, False), "all"),
    "a check made after rounds that are independent": (lambda: steady_check(0, True, True), lambda: steady_check(0, True, False), "order"),
    "a number in a narrower variable": (lambda: narrower("i64"), lambda: narrower("i32"), "of another type"),
    "a coefficient that wraps": (lambda: large(3), lambda: large(1 << 64), "64 bits"),
    "a comparison that is a number": (lambda: compared("bool"), lambda: compared("f64"), "a comparison"),
    "a constant that its type does not hold": (lambda: constant(127), lambda: constant(128), "does not hold"),
    "a constant below what its type holds": (lambda: constant(0, "u8"), lambda: constant(-1, "u8"), "does not hold"),
    "an array of two ranks": (lambda: of_another_rank(False), lambda: of_another_rank(True), "number of indices"),
    "parts outside of their array": (lambda: in_parts("n"), lambda: in_parts(3), "storage"),
    "made in its place before a check": (lambda: made_in_its_place(False), lambda: made_in_its_place(True), "another|origin"),
    "much on the stack": (lambda: on_the_stack(100), lambda: on_the_stack(100_000), "stack"),
    "nobody knows how much on the stack": (lambda: on_the_stack("n", False), lambda: on_the_stack("n"), "stack"),
    "a line that is longer than the stack": (lambda: streamed(64), lambda: streamed("n"), "stack"),
}


@pytest.mark.parametrize(("right", "wrong", "why"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data], why: str) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected, match=why):
        prove(wrong())
