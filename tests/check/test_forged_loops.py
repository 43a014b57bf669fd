"""False certificates of compiles with loops that end by data: state made anew in its place, arrays that change places, ranges from data, checks in loops, empty ranges. All of these were refused when they
were written; beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged, v
from tests.check.test_forged_memory import HOW, at, plus, positive

Data = dict[str, Any]
SAME = {"i": "i"}
GO_ON = ("break", (("true", positive(at("c", 0))),))


def again(e: Any) -> Any:
    return plus(("call", "mul", (e, 0.5), "f64"), 1.0)


def in_its_place(read: Any = "i", low: int = 0) -> Data:
    """while c[0] > 0: x[i] = x[i] / 2 + 1 for all i, side by side."""
    store = ("store", "x", ("i",), again(at("x", read)))
    before = (("forever", (GO_ON, ("for", "i", low, "n", (store,)))),)
    return forged(before, [(("forever", [(GO_ON, 1), (("for", "i", low, "n", [(store, (3, SAME))], True), 2)]), 0)])


def then_read(read: Any = "j", first: bool = True, writes: str = "x") -> Data:
    """while c[0] > 0: all x[i] are made anew, then y[j] = x[j]: in one loop."""
    make, use = lambda i: ("store", writes, (i,), again(at("x", i))), lambda i, r: ("store", "y", (i,), at("x", r))
    before = (("forever", (GO_ON, ("for", "i", 0, "n", (make("i"),)), ("for", "j", 0, "n", (use("j", read),)))),)
    both = [(make("k"), (3, {"i": "k"})), (use("k", read if not isinstance(read, str) else "k"), (5, {"j": "k"}))]
    return forged(before, [(("forever", [(GO_ON, 1), (("for", "k", 0, "n", both if first else both[::-1]), None)]), 0)])


def last_of_all(shift: int = 0, low: int = 0, write: str = "y") -> Data:
    """while c[0] > 0: y[n - 1 - i] = x[i]: rounds from the end."""
    back = lambda j: v("n") - 1 - v(j)
    store = lambda i, r: ("store", write, (i,), again(at("x", r)))
    before = (("forever", (GO_ON, ("for", "i", 0, "n", (store("i", "i"),)))),)
    return forged(before, [(("forever", [(GO_ON, 1), (("for", "j", low, "n", [(store(back("j"), back("j") + shift), (3, {"i": back("j")}))]), None)]), 0)])


def left_first(order: tuple[int, ...] = (0, 1, 2), test: Any = 0, flag: bool = False) -> Data:
    """while c[0] > 0: y[0] = x[0]; x[0] = x[0] / 2 + 1."""
    leave = ("break", (("true", positive(at("c", test))),))
    use, step = ("store", "y", (0,), at("x", 0)), ("store", "x", (0,), again(at("x", 0)))
    before = (("forever", (GO_ON, use, step, ("store", "z", (0,), 1.0))),)
    told = [(leave, 1), (use, 2), (step, 3)]
    return forged(before, [(("forever", [(("store", "z", (0,), 1.0), 4)] * flag + [told[k] for k in order] + [(("store", "z", (0,), 1.0), 4)] * (not flag)), 0)] if order != (0, 1, 2) or test or flag else [(("forever", [told[0], (("store", "z", (0,), 1.0), 4), told[1], told[2]]), 0)])


def checked_steps(step: int = 1, least: int = 0, late: bool = False, inner: bool = False, routine: bool = False, of: str = "j") -> Data:
    """j = n - 1; while j >= 0: check j >= 0; y[j] = 1; j = j - 1: the check cannot fail."""
    count, leave = ("declare", "j", "i64", ("index", v("n") - 1)), ("break", (("ge", v("j") - least),))
    check, store, less = ("check", (("ge", of),), 0), ("store", "y", ("j",), 1.0), ("assign", "j", ("index", v("j") - step))
    between: list[Any] = [("for", "i", 0, 3, (less,))] if inner else [("helper", "count", [["x", (0,)]], ("n",), ["j", "i64"], HOW)] if routine else []
    body = [leave, *between, *([store, less, check] if late else [check, store] if between else [check, store, less])]
    after: list[Any] = []
    number = 2
    for s in body:
        if s[0] == "for":
            after.append((("for", "i", 0, 3, [(less, number + 1)]), number))
            number += 1
        elif s[0] != "check":
            after.append((s, number))
        number += 1
    return forged((count, ("forever", tuple(body))), [(count, 0), (("forever", after), 1)])


def changing_places(order: tuple[int, ...] = (0, 1), parallel: bool = False, joined: str = "", other: str = "z") -> Data:
    """r times: z[i] = x[i] / 2 + 1 for all i, then x and z change places."""
    fill, swap = ("store", "z", ("i",), again(at("x", "i"))), ("swap", "x", other)
    before = (("for", "r", 0, 3, (("for", "i", 0, "n", (fill,)), ("swap", "x", "z"))),)
    inner = [(("for", "i", 0, "n", [(fill, (2, {"r": "r", "i": "i"}))], True), None), (swap, (3, {"r": "r"}))]
    return forged(before, [(("for", "r", 0, 3, [inner[k] for k in order], parallel), 0)])


def over_a_swap(other: str = "z", read: str = "x") -> Data:
    """x[0] is read once, before two arrays change places and after it."""
    before = (("store", "y", (0,), at("x", 0)), ("swap", "t", other), ("store", "y", (1,), at("x", 0)))
    after = [(("let", "e", "f64", at(read, 0)), None), (("store", "y", (0,), ("use", "e")), 0), (("swap", "t", other), 1), (("store", "y", (1,), ("use", "e")), 2)]
    return forged(before, after, arrays="x y z c a t")


def how_far(write: str = "y", late: bool = False, cut: int = 1, end: str = "k3", first: bool = True) -> Data:
    """k = int(a[0]) rounds, of which the first is written out: the range is asked for again."""
    asked = lambda k: ("let", k, "i64", ("cast", at("a", 0), "i64"))
    store = lambda i: ("store", write, (i,), 1.0)
    before = (asked("k"), ("for", "i", 0, "k", (store("i"),)))
    one = (("if", (("ge", v("k2") - 1),), [(store(0), (2, {"i": 0}))], []), None) if first else (store(0), (2, {"i": 0}))
    return forged(before, [(asked("k2"), 0), one, (asked("k3"), 0), (("for", "i", cut, end, [(store("i"), (2, SAME))]), None)], roots={"k2": "k", "k3": "k"})


def moved_behind(write: str = "z", when: Any = "a") -> Data:
    """k = int(a[0]) is asked for before something is stored, or after it."""
    k, store, use = ("let", "k", "i64", ("cast", at("a", 0), "i64")), ("store", write, (0,), 5.0), ("store", "y", ("i",), 1.0)
    return forged((k, store, ("for", "i", 0, "k", (use,))), [(store, 1), (k, 0), (("for", "i", 0, "k", [(use, (3, SAME))]), 2)])


def the_last_apart(guard: Any = 1, at_: Any = None, high: int = 1) -> Data:
    """s is the last x: its round is written out, if there is one."""
    last = v("n") - 1 if at_ is None else at_
    take = lambda i: ("assign", "s", at("x", i))
    before = (("declare", "s", "f64", 0.0), ("for", "i", 0, "n", (take("i"),)), ("store", "y", (0,), ("use", "s")))
    made = [(("for", "i", 0, v("n") - high, [(take("i"), (2, SAME))]), None), (take(last), (2, {"i": last}))]
    return forged(before, [(before[0], 0), (("if", (("ge", v("n") - guard),), made, []), None), (before[2], 3)])


def begun(first: Any = float("inf"), op: str = "min", monoid: str = "minimum", low: int = 0) -> Data:
    """The least of no elements is inf: also where it is written out."""
    more, result = ("add", "s", monoid, at("x", "i")), ("store", "y", (0,), ("use", "s"))
    before = (("accumulate", "i", 0, "n", (more,), [["s", monoid, "f64"]], True), result)
    step = ("assign", "s", ("call", op, (("use", "s"), at("x", "i")), "f64"))
    return forged(before, [(("declare", "s", "f64", first), None), (("for", "i", low, "n", [(step, (1, SAME))]), None), (result, 2)])


def copied(order: str = "cwr") -> Data:
    """z is a copy of x, which is written then, and read."""
    copy, write, use = ("copy", "z", "x"), ("store", "x", ("i",), 0.0), ("store", "y", ("i",), at("z", "i"))
    before = (copy, ("for", "i", 0, "n", (write,)), ("for", "i", 0, "n", (use,)))
    made = {"c": (copy, 0), "w": (("for", "i", 0, "n", [(write, (2, SAME))], True), None), "r": (("for", "i", 0, "n", [(use, (4, SAME))], True), None)}
    return forged(before, [made[k] for k in order])


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data], str]] = {
    "in its place: of the element before": (in_its_place, lambda: in_its_place(v("i") - 1), "order"),
    "in its place: of the element behind": (in_its_place, lambda: in_its_place(v("i") + 1), "order"),
    "in its place: of the first": (lambda: in_its_place(0, 1), lambda: in_its_place(0), "order"),
    "then read: the next one": (then_read, lambda: then_read(v("k") + 1), "order|another|known"),
    "then read: the last one": (then_read, lambda: then_read(v("n") - 1), "order"),
    "then read: before it is made": (then_read, lambda: then_read(first=False), "order"),
    "from the end: of another round": (last_of_all, lambda: last_of_all(shift=1), "another value"),
    "from the end: not all": (last_of_all, lambda: last_of_all(low=1), "all"),
    "left: after a store": (left_first, lambda: left_first((1, 0, 2)), "order"),
    "left: stepped before it is read": (left_first, lambda: left_first((0, 2, 1)), "order"),
    "left: by another element": (left_first, lambda: left_first(test=1), "another"),
    "left: stored before": (left_first, lambda: left_first(flag=True), "order"),
    "a check: one round more": (checked_steps, lambda: checked_steps(least=-1), "is gone"),
    "a check: after the step": (checked_steps, lambda: checked_steps(late=True), "is gone"),
    "a check: steps in between": (checked_steps, lambda: checked_steps(inner=True), "is gone"),
    "a check: set by a routine in between": (checked_steps, lambda: checked_steps(routine=True), "is gone"),
    "a check: of something else": (checked_steps, lambda: checked_steps(of=v("j") - 1), "is gone"),
    "places: before they are filled": (changing_places, lambda: changing_places((1, 0)), "order"),
    "places: rounds side by side": (changing_places, lambda: changing_places(parallel=True), "order"),
    "places: not changed": (changing_places, lambda: changing_places((0,)), "all"),
    "places: with another": (changing_places, lambda: changing_places(other="y"), "another"),
    "places: read before": (over_a_swap, lambda: over_a_swap(other="x"), "storage"),
    "places: another one is read": (over_a_swap, lambda: over_a_swap(read="t"), "another|storage"),
    "how far: asked after it changed": (how_far, lambda: how_far("a"), "order"),
    "how far: the second left out": (how_far, lambda: how_far(cut=2), "all"),
    "how far: the first of none": (how_far, lambda: how_far(first=False), "inside"),
    "how far: behind a store": (moved_behind, lambda: moved_behind("a"), "order"),
    "the last: of none": (the_last_apart, lambda: the_last_apart(0), "inside"),
    "the last: not that of one": (the_last_apart, lambda: the_last_apart(2), "all"),
    "the last: the one before": (the_last_apart, lambda: the_last_apart(at_=v("n") - 2), "inside|once|all"),
    "the last: twice": (the_last_apart, lambda: the_last_apart(high=0), "once|order"),
    "the least of none: 0": (begun, lambda: begun(0.0), "without origin"),
    "the least of none: the first": (begun, lambda: begun(at("x", 0), low=1), "without origin|all"),
    "the least of none: the greatest's": (begun, lambda: begun(op="max", monoid="maximum"), "without origin"),
    "a copy: after a write": (copied, lambda: copied("wcr"), "order"),
    "a copy: left out": (copied, lambda: copied("wr"), "all"),
    "a copy: after it is read": (copied, lambda: copied("wrc"), "order"),
}


@pytest.mark.parametrize(("right", "wrong", "why"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data], why: str) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected, match=why):
        prove(wrong())
