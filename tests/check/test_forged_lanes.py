"""False certificates of compiles, fourth part: variables of several rounds side by side as elements of an array, parts of sums, names that are kept. Beside each stands what is right and
differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged, v

Data = dict[str, Any]
BLOCKS = {"quotient": ("n", 8)}


def at(b: str, *index: Any) -> Any:
    return ("load", b, index)


def times(a: Any, b: Any) -> Any:
    return ("call", "mul", (a, b), "f64")


def loop(i: str, body: list[Any], *flags: Any, high: Any = 8, low: Any = 0) -> Any:
    return (("for", i, low, high, body, *flags), None)


def in_lanes(
    lane: Callable[[Any], Any] = lambda x: x, room: int = 8, d: str = "f64", begun: Any = 8, first: float = 0.0, outside: bool = False, any_order: bool = False, exact: bool = False,
    parts: str = "", kept: str = "", of: Any = None, again: bool = False,
) -> Data:
    """Sums of eight rows side by side, the rest one by one. `parts`: after the first four columns by parts of their own; `kept`: a name that is used again at the end."""
    q = ("let", "q", "f64", times(at("x", "i"), 2.0))
    named = [q] if kept else []
    end = lambda e, q: ("call", "add", (e, q), "f64") if kept else e
    add = ("add", "s", "add", times(at("a", "i", "r"), ("use", "q") if kept else 3.0))
    sums = ("accumulate", "r", 0, "m", (add,), [["s", "add", "f64"]], exact)
    store = ("store", "y", ("i",), end(("use", "s"), ("use", "q")))
    before = (("for", "i", 0, "n", (*named, sums, store), True),)
    k = len(named)
    here = lambda l: v("b") * 8 + v(l)
    told = lambda n, l, **more: (n, {"i": here(l), **more})
    rounds = [(("for", "i", v("e") * 8, "n", [*((x, (1, {"i": "i"})) for x in named), (("accumulate", "r", 0, "m", [(add, (2 + k, {"i": "i", "r": "r"}))], [["s", "add", "f64"]], exact), None), (store, (3 + k, {"i": "i"}))], True), None)]
    zero = lambda t, l, high=8: loop(l, [(("store", t, (l,), first if t == "t" else 0.0), None)], True, high=high)
    keep = [(("let", "q1", "f64", times(at("x", here("l0")), 2.0)), told(1, "l0")), (("store", "u", (lane("l0") if kept == "wrong" else "l0",), ("use", "q1")), None)]
    start = loop("l0", [*(keep if kept else []), (("store", "t", ("l0",), first), None)], True, high=begun)
    if kept == "late":
        start = loop("l0", [(("store", "t", ("l0",), first), None)], True, high=begun)
    plus = lambda t, l, r: (("update", t, (lane(l) if parts == "other" and t == "w" else l,), "add", times(at("a", here(l), r), at("u", l) if kept else 3.0)), told(2 + k, l, r=r))
    value = lambda l, r: plus("t", l, r)
    summing = [loop("r", [loop("l1", [value("l1", "r"), *([value("l1", "r")] if again else [])], True)], *([True] if any_order else []), high="m")]
    if parts:
        more = ("let", "cut", "i64", ("call", "min", (("index", 4), ("index", "m")), "i64"))
        into = loop("l4", [(("update", "t", (lane("l4") if parts == "given" else "l4",), "add", at("w", "l4")), None)], True)
        block = [zero("w", "l2", 7 if parts == "short" else 8), loop("r2", [loop("l3", [plus("w", "l3", "r2")], True)], high="m", low="cut"), into, *([into] if parts == "twice" else [])]
        summing = [(more, None), loop("r", [loop("l1", [value("l1", "r")], True)], high="cut"), (("if", (("ge", v("m") - (1 if parts == "more" else 5)),), block[1:] if parts == "no zero" else block, []), None)]
    last = (("store", "y", (here("l5"),), end(at("t", lane("l5") if not parts and not kept else "l5"), at("u", of or "l5"))), told(3 + k, "l5"))
    rooms = [(("alloc", "t", d, (room,)), None), *([(("alloc", "u", "f64", (8,)), None)] if kept else []), *([(("alloc", "w", "f64", (8,)), None)] if parts else [])]
    frees = [(("free", r[0][1]), None) for r in rooms]
    late = [loop("l0k", [(("let", "q1", "f64", times(at("x", here("l0k")), 2.0)), told(1, "l0k")), (("store", "u", ("l0k",), ("use", "q1")), None)], True)] if kept == "late" else []
    body = [start, *summing, *late, loop("l5", [last], True)]
    blocks = [*rooms, loop("b", body, high="e"), *frees] if outside else [loop("b", [*rooms, *body, *frees], True, high="e")]
    return forged(before, [(("let", "e", "i64", ("index", BLOCKS)), None), *blocks, *rounds], sizes="n m", roots={"q1": "q"})


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data], str]] = {
    "lanes: of another lane": (in_lanes, lambda: in_lanes(lane=lambda x: v(x) * -1 + 7), "another round"),
    "lanes: of the next lane": (in_lanes, lambda: in_lanes(lane=lambda x: v(x) + 1), "another round|storage"),
    "lanes: of one for all": (in_lanes, lambda: in_lanes(lane=lambda x: 0), "another round"),
    "lanes: fewer than there are": (in_lanes, lambda: in_lanes(room=4), "storage"),
    "lanes: narrower": (in_lanes, lambda: in_lanes(d="f32"), "of another type"),
    "lanes: one does not begin": (in_lanes, lambda: in_lanes(begun=7), "begun|all"),
    "lanes: one begins twice": (in_lanes, lambda: in_lanes(begun=9), "storage|once|inside"),
    "lanes: begun wrong": (in_lanes, lambda: in_lanes(first=1.0), "nobody stored"),
    "lanes: sums that go on": (in_lanes, lambda: in_lanes(outside=True), "stands for nothing|storage|nobody"),
    "lanes: added at one time": (in_lanes, lambda: in_lanes(any_order=True), "order"),
    "lanes: added twice": (in_lanes, lambda: in_lanes(again=True), "once"),
    "parts: a sum in order": (lambda: in_lanes(parts="right"), lambda: in_lanes(parts="right", exact=True), "in order"),
    "parts: not all begin": (lambda: in_lanes(parts="right"), lambda: in_lanes(parts="short"), "without origin|nothing|nobody"),
    "parts: of the block before": (lambda: in_lanes(parts="right"), lambda: in_lanes(parts="no zero"), "without origin|nothing|nobody"),
    "parts: added twice": (lambda: in_lanes(parts="right"), lambda: in_lanes(parts="twice"), "without origin|nothing|nobody"),
    "parts: to another lane": (lambda: in_lanes(parts="right"), lambda: in_lanes(parts="given", lane=lambda x: v(x) * -1 + 7), "another round"),
    "parts: of another lane": (lambda: in_lanes(parts="right"), lambda: in_lanes(parts="other", lane=lambda x: v(x) * -1 + 7), "another round"),
    "parts: added where no round adds": (lambda: in_lanes(parts="right"), lambda: in_lanes(parts="more"), "added to more"),
    "kept: of another lane": (lambda: in_lanes(kept="right"), lambda: in_lanes(kept="wrong", lane=lambda x: v(x) * -1 + 7), "another round|nobody"),
    "kept: read for another": (lambda: in_lanes(kept="right"), lambda: in_lanes(kept="right", of=v("l5") * -1 + 7), "another round"),
    "kept: after it is read": (lambda: in_lanes(kept="right"), lambda: in_lanes(kept="late"), "order|known"),
}


@pytest.mark.parametrize(("right", "wrong", "why"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data], why: str) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected, match=why):
        prove(wrong())
