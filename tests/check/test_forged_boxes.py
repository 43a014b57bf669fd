"""False certificates of compiles: branches that change what decides over them, looked at as one statement; the least of several integers; names that say the same; arrays that are filled before a check.

Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import P, forged, v
from tests.check.test_forged_totals import at

Data = dict[str, Any]


def best(
    op: str = "gt", exchanged: bool = False, moved: str = "z", twice: bool = False, gone: bool = False, parallel: bool = False, backwards: bool = False, before_it: bool = False, leaves: bool = False, shift: int = 0,
) -> Data:
    """b = 0; for r: if x[r] > b: b := x[r]; k := r. A store that has nothing to do with it comes before or after."""
    test = (("true", ("call", "gt", (at("x", "r"), ("use", "b")), "bool")),)
    one, two = ("assign", "b", at("x", "r")), ("assign", "k", ("index", "r"))
    box = ("if", test, (one, two), ())
    other = ("store", moved, (0,), 1.0)
    before = (("declare", "b", "f64", 0.0), ("declare", "k", "i64", ("index", 0)), other, ("for", "r", 0, "n", (box,)), ("store", "y", (0,), ("use", "b")), ("store", "c", (0,), ("cast", ("use", "k"), "f64")))
    r = {"r": "r"}
    at_ = v("n") - 1 - v("r") if backwards else v("r") + shift
    place = {"r": at_} if backwards or shift else r
    inner = [(one, (5, r)), (two, (6, r))]
    if backwards or shift:
        inner = [(("assign", "b", at("x", at_)), (5, place)), (("assign", "k", ("index", at_)), (6, place))]
    tested = (("true", ("call", op, (at("x", at_), ("use", "b")), "bool")),)
    new = (("if", tested, [*reversed(inner)] if exchanged else inner, []), (4, place))
    rounds = (("for", "r", 0, "n", [] if gone else [new, new] if twice else [new], parallel, 0, False, False), 3)
    names = [(before[0], 0), (before[1], 1)]
    last = [(before[4], 4 + 3), (before[5], 5 + 3)]
    return forged(before, [*names, rounds, (other, 2), *last] if not before_it else [*names, (other, 2), last[0], rounds, last[1]])


def least(second: Any = None, d: str = "i64", op: str = "min", dropped: bool = False, as_float: bool = False) -> Data:
    """min(min(p, q), r) as min(p, min(r, q))."""
    names = {"p": d, "q": d, "r": d}
    use = lambda x: ("use", x)
    call = lambda o, a, b: ("call", o, (a, b), d)
    old = call(op, call(op, use("p"), use("q")), use("r"))
    new = call(op, use("p"), use("r")) if dropped else call(op, use("p"), call(op, use("r"), use("q") if second is None else second))
    value = lambda e: e if d == "f64" else ("cast", e, "f64")
    return forged((("store", "y", (0,), value(old)),), [(("store", "y", (0,), value(new)), 0)], scalars=names)


def said_by_another(value: Any = None, changes: bool = False, d: str = "i64", later: bool = False) -> Data:
    """Two loops that each look up k = a[r], as one that looks it up once."""
    e = ("cast", at("a", "r"), "i64")
    one, two = ("let", "k", "i64", e), ("let", "q", "i64", e if value is None else value)
    first, second = ("store", "y", ("k",), 1.0), ("store", "z", ("q",), 2.0)
    before = (("for", "r", 0, "n", (one, *((("store", "a", (0,), 3.0),) if changes else ()), first)), ("for", "r", 0, "n", (two, second)))
    k = 2 if changes else 1
    r = {"r": "r"}
    rest = [(first, (1 + k, r)), (("store", "z", ("k",), 2.0), (4 + k, r))]
    more = [(("store", "a", (0,), 3.0), (2, r))] if changes else []
    return forged(before, [(("for", "r", 0, "n", [(one, (1, r)), *more, *rest]), 0)])


def filled_early(long: Any = "n", high: Any = "n", value: Any = 0.0, made: bool = True, shift: int = 0) -> Data:
    """An array that is filled before a check fails was filled behind it: its elements are there whatever is checked."""
    check = ("check", (("ge", v("n") - 4),), 0)
    fill = ("for", "i", 0, high, (("store", "h", (v("i") + shift,), value),))
    room = ("alloc", "h", "f64", (long,))
    use = ("store", "y", (0,), at("h", 0))
    head, tail = ((room,), (("free", "h"),)) if made else ((), ())
    k = len(head)
    before = (*head, check, fill, use, *tail)
    store = (fill[4][0], (k + 2, {"i": "i"}))
    after = [*[(room, 0)] * k, (("for", "i", 0, high, [store]), k + 1), (check, k), (use, k + 3), *[(("free", "h"), k + 4)] * k]
    return forged(before, after, arrays="x y z a" if made else "x y z a h")



def copied(
    outer: str = "q", inner: str = "l", row: Any = "q", column: Any = "l", high: Any = "m", read: Any = "l", parallel: bool = False, to: str = "b", name: str = "w2", twice: bool = False, step: int = 1, root: str = "w",
) -> Data:
    """b = 0; e = 0; for r: if x[r] > b: w = x[r]; b := w; for i in 0..m: y[r, i] = a[i] + w. Its loops have other indices, or its rounds are written out by two."""
    def box(r: Any, i: str, w: str, at_: Any, k: Any, of: Any, end: Any, target: str, side: bool) -> Any:
        fill = ("for", i, 0, end, (("store", "y", (at_, k), ("call", "add", (at("a", of), ("use", w)), "f64")),), side)
        return ("if", (("true", ("call", "gt", (at("x", r), ("use", "b")), "bool")),), (("let", w, "f64", at("x", r)), ("assign", target, ("use", w)), fill), ())

    old = box("r", "i", "w", "r", "i", "i", "m", "b", False)
    before = (("declare", "b", "f64", 0.0), ("declare", "e", "f64", 0.0), ("for", "r", 0, v("n") * 2, (old,)), ("store", "z", (0,), ("use", "b")), ("store", "z", (1,), ("use", "e")))

    def told(made: Any, r: Any) -> Any:
        let, last, fill = made[2]
        here = {"r": r}
        loop = (*fill[:4], [(fill[4][0], (7, {**here, "i": fill[1]}))], *fill[5:])
        return (*made[:2], [(let, (4, here)), (last, (5, here)), (loop, (6, here))], made[3]), (3, here)

    if twice:
        r = [v(outer) * 2, v(outer) * 2 + step]
        rounds = [told(box(r[k], f"{inner}{k}", f"w{k + 2}", r[k], f"{inner}{k}", f"{inner}{k}", "m", "b", False), r[k]) for k in (0, 1)]
        return forged(before, [(before[0], 0), (before[1], 1), (("for", outer, 0, "n", rounds), 2), (before[3], 8), (before[4], 9)], sizes="n m", roots={"w2": "w", "w3": root})
    new = told(box(outer, inner, name, row, column, read, high, to, parallel), outer)
    return forged(before, [(before[0], 0), (before[1], 1), (("for", outer, 0, v("n") * 2, [new]), 2), (before[3], 8), (before[4], 9)], sizes="n m", roots={name: root})


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data]]] = {
    "box: tested otherwise": (best, lambda: best(op="ge")),
    "box: inside in another order": (best, lambda: best(exchanged=True)),
    "box: what is read is changed before": (best, lambda: best(moved="x")),
    "box: done twice": (best, lambda: best(twice=True)),
    "box: not done": (best, lambda: best(gone=True)),
    "box: rounds in any order": (best, lambda: best(parallel=True)),
    "box: rounds from the end": (best, lambda: best(backwards=True)),
    "box: other rounds": (best, lambda: best(shift=1)),
    "box: read before it": (best, lambda: best(before_it=True)),
    "box: inside a row that is a column": (copied, lambda: copied(row="l")),
    "box: inside another element": (copied, lambda: copied(read="q")),
    "box: inside a loop that is shorter": (copied, lambda: copied(high=v("m") - 1)),
    "box: inside a loop of another range": (copied, lambda: copied(high="n")),
    "box: inside a loop in any order": (copied, lambda: copied(parallel=True)),
    "box: inside another variable is set": (copied, lambda: copied(to="e")),
    "box: a name that stands for the one that is set": (copied, lambda: copied(root="e")),
    "box: an index that is called as the one inside was": (copied, lambda: copied(outer="i", row="l", read="l")),
    "box: the round before, twice": (lambda: copied(twice=True), lambda: copied(twice=True, step=0)),
    "box: two rounds further": (lambda: copied(twice=True), lambda: copied(twice=True, step=2)),
    "least: of another one": (least, lambda: least(("use", "r"))),
    "least: of two": (least, lambda: least(dropped=True)),
    "least: of numbers that may be no numbers": (least, lambda: least(d="f64")),
    "least: of differences": (least, lambda: least(op="sub")),
    "least: of quotients": (lambda: least(op="max"), lambda: least(op="floordiv")),
    "another name: of another element": (said_by_another, lambda: said_by_another(("cast", at("a", v("r") + 1), "i64"))),
    "another name: of another array": (said_by_another, lambda: said_by_another(("cast", at("x", "r"), "i64"))),
    "another name: of what is changed": (said_by_another, lambda: said_by_another(changes=True)),
    "filled: more than there is": (filled_early, lambda: filled_early(high=v("n") + 1)),
    "filled: by half of it": (filled_early, lambda: filled_early(long=v("n") - 1)),
    "filled: one further": (filled_early, lambda: filled_early(shift=1)),
    "filled: of which nobody knows how long it is": (filled_early, lambda: filled_early(made=False)),
    "filled: with what may not be there": (filled_early, lambda: filled_early(value=at("x", "i"))),
    "filled: before an array is as long": (filled_early, lambda: filled_early(long=P({("n",): 1, (): -4}))),
}


@pytest.mark.parametrize(("right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data]) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected):
        prove(wrong())


