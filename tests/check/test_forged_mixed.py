"""False certificates of compiles: names of one program taken for those of the other, elements that are asked for where they may not be, lengths of arrays that change places, quotients by what may be 0.
Ten of these were accepted on 19 November. Beside each stands what is right and differs in that one thing only, which is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.small_compiles import forged, v
from tests.check.test_forged_memory import at, positive

Data = dict[str, Any]
SAME = {"i": "i"}
BACK = v("n") - 1 - v("j")


def exchanged(kind: str = "let", element: int = 0, of: int = 0, other: str = "") -> Data:
    """p and q are two elements, and p is stored everywhere: q by the name of p."""
    value = lambda k: at("x", k) if kind == "let" else float(k + 1)
    p, q, store = (kind, "p", "f64", value(0)), (kind, "q", "f64", value(1)), ("store", "y", ("i",), ("use", "p"))
    more = [((kind, "q", "f64", value(0)), 0)] if other else []
    after = [((kind, "p", "f64", value(element)), of), *more, (("for", "i", 0, "n", [(store, (3, SAME))], True), None)]
    return forged((p, q, ("for", "i", 0, "n", (store,))), after, roots={**({"p": "q"} if of else {}), **({"q": "p"} if other else {})})


def of_the_round(stored: Any = "j", name: str = "p", number: bool = True, again: bool = False) -> Data:
    """y[i] = 1 where x[i] says so: by a name of the round, of which there may be a copy for the round that is stored."""
    d = "i64" if number else "f64"
    value = lambda i: ("cast", at("x", i), "i64") if number else at("x", i)
    test = lambda p: (("ge", v(p) - 1),) if number else (("true", positive(("use", p))),)
    store = lambda i: ("store", "y", (i,), 1.0)
    before = (("for", "i", 0, "n", (("let", "p", d, value("i")), ("if", test("p"), (store("i"),), ()))),)
    origin = (3, {"i": stored})
    inner: list[Any] = [(("if", test(name), [(store(stored), origin)], []), None)]
    if again:  # the copy is of the round that is stored; the other one must not be asked too
        copied = ("let", "p2", d, value(stored))
        inner = [(copied, (1, {"i": stored})), (("if", (*test("p2"), *(test(name) if name != "p2" else ())), [(store(stored), origin)], []), None)]
    first = ("let", name if not again else "p", d, value("j"))
    return forged(before, [(("for", "j", 0, "n", [(first, (1, {"i": "j"})), *inner]), None)], roots={**({name: "p"} if name != "p" else {}), **({"p2": "p"} if again else {})})


def in_a_piece(extent: str = "n") -> Data:
    """y[hi - 1] = x[hi - 1] in pieces of n, now in pieces of something else, whose ends are called the same."""
    store = ("store", "y", (v("hi") - 1,), at("x", v("hi") - 1))
    before = (("chunks", "lo", "hi", "n", (store, ("store", "z", ("lo",), 1.0)), [], [], []),)
    return forged(before, [(("chunks", "lo", "hi", extent, [(("store", "z", ("lo",), 1.0), (2, {"lo": "lo"})), (store, (1, {"lo": "lo"}))], [], [], []), None)], sizes="n m")


def divided(by: Any = 2, guard: Any = None, head: bool = False) -> Data:
    """x[n // m] for i in 0..m: n // m is computed before the loop, or it is how far a loop runs that does nothing otherwise."""
    q = {"quotient": ("n", by)}
    store = ("store", "y", ("i",), at("x", q))
    if head:
        inner = (("for", "j", 0, q, [(("if", (("eq", "j"),), [(("for", "i", 0, "m", [(("store", "y", ("i",), at("x", q)), (1, SAME))]), None)], []), None)]), None)
        after: list[Any] = [(("if", (("ge", v("n") - v("m")),), [inner], [(("for", "i", 0, "m", [(store, (1, SAME))]), None)]), None)]
        return forged((("for", "i", 0, "m", (store,)),), after, sizes="n m")
    made = [(("let", "q", "i64", ("index", q)), None), (("for", "i", 0, "m", [(("store", "y", ("i",), at("x", "q")), (1, SAME))]), 0)]
    return forged((("for", "i", 0, "m", (store,)),), made if guard is None else [(("if", (("ge", guard),), made, []), None)], sizes="n m")


def by_test(e: Any, name: bool = False) -> Data:
    """y[i] = x[i], by a test that decides nothing."""
    store = ("store", "y", ("i",), at("x", "i"))
    made: list[Any] = [(("if", e, [(store, (1, SAME))], [(store, (1, SAME))]), None)]
    if name:
        made = [(("let", "q", "i64", ("choose", e, ("index", 0), ("index", 0))), None), (("store", "y", (v("i") + v("q"),), at("x", "i")), (1, SAME))]
    return forged((("for", "i", 0, "n", (store,)),), [(("for", "i", 0, "n", made), 0)])


def reads(p: Any) -> Any:
    return (("true", positive(at("x", p))),)


def over(d: Any, op: str = "floordiv") -> Any:
    return (("true", ("call", "gt", (("call", op, (("index", "i"), ("index", d)), "i64"), ("index", 0)), "bool")),)


def asked_first(first: bool = False, shift: int = 0) -> Data:
    """k = a[i] is looked at, then x[k] is asked for."""
    k, test = ("let", "k", "i64", ("cast", at("a", "i"), "i64")), lambda s: (("true", positive(at("x", v("k") + s))),)
    check, store = ("check", (("ge", "k"), ("ge", v("n") - 1 - v("k"))), 0), ("store", "y", ("i",), 1.0)
    before = (("for", "i", 0, "n", (k, check, ("if", test(0), (store,), ()))),)
    late = [(k, (1, SAME)), (check, (2, SAME)), (("if", (*test(0), *(test(shift) if shift else ())), [(store, (4, SAME))], []), None)]
    early = [(k, (1, SAME)), (("if", test(0), [(check, (2, SAME)), (store, (4, SAME))], [(check, (2, SAME))]), None)]
    made = early if first else late
    if shift:
        made = [*late[:2], (("if", test(shift), [late[2]], [(("if", test(0), [(store, (4, SAME))], []), None)]), None)]
    return forged(before, [(("for", "j", 0, 0, []), None), (("for", "i", 0, "n", made), 0)])


def filled_before(swapped: bool = False, other: Any = "n", assigned: bool = False) -> Data:
    """All of an array is stored before a check: it is as long as that, if it does not change places with one that is not."""
    long = v("n") * 2
    rooms = [("alloc", "t", "f64", (long,)), ("alloc", "u", "f64", (other,))]
    head = [*rooms, *([("swap", "t", "u")] if swapped else [])]
    check, fill, rest = ("check", (("ge", v("n") - 5),), 0), ("store", "t", ("i",), 1.0), [("store", "y", (0,), at("t", 0)), ("free", "t"), ("free", "u")]
    k = len(head)
    before = (*head, check, ("for", "i", 0, long, (fill,)), *rest)
    return forged(before, [*((s, j) for j, s in enumerate(head)), (("for", "i", 0, long, [(fill, (k + 2, SAME))]), k + 1), (check, k), *((s, k + 3 + j) for j, s in enumerate(rest))])


def as_long_as_it_was(assigned: bool = False) -> Data:
    """t has k elements, and k is another number by then."""
    k, room, more = ("declare", "k", "i64", ("index", "n")), ("alloc", "t", "f64", ("k",)), ("assign", "k", ("index", v("n") * 2))
    check, fill = ("check", (("ge", v("n") - 5),), 0), lambda high: ("for", "i", 0, high, (("store", "t", ("i",), 1.0),))
    rest = [("store", "y", (0,), at("t", 0)), ("free", "t")]
    head = [k, room, *([more] if assigned else [])]
    e = len(head)
    before = (*head, check, fill("n"), *rest)
    order = [(check, e), (("for", "i", 0, "n", [(("store", "t", ("i",), 1.0), (e + 2, SAME))], True), e + 1)]
    return forged(before, [*((s, j) for j, s in enumerate(head)), *(order if not assigned else reversed(order)), *((s, e + 3 + j) for j, s in enumerate(rest))])



def flagged(flag: str = "k2", first: str = "k", again: str = "k4", of: Any = "m") -> Data:
    """x[k] for k = int(a[i]), whose check left the loop: a flag says whether it fails in some round. The first k of all is known by the name that k had."""
    test = lambda k: (("ge", v(k)), ("ge", v("n") - 1 - v(k)))
    name = lambda k, i: ("let", k, "i64", ("cast", at("a", i), "i64"))
    before = (("for", "i", 0, "n", (name("k", "i"), ("check", test("k"), 0), ("store", "y", ("i",), at("x", "k"))), True),)
    said = ("add", "bad", "or", ("choose", test(flag), ("const", 0, "i64"), ("const", 1, "i64")))
    instead = ("let", "l", "i64", ("choose", test("k2"), ("use", "k2"), ("index", 0)))
    scan = [(name("k2", "i"), (1, SAME)), (said, None), (instead, None), (("store", "y", ("i",), at("x", "l")), (3, SAME))]
    exact = lambda k, j, i: [(("for", j, 0, "n", [(name(k, i), (1, {"i": i})), (("check", test(k), 0), (2, {"i": i}))]), None)]
    some = [(("ge", v("n") - 1))]
    guard = (("if", some, [(("if", some, [], exact(again, "m", of)), None)], []), None)
    inner = [(name(first, 0), (1, {"i": 0})), guard, (("accumulate", "i", 0, "n", scan, [["bad", "or", "i64"]], False), 0), (("if", (("ne", "bad"),), exact("k3", "j", "j"), []), None)]
    roots = dict.fromkeys(("k2", "k3", "k4", "l", first), "k")
    return forged(before, [(("if", some, inner, []), None)], roots={a: b for a, b in roots.items() if a != b})



def window(index: str = "t", row: str = "t", column: str = "l") -> Data:
    """w[r, f] = a[r, f] for all rows, which are read one by one: two of them are kept. `index`: of the loop in which a row is made and read."""
    rows = lambda kept: ("alloc", "w", "f64", ("n", "m"), [False, kept, False, None])
    store = lambda r, f: ("store", "w", (r, f), at("a", r, f))
    use = lambda i, g: ("store", "y", (i, g), at("w", i, g))
    make = ("chunks", "lo", "hi", "n", (("for", "r", "lo", "hi", (("for", "f", 0, "m", (store("r", "f"),)),)),), [], [], [])
    look = ("chunks", "lo2", "hi2", "n", (("for", "i", "lo2", "hi2", (("for", "g", 0, "m", (use("i", "g"),)),)),), [], [], [])
    early = (("for", "e", "p", "p", [(("for", "k", 0, "m", [(store("e", "k"), (4, {"r": "e", "f": "k"}))]), None)]), None)
    made = (("for", column, 0, "m", [(store(row, column), (4, {"r": index, "f": column}))]), None)
    read = (("for", "g2", 0, "m", [(use(index, "g2"), (8, {"i": index, "g": "g2", "lo2": "p"}))]), None)
    inner = [(rows(2), None), early, (("for", index, "p", "q", [made, read]), None), (("free", "w"), None)]
    after = [(("chunks", "p", "q", "n", [(("if", (("ge", v("q") - v("p") - 1),), inner, []), None)], [], [], []), None)]
    return forged((rows(None), make, look, ("free", "w")), after, sizes="n m")


PAIRS: dict[str, tuple[Callable[[], Data], Callable[[], Data], str]] = {
    "a name: of another": (exchanged, lambda: exchanged(element=1, of=1), "another one's"),
    "a name: of another variable": (lambda: exchanged("declare"), lambda: exchanged("declare", element=1, of=1), "another one's"),
    "names: exchanged": (exchanged, lambda: exchanged(element=1, of=1, other="q"), "another one's"),
    "a test: of another round": (of_the_round, lambda: of_the_round(BACK), "inside"),
    "a test: of another round, by a copy": (lambda: of_the_round(name="p2"), lambda: of_the_round(BACK, name="p2"), "inside"),
    "a test: of data of another round": (lambda: of_the_round(number=False), lambda: of_the_round(BACK, number=False), "inside"),
    "a test: of this round and another one": (lambda: of_the_round(BACK, name="p2", again=True), lambda: of_the_round(BACK, again=True), "all"),
    "a test: of data of this round and another one": (lambda: of_the_round(BACK, name="p2", number=False, again=True), lambda: of_the_round(BACK, number=False, again=True), "all"),
    "a flag: of the first round": (flagged, lambda: flagged(flag="k"), "without origin"),
    "a flag: of the first round, by another name": (lambda: flagged(first="k0"), lambda: flagged(flag="k0", first="k0"), "without origin"),
    "a window: of another row": (window, lambda: window(row="l"), "without origin"),
    "a window: of a row that is called as a column was": (window, lambda: window(index="f", row="l"), "without origin"),
    "a piece: of another range": (in_a_piece, lambda: in_a_piece("m"), "another|inside|all"),
    "a quotient: by what may be 0": (divided, lambda: divided("m"), "may be 0"),
    "a quotient: by what may be 0, where there are elements": (lambda: divided("m", v("m") - 1), lambda: divided("m", v("m")), "may be 0"),
    "a test: of an element that may not be there": (lambda: by_test(reads("i")), lambda: by_test(reads(v("i") + 1)), "may not be there"),
    "a test: of an element that is there in other rounds": (lambda: by_test(reads("i")), lambda: by_test(reads(5)), "may not be there"),
    "a name: of an element that may not be there": (lambda: by_test(reads("i"), True), lambda: by_test(reads(v("i") + 1), True), "may not be there"),
    "a test: a quotient by what may be 0": (lambda: by_test(over(3)), lambda: by_test(over(v("i") - 3)), "may fail"),
    "a test: a remainder by what may be 0": (lambda: by_test(over(v("i") + 1, "mod")), lambda: by_test(over("i", "mod")), "may fail"),
    "a test: before its check": (asked_first, lambda: asked_first(first=True), "order|may not be there"),
    "a test: of the next one": (asked_first, lambda: asked_first(shift=1), "may not be there"),
    "filled: a shorter one in its place": (filled_before, lambda: filled_before(swapped=True), "order"),
    "filled: one as long in its place": (lambda: filled_before(swapped=True, other=v("n") * 2), lambda: filled_before(swapped=True, other=v("n") * 2 - 1), "order"),
    "filled: as long as a number was": (as_long_as_it_was, lambda: as_long_as_it_was(True), "order"),
}


@pytest.mark.parametrize(("right", "wrong", "why"), PAIRS.values(), ids=PAIRS)
def test_pair(right: Callable[[], Data], wrong: Callable[[], Data], why: str) -> None:
    assert "1 of 1 rewrites proved" in prove(right())
    with pytest.raises(Rejected, match=why):
        prove(wrong())
